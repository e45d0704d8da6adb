#include "predictions.hpp"

#include <algorithm>
#include <vector>

#include "halo/train/row_output.hpp"

namespace halo::train {

void write_predictions(Session& session, const std::filesystem::path& path) {
  const mpi::Communicator& communicator = session.communicator();
  nn::Executor<float>& executor = session.executor();
  const auto& ids = session.partition().graph.original_id;
  const NodeId nodes = session.partition().manifest.num_nodes;
  const nn::Task task = executor.targets().task;
  if (session.model().external_loss) {
    write_node_rows<float>(communicator, path, nodes, ids, executor.logits());
    session.links()->write_scores(path.parent_path());
    return;
  }
  if (task == nn::Task::kSingleLabel) {
    write_node_values<std::int32_t>(communicator, path, nodes, ids, executor.predictions());
    return;
  }
  const MatrixView<const float> outputs = executor.logits();
  if (task != nn::Task::kMultiLabel) {
    write_node_rows<float>(communicator, path, nodes, ids, outputs);
    return;
  }
  std::vector<std::int32_t> chosen(static_cast<std::size_t>(outputs.rows * outputs.cols));
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    std::transform(outputs.row(i), outputs.row(i) + outputs.cols, chosen.begin() + i * outputs.cols,
                   [](float output) { return output > 0.0F ? 1 : 0; });
  }
  write_node_rows<std::int32_t>(communicator, path, nodes, ids,
                                MatrixView<const std::int32_t>(chosen.data(), outputs.rows, outputs.cols));
}

}  // namespace halo::train
