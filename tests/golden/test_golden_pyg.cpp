// Every stored case of pyg/ (README.md says how they were made): what PyTorch Geometric computes for the
// models, norms, tasks and losses against what the product computes, in double and in float.

#include <doctest/doctest.h>
#include <zip.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "case_runner.hpp"
#include "halo/datasets/array_folder.hpp"

namespace {

namespace fs = std::filesystem;
using halo::test::Case;
using halo::test::CaseResult;

constexpr double kNoise = 1e-9;  // of the largest gradient: less is rounding

// In float Adam takes steps of whole learning rates from what rounding leaves of a gradient that is zero, as
// that of a bias in front of batch norm.
constexpr double kNotCompared = std::numeric_limits<double>::infinity();

struct Limits {
  double values;
  double gradients;
  double losses;
  double after;  ///< ten steps of Adam, which divides by the size of a gradient, noise included
};

std::vector<fs::path> case_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(HALO_GOLDEN_PYG)) {
    if (fs::exists(entry.path() / "case.json")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Within tolerance of each entry and a tenth of `scale`.
void check_close(const std::vector<double>& found, const std::vector<double>& expected, double scale,
                 double tolerance) {
  REQUIRE(found.size() == expected.size());
  double worst = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double difference = std::abs(found[k] - expected[k]) / (std::abs(expected[k]) + 0.1 * scale);
    worst = std::isnan(difference) ? difference : std::max(worst, difference);
    if (std::isnan(worst)) break;
  }
  CHECK(worst <= tolerance);
}

/// How many gradients an archive holds.
std::size_t stored_gradients(const fs::path& archive_path) {
  zip_t* const archive = zip_open(archive_path.c_str(), ZIP_RDONLY, nullptr);
  REQUIRE(archive != nullptr);
  std::size_t count = 0;
  for (zip_int64_t k = 0; k < zip_get_num_entries(archive, 0); ++k) {
    count += std::string_view(zip_get_name(archive, static_cast<zip_uint64_t>(k), 0)).starts_with("grad.");
  }
  zip_discard(archive);
  return count;
}

std::vector<double> read(const halo::datasets::ArrayFolder& arrays, const std::string& name) {
  return arrays.get(name).read<double>();
}

/// `own_scale`: an array's gradient is judged by its own size, else by the model's largest.
template <typename Real>
void check_case(const fs::path& folder, const Limits& limits, bool own_scale) {
  const std::string case_name = folder.filename().string();
  CAPTURE(case_name);
  const CaseResult result = halo::test::run_case<Real>(halo::test::read_case(folder));
  const auto arrays = halo::datasets::open_npz(folder / "arrays.npz");
  const auto check = [&](const std::string& name, const std::vector<double>& found, double tolerance) {
    CAPTURE(name);
    const auto expected = read(*arrays, name);
    check_close(found, expected, largest_of(expected), tolerance);
  };
  check("logits", result.logits, limits.values);
  check("loss", result.loss, limits.values);
  check("losses", result.losses, limits.losses);
  check("logits_after", result.logits_after, limits.after);
  CHECK(result.gradients.size() == stored_gradients(folder / "arrays.npz"));
  double largest = 0.0;
  for (const auto& [name, found] : result.gradients) largest = std::max(largest, largest_of(found));
  for (const auto& [name, found] : result.gradients) {
    CAPTURE(name);
    const auto expected = read(*arrays, "grad." + name);
    const double own = largest_of(expected);
    check_close(found, expected, own_scale && own > kNoise * largest ? own : largest, limits.gradients);
  }
}

bool has_extreme_scores(const fs::path& folder) {
  return folder.filename().string().starts_with("scores_");
}

}  // namespace

TEST_CASE("golden: every model and loss in double precision agrees with PyTorch Geometric to 1e-10") {
  REQUIRE(case_folders().size() == 29);
  for (const fs::path& folder : case_folders()) {
    // With attention scores of hundreds gradients are what is left of a cancellation.
    const double gradients = has_extreme_scores(folder) ? 1e-9 : 1e-10;
    check_case<double>(folder, {.values = 1e-10, .gradients = gradients, .losses = 1e-10, .after = 1e-8},
                       true);
  }
}

TEST_CASE("golden: every model and loss in single precision agrees with PyTorch Geometric's double to 1e-5") {
  for (const fs::path& folder : case_folders()) {
    const double gradients = has_extreme_scores(folder) ? 3e-5 : 1e-5;  // PyTorch's float32: 3e-5
    check_case<float>(folder, {.values = 1e-5, .gradients = gradients, .losses = 1e-4, .after = kNotCompared},
                      false);
  }
}
