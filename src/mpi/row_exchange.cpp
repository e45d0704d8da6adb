#include "halo/mpi/row_exchange.hpp"

#include <map>
#include <type_traits>
#include <utility>

#include "handle.hpp"

namespace halo::mpi {
namespace {

struct Side {
  std::vector<int> ranks;
  std::vector<int> counts;         ///< rows
  std::vector<int> displacements;  ///< rows
};

Side side_of(std::span<const Rank> ranks, std::span<const std::int64_t> offsets) {
  if (offsets.size() != ranks.size() + 1) throw Error("a row exchange needs one offset more than neighbours");
  Side side;
  side.ranks.assign(ranks.begin(), ranks.end());
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    side.counts.push_back(
        checked_cast<int>(offsets[n + 1] - offsets[n], "rows exchanged with one neighbour"));
    side.displacements.push_back(checked_cast<int>(offsets[n], "rows exchanged with all neighbours"));
  }
  return side;
}

MPI_Comm make_graph(MPI_Comm base, const Side& send, const Side& receive) {
  MPI_Comm graph = MPI_COMM_NULL;
  // Weights are the rows, for libraries that look at them; ranks keep their places (reorder = 0).
  // MPI_WEIGHTS_EMPTY stands for an empty list, which a null pointer must not.
  const auto weights = [](const Side& side) {
    return side.counts.empty() ? MPI_WEIGHTS_EMPTY : side.counts.data();
  };
  check(MPI_Dist_graph_create_adjacent(base, to_count(receive.ranks.size()), receive.ranks.data(),
                                       weights(receive), to_count(send.ranks.size()), send.ranks.data(),
                                       weights(send), MPI_INFO_NULL,
                                       /*reorder=*/0, &graph),
        "MPI_Dist_graph_create_adjacent");
  return graph;
}

template <typename Real>
MPI_Datatype element_type() {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
  return std::is_same_v<Real, float> ? MPI_FLOAT : MPI_DOUBLE;
}

constexpr int kTag = 1;

}  // namespace

struct RowExchange::State {
  State(const Communicator& communicator, const RowLayout& layout)
      : send(side_of(layout.send_to, layout.send_offsets)),
        receive(side_of(layout.receive_from, layout.receive_offsets)),
        graph(make_graph(communicator.handle().comm, send, receive)) {
    requests.reserve(send.ranks.size() + receive.ranks.size() + 1);
    check(MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~State() {
    if (guard.unwinding() || !is_running()) return;
    if (!requests.empty()) requests.wait();
    for (auto& [type, entry] : prepared) MPI_Request_free(&entry.request);
    for (auto& [key, type] : row_types) MPI_Type_free(&type);
    MPI_Comm_free(&graph);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  MPI_Datatype row_type(MPI_Datatype element, int element_bytes, std::int64_t cols) {
    const auto [place, is_new] = row_types.try_emplace({element_bytes, cols}, MPI_DATATYPE_NULL);
    if (is_new) {
      const int width = checked_cast<int>(cols, "columns of an exchanged matrix");
      check(MPI_Type_contiguous(width, element, &place->second), "MPI_Type_contiguous");
      check(MPI_Type_commit(&place->second), "MPI_Type_commit");
    }
    return place->second;
  }

  /// Collective where a width is new. By width alone, which all ranks see alike: addresses may coincide on one
  /// rank and differ on another.
  MPI_Request prepare(const void* from, void* to, MPI_Datatype row) {
#if MPI_VERSION >= 4
    const auto [place, is_new] = prepared.try_emplace(row);
    Prepared& it = place->second;
    if (is_new) {
      it = {.from = from, .to = to};
      check(MPI_Neighbor_alltoallv_init(from, send.counts.data(), send.displacements.data(), row, to,
                                        receive.counts.data(), receive.displacements.data(), row, graph,
                                        MPI_INFO_NULL, &it.request),
            "MPI_Neighbor_alltoallv_init");
    }
    if (it.from != from || it.to != to) throw Error("a persistent row exchange was given other buffers");
    return it.request;
#else
    static_cast<void>(from), static_cast<void>(to), static_cast<void>(row);
    throw Error("this MPI library has no persistent neighbourhood collectives");
#endif
  }

  UnwindGuard guard;
  Side send;
  Side receive;
  MPI_Comm graph = MPI_COMM_NULL;
  std::map<std::pair<int, std::int64_t>, MPI_Datatype> row_types;  ///< by bytes of an element and columns
  struct Prepared {
    const void* from = nullptr;
    void* to = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::map<MPI_Datatype, Prepared> prepared;  ///< by row type
  RequestSet requests;
};

namespace {

template <typename Real>
void post_point_to_point(MPI_Comm comm, const Side& out, const Side& in, RequestSet& requests,
                         MPI_Datatype row, const Real* send, Real* receive, std::int64_t cols) {
  for (std::size_t n = 0; n < in.ranks.size(); ++n) {
    check(MPI_Irecv(receive + in.displacements[n] * cols, in.counts[n], row, in.ranks[n], kTag, comm,
                    requests.add()),
          "MPI_Irecv");
  }
  for (std::size_t n = 0; n < out.ranks.size(); ++n) {
    check(MPI_Isend(send + out.displacements[n] * cols, out.counts[n], row, out.ranks[n], kTag, comm,
                    requests.add()),
          "MPI_Isend");
  }
}

}  // namespace

RowExchange::RowExchange(const Communicator& communicator, const RowLayout& layout)
    : state_(std::make_unique<State>(communicator, layout)) {}
RowExchange::~RowExchange() = default;
RowExchange::RowExchange(RowExchange&&) noexcept = default;
RowExchange& RowExchange::operator=(RowExchange&&) noexcept = default;

template <typename Real>
void RowExchange::start(Call call, const Real* send, Real* receive, std::int64_t cols) {
  State& s = *state_;
  if (!s.requests.empty()) throw Error("a row exchange was started while one is in flight");
  const MPI_Datatype row = s.row_type(element_type<Real>(), sizeof(Real), cols);
  switch (call) {
    case Call::kNonblocking:
      check(MPI_Ineighbor_alltoallv(send, s.send.counts.data(), s.send.displacements.data(), row, receive,
                                    s.receive.counts.data(), s.receive.displacements.data(), row, s.graph,
                                    s.requests.add()),
            "MPI_Ineighbor_alltoallv");
      return;
    case Call::kBlocking:
      check(MPI_Neighbor_alltoallv(send, s.send.counts.data(), s.send.displacements.data(), row, receive,
                                   s.receive.counts.data(), s.receive.displacements.data(), row, s.graph),
            "MPI_Neighbor_alltoallv");
      return;
    case Call::kPointToPoint:
      post_point_to_point(s.graph, s.send, s.receive, s.requests, row, send, receive, cols);
      return;
    case Call::kPersistent:
      MPI_Request* const request = s.requests.add();
      *request = s.prepare(send, receive, row);
      check(MPI_Start(request), "MPI_Start");
      return;
  }
}
template void RowExchange::start(Call, const float*, float*, std::int64_t);
template void RowExchange::start(Call, const double*, double*, std::int64_t);

bool RowExchange::has_persistent() {
  return MPI_VERSION >= 4;
}
bool RowExchange::test() {
  return state_->requests.test();
}
void RowExchange::wait() {
  state_->requests.wait();
}
bool RowExchange::in_flight() const {
  return !state_->requests.empty();
}

}  // namespace halo::mpi
