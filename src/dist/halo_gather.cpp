#include "halo/dist/halo_gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "halo/base/buffer.hpp"
#include "halo/base/error.hpp"
#include "halo/base/parallel.hpp"
#include "halo/base/trace.hpp"
#include "halo/kernels/rows.hpp"
#include "halo/mpi/row_exchange.hpp"

namespace halo::dist {
namespace {

struct TransportName {
  Transport transport;
  const char* name;
  mpi::RowExchange::Call call;
};
constexpr std::array<TransportName, 4> kTransports = {{
    {Transport::kNonblocking, "nonblocking", mpi::RowExchange::Call::kNonblocking},
    {Transport::kBlocking, "blocking", mpi::RowExchange::Call::kBlocking},
    {Transport::kPointToPoint, "p2p", mpi::RowExchange::Call::kPointToPoint},
    {Transport::kPersistent, "persistent", mpi::RowExchange::Call::kPersistent},
}};
constexpr const char* kAutoName = "auto";

mpi::RowExchange::Call call_of(Transport transport) {
  for (const TransportName& entry : kTransports) {
    if (entry.transport == transport) return entry.call;
  }
  throw Error("a halo gather needs a transport, not one to be chosen");
}

/// Rows that a thread packs at a time: enough work to be worth a turn, few enough to share.
constexpr std::int64_t kPackRows = 256;

}  // namespace

Transport parse_transport(const std::string& name) {
  if (name == "persistent" && !mpi::RowExchange::has_persistent()) {
    throw InputError({.what = "this MPI library has no persistent neighbourhood collectives",
                      .where = "--transport",
                      .found = name,
                      .expected = "nonblocking, blocking, p2p or auto",
                      .next = "build with an MPI library of version 4 to use it"});
  }
  for (const TransportName& entry : kTransports) {
    if (name == entry.name) return entry.transport;
  }
  if (name == kAutoName) return Transport::kAuto;
  throw InputError({.what = "unknown transport",
                    .where = "--transport",
                    .found = name,
                    .expected = "nonblocking, blocking, p2p, persistent or auto",
                    .next = ""});
}

const char* to_string(Transport transport) {
  for (const TransportName& entry : kTransports) {
    if (entry.transport == transport) return entry.name;
  }
  return kAutoName;
}

void GatherStatistics::add(const GatherRecord& gather) {
  constexpr double kSecond = 1e9;
  bytes_sent += gather.bytes_sent;
  ++gathers;
  waited_seconds += static_cast<double>(gather.waited()) / kSecond;
  hidden_seconds += static_cast<double>(gather.hidden()) / kSecond;
}

void GatherStatistics::add(const GatherStatistics& other) {
  bytes_sent += other.bytes_sent;
  gathers += other.gathers;
  waited_seconds += other.waited_seconds;
  hidden_seconds += other.hidden_seconds;
}

template <typename Real>
struct HaloGather<Real>::State {
  State(const mpi::Communicator& communicator, const HaloPlan& plan_, Transport transport,
        std::int64_t max_cols_)
      : plan(plan_),
        call(call_of(transport)),
        max_cols(max_cols_),
        packed(plan.rows_sent() * max_cols_),
        apart(plan.some || transport == Transport::kPersistent),
        landed(apart ? plan.rows_received() * max_cols_ : 0),
        exchange(communicator, {.send_to = plan.send_to,
                                .send_offsets = plan.send_offsets,
                                .receive_from = plan.receive_from,
                                .receive_offsets = plan.receive_offsets}) {}

  void pack(MatrixView<const Real> x, int threads);
  void unpack();
  void note_finished();

  HaloPlan plan;
  mpi::RowExchange::Call call;
  std::int64_t max_cols;
  // Declared before `exchange`, which must be complete before they go.
  Buffer<Real> packed;
  bool apart;  ///< rows do not land in place: some are left out, or the buffers have to be the same
  Buffer<Real> landed;
  MatrixView<Real> halo{};  ///< of the gather in flight
  mpi::RowExchange exchange;
  GatherRecord last;
};

template <typename Real>
void HaloGather<Real>::State::note_finished() {
  const bool alone = plan.send_to.empty() && plan.receive_from.empty();
  last.finished = alone ? last.waiting : steady_nanoseconds();
  if (alone) {
    last.arrived = last.posted;
  } else if (last.arrived == 0) {
    last.arrived = last.finished;
  }
}

template <typename Real>
void HaloGather<Real>::State::pack(MatrixView<const Real> x, int threads) {
  const std::span<const LocalId> rows = plan.send_rows;
  const MatrixView<Real> out(packed.data(), plan.rows_sent(), x.cols);
  parallel_for((out.rows + kPackRows - 1) / kPackRows, threads, [&](std::int64_t block, int) {
    const RowRange range = {block * kPackRows, std::min((block + 1) * kPackRows, out.rows)};
    kernels::pack_rows<Real>(
        x, rows.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size())),
        out.slice(range));
  });
}

/// From where they landed to where the rows belong; the rows between are not touched.
template <typename Real>
void HaloGather<Real>::State::unpack() {
  if (apart && !plan.some) std::copy_n(landed.data(), halo.rows * halo.cols, halo.data);
  for (std::size_t k = 0; k < plan.receive_rows.size(); ++k) {
    std::copy_n(landed.data() + static_cast<std::int64_t>(k) * halo.cols, halo.cols,
                halo.row(plan.receive_rows[k]));
  }
}

template <typename Real>
HaloGather<Real>::HaloGather(const mpi::Communicator& communicator, const HaloPlan& plan, Transport transport,
                             std::int64_t max_cols)
    : state_(std::make_unique<State>(communicator, plan, transport, max_cols)) {}
template <typename Real>
HaloGather<Real>::~HaloGather() = default;
template <typename Real>
HaloGather<Real>::HaloGather(HaloGather&&) noexcept = default;
template <typename Real>
HaloGather<Real>& HaloGather<Real>::operator=(HaloGather&&) noexcept = default;

template <typename Real>
void HaloGather<Real>::start(MatrixView<Real> x, int threads) {
  State& s = *state_;
  s.last = {.packing = steady_nanoseconds()};
  const std::int64_t owned = x.rows - s.plan.halo;
  if (x.stride != x.cols || x.cols > s.max_cols || owned < 0) {
    throw Error(fmt::format(
        "halo gather of a matrix [{} x {}] with stride {}: expected owned + {} contiguous rows of at "
        "most {} columns",
        x.rows, x.cols, x.stride, s.plan.halo, s.max_cols));
  }
  s.pack(x, threads);
  s.last.bytes_sent = s.plan.rows_sent() * x.cols * static_cast<std::int64_t>(sizeof(Real));
  s.halo = {x.row(owned), s.plan.halo, x.cols};
  const bool waits = s.call == mpi::RowExchange::Call::kBlocking;
  if (waits) s.last.posted = s.last.waiting = steady_nanoseconds();
  s.exchange.start(s.call, s.packed.data(), s.apart ? s.landed.data() : s.halo.data, x.cols);
  if (waits) {
    s.note_finished();
  } else {
    s.last.posted = steady_nanoseconds();
  }
}

template <typename Real>
void HaloGather<Real>::poke() {
  State& s = *state_;
  if (s.exchange.in_flight() && s.exchange.test()) s.last.arrived = steady_nanoseconds();
}

template <typename Real>
void HaloGather<Real>::finish() {
  State& s = *state_;
  if (s.call != mpi::RowExchange::Call::kBlocking) {
    s.last.waiting = steady_nanoseconds();
    s.exchange.wait();
    s.note_finished();
  }
  s.unpack();
}

template <typename Real>
const GatherRecord& HaloGather<Real>::last() const {
  return state_->last;
}

template class HaloGather<float>;
template class HaloGather<double>;

}  // namespace halo::dist
