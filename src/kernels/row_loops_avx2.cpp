#include <algorithm>
#include <cstddef>

#include "row_loops.hpp"

#define HALO_TARGET __attribute__((target("avx2")))

namespace halo::kernels::internal {
namespace {
#include "row_loops_body.inl"
}  // namespace

template <>
const RowLoops<float>& row_loops_avx2<float>() {
  return kRowLoops<float>;
}
template <>
const RowLoops<double>& row_loops_avx2<double>() {
  return kRowLoops<double>;
}

}  // namespace halo::kernels::internal
