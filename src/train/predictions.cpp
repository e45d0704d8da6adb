#include "halo/train/row_output.hpp"
#include "halo/train/run_folder.hpp"

namespace halo::train {

void write_predictions(const mpi::Communicator& communicator, const std::filesystem::path& path,
                       NodeId num_nodes, std::span<const NodeId> original_ids,
                       std::span<const std::int32_t> values) {
  write_node_values(communicator, path, num_nodes, original_ids, values);
}

}  // namespace halo::train
