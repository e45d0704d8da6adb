#include <algorithm>
#include <cstddef>

#include "row_loops.hpp"

#define HALO_TARGET

namespace halo::kernels::internal {
namespace {
#include "row_loops_body.inl"
}  // namespace

template <>
const RowLoops<float>& row_loops_portable<float>() {
  return kRowLoops<float>;
}
template <>
const RowLoops<double>& row_loops_portable<double>() {
  return kRowLoops<double>;
}

}  // namespace halo::kernels::internal
