// gnn_train: trains a graph neural network on a partitioned dataset, on any number of MPI ranks up to its
// number of parts.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "gnn_train_options.hpp"
#include "halo/base/error.hpp"
#include "halo/base/log.hpp"
#include "halo/mpi/program.hpp"
#include "halo/train/trainer.hpp"
#include "option_file.hpp"

namespace {

using namespace halo;

std::string format_accuracy(const nlohmann::json& value) {
  return value.is_null() ? "none (no such nodes)" : fmt::format("{:.4f}", value.get<double>());
}

void print_summary(const nlohmann::json& summary, const std::filesystem::path& out) {
  fmt::print("epochs {}{}, {:.4f} s each (median; training {:.4f} s), peak memory {:.1f} MiB per rank\n",
             summary["epochs"].get<std::int64_t>(),
             summary["stopped_early"].get<bool>() ? " (stopped early)" : "",
             summary["epoch_seconds_median"].get<double>(), summary["train_seconds_median"].get<double>(),
             static_cast<double>(summary["peak_bytes_max"].get<std::int64_t>()) / 0x1p20);
  fmt::print("validation accuracy {}\ntest accuracy {}\n", format_accuracy(summary["val_accuracy"]),
             format_accuracy(summary["test_accuracy"]));
  if (!out.empty()) fmt::print("run folder {}\n", out.string());
}

/// Parses on every rank (all see the same words); rank 0 speaks. Returns the exit status, or -1 to go on.
int parse(CLI::App& app, int argc, char** argv, bool speaks) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    const bool asked =
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);  // --help, --version
    if (speaks) app.exit(error);
    return asked ? static_cast<int>(ExitStatus::kDone) : static_cast<int>(ExitStatus::kBadInput);
  }
}

int run(int argc, char** argv, const mpi::Communicator& world) {
  const bool leads = world.rank() == 0;
  CLI::App app{
      "Trains a graph neural network on a partitioned dataset: mpiexec -n P gnn_train PARTS --out RUN"};
  app.set_version_flag("--version", "gnn_train " HALO_VERSION);
  apps::TrainArguments arguments;
  apps::add_option_file(app);
  apps::add_train_options(app, arguments);
  int status = -1;
  world.agree([&] {
    status = parse(app, argc, argv, leads);
    if (status >= 0) return;
    set_up_log(arguments.log_level, arguments.quiet,
               world.size() > 1 ? fmt::format("rank {}", world.rank()) : "");
    apps::resolve(arguments);
  });
  if (status >= 0) return status;
  const auto summary = train::train(world, arguments.train, {.progress = !arguments.quiet});
  if (leads) print_summary(summary, arguments.train.out);
  return static_cast<int>(ExitStatus::kDone);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::mpi::run_program(argc, argv,
                                [&](const halo::mpi::Communicator& world) { return run(argc, argv, world); });
}
