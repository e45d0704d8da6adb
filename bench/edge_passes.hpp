#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "graphs.hpp"
#include "halo/base/buffer.hpp"
#include "halo/base/cpu.hpp"
#include "halo/base/matrix_view.hpp"

namespace halo::bench {

/// A matrix of small numbers of both signs, a row for each node of small_clustered_graph().
class NodeRows {
 public:
  explicit NodeRows(std::int64_t cols) : cols_(cols), values_(kFewNodes * cols) {
    for (std::int64_t k = 0; k < values_.size(); ++k)
      values_.data()[k] = 0.125F * static_cast<float>(k % 13 - 6);
  }
  MatrixView<float> view() { return {values_.data(), kFewNodes, cols_}; }

 private:
  std::int64_t cols_;
  Buffer<float> values_;
};

/// Measures a pass over the edges of small_clustered_graph(), one thread. `gathered` counts the columns that
/// the pass reads of every edge's other end, 4 bytes each.
template <typename Pass>
void measure_edge_pass(benchmark::State& state, VectorIsa isa, std::int64_t gathered_columns,
                       const Pass& pass) {
  state.SetLabel(to_string(isa));
  for (auto _ : state) {
    pass();
    benchmark::ClobberMemory();
  }
  const auto edges = static_cast<double>(small_clustered_graph().num_edges());
  constexpr auto kRate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["edges"] = benchmark::Counter(edges, kRate);
  state.counters["gathered"] =
      benchmark::Counter(edges * static_cast<double>(gathered_columns) * sizeof(float), kRate);
}

/// The last argument of a benchmark: an instruction set that this CPU has.
inline std::vector<std::int64_t> isa_arguments() {
  std::vector<std::int64_t> isas;
  for (auto isa = 0; isa <= static_cast<int>(vector_isa()); ++isa) isas.push_back(isa);
  return isas;
}

}  // namespace halo::bench
