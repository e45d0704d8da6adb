// The four passes of GAT and of GATv2 over edges, float, H heads of C channels, each instruction set.
#include "attention_loops.hpp"
#include "edge_passes.hpp"

namespace halo::bench {
namespace {

struct Problem {
  std::int64_t heads, width;
  VectorIsa isa;
  kernels::Attention<float> edges;

  explicit Problem(const benchmark::State& state)
      : heads(state.range(0)),
        width(state.range(0) * state.range(1)),
        isa(static_cast<VectorIsa>(state.range(2))) {
    const Graph& graph = small_clustered_graph();
    edges.indptr = graph.indptr.data();
    edges.columns = graph.columns.data();
    edges.rows = {0, kFewNodes};
    edges.heads = heads;
  }
  const auto& loops() const { return kernels::internal::attention_loops<float>(isa); }
};

void gat_normaliser(benchmark::State& state) {
  const Problem at(state);
  NodeRows zts(at.width + 2 * at.heads), normaliser(3 * at.heads);
  measure_edge_pass(state, at.isa, at.heads,
                    [&] { at.loops().normaliser(at.edges, zts.view(), normaliser.view()); });
}
void measure_gat_sum(benchmark::State& state, bool for_backward) {
  const Problem at(state);
  NodeRows zts(at.width + 2 * at.heads), normaliser(3 * at.heads);
  NodeRows y(for_backward ? 2 * at.width + at.heads : at.width);
  measure_edge_pass(state, at.isa, at.width + at.heads,
                    [&] { at.loops().sum(at.edges, zts.view(), normaliser.view(), y.view()); });
}
void gat_sum(benchmark::State& state) {
  measure_gat_sum(state, false);
}
void gat_sum_for_backward(benchmark::State& state) {
  measure_gat_sum(state, true);
}
void gat_source_gradient(benchmark::State& state) {
  const Problem at(state);
  NodeRows zts(at.width + 2 * at.heads), pack(at.width + 3 * at.heads), ds(at.heads);
  NodeRows dzts(at.width + 2 * at.heads);
  measure_edge_pass(state, at.isa, at.width + 3 * at.heads, [&] {
    at.loops().source_gradient(at.edges, pack.view(), zts.view(), ds.view(), dzts.view());
  });
}

void gatv2_normaliser(benchmark::State& state) {
  const Problem at(state);
  NodeRows att(at.width), l(at.width), r(at.width), normaliser(2 * at.heads);
  measure_edge_pass(state, at.isa, at.width, [&] {
    at.loops().v2_normaliser(at.edges, att.view().data, l.view(), r.view(), normaliser.view());
  });
}
void gatv2_sum(benchmark::State& state) {
  const Problem at(state);
  NodeRows att(at.width), l(at.width), r(at.width), normaliser(2 * at.heads), y(at.width);
  measure_edge_pass(state, at.isa, at.width, [&] {
    at.loops().v2_sum(at.edges, att.view().data, l.view(), r.view(), normaliser.view(), y.view());
  });
}
void gatv2_source_gradient(benchmark::State& state) {
  const Problem at(state);
  NodeRows att(at.width), l(at.width), pack(2 * at.width + 2 * at.heads), dl(at.width);
  measure_edge_pass(state, at.isa, 2 * at.width + 2 * at.heads, [&] {
    at.loops().v2_source_gradient(at.edges, att.view().data, pack.view(), l.view(), dl.view());
  });
}
void gatv2_target_gradient(benchmark::State& state) {
  const Problem at(state);
  NodeRows att(at.width), l(at.width), pack(2 * at.width + 2 * at.heads), dr(at.width), d_att(at.width);
  measure_edge_pass(state, at.isa, at.width, [&] {
    at.loops().v2_target_gradient(at.edges, att.view().data, l.view(), pack.view(), dr.view(),
                                  d_att.view().data);
  });
}

void of_gat(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"H", "C", "isa"})->Unit(benchmark::kMillisecond);
  for (const std::int64_t isa : isa_arguments()) bench->Args({8, 8, isa})->Args({4, 64, isa});
}
void of_gatv2(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"H", "C", "isa"})->Unit(benchmark::kMillisecond);
  for (const std::int64_t isa : isa_arguments()) bench->Args({4, 64, isa});
}
BENCHMARK(gat_normaliser)->Apply(of_gat);
BENCHMARK(gat_sum)->Apply(of_gat);
BENCHMARK(gat_sum_for_backward)->Apply(of_gat);
BENCHMARK(gat_source_gradient)->Apply(of_gat);
BENCHMARK(gatv2_normaliser)->Apply(of_gatv2);
BENCHMARK(gatv2_sum)->Apply(of_gatv2);
BENCHMARK(gatv2_source_gradient)->Apply(of_gatv2);
BENCHMARK(gatv2_target_gradient)->Apply(of_gatv2);

}  // namespace
}  // namespace halo::bench
