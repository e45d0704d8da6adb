// Neighbour sum of float rows, tile by tile as in training. `gathered` counts every read neighbour row once
// per edge, as float whatever it is stored in; `to_triad` is that figure over the triad of the same threads.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "graphs.hpp"
#include "halo/base/buffer.hpp"
#include "halo/base/parallel.hpp"
#include "halo/kernels/half_rows.hpp"
#include "halo/kernels/neighbour_sum.hpp"
#include "triad.hpp"

namespace halo::bench {
namespace {

constexpr std::int64_t kTileRows = 256;

struct Problem {
  const Graph& graph;
  std::int64_t width;
  bool half;
  std::int64_t stored = half ? kernels::half_cols(width) : width;
  Buffer<float> x{kNodes * stored}, y{kNodes * width};

  Problem(const Graph& graph_, std::int64_t width_, int threads, bool half_)
      : graph(graph_), width(width_), half(half_) {
    parallel_for(kNodes / kTileRows, threads, [this](std::int64_t tile, int) {
      std::fill_n(x.data() + tile * kTileRows * stored, kTileRows * stored, 1.0F);
      std::fill_n(y.data() + tile * kTileRows * width, kTileRows * width, 0.0F);
    });
  }
  void run(int threads, void (*kernel)(const kernels::NeighbourSum<float>&)) {
    parallel_for(kNodes / kTileRows, threads, [&](std::int64_t tile, int) {
      kernels::NeighbourSum<float> sum;
      sum.indptr = graph.indptr.data();
      sum.columns = graph.columns.data();
      sum.x = MatrixView<const float>(x.data(), kNodes, stored);
      sum.half = half;
      sum.y = MatrixView<float>(y.data(), kNodes, width);
      sum.rows = {tile * kTileRows, (tile + 1) * kTileRows};
      kernel(sum);
    });
  }
};

void measure(benchmark::State& state, const Graph& graph, void (*kernel)(const kernels::NeighbourSum<float>&),
             bool half = false) {
  const std::int64_t width = state.range(0);
  const auto threads = static_cast<int>(state.range(1));
  Problem problem(graph, width, threads, half);
  for (auto _ : state) problem.run(threads, kernel);
  const double bytes = static_cast<double>(graph.num_edges() * width) * sizeof(float);
  constexpr auto kRate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["gathered"] = benchmark::Counter(bytes, kRate);
  state.counters["to_triad"] = benchmark::Counter(bytes / triad_bytes_per_second(threads), kRate);
}

void neighbour_sum_clustered(benchmark::State& state) {
  measure(state, clustered_graph(), &kernels::neighbour_sum<float>);
}
void neighbour_sum_clustered_bf16(benchmark::State& state) {
  measure(state, clustered_graph(), &kernels::neighbour_sum<float>, true);
}
void neighbour_sum_skewed_bf16(benchmark::State& state) {
  measure(state, skewed_graph(), &kernels::neighbour_sum<float>, true);
}
void neighbour_sum_skewed(benchmark::State& state) {
  measure(state, skewed_graph(), &kernels::neighbour_sum<float>);
}
void neighbour_sum_plain_clustered(benchmark::State& state) {
  measure(state, clustered_graph(), &kernels::neighbour_sum_reference<float>);
}

void widths(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"d", "threads"})->ArgsProduct({{16, 47, 64, 100, 128, 256}, {1, 2}});
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(neighbour_sum_clustered)->Apply(widths);
BENCHMARK(neighbour_sum_skewed)->Apply(widths);
BENCHMARK(neighbour_sum_clustered_bf16)->Apply(widths);
BENCHMARK(neighbour_sum_skewed_bf16)->Apply(widths);
BENCHMARK(neighbour_sum_plain_clustered)
    ->ArgNames({"d", "threads"})
    ->ArgsProduct({{16, 128}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace halo::bench
