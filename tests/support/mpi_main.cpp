// main() of tests that run on several ranks. doctest's own reporter mixes the lines of the ranks, and a
// REQUIRE that fails on one rank leaves the others waiting for ever; this one heads each line by its rank and
// then ends the job.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <thread>

#include "support/mpi_world.hpp"

namespace halo::testing {
namespace {

const mpi::Communicator* the_world = nullptr;

void say(const std::string& text) {
  fmt::print(stderr, "[rank {} of {}] {}\n", world().rank(), world().size(), text);
  std::fflush(stderr);
}

/// Ends the job, after a moment in which other ranks can say what they have found.
[[noreturn]] void give_up() {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  mpi::abort_all(1);
}

struct RankReporter : doctest::IReporter {
  explicit RankReporter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& data) override { current_ = data.m_name; }
  void test_case_reenter(const doctest::TestCaseData&) override { path_.clear(); }
  void subcase_start(const doctest::SubcaseSignature& subcase) override {
    path_ += std::string(" / ") + subcase.m_name.c_str();
  }

  void log_assert(const doctest::AssertData& data) override {
    if (!data.m_failed) return;
    std::string found = data.m_decomp.c_str();
    if (data.m_threw) found = std::string("it threw: ") + data.m_exception.c_str();
    say(fmt::format("{}:{}: {}{}: {}( {} ) failed: {}{}", data.m_file, data.m_line, current_, path_,
                    doctest::assertString(data.m_at), data.m_expr, found, contexts()));
    if ((data.m_at & doctest::assertType::is_require) != 0) give_up();
  }
  void log_message(const doctest::MessageData& data) override {
    say(fmt::format("{}:{}: {}{}", data.m_file, data.m_line, data.m_string.c_str(), contexts()));
    if ((data.m_severity & doctest::assertType::is_require) != 0) give_up();
  }
  void test_case_exception(const doctest::TestCaseException& data) override {
    say(fmt::format("{}{}: threw {}{}", current_, path_, data.error_string.c_str(), contexts()));
    give_up();
  }
  void test_run_end(const doctest::TestRunStats& stats) override { last = stats; }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  static inline doctest::TestRunStats last{};

 private:
  static std::string contexts() {
    std::ostringstream text;
    for (int i = 0; i < get_num_active_contexts(); ++i) {
      text << "\n    ";
      get_active_contexts()[i]->stringify(&text);
    }
    return text.str();
  }
  std::string current_;
  std::string path_;
};
DOCTEST_REGISTER_REPORTER("ranks", 0, RankReporter);

/// Collective. One line from rank 0; true if every rank ran the same test cases, at least one, and none
/// failed.
bool summarise() {
  const doctest::TestRunStats& stats = RankReporter::last;
  const auto cases = static_cast<std::int64_t>(stats.numTestCasesPassingFilters);
  std::array<std::int64_t, 3> totals = {static_cast<std::int64_t>(stats.numTestCasesFailed), stats.numAsserts,
                                        stats.numAssertsFailed};
  world().sum(totals);
  const auto all_cases = world().all_gather(cases);
  const bool alike =
      std::all_of(all_cases.begin(), all_cases.end(), [&](std::int64_t c) { return c == cases; });
  if (world().rank() == 0) {
    fmt::print("{} ranks: {} test cases, {} failed; {} assertions on all ranks, {} failed{}\n",
               world().size(), cases, totals[0], totals[1], totals[2],
               alike ? "" : "; the ranks ran different test cases");
  }
  return alike && cases > 0 && totals[0] == 0 && totals[2] == 0;
}

int run(int argc, char** argv) {
  mpi::Environment environment(&argc, &argv);
  const mpi::Communicator communicator = mpi::Communicator::world();
  the_world = &communicator;
  doctest::Context context(argc, argv);
  context.setOption("reporters", "ranks");
  const int status = context.run();
  if (context.shouldExit()) return status;
  return summarise() && status == 0 ? 0 : 1;
}

}  // namespace

const mpi::Communicator& world() {
  return *the_world;
}

}  // namespace halo::testing

int main(int argc, char** argv) {
  return halo::testing::run(argc, argv);
}
