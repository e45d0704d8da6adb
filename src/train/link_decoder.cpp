#include "link_decoder.hpp"

#include <algorithm>
#include <array>

#include "halo/base/buffer.hpp"
#include "halo/base/error.hpp"
#include "halo/kernels/product.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::train {
namespace {

template <typename Real>
class DotDecoder final : public LinkDecoder<Real> {
 public:
  explicit DotDecoder(std::int64_t cols) : cols_(cols) {}

  void set_parameters(std::span<const Real>) override {}

  void score(const Real* x, MatrixView<const Real> y, std::span<Real> scores) override {
    for (std::int64_t i = 0; i < y.rows; ++i) scores[at(i)] = dot(x, y.row(i));
  }

  void backward(const Real*, MatrixView<const Real> y, std::span<const Real> dscores,
                std::span<const std::uint8_t>, std::span<Real> dx, std::span<Real>) override {
    for (std::int64_t i = 0; i < y.rows; ++i) {
      const Real* row = y.row(i);
      for (std::int64_t c = 0; c < cols_; ++c) dx[at(c)] += dscores[at(i)] * row[c];
    }
  }

 private:
  /// Eight sums side by side, so that the compiler may use vectors without changing the order.
  Real dot(const Real* x, const Real* y) const {
    constexpr std::int64_t kLanes = 8;
    std::array<Real, kLanes> sums{};
    std::int64_t c = 0;
    for (; c + kLanes <= cols_; c += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[at(lane)] += x[c + lane] * y[c + lane];
    }
    for (std::int64_t lane = 0; c < cols_; ++c, ++lane) sums[at(lane)] += x[c] * y[c];
    Real total{0};
    for (const Real sum : sums) total += sum;
    return total;
  }

  std::int64_t cols_;
};

/// p = x * y, a = relu(p W + b), score = a w + c; parameters [W | b | w | c].
template <typename Real>
class MlpDecoder final : public LinkDecoder<Real> {
 public:
  explicit MlpDecoder(std::int64_t cols) : cols_(cols) {}

  void set_parameters(std::span<const Real> parameters) override { parameters_ = parameters; }

  void score(const Real* x, MatrixView<const Real> y, std::span<Real> scores) override {
    reserve(y.rows);
    const MatrixView<Real> p = view(p_, y.rows), a = view(a_, y.rows);
    for (std::int64_t i = 0; i < y.rows; ++i) {
      for (std::int64_t c = 0; c < cols_; ++c) p(i, c) = x[c] * y(i, c);
    }
    kernels::product<Real>(p, hidden_weight(), a, false);
    kernels::add_bias<Real>(a, parameters_.subspan(at(cols_ * cols_), at(cols_)), a);
    kernels::relu<Real>(a, a);
    const auto weight = output_weight();
    for (std::int64_t i = 0; i < y.rows; ++i) {
      Real sum = parameters_.back();
      for (std::int64_t c = 0; c < cols_; ++c) sum += a(i, c) * weight[at(c)];
      scores[at(i)] = sum;
    }
  }

  void backward(const Real*, MatrixView<const Real> y, std::span<const Real> dscores,
                std::span<const std::uint8_t> counts, std::span<Real> dx, std::span<Real> gradient) override {
    const MatrixView<Real> p = view(p_, y.rows), a = view(a_, y.rows);
    const MatrixView<Real> da = view(da_, y.rows), dp = view(dp_, y.rows);
    const auto weight = output_weight();
    for (std::int64_t i = 0; i < y.rows; ++i) {
      for (std::int64_t c = 0; c < cols_; ++c)
        da(i, c) = a(i, c) > Real{0} ? dscores[at(i)] * weight[at(c)] : Real{0};
    }
    kernels::product_right_transposed<Real>(da, hidden_weight(), dp, false);
    for (std::int64_t i = 0; i < y.rows; ++i) {
      for (std::int64_t c = 0; c < cols_; ++c) dx[at(c)] += dp(i, c) * y(i, c);
    }
    // Pairs that count elsewhere leave the parameters alone.
    for (std::int64_t i = 0; i < y.rows; ++i) {
      if (counts[at(i)] == 0) std::fill_n(da.row(i), cols_, Real{0});
    }
    kernels::product_left_transposed<Real>(p, da, {gradient.data(), cols_, cols_}, true);
    kernels::column_sums<Real>(da, gradient.subspan(at(cols_ * cols_), at(cols_)));
    const auto dweight = gradient.subspan(at(cols_ * cols_ + cols_), at(cols_));
    for (std::int64_t i = 0; i < y.rows; ++i) {
      if (counts[at(i)] == 0) continue;
      for (std::int64_t c = 0; c < cols_; ++c) dweight[at(c)] += dscores[at(i)] * a(i, c);
      gradient.back() += dscores[at(i)];
    }
  }

 private:
  MatrixView<const Real> hidden_weight() const { return {parameters_.data(), cols_, cols_}; }
  std::span<const Real> output_weight() const {
    return parameters_.subspan(at(cols_ * cols_ + cols_), at(cols_));
  }
  MatrixView<Real> view(Buffer<Real>& buffer, std::int64_t rows) { return {buffer.data(), rows, cols_}; }
  void reserve(std::int64_t rows) {
    if (p_.size() >= rows * cols_) return;
    for (Buffer<Real>* buffer : {&p_, &a_, &da_, &dp_}) *buffer = Buffer<Real>(rows * cols_);
  }

  std::int64_t cols_;
  std::span<const Real> parameters_;
  Buffer<Real> p_, a_, da_, dp_;  ///< [rows x cols] of the last score() and backward()
};

}  // namespace

RowRange decoder_range(const nn::Program& program) {
  RowRange range;
  for (const nn::Parameter& parameter : program.parameters) {
    if (!parameter.name.starts_with("decoder.")) continue;
    if (range.size() == 0) range = {parameter.offset, parameter.offset};
    if (parameter.offset != range.end) throw Error("the parameters of the decoder do not stand together");
    range.end += parameter.size();
  }
  return range;
}

template <typename Real>
std::unique_ptr<LinkDecoder<Real>> make_decoder(const std::string& name, std::int64_t cols) {
  if (name == "dot") return std::make_unique<DotDecoder<Real>>(cols);
  if (name == "mlp") return std::make_unique<MlpDecoder<Real>>(cols);
  throw InputError(
      {.what = "unknown decoder", .where = "--decoder", .found = name, .expected = "dot or mlp", .next = ""});
}

template std::unique_ptr<LinkDecoder<float>> make_decoder(const std::string&, std::int64_t);
template std::unique_ptr<LinkDecoder<double>> make_decoder(const std::string&, std::int64_t);

}  // namespace halo::train
