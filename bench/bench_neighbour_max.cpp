// The three passes of the neighbour maximum over edges, float rows of d columns, each instruction set.
#include "edge_passes.hpp"
#include "neighbour_max_loops.hpp"

namespace halo::bench {
namespace {

struct Problem {
  std::int64_t width;
  VectorIsa isa;
  kernels::NeighbourEdges edges;

  explicit Problem(const benchmark::State& state)
      : width(state.range(0)), isa(static_cast<VectorIsa>(state.range(1))) {
    const Graph& graph = small_clustered_graph();
    edges.indptr = graph.indptr.data();
    edges.columns = graph.columns.data();
    edges.rows = {0, kFewNodes};
  }
  const auto& loops() const { return kernels::internal::neighbour_max_loops<float>(isa); }
};

void neighbour_max(benchmark::State& state) {
  const Problem of(state);
  NodeRows x(of.width), y(of.width);
  measure_edge_pass(state, of.isa, of.width, [&] { of.loops().largest(of.edges, x.view(), y.view()); });
}
void neighbour_max_share(benchmark::State& state) {
  const Problem of(state);
  NodeRows x(of.width), y(of.width), dy(of.width), shares(2 * of.width);
  measure_edge_pass(state, of.isa, of.width,
                    [&] { of.loops().share(of.edges, x.view(), y.view(), dy.view(), shares.view()); });
}
void neighbour_max_gradient(benchmark::State& state) {
  const Problem of(state);
  NodeRows x(of.width), shares(2 * of.width), dx(of.width);
  measure_edge_pass(state, of.isa, 2 * of.width,
                    [&] { of.loops().gradient(of.edges, shares.view(), x.view(), dx.view()); });
}

void widths(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"d", "isa"})->ArgsProduct({{16, 64, 256}, isa_arguments()});
  bench->Unit(benchmark::kMillisecond);
}
BENCHMARK(neighbour_max)->Apply(widths);
BENCHMARK(neighbour_max_share)->Apply(widths);
BENCHMARK(neighbour_max_gradient)->Apply(widths);

}  // namespace
}  // namespace halo::bench
