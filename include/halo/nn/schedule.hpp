#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "halo/graph/local_graph.hpp"
#include "halo/graph/row_levels.hpp"
#include "halo/graph/share_counts.hpp"
#include "halo/nn/program.hpp"

namespace halo::nn {

/// Row-local operations between two communications: they run tile by tile. A stage that starts with a gather
/// runs its interior tiles while the halo rows are in flight.
struct Stage {
  std::vector<ReductionId> reductions{};  ///< summed over all ranks first
  ValueId gathered = kNone;               ///< value whose halo rows are fetched first, or kNone
  Direction direction = Direction::kIn;   ///< of that gather
  std::int8_t level = static_cast<std::int8_t>(graph::kLastLevel);  ///< highest of rows it fetches
  bool whole = false;                    ///< its one operation takes all rows at once
  std::vector<std::int32_t> operations;  ///< positions in Program::operations, in order
  std::vector<ParameterId> gradients{};  ///< its operations add to, each once
  std::vector<ReductionId> written{};    ///< reductions its operations add to, each once
};

/// Where a value lives.
enum class Memory {
  kConstant,  ///< a buffer of its own, made before the first epoch; or the feature matrix
  kArena,     ///< a row for each node; shared with values of other times
  kScratch,   ///< of each thread, a row for each node of a tile
};
struct Placement {
  Memory memory = Memory::kConstant;
  std::int64_t offset = kNone;  ///< of its first element in arena or scratch
  std::string constant;         ///< key of a constant
};

inline constexpr std::int8_t kNoRows = -1;

/// Rows of an operation by the level of their tile (halo/graph/row_levels.hpp); all where levels are not
/// known.
struct OperationRows {
  std::int8_t compute = static_cast<std::int8_t>(graph::kLastLevel);  ///< highest level that is computed
  std::int8_t fill = kNoRows;  ///< highest level that is read: zeros beyond `compute`
  std::int8_t edges = static_cast<std::int8_t>(graph::kLastLevel);  ///< highest of columns it sums over
};

/// Rows this rank has room for: a gathered value needs the halo of its direction(s).
struct RowCounts {
  std::int64_t owned = 0;
  std::int64_t halo_in = 0;
  std::int64_t halo_out = 0;
  bool symmetric = true;  ///< one halo serves both directions
  std::int64_t tile = 0;  ///< rows of the largest tile
};
RowCounts count_rows(const graph::LocalGraph& graph);
RowCounts count_rows(const graph::ShareCounts& counts);

/// A program made ready to run: constants folded out, the rest cut into stages, every value placed by
/// liveness. Known before anything is allocated.
struct Schedule {
  Program program;
  std::string constants_of;             ///< prefix of constants that depend on this schedule's graph
  std::vector<Stage> constant_stages;   ///< run once, before the first epoch
  std::vector<Stage> stages;            ///< run each epoch
  std::vector<Placement> placements;    ///< per value
  std::vector<std::int64_t> halo_rows;  ///< per value: rows behind the owned ones
  std::vector<OperationRows> rows;      ///< per operation
  std::vector<std::int8_t> nonzero;     ///< per value: highest level of rows that may not be zero
  std::int64_t arena_elements = 0;
  std::int64_t scratch_elements = 0;  ///< of one thread
};

/// Key that names a constant value by what computes it, so that programs share it.
std::string constant_key(const Program& program, ValueId value);

/// `constants_of`: as in Schedule; schedules of one graph share it.
Schedule make_schedule(Program program, const RowCounts& rows, std::string constants_of = "");

/// A kind of gather: rows of at most `level` in one direction, and the most columns.
struct GatherShape {
  Direction direction = Direction::kIn;
  std::int8_t level = 0;
  std::int64_t cols = 0;
};
/// Every kind of gather of the schedules, each once.
std::vector<GatherShape> find_gathers(std::initializer_list<const Schedule*> schedules);

/// The graph a model is trained on and the one it is judged on: one and the same, or (inductive) the subgraph
/// of the training nodes and the whole, with the same owned rows and the same halo.
struct Graphs {
  Graphs(const graph::LocalGraph& both)  // NOLINT(google-explicit-constructor): the usual case
      : train(both), evaluation(both) {}
  Graphs(const graph::LocalGraph& train_, const graph::LocalGraph& evaluation_)
      : train(train_), evaluation(evaluation_) {}
  const graph::LocalGraph& train;
  const graph::LocalGraph& evaluation;
};

/// What a training run needs of a model on one rank's graph.
struct Schedules {
  Schedule train;
  Schedule evaluation;
};
Schedules make_schedules(const Program& model, Graphs graphs);
/// The same of a graph that is known by its counts; `two_graphs`: the one that is trained on is another.
Schedules make_schedules(const Program& model, const RowCounts& rows, bool two_graphs);

/// The schedule as text: stages, their gathers and operations, slots.
std::string to_text(const Schedule& schedule);

}  // namespace halo::nn
