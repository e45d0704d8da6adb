// Products of one tile, one thread: LIBXSMM against its Eigen twin. `flops` counts two per multiply-add.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "halo/base/buffer.hpp"
#include "halo/kernels/product.hpp"
#include "product_backends.hpp"

namespace halo::bench {
namespace {

using kernels::internal::Transposed;

// y = x w (tile rows, inner, cols), dx = dy w^T or dw = x^T dy of the same layer; ones everywhere.
struct Layer {
  std::int64_t rows, inner, cols;
  Buffer<float> x{rows * inner}, w{inner * cols}, y{rows * cols};

  explicit Layer(const benchmark::State& state)
      : rows(state.range(0)), inner(state.range(1)), cols(state.range(2)) {
    x.fill(1.0F);
    w.fill(1.0F);
    y.fill(1.0F);
  }
  template <typename Multiply>
  void run(benchmark::State& state, const Multiply& multiply) {
    for (auto _ : state) {
      multiply(MatrixView(x.data(), rows, inner), MatrixView(w.data(), inner, cols),
               MatrixView(y.data(), rows, cols));
      benchmark::ClobberMemory();
    }
    state.counters["flops"] = benchmark::Counter(2.0 * static_cast<double>(rows * inner * cols),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  }
};

using Mat = MatrixView<float>;

void product(benchmark::State& state) {
  Layer(state).run(state, [](Mat x, Mat w, Mat y) { kernels::product<float>(x, w, y, false); });
}
void product_eigen(benchmark::State& state) {
  Layer(state).run(state, [](Mat x, Mat w, Mat y) {
    kernels::internal::eigen_product<float>(Transposed::kNone, x, w, y, false);
  });
}
void product_right_transposed(benchmark::State& state) {
  Layer(state).run(state,
                   [](Mat dx, Mat w, Mat dy) { kernels::product_right_transposed<float>(dy, w, dx, false); });
}
void product_right_transposed_eigen(benchmark::State& state) {
  Layer(state).run(state, [](Mat dx, Mat w, Mat dy) {
    kernels::internal::eigen_product<float>(Transposed::kRight, dy, w, dx, false);
  });
}
void product_left_transposed(benchmark::State& state) {
  Layer(state).run(state,
                   [](Mat x, Mat dw, Mat dy) { kernels::product_left_transposed<float>(x, dy, dw, false); });
}
void product_left_transposed_eigen(benchmark::State& state) {
  Layer(state).run(state, [](Mat x, Mat dw, Mat dy) {
    kernels::internal::eigen_product<float>(Transposed::kLeft, x, dy, dw, false);
  });
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"rows", "inner", "cols"});
  bench->Args({256, 256, 256})->Args({256, 100, 256})->Args({256, 256, 47})->Args({256, 1433, 16});
  bench->Unit(benchmark::kMicrosecond);
}
BENCHMARK(product)->Apply(shapes);
BENCHMARK(product_eigen)->Apply(shapes);
BENCHMARK(product_right_transposed)->Apply(shapes);
BENCHMARK(product_right_transposed_eigen)->Apply(shapes);
BENCHMARK(product_left_transposed)->Apply(shapes);
BENCHMARK(product_left_transposed_eigen)->Apply(shapes);

}  // namespace
}  // namespace halo::bench
