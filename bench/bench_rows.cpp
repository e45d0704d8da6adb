// Row loops on one tile of 256 rows (in the L2 cache), one thread. `per_element` is seconds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "halo/base/buffer.hpp"
#include "halo/kernels/losses.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::bench {
namespace {

constexpr std::int64_t kRows = 256;

struct Tile {
  std::int64_t cols;
  Buffer<float> x{kRows * cols}, y{kRows * cols};
  std::vector<NodeId> ids = std::vector<NodeId>(static_cast<std::size_t>(kRows));

  explicit Tile(const benchmark::State& state) : cols(state.range(0)) {
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7 - 3);
    y.fill(0.0F);
    std::iota(ids.begin(), ids.end(), NodeId{1000});
  }
  MatrixView<const float> in() const { return {x.data(), kRows, cols}; }
  MatrixView<float> out() { return {y.data(), kRows, cols}; }

  template <typename Loop>
  void run(benchmark::State& state, const Loop& loop) {
    for (auto _ : state) {
      loop();
      benchmark::ClobberMemory();
    }
    state.counters["per_element"] =
        benchmark::Counter(static_cast<double>(kRows * cols),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
};

void dropout(benchmark::State& state) {
  Tile tile(state);
  const CounterRng rng(1, 2, 3);
  tile.run(state, [&] { kernels::dropout<float>(tile.in(), tile.ids, rng, 0.5, tile.out()); });
}
void relu_dropout(benchmark::State& state) {
  Tile tile(state);
  const CounterRng rng(1, 2, 3);
  tile.run(state, [&] { kernels::relu_dropout<float>(tile.in(), tile.ids, rng, 0.5, tile.out()); });
}
// One element at a time, as the definition says.
void dropout_plain(benchmark::State& state) {
  Tile tile(state);
  const CounterRng rng(1, 2, 3);
  tile.run(state, [&] {
    for (std::int64_t r = 0; r < kRows; ++r) {
      const std::uint64_t key = rng.row_key(tile.ids[static_cast<std::size_t>(r)]);
      for (std::int64_t c = 0; c < tile.cols; ++c) {
        const bool keep = CounterRng::column_bits(key, static_cast<std::uint64_t>(c)) >= 0x80000000U;
        tile.out()(r, c) = keep ? tile.in()(r, c) * 2.0F : 0.0F;
      }
    }
  });
}
void relu(benchmark::State& state) {
  Tile tile(state);
  tile.run(state, [&] { kernels::relu<float>(tile.in(), tile.out()); });
}
void relu_backward(benchmark::State& state) {
  Tile tile(state);
  tile.run(state, [&] { kernels::relu_backward<float>(tile.in(), tile.out(), tile.out()); });
}
void add_bias(benchmark::State& state) {
  Tile tile(state);
  const std::vector<float> bias(static_cast<std::size_t>(tile.cols), 1.0F);
  tile.run(state, [&] { kernels::add_bias<float>(tile.in(), bias, tile.out()); });
}
void softmax_cross_entropy(benchmark::State& state) {
  Tile tile(state);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(kRows), 1);
  const std::vector<std::uint8_t> use(static_cast<std::size_t>(kRows), 1);
  tile.run(state, [&] {
    benchmark::DoNotOptimize(kernels::softmax_cross_entropy<float>(tile.in(), labels, use, 1.0, tile.out()));
  });
}

void widths(benchmark::internal::Benchmark* bench) {
  bench->ArgName("d")->Arg(16)->Arg(47)->Arg(256)->Unit(benchmark::kMicrosecond);
}
BENCHMARK(dropout)->Apply(widths);
BENCHMARK(relu_dropout)->Apply(widths);
BENCHMARK(dropout_plain)->Apply(widths);
BENCHMARK(relu)->Apply(widths);
BENCHMARK(relu_backward)->Apply(widths);
BENCHMARK(add_bias)->Apply(widths);
BENCHMARK(softmax_cross_entropy)->Apply(widths);

}  // namespace
}  // namespace halo::bench
