#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "halo/base/matrix_view.hpp"
#include "halo/dist/halo_plan.hpp"

namespace halo::dist {

/// How halo rows travel; the result is the same bits.
enum class Transport {
  kNonblocking,   ///< MPI_Ineighbor_alltoallv, the default
  kBlocking,      ///< MPI_Neighbor_alltoallv
  kPointToPoint,  ///< MPI_Irecv / MPI_Isend
  kPersistent,    ///< MPI_Neighbor_alltoallv_init / MPI_Start, where the MPI library has it
  kAuto,          ///< to be chosen by measurement (transport_choice.hpp); no gather takes it
};
/// "nonblocking", "blocking", "p2p", "persistent", "auto"; InputError on anything else, and on a transport that
/// this MPI library lacks.
Transport parse_transport(const std::string& name);
const char* to_string(Transport transport);

/// What one gather of this rank did and when, in steady_nanoseconds(). A rank without neighbours has nothing
/// in flight: it waits and hides 0.
struct GatherRecord {
  std::int64_t bytes_sent = 0;
  std::int64_t packing = 0;   ///< start() began
  std::int64_t posted = 0;    ///< handed to MPI
  std::int64_t waiting = 0;   ///< finish() began (blocking transport: as posted)
  std::int64_t finished = 0;  ///< everything sent and received
  std::int64_t arrived = 0;   ///< the same as far as this rank saw: at a poke() or when finished

  std::int64_t waited() const { return finished - waiting; }
  /// In flight while this rank did something else.
  std::int64_t hidden() const { return (arrived < waiting ? arrived : waiting) - posted; }
};

/// Sums over gathers.
struct GatherStatistics {
  std::int64_t bytes_sent = 0;
  std::int64_t gathers = 0;
  double waited_seconds = 0.0;  ///< inside finish() (and start() of the blocking transport)
  double hidden_seconds = 0.0;  ///< GatherRecord::hidden()

  void add(const GatherRecord& gather);
  void add(const GatherStatistics& other);
};

/// The one communication primitive: fills the halo rows of a matrix from their owners. start() packs and
/// posts, finish() waits; in between the owned rows may be read but nothing of the matrix written. Counts are
/// in rows (a row datatype), so only the number of rows must stay below 2^31. Ranks without neighbours take
/// part as everyone else.
template <typename Real>
class HaloGather {
 public:
  /// Collective. Error on kAuto. The plan is copied; `max_cols` sizes the send buffer, so that start() allocates nothing.
  HaloGather(const mpi::Communicator& communicator, const HaloPlan& plan, Transport transport,
             std::int64_t max_cols);
  ~HaloGather();
  HaloGather(HaloGather&&) noexcept;
  HaloGather& operator=(HaloGather&&) noexcept;

  /// Collective. x: [owned + halo x d], contiguous (stride == cols), d <= max_cols. `threads` pack.
  void start(MatrixView<Real> x, int threads);
  /// Local: lets the MPI library make progress. Cheap enough to call between tiles.
  void poke();
  /// Collective: on return the halo rows of the started matrix that are in the plan hold their owners' rows.
  void finish();

  /// The last gather that was finished.
  const GatherRecord& last() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::dist
