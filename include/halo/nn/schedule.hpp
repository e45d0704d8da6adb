#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/graph/local_graph.hpp"
#include "halo/nn/program.hpp"

namespace halo::nn {

/// Row-local operations between two gathers: they run tile by tile. A stage that starts with a gather runs
/// its interior tiles while the halo rows are in flight.
struct Stage {
  ValueId gathered = kNone;              ///< value whose halo rows are fetched first, or kNone
  Direction direction = Direction::kIn;  ///< of that gather
  std::vector<std::int32_t> operations;  ///< positions in Program::operations, in order
};

/// Where a value lives.
struct Placement {
  std::int32_t slot = kNone;  ///< reusable buffer of the arena, or kNone
  std::string constant;       ///< key of a folded constant, or empty
};

/// Rows this rank has room for: a gathered value needs the halo of its direction(s).
struct RowCounts {
  std::int64_t owned = 0;
  std::int64_t halo_in = 0;
  std::int64_t halo_out = 0;
  bool symmetric = true;  ///< one halo serves both directions
};

/// A program made ready to run: constants folded out, the rest cut into stages, every value placed by
/// liveness. Known before anything is allocated.
struct Schedule {
  Program program;
  std::vector<Stage> constant_stages;       ///< run once, before the first epoch
  std::vector<Stage> stages;                ///< run each epoch
  std::vector<Placement> placements;        ///< per value
  std::vector<std::int64_t> slot_elements;  ///< capacity of each slot
  std::vector<std::int64_t> halo_rows;      ///< per value: rows behind the owned ones

  std::int64_t arena_elements() const;
};

/// Key that names a constant value by what computes it, so that programs share it.
std::string constant_key(const Program& program, ValueId value);

Schedule make_schedule(Program program, const RowCounts& rows);

/// Widest matrix that any gather of the schedule moves, in columns; 0 without gathers.
std::int64_t widest_gather(const Schedule& schedule);

/// What a training run needs of a model on one rank's graph.
struct Schedules {
  Schedule train;
  Schedule evaluation;
};
Schedules make_schedules(const Program& model, const graph::LocalGraph& graph);

/// The schedule as text: stages, their gathers and operations, slots.
std::string to_text(const Schedule& schedule);

}  // namespace halo::nn
