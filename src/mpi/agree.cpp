#include <fmt/format.h>

#include <array>
#include <new>

#include "halo/base/cpu.hpp"
#include "handle.hpp"

namespace halo::mpi {
namespace {

/// Marks what agree() threw on all ranks alike, beside its class for those who catch by kind.
class AgreedError : public Error, public Agreed {
 public:
  using Error::Error;
};
class AgreedInputError : public InputError, public Agreed {
 public:
  using InputError::InputError;
};

struct Failure {
  bool failed = false;
  bool bad_input = false;
  std::string text;
};

Failure run(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    // Thrown on all ranks alike, or communication itself is broken: nothing is left to agree on.
    if (is_agreed(error) || dynamic_cast<const MpiError*>(&error) != nullptr) throw;
    const bool bad_input = dynamic_cast<const InputError*>(&error) != nullptr;
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    return {true, bad_input, no_memory ? "out of memory" : error.what()};
  }
}

}  // namespace

bool is_agreed(const std::exception& error) {
  return dynamic_cast<const Agreed*>(&error) != nullptr;
}

void Communicator::agree(const std::function<void()>& work) const {
  Failure failure = run(work);
  int first = failure.failed ? rank() : size();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, handle_->comm, &request), "MPI_Iallreduce");
  complete(request, "MPI_Iallreduce");
  if (first == size()) return;
  if (rank() == first && size() > 1) {
    failure.text = fmt::format("rank {} on host {}: {}", rank(), host_name(), failure.text);
  }
  const std::string message = broadcast((failure.bad_input ? "i" : "e") + failure.text, first);
  if (message.front() == 'i') throw AgreedInputError(message.substr(1));
  throw AgreedError(message.substr(1));
}

}  // namespace halo::mpi
