#include "triad.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>

#include "halo/base/buffer.hpp"
#include "halo/base/parallel.hpp"
#include "halo/base/timer.hpp"

namespace halo::bench {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 25;  // 256 MiB per array
constexpr std::int64_t kChunk = std::int64_t{1} << 18;
constexpr double kBytes = 3.0 * sizeof(double) * kElements;

struct Triad {
  Buffer<double> a{kElements}, b{kElements}, c{kElements};

  explicit Triad(int threads) {
    parallel_for(kElements / kChunk, threads, [this](std::int64_t chunk, int) {
      std::fill_n(a.data() + chunk * kChunk, kChunk, 0.0);
      std::fill_n(b.data() + chunk * kChunk, kChunk, 1.0);
      std::fill_n(c.data() + chunk * kChunk, kChunk, 2.0);
    });
  }
  void run(int threads) {
    parallel_for(kElements / kChunk, threads, [this](std::int64_t chunk, int) {
      double* __restrict const to = a.data() + chunk * kChunk;
      const double* const left = b.data() + chunk * kChunk;
      const double* const right = c.data() + chunk * kChunk;
      for (std::int64_t i = 0; i < kChunk; ++i) to[i] = left[i] + 3.0 * right[i];
    });
  }
};

double measure(int threads) {
  Triad triad(threads);
  double best = 0.0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const Timer timer;
    triad.run(threads);
    best = std::max(best, kBytes / timer.seconds());
  }
  return best;
}

void triad(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  Triad arrays(threads);
  for (auto _ : state) arrays.run(threads);
  state.counters["bytes_per_second"] =
      benchmark::Counter(kBytes, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}
BENCHMARK(triad)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

double triad_bytes_per_second(int threads) {
  static std::array<double, 3> best{};
  double& value = best.at(static_cast<std::size_t>(threads));
  if (value == 0.0) value = measure(threads);
  return value;
}

}  // namespace halo::bench
