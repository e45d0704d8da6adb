#include "halo/mpi/communicator.hpp"

#include <fmt/format.h>

#include <new>

#include "halo/base/cpu.hpp"
#include "handle.hpp"

namespace halo::mpi {

Communicator::Handle::Handle(MPI_Comm owned) : comm(owned) {
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  check(MPI_Comm_rank(host, &local_rank), "MPI_Comm_rank");
  check(MPI_Comm_size(host, &local_size), "MPI_Comm_size");
  check(MPI_Comm_free(&host), "MPI_Comm_free");
}

Communicator::Handle::~Handle() {
  if (comm != MPI_COMM_NULL && !guard.unwinding() && is_running()) MPI_Comm_free(&comm);
}

Communicator::Communicator(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

Communicator Communicator::world() {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  return Communicator(std::make_unique<Handle>(copy));
}

Rank Communicator::rank() const {
  return handle_->rank;
}
int Communicator::size() const {
  return handle_->size;
}
int Communicator::local_rank() const {
  return handle_->local_rank;
}
int Communicator::local_size() const {
  return handle_->local_size;
}

namespace {

template <typename T>
void all_reduce(MPI_Comm comm, std::span<T> values, MPI_Datatype type, MPI_Op operation) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), to_count(values.size()), type, operation, comm, &request),
        "MPI_Iallreduce");
  complete(request, "MPI_Iallreduce");
}

}  // namespace

void Communicator::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(handle_->comm, &request), "MPI_Ibarrier");
  complete(request, "MPI_Ibarrier");
}
void Communicator::sum(std::span<std::int64_t> values) const {
  all_reduce(handle_->comm, values, MPI_INT64_T, MPI_SUM);
}
void Communicator::sum(std::span<double> values) const {
  all_reduce(handle_->comm, values, MPI_DOUBLE, MPI_SUM);
}
void Communicator::max(std::span<double> values) const {
  all_reduce(handle_->comm, values, MPI_DOUBLE, MPI_MAX);
}
void Communicator::max(std::span<std::int64_t> values) const {
  all_reduce(handle_->comm, values, MPI_INT64_T, MPI_MAX);
}

void Communicator::broadcast(std::span<std::byte> bytes, Rank root) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(bytes.data(), to_count(bytes.size()), MPI_BYTE, root, handle_->comm, &request),
        "MPI_Ibcast");
  complete(request, "MPI_Ibcast");
}

std::string Communicator::broadcast(const std::string& text, Rank root) const {
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
  std::string result = rank() == root ? text : std::string(static_cast<std::size_t>(length), '\0');
  broadcast(std::as_writable_bytes(std::span(result)), root);
  return result;
}

std::vector<std::int64_t> Communicator::all_gather(std::int64_t value) const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size()));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, handle_->comm, &request),
        "MPI_Iallgather");
  complete(request, "MPI_Iallgather");
  return values;
}

std::vector<std::string> Communicator::gather(const std::string& text, Rank root) const {
  const std::vector<std::int64_t> lengths = all_gather(static_cast<std::int64_t>(text.size()));
  std::vector<int> counts;
  std::vector<int> offsets;
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) {
    counts.push_back(checked_cast<int>(length, "length of a gathered text"));
    offsets.push_back(checked_cast<int>(total, "length of the gathered texts"));
    total += length;
  }
  std::string all(rank() == root ? static_cast<std::size_t>(total) : 0, '\0');
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igatherv(text.data(), to_count(text.size()), MPI_CHAR, all.data(), counts.data(), offsets.data(),
                     MPI_CHAR, root, handle_->comm, &request),
        "MPI_Igatherv");
  complete(request, "MPI_Igatherv");
  std::vector<std::string> texts;
  if (rank() != root) return texts;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(counts[r])));
  }
  return texts;
}

}  // namespace halo::mpi
