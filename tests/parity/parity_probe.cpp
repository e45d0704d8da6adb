// parity_probe CASE OUT float|double: runs one case of compare_with_pyg.py and writes what it computes as
// .npy files into the folder OUT.

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "golden/case_runner.hpp"
#include "halo/datasets/npy.hpp"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& out, const std::string& name, const std::vector<double>& values) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.size())};
  halo::datasets::write_npy<double>(out / (name + ".npy"), values, shape);
}

void write_result(const fs::path& out, const halo::test::CaseResult& result) {
  fs::create_directories(out);
  write(out, "logits", result.logits);
  write(out, "loss", result.loss);
  write(out, "losses", result.losses);
  write(out, "logits_after", result.logits_after);
  for (const auto& [name, values] : result.gradients) write(out, "grad." + name, values);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() != 4 || (words[3] != "float" && words[3] != "double")) {
    fmt::print(stderr, "usage: parity_probe CASE OUT float|double\n");
    return 2;
  }
  try {
    const halo::test::Case options = halo::test::read_case(words[1]);
    write_result(words[2], words[3] == "float" ? halo::test::run_case<float>(options)
                                               : halo::test::run_case<double>(options));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", words[1], error.what());
    return 1;
  }
}
