#include "halo/mpi/exchange.hpp"

#include "handle.hpp"

namespace halo::mpi {
namespace {

struct Layout {
  std::vector<int> counts;
  std::vector<int> displacements;
};

Layout layout_of(std::span<const std::int64_t> offsets) {
  Layout layout;
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r) {
    layout.counts.push_back(checked_cast<int>(offsets[r + 1] - offsets[r], "number of ids for one rank"));
    layout.displacements.push_back(checked_cast<int>(offsets[r], "number of ids for all ranks"));
  }
  return layout;
}

}  // namespace

std::span<const std::int64_t> Received::from(Rank rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return std::span(values).subspan(static_cast<std::size_t>(offsets[r]),
                                   static_cast<std::size_t>(offsets[r + 1] - offsets[r]));
}

std::vector<std::int64_t> all_to_all(const Communicator& communicator, std::span<const std::int64_t> values) {
  if (values.size() != static_cast<std::size_t>(communicator.size())) {
    throw Error("all_to_all needs one value for each rank");
  }
  std::vector<std::int64_t> received(values.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoall(values.data(), 1, MPI_INT64_T, received.data(), 1, MPI_INT64_T,
                      communicator.handle().comm, &request),
        "MPI_Ialltoall");
  complete(request, "MPI_Ialltoall");
  return received;
}

Received all_to_all(const Communicator& communicator, std::span<const std::int64_t> values,
                    std::span<const std::int64_t> offsets) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  if (offsets.size() != ranks + 1 || offsets.back() != static_cast<std::int64_t>(values.size())) {
    throw Error("all_to_all needs offsets [ranks + 1] that end at the number of values");
  }
  std::vector<std::int64_t> counts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) counts[r] = offsets[r + 1] - offsets[r];
  const std::vector<std::int64_t> incoming = all_to_all(communicator, counts);

  Received received;
  received.offsets.push_back(0);
  for (const std::int64_t count : incoming) received.offsets.push_back(received.offsets.back() + count);
  received.values.resize(static_cast<std::size_t>(received.offsets.back()));
  const Layout send = layout_of(offsets);
  const Layout receive = layout_of(received.offsets);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoallv(values.data(), send.counts.data(), send.displacements.data(), MPI_INT64_T,
                       received.values.data(), receive.counts.data(), receive.displacements.data(),
                       MPI_INT64_T, communicator.handle().comm, &request),
        "MPI_Ialltoallv");
  complete(request, "MPI_Ialltoallv");
  return received;
}

Received send_to_ranks(const Communicator& communicator,
                       const std::vector<std::vector<std::int64_t>>& for_rank) {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> offsets{0};
  for (const auto& of_rank : for_rank) {
    values.insert(values.end(), of_rank.begin(), of_rank.end());
    offsets.push_back(std::ssize(values));
  }
  return all_to_all(communicator, values, offsets);
}

}  // namespace halo::mpi
