// Cost of the order-free accumulation of weight gradients: once for each group of rows the float product dw =
// x^T dy is added to the exact limbs. `to_product` is that time over the time of the product of a group of
// 4096 rows.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/base/exact_sum.hpp"
#include "halo/base/timer.hpp"
#include "halo/kernels/product.hpp"

namespace halo::bench {
namespace {

constexpr std::int64_t kGroupRows = 4096;

double product_seconds(std::int64_t inner, std::int64_t cols) {
  Buffer<float> x(kGroupRows * inner), dy(kGroupRows * cols), dw(inner * cols);
  x.fill(1.0F);
  dy.fill(1.0F);
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Timer timer;
    kernels::product_left_transposed<float>(MatrixView(x.data(), kGroupRows, inner),
                                            MatrixView(dy.data(), kGroupRows, cols),
                                            MatrixView(dw.data(), inner, cols), false);
    best = std::min(best, timer.seconds());
  }
  return best;
}

void exact_add(benchmark::State& state) {
  const std::int64_t inner = state.range(0);
  const std::int64_t cols = state.range(1);
  Buffer<float> terms(inner * cols);
  for (std::int64_t i = 0; i < terms.size(); ++i)
    terms.data()[i] = 0.001F * static_cast<float>(i % 1000 - 500);
  std::vector<std::int64_t> limbs(static_cast<std::size_t>(exact_limb_count(terms.size())), 0);
  for (auto _ : state) {
    halo::exact_add<float>(terms.span(), 0, terms.size(), limbs);
    benchmark::ClobberMemory();
  }
  const auto kTime = benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert;
  state.counters["per_element"] = benchmark::Counter(static_cast<double>(terms.size()), kTime);
  state.counters["to_product"] = benchmark::Counter(product_seconds(inner, cols), kTime);
}
BENCHMARK(exact_add)
    ->ArgNames({"inner", "cols"})
    ->Args({256, 256})
    ->Args({100, 256})
    ->Args({256, 47})
    ->Args({1433, 16})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace halo::bench
