// Kernel benchmarks; see docs/performance.md for the commands. --benchmark_format=json writes JSON.
#include <benchmark/benchmark.h>

#include "halo/base/cpu.hpp"
#include "halo/kernels/product.hpp"

int main(int argc, char** argv) {
  benchmark::AddCustomContext("vector_isa", halo::to_string(halo::vector_isa()));
  benchmark::AddCustomContext("product_backend", halo::kernels::product_backend());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
