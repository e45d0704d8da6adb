#include "halo/base/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>

namespace halo {
namespace {

std::string format_problem(const InputProblem& problem) {
  std::string text = problem.what;
  const auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n  {:<9} {}", name, value);
  };
  add("where:", problem.where);
  add("found:", problem.found);
  add("expected:", problem.expected);
  add("next:", problem.next);
  return text;
}

}  // namespace

InputError::InputError(const InputProblem& problem) : Error(format_problem(problem)) {}

ExitStatus exit_status_of(const std::exception& error) {
  return dynamic_cast<const InputError*>(&error) != nullptr ? ExitStatus::kBadInput : ExitStatus::kFailure;
}

int report_failure(const std::exception& error, const std::string& who) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  fmt::print(stderr, "error: {}{}{}\n", who, who.empty() ? "" : ": ",
             no_memory ? "out of memory" : error.what());
  std::fflush(stderr);
  return static_cast<int>(exit_status_of(error));
}

}  // namespace halo
