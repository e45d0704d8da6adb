#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "neighbour_sum_isa.hpp"

#define HALO_TARGET

namespace halo::kernels::internal {
namespace {

// 16 bytes: what SSE2, NEON and VSX have; elsewhere the compiler takes the vector apart. (GCC and Clang
// extension.)
template <typename RealT>
struct PortableVector {
  using Real = RealT;
  using Stored = Real;
  typedef Real Register __attribute__((vector_size(16)));
  using Mask = int;  // lanes in use
  static constexpr int kLanes = 16 / static_cast<int>(sizeof(Real));
  static constexpr int kMaxVectors = 12;
  static Mask mask(int lanes) { return lanes; }
  static Register broadcast(Real value) { return value - Register{}; }
  static Register load(const Real* from) {
    Register a;
    std::memcpy(&a, from, sizeof(a));
    return a;
  }
  static Register load_part(const Real* from, Mask lanes) {
    if (lanes == kLanes) return load(from);
    Real part[static_cast<std::size_t>(kLanes)] = {};
    for (int lane = 0; lane < lanes; ++lane) part[lane] = from[lane];
    return load(part);
  }
  static Register add(Register a, Register b) { return a + b; }
  static Register multiply(Register a, Register b) { return a * b; }
  static void store(Real* to, Register a) { std::memcpy(to, &a, sizeof(a)); }
  static void store_part(Real* to, Register a, Mask lanes) {
    Real part[static_cast<std::size_t>(kLanes)];
    store(part, a);
    for (int lane = 0; lane < lanes; ++lane) to[lane] = part[lane];
  }
};

template <typename Real>
struct HalfVector : PortableVector<Real> {
  using typename PortableVector<Real>::Register;
  using Stored = typename Half<Real>::Stored;
  static Register load(const Stored* from) { return load_part(from, PortableVector<Real>::kLanes); }
  static Register load_part(const Stored* from, int lanes) {
    Real part[static_cast<std::size_t>(PortableVector<Real>::kLanes)] = {};
    for (int lane = 0; lane < lanes; ++lane) part[lane] = Half<Real>::widen(from[lane]);
    return PortableVector<Real>::load(part);
  }
};

#include "neighbour_sum_body.inl"

}  // namespace

template <>
void neighbour_sum_portable<float>(const NeighbourSum<float>& sum) {
  sum.half ? sum_rows<HalfVector<float>>(sum) : sum_rows<PortableVector<float>>(sum);
}
template <>
void neighbour_sum_portable<double>(const NeighbourSum<double>& sum) {
  sum.half ? sum_rows<HalfVector<double>>(sum) : sum_rows<PortableVector<double>>(sum);
}

}  // namespace halo::kernels::internal
