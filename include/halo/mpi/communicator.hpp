#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/base/error.hpp"
#include "halo/base/ids.hpp"
#include "halo/mpi/rank_watch.hpp"

namespace halo::mpi {

/// An MPI call that failed: the call's name, MPI's own text and the rank.
class MpiError : public Error {
 public:
  using Error::Error;
};

/// Base beside Error of what Communicator::agree threw: every rank has thrown it alike, so one of them may
/// report it and all may leave in order. Any other exception is this rank's alone: it has to report it and
/// end the others with abort_all().
class Agreed {
 public:
  virtual ~Agreed() = default;
};
bool is_agreed(const std::exception& error);

/// Owns MPI_Init_thread / MPI_Finalize and the watch over the ranks of this host. Make one, first thing in
/// main(), before any thread. The destructor finalises (collective) unless an exception unwinds: MPI_Finalize
/// would wait for ranks that never come. exit() while it lives is a failure of the job.
class Environment {
 public:
  Environment(int* argc, char*** argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  RankWatch rank_watch_;  ///< first: it forks before MPI starts
  int exceptions_at_start_ = 0;
};

/// Ends all ranks with `status` at once. Prints nothing itself: say first why.
[[noreturn]] void abort_all(int status);

/// Version text of the MPI library in use.
std::string library_version();

/// A duplicated communicator with an errors-return handler. Every collective below is one MPI call, checked:
/// an error becomes MpiError. Movable, not copyable. All members marked Collective must be called by every
/// rank in the same order.
class Communicator {
 public:
  /// Collective. A duplicate of MPI_COMM_WORLD.
  static Communicator world();
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  Rank rank() const;
  int size() const;

  /// Rank within / number of ranks on this host (ranks that share memory). Local: found once, when made.
  int local_rank() const;
  int local_size() const;

  void barrier() const;  ///< Collective.
  void sum(std::span<std::int64_t> values)
      const;  ///< Collective, in place; integer, so any order gives the same bits.
  void sum(std::span<double> values) const;  ///< Collective, in place; for figures only: the order is MPI's.
  void max(std::span<double> values) const;  ///< Collective, in place.
  void max(std::span<std::int64_t> values) const;                   ///< Collective, in place.
  std::string broadcast(const std::string& text, Rank root) const;  ///< Collective.
  void broadcast(std::span<std::byte> bytes, Rank root) const;      ///< Collective.
  std::vector<std::string> gather(const std::string& text,
                                  Rank root) const;                ///< Collective; empty except on root.
  std::vector<std::int64_t> all_gather(std::int64_t value) const;  ///< Collective; one from each rank.

  /// Collective. Runs `work` on this rank; if it threw anywhere, every rank throws the error of the lowest
  /// such rank, its text headed by "rank r on host h: " where ranks > 1 (InputError stays InputError;
  /// is_agreed() holds). Use it around all that may fail on one rank only. `work` may itself agree; an
  /// MpiError passes at once, since communication is then broken.
  void agree(const std::function<void()>& work) const;

  struct Handle;
  const Handle& handle() const { return *handle_; }  ///< for src/mpi only; defined in src/mpi/handle.hpp

 private:
  explicit Communicator(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace halo::mpi
