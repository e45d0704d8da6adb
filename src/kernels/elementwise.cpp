#include "halo/kernels/elementwise.hpp"

#include <algorithm>
#include <cmath>

namespace halo::kernels {
namespace {

/// y_rc = f(x_rc)
template <typename Real, typename F>
void map(MatrixView<const Real> x, MatrixView<Real> y, const F& f) {
  for (std::int64_t r = 0; r < y.rows; ++r) {
    const Real* const from = x.row(r);
    Real* const to = y.row(r);
    for (std::int64_t c = 0; c < y.cols; ++c) to[c] = f(from[c]);
  }
}

/// y_rc = f(a_rc, b_rc)
template <typename Real, typename F>
void map2(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> y, const F& f) {
  for (std::int64_t r = 0; r < y.rows; ++r) {
    const Real* const first = a.row(r);
    const Real* const second = b.row(r);
    Real* const to = y.row(r);
    for (std::int64_t c = 0; c < y.cols; ++c) to[c] = f(first[c], second[c]);
  }
}

}  // namespace

template <typename Real>
void combine(Real alpha, MatrixView<const Real> a, Real beta, MatrixView<const Real> b, MatrixView<Real> y) {
  map2(a, b, y, [=](Real u, Real v) { return alpha * u + beta * v; });
}

template <typename Real>
void scale(Real factor, MatrixView<const Real> x, MatrixView<Real> y) {
  map(x, y, [=](Real u) { return factor * u; });
}

template <typename Real>
double inner_product(MatrixView<const Real> a, MatrixView<const Real> b) {
  double sum = 0.0;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t c = 0; c < a.cols; ++c)
      sum += static_cast<double>(a(r, c)) * static_cast<double>(b(r, c));
  }
  return sum;
}

template <typename Real>
void elu(MatrixView<const Real> x, MatrixView<Real> y) {
  map(x, y, [](Real u) { return u > Real{0} ? u : std::expm1(u); });
}

template <typename Real>
void elu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, MatrixView<Real> dx) {
  map2(y, dy, dx, [](Real u, Real d) { return u > Real{0} ? d : d * (u + Real{1}); });
}

template <typename Real>
void leaky_relu(MatrixView<const Real> x, Real slope, MatrixView<Real> y) {
  map(x, y, [=](Real u) { return u > Real{0} ? u : slope * u; });
}

template <typename Real>
void leaky_relu_backward(MatrixView<const Real> y, MatrixView<const Real> dy, Real slope,
                         MatrixView<Real> dx) {
  map2(y, dy, dx, [=](Real u, Real d) { return u > Real{0} ? d : slope * d; });
}

template <typename Real>
void copy_columns_into(MatrixView<const Real> x, std::int64_t begin, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < x.rows; ++r) std::copy_n(x.row(r), x.cols, y.row(r) + begin);
}

template <typename Real>
void copy_columns_from(MatrixView<const Real> x, std::int64_t begin, MatrixView<Real> y) {
  for (std::int64_t r = 0; r < y.rows; ++r) std::copy_n(x.row(r) + begin, y.cols, y.row(r));
}

template <typename Real>
void raise_to(MatrixView<const Real> x, MatrixView<Real> y) {
  map2<Real>(y, x, y, [](Real u, Real v) {
    const bool stays = (v <= u) | (u != u);  // a NaN is not <= and is not replaced
    return stays ? u : v;
  });
}

template <typename Real>
void clear_where_beaten(MatrixView<const Real> x, MatrixView<const Real> other, bool ties_beat,
                        MatrixView<Real> dx) {
  for (std::int64_t r = 0; r < dx.rows; ++r) {
    const Real* const own = x.row(r);
    const Real* const others = other.row(r);
    Real* const to = dx.row(r);
    for (std::int64_t c = 0; c < dx.cols; ++c) {
      const bool stays = ties_beat ? others[c] < own[c] : others[c] <= own[c];
      to[c] = stays ? to[c] : Real{0};
    }
  }
}

template <typename Real>
void head_mean(MatrixView<const Real> x, int heads, MatrixView<Real> y) {
  const Real share = Real{1} / static_cast<Real>(heads);
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t c = 0; c < y.cols; ++c) {
      Real sum = 0;
      for (std::int64_t h = 0; h < heads; ++h) sum += x(r, h * y.cols + c);
      y(r, c) = sum * share;
    }
  }
}

template <typename Real>
void head_mean_backward(MatrixView<const Real> dy, int heads, MatrixView<Real> dx) {
  const Real share = Real{1} / static_cast<Real>(heads);
  for (std::int64_t r = 0; r < dy.rows; ++r) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t c = 0; c < dy.cols; ++c) dx(r, h * dy.cols + c) = dy(r, c) * share;
    }
  }
}

#define HALO_INSTANTIATE(Real)                                                                               \
  template void combine<Real>(Real, MatrixView<const Real>, Real, MatrixView<const Real>, MatrixView<Real>); \
  template void scale<Real>(Real, MatrixView<const Real>, MatrixView<Real>);                                 \
  template double inner_product<Real>(MatrixView<const Real>, MatrixView<const Real>);                       \
  template void elu<Real>(MatrixView<const Real>, MatrixView<Real>);                                         \
  template void elu_backward<Real>(MatrixView<const Real>, MatrixView<const Real>, MatrixView<Real>);        \
  template void leaky_relu<Real>(MatrixView<const Real>, Real, MatrixView<Real>);                            \
  template void leaky_relu_backward<Real>(MatrixView<const Real>, MatrixView<const Real>, Real,              \
                                          MatrixView<Real>);                                                 \
  template void copy_columns_into<Real>(MatrixView<const Real>, std::int64_t, MatrixView<Real>);             \
  template void copy_columns_from<Real>(MatrixView<const Real>, std::int64_t, MatrixView<Real>);             \
  template void raise_to<Real>(MatrixView<const Real>, MatrixView<Real>);                                    \
  template void clear_where_beaten<Real>(MatrixView<const Real>, MatrixView<const Real>, bool,               \
                                         MatrixView<Real>);                                                  \
  template void head_mean<Real>(MatrixView<const Real>, int, MatrixView<Real>);                              \
  template void head_mean_backward<Real>(MatrixView<const Real>, int, MatrixView<Real>)

HALO_INSTANTIATE(float);
HALO_INSTANTIATE(double);
#undef HALO_INSTANTIATE

}  // namespace halo::kernels
