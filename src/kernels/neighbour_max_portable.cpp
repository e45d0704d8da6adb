#include <algorithm>
#include <cstddef>
#include <limits>

#include "neighbour_max_loops.hpp"

#define HALO_TARGET

namespace halo::kernels::internal {
namespace {
#include "neighbour_max_body.inl"
}  // namespace

template <>
const NeighbourMaxLoops<float>& neighbour_max_loops_portable<float>() {
  return kNeighbourMaxLoops<float>;
}
template <>
const NeighbourMaxLoops<double>& neighbour_max_loops_portable<double>() {
  return kNeighbourMaxLoops<double>;
}

}  // namespace halo::kernels::internal
