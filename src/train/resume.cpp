#include "resume.hpp"

#include "halo/train/run_folder.hpp"

namespace halo::train {
namespace {

nlohmann::json summary_if_finished(const TrainOptions& options, const OptionRecord& record) {
  const nlohmann::json stored = stored_options(options.out);
  check_continues(stored, record, (options.out / "config.json").string());
  nlohmann::json summary = stored_summary(options.out);
  if (summary.is_null() || stored.at("runs") != options.runs) return nullptr;
  const bool enough = stored.at("epochs") == options.epochs || summary.value("stopped_early", false);
  return enough ? summary : nullptr;
}

}  // namespace

bool run_is_there(const mpi::Communicator& communicator, const std::filesystem::path& folder) {
  return communicator.broadcast(communicator.rank() == 0 && has_run(folder) ? "yes" : "no", 0) == "yes";
}

nlohmann::json finished_summary(const mpi::Communicator& communicator, const TrainOptions& options,
                                const OptionRecord& record) {
  nlohmann::json summary;
  communicator.agree([&] {
    if (communicator.rank() == 0) summary = summary_if_finished(options, record);
  });
  return nlohmann::json::parse(communicator.broadcast(summary.dump(), 0));
}

}  // namespace halo::train
