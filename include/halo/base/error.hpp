#pragma once

#include <stdexcept>
#include <string>

namespace halo {

/// Exit statuses of every program (stable: scripts depend on them).
enum class ExitStatus : int { kDone = 0, kFailure = 1, kBadInput = 2, kStoppedEarly = 3 };

/// A failure that is nobody's input: a full disk, a lost rank, a bug. Exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parts of the one message that bad input gets.
struct InputProblem {
  std::string what;      ///< what is wrong, "labels.npy has the wrong length"
  std::string where;     ///< file, array, line or option
  std::string found;     ///< what was there
  std::string expected;  ///< what should have been there
  std::string next;      ///< what the user can do about it
};

/// Bad arguments or bad input: exit status 2, nothing written.
class InputError : public Error {
 public:
  explicit InputError(const InputProblem& problem);
  /// An already formatted message (as received from another rank).
  explicit InputError(const std::string& message) : Error(message) {}
};

/// Exit status that belongs to an exception that reached main().
ExitStatus exit_status_of(const std::exception& error);

/// Says "error: [who: ]message" on stderr, memory that ran out in plain words, and returns the exit status:
/// what main() of every program does with an exception.
int report_failure(const std::exception& error, const std::string& who = "");

}  // namespace halo
