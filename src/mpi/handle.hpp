#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "halo/base/checked_cast.hpp"
#include "halo/mpi/communicator.hpp"

namespace halo::mpi {

/// MpiError with the call's name, this process's rank and MPI's own text, unless `code` is MPI_SUCCESS.
void check(int code, const char* call);
/// MPI's own text of an error code.
std::string error_text(int code);

/// Waits for a nonblocking call, named for errors. Here as everywhere ranks poll and yield: one that spins in
/// a blocking call keeps a core from the very ranks it waits for wherever there are more ranks than cores.
void complete(MPI_Request& request, const char* call);

/// False before MPI_Init and after MPI_Finalize: destructors then have nothing to free.
bool is_running();

/// MPI counts are ints: Error where `count` does not fit.
inline int to_count(std::size_t count) {
  return checked_cast<int>(count, "number of elements of one MPI call");
}

/// Knows whether an exception is on its way through the scope that made it. A rank that fails alone must not
/// wait in a destructor for the others, who may never come; what it does not free then goes with the process.
class UnwindGuard {
 public:
  bool unwinding() const { return std::uncaught_exceptions() > at_start_; }

 private:
  int at_start_ = std::uncaught_exceptions();
};

struct Communicator::Handle {
  /// Takes over `owned`, sets its error handler and finds the ranks of this host. Collective.
  explicit Handle(MPI_Comm owned);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  UnwindGuard guard;
};

/// Requests in flight. The destructor waits for them, except while an exception unwinds.
class RequestSet {
 public:
  RequestSet() = default;
  ~RequestSet();
  RequestSet(const RequestSet&) = delete;
  RequestSet& operator=(const RequestSet&) = delete;

  void reserve(std::size_t count) { requests_.reserve(count); }
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  bool empty() const { return requests_.empty(); }
  /// True once all are complete.
  bool test();
  void wait();

 private:
  std::vector<MPI_Request> requests_;
  UnwindGuard guard_;
};

}  // namespace halo::mpi
