#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "halo/mpi/communicator.hpp"

namespace halo::mpi {

/// Rows that each rank sends to and receives from each of its neighbours, as offsets in rows. Ranks are
/// ascending and distinct, and what r sends to s is what s receives from r.
struct RowLayout {
  std::span<const Rank> send_to;
  std::span<const std::int64_t> send_offsets;  ///< send_to.size() + 1
  std::span<const Rank> receive_from;
  std::span<const std::int64_t> receive_offsets;  ///< receive_from.size() + 1
};

/// A prepared exchange of matrix rows between neighbour ranks on a distributed-graph communicator of its own
/// (reorder off). Counts are in rows through a row datatype, made once for each width. One exchange is in
/// flight at a time. The destructor waits for it, except while an exception unwinds.
class RowExchange {
 public:
  enum class Call {
    kNonblocking,   ///< MPI_Ineighbor_alltoallv
    kBlocking,      ///< MPI_Neighbor_alltoallv: complete when start() returns
    kPointToPoint,  ///< MPI_Irecv and MPI_Isend for each neighbour
    kPersistent,    ///< MPI_Neighbor_alltoallv_init once for each width, then MPI_Start
  };
  /// False where the MPI library is older than MPI 4.
  static bool has_persistent();

  /// Collective; ranks without neighbours take part. Error where the rows of all neighbours together pass
  /// 2^31.
  RowExchange(const Communicator& communicator, const RowLayout& layout);
  ~RowExchange();
  RowExchange(RowExchange&&) noexcept;
  RowExchange& operator=(RowExchange&&) noexcept;

  /// Collective. `send` holds the rows by neighbour, `receive` gets them by neighbour, `cols` numbers each,
  /// contiguous. Neither may be touched before wait() or test() says so. Allocates only when a width is seen
  /// for the first time. Error on kPersistent without has_persistent(), or with other buffers than this width had
  /// before. Real: float or double.
  template <typename Real>
  void start(Call call, const Real* send, Real* receive, std::int64_t cols);
  /// Local: drives progress; true if nothing is in flight any more.
  bool test();
  /// Completes the exchange in flight, if any.
  void wait();
  bool in_flight() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::mpi
