#include "halo/nn/targets.hpp"

namespace halo::nn {

double Targets::loss_count(int split) const {
  const auto k = static_cast<std::size_t>(split);
  if (task == Task::kSingleLabel && !class_weights.empty()) return global_weight[k];
  const auto count = static_cast<double>(global_count[k]);
  return task == Task::kMultiLabel ? count * static_cast<double>(cols) : count;
}

}  // namespace halo::nn
