#include "model_files.hpp"

#include "embedding_file.hpp"
#include "halo/train/row_output.hpp"
#include "halo/train/weights.hpp"

namespace halo::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInitialFolder = "initial";

}  // namespace

void load_model(const Session& session, const fs::path& weights, std::span<float> parameters,
                std::int64_t embedding_cols, std::span<float> embedding) {
  load_weights(session.communicator(), weights, session.model(), parameters);
  if (embedding_cols == 0) return;
  read_embedding(session.communicator(), weights.parent_path() / kEmbeddingFile, session.partition(),
                 embedding_cols, embedding);
}

void write_model(const Session& session, const fs::path& folder, std::span<const float> parameters,
                 MatrixView<const float> embedding) {
  const dist::LocalPartition& partition = session.partition();
  if (embedding.cols > 0) {
    write_node_rows<float>(session.communicator(), folder / kEmbeddingFile, partition.manifest.num_nodes,
                           partition.graph.original_id, embedding);
  }
  session.communicator().agree([&] {
    if (session.leads()) write_weights_file(folder / kWeightsFile, session.model(), parameters);
  });
}

void keep_initial_model(const Session& session, const fs::path& run, std::span<const float> parameters,
                        MatrixView<const float> embedding) {
  session.communicator().agree([&] {
    if (session.leads()) fs::create_directories(run / kInitialFolder);
  });
  write_model(session, run / kInitialFolder, parameters, embedding);
}

fs::path initial_weights_of(const mpi::Communicator& communicator, const fs::path& run,
                            const fs::path& given) {
  const fs::path kept = run / kInitialFolder / kWeightsFile;
  std::error_code ignored;
  const bool there = communicator.rank() == 0 && fs::exists(kept, ignored);
  return communicator.broadcast((there ? kept : given).string(), 0);
}

}  // namespace halo::train
