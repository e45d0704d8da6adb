#pragma once

#include <vector>

#include "halo/nn/program.hpp"

namespace halo::nn {

/// How many operations read each value; the program's logits count as read once more.
std::vector<int> count_uses(const Program& program);

/// Position of the operation that makes each value, or kNone.
std::vector<std::int32_t> find_producers(const Program& program);

/// Weights that backward multiplies by, each once.
std::vector<ParameterId> transposed_weights(const Program& program);

/// For each value: true if it depends on a parameter.
std::vector<bool> depends_on_parameters(const Program& program);

}  // namespace halo::nn
