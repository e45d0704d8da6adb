#include <algorithm>
#include <cstddef>
#include <limits>

#include "neighbour_max_loops.hpp"

#define HALO_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")))

namespace halo::kernels::internal {
namespace {
#include "neighbour_max_body.inl"
}  // namespace

template <>
const NeighbourMaxLoops<float>& neighbour_max_loops_avx512<float>() {
  return kNeighbourMaxLoops<float>;
}
template <>
const NeighbourMaxLoops<double>& neighbour_max_loops_avx512<double>() {
  return kNeighbourMaxLoops<double>;
}

}  // namespace halo::kernels::internal
