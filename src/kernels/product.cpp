#include "halo/kernels/product.hpp"

#include <Eigen/Core>

namespace halo::kernels {
namespace {

template <typename T>
using Dense = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
auto as_eigen(MatrixView<T> view) {
  using Base = std::conditional_t<std::is_const_v<T>, const Dense<T>, Dense<T>>;
  return Eigen::Map<Base, Eigen::Unaligned, Eigen::OuterStride<>>(view.data, view.rows, view.cols,
                                                                  Eigen::OuterStride<>(view.stride));
}

template <typename Left, typename Right, typename Real>
void eigen_product(const Left& left, const Right& right, MatrixView<Real> out, bool accumulate) {
  auto mapped = as_eigen(out);
  if (!accumulate) mapped.setZero();
  mapped.noalias() += left * right;
}

}  // namespace

template <typename Real>
void product(MatrixView<const Real> x, MatrixView<const Real> w, MatrixView<Real> y, bool accumulate) {
  eigen_product(as_eigen(x), as_eigen(w), y, accumulate);
}

template <typename Real>
void product_right_transposed(MatrixView<const Real> dy, MatrixView<const Real> w, MatrixView<Real> dx,
                              bool accumulate) {
  eigen_product(as_eigen(dy), as_eigen(w).transpose(), dx, accumulate);
}

template <typename Real>
void product_left_transposed(MatrixView<const Real> x, MatrixView<const Real> dy, MatrixView<Real> dw,
                             bool accumulate) {
  eigen_product(as_eigen(x).transpose(), as_eigen(dy), dw, accumulate);
}

const char* product_backend() {
  return "eigen";
}

template void product<float>(MatrixView<const float>, MatrixView<const float>, MatrixView<float>, bool);
template void product<double>(MatrixView<const double>, MatrixView<const double>, MatrixView<double>, bool);
template void product_right_transposed<float>(MatrixView<const float>, MatrixView<const float>,
                                              MatrixView<float>, bool);
template void product_right_transposed<double>(MatrixView<const double>, MatrixView<const double>,
                                               MatrixView<double>, bool);
template void product_left_transposed<float>(MatrixView<const float>, MatrixView<const float>,
                                             MatrixView<float>, bool);
template void product_left_transposed<double>(MatrixView<const double>, MatrixView<const double>,
                                              MatrixView<double>, bool);

}  // namespace halo::kernels
