#pragma once

#include <filesystem>
#include <span>

#include "halo/mpi/communicator.hpp"
#include "halo/nn/program.hpp"

namespace halo::train {

/// Local. Writes the parameters of a model, learnt or not, as a .safetensors file (float32), under the names
/// and in the shapes of the modules of the field's Python library: nn::Parameter::file_shape, transposed
/// where it says so. `parameters`: the flat buffer. The file appears under its name when it is whole.
void write_weights_file(const std::filesystem::path& file, const nn::Program& program,
                        std::span<const float> parameters);

/// Local. Reads such a file, or one that Python wrote, into the flat buffer. Takes F32, F64, F16 and BF16,
/// rounded to float32; leaves out the counters num_batches_tracked, which no result depends on. InputError
/// (`parameters` untouched) if the file is no whole .safetensors file, a number in it is not finite, or its
/// tensors are not those of the model: all that are missing, too many or of another shape are named.
void read_weights_file(const std::filesystem::path& file, const nn::Program& program,
                       std::span<float> parameters);

/// Collective. read_weights_file on rank 0, for all ranks.
void load_weights(const mpi::Communicator& communicator, const std::filesystem::path& file,
                  const nn::Program& program, std::span<float> parameters);

}  // namespace halo::train
