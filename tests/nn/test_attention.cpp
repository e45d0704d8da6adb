// Attention and the neighbour maximum as operations of a program: gradients, a dense computation beside them,
// and what they keep per node.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gradient_check.hpp"
#include "halo/base/error.hpp"
#include "halo/kernels/attention.hpp"
#include "halo/nn/schedule.hpp"

namespace halo::test {
namespace {

using Dense = std::vector<std::vector<double>>;

graph::LocalGraph symmetric_graph() {
  RandomStream random(29);
  std::vector<NodeId> sources;
  std::vector<NodeId> targets;
  for (int e = 0; e < 30; ++e) {
    const auto i = static_cast<NodeId>(random.below(kNodes - 2));
    const auto j = static_cast<NodeId>(random.below(kNodes - 2));
    sources.insert(sources.end(), {i, j});
    targets.insert(targets.end(), {j, i});
  }
  return graph::whole_graph(graph::build_in_edges(kNodes, sources, targets), 4, 2);
}

/// Checks a layer on directed graphs, weighted and not, and on a symmetric one.
void check_everywhere(const std::function<nn::ValueId(nn::Program&, nn::ValueId)>& layer) {
  const nn::Program model = program_with(layer);
  check_gradient(model, true);
  check_gradient(model, false);
  Variation symmetric;
  symmetric.prepare = [](graph::LocalGraph& graph) { graph = symmetric_graph(); };
  check_gradient(model, symmetric);
}

std::vector<nn::AttentionOptions> all_options() {
  std::vector<nn::AttentionOptions> all;
  for (const int heads : {1, 2}) {
    for (const bool loops : {false, true}) {
      for (const double p : {0.0, 0.4})
        all.push_back({.heads = heads, .slope = 0.3, .loops = loops, .p = p, .stream = 9});
    }
  }
  return all;
}

nn::ValueId gat_layer(nn::Program& program, nn::ValueId x, const nn::AttentionOptions& options) {
  const nn::ParameterId src = program.add_vector("att_src", program.cols(x), 0);
  const nn::ParameterId dst = program.add_vector("att_dst", program.cols(x), 0);
  return nn::append_attention(program, x, src, dst, options);
}

nn::ValueId gatv2_layer(nn::Program& program, nn::ValueId x, const nn::AttentionOptions& options,
                        bool shared) {
  const nn::ValueId l = program.linear(x, program.add_weight("lin_l", program.cols(x), 6, 0));
  const nn::ValueId r = shared ? l : program.linear(x, program.add_weight("lin_r", program.cols(x), 6, 0));
  return nn::append_attention_v2(program, l, r, program.add_vector("att", 6, 0), options);
}

TEST_CASE("gradient of attention: loops or none, dropout or none, heads, one layer and two") {
  for (const nn::AttentionOptions& options : all_options()) {
    CAPTURE(options.details());
    check_everywhere([&](nn::Program& program, nn::ValueId x) {
      return gat_layer(program, gat_layer(program, x, options), options);
    });
  }
}

TEST_CASE("gradient of attention with dynamic scores, own and shared products") {
  for (const nn::AttentionOptions& options : all_options()) {
    for (const bool shared : {false, true}) {
      CAPTURE(options.details());
      CAPTURE(shared);
      check_everywhere(
          [&](nn::Program& program, nn::ValueId x) { return gatv2_layer(program, x, options, shared); });
    }
  }
}

TEST_CASE("gradient of the neighbour maximum") {
  check_everywhere([](nn::Program& program, nn::ValueId x) {
    return nn::append_neighbour_max(program, program.add(nn::append_neighbour_max(program, x), x));
  });
}

/// A model and all it needs, and its numbers computed by loops over all pairs of nodes.
struct Comparison {
  nn::Program program;
  graph::LocalGraph graph;
  std::vector<double> features, parameters;

  Comparison(nn::Program program_, graph::LocalGraph graph_)
      : program(std::move(program_)), graph(std::move(graph_)), features(kNodes * kFeatures) {
    RandomStream random(31);
    for (double& x : features) x = random.normal();
    parameters.resize(static_cast<std::size_t>(program.parameter_count()));
    for (double& x : parameters) x = 0.5 * random.normal();
  }
  /// x W, W the parameter of that name.
  Dense product(const Dense& x, const char* name) const {
    const nn::Parameter& shape = parameter(name);
    Dense y(x.size(), std::vector<double>(static_cast<std::size_t>(shape.cols), 0.0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < x[i].size(); ++k) {
        for (std::size_t c = 0; c < y[i].size(); ++c) y[i][c] += x[i][k] * values(name)[k * y[i].size() + c];
      }
    }
    return y;
  }
  const nn::Parameter& parameter(const std::string& name) const {
    return *std::find_if(program.parameters.begin(), program.parameters.end(),
                         [&](const nn::Parameter& p) { return p.name == name; });
  }
  const double* values(const char* name) const { return parameters.data() + parameter(name).offset; }
  Dense input() const {
    Dense x(kNodes);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i].assign(features.begin() + static_cast<std::ptrdiff_t>(i * kFeatures),
                  features.begin() + static_cast<std::ptrdiff_t>((i + 1) * kFeatures));
    return x;
  }
  /// How often j is a neighbour of i.
  int edges(std::size_t i, std::size_t j, bool loops) const {
    const auto begin = graph.in.columns.begin() + graph.in.indptr[i];
    const auto end = graph.in.columns.begin() + graph.in.indptr[i + 1];
    const auto found = static_cast<int>(std::count(begin, end, static_cast<LocalId>(j)));
    return loops && i == j && found == 0 ? 1 : found;
  }
  /// y_i = sum_j of softmax over neighbours of score(i, j, h), dropped by (seed 5, epoch 7) if training.
  template <class Score>
  Dense attend(const Dense& v, const nn::AttentionOptions& options, bool training, const Score& score) const {
    const std::size_t cols = v[0].size() / static_cast<std::size_t>(options.heads);
    Dense y(v.size(), std::vector<double>(v[0].size(), 0.0));
    const CounterRng rng(5, 7, options.stream);
    for (std::size_t i = 0; i < v.size(); ++i) {
      for (std::size_t h = 0; h < static_cast<std::size_t>(options.heads); ++h) {
        double sum = 0.0;
        for (std::size_t j = 0; j < v.size(); ++j)
          sum += edges(i, j, options.loops) * std::exp(score(i, j, h));
        for (std::size_t j = 0; j < v.size(); ++j) {
          if (edges(i, j, options.loops) == 0) continue;
          double a = edges(i, j, options.loops) * std::exp(score(i, j, h)) / sum;
          const std::uint64_t key = CounterRng::word(rng.row_key(static_cast<NodeId>(i)), j);
          const bool kept = CounterRng::column_bits(key, h) >= options.p * 0x1.0p32;
          if (training) a = kept ? a / (1.0 - options.p) : 0.0;
          for (std::size_t c = h * cols; c < (h + 1) * cols; ++c) y[i][c] += a * v[j][c];
        }
      }
    }
    return y;
  }
  /// Evaluates and trains one step, and compares with the dense outputs of the model's body.
  void check(const Dense& evaluated, const Dense& trained) {
    nn::SoloExchange<double> alone;
    const nn::Targets wanted = targets();
    nn::Executor<double> executor(graph, {features.data(), kNodes, kFeatures}, wanted,
                                  nn::make_schedules(program, graph), alone, 1);
    executor.fold_constants();
    executor.evaluate(parameters);
    const Dense expected = product(evaluated, "last");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t c = 0; c < expected[i].size(); ++c) {
        CHECK(executor.logits()(static_cast<std::int64_t>(i), static_cast<std::int64_t>(c)) ==
              doctest::Approx(expected[i][c]).epsilon(1e-12));
      }
    }
    std::vector<double> gradient(parameters.size());
    CHECK(executor.train(parameters, 5, 7, gradient) ==
          doctest::Approx(loss(product(trained, "last"), wanted)).epsilon(1e-12));
  }
  static double loss(const Dense& logits, const nn::Targets& wanted) {
    double total = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (wanted.rows[0][i] == 0) continue;
      double sum = 0.0;
      for (const double x : logits[i]) sum += std::exp(x);
      total += std::log(sum) - logits[i][static_cast<std::size_t>(wanted.labels[i])];
    }
    return total / static_cast<double>(wanted.global_count[0]);
  }
};

std::vector<graph::LocalGraph> graphs() {
  return {directed_graph(true), directed_graph(false), symmetric_graph()};
}

double leaky(double x, const nn::AttentionOptions& options) {
  return x > 0 ? x : options.slope * x;
}

TEST_CASE("attention equals a dense softmax over all pairs, in evaluation and in training") {
  for (const nn::AttentionOptions& options : all_options()) {
    for (const graph::LocalGraph& graph : graphs()) {
      CAPTURE(options.details());
      Comparison problem(
          program_with([&](nn::Program& program, nn::ValueId x) { return gat_layer(program, x, options); }),
          graph);
      const Dense z = problem.product(problem.input(), "first");
      const auto score = [&](std::size_t i, std::size_t j, std::size_t h) {
        const std::size_t cols = z[0].size() / static_cast<std::size_t>(options.heads);
        double sum = 0.0;
        for (std::size_t c = h * cols; c < (h + 1) * cols; ++c)
          sum += problem.values("att_dst")[c] * z[i][c] + problem.values("att_src")[c] * z[j][c];
        return leaky(sum, options);
      };
      problem.check(problem.attend(z, options, false, score), problem.attend(z, options, true, score));
    }
  }
}

TEST_CASE("attention with dynamic scores equals a dense softmax over all pairs") {
  for (const nn::AttentionOptions& options : all_options()) {
    for (const graph::LocalGraph& graph : graphs()) {
      CAPTURE(options.details());
      Comparison problem(program_with([&](nn::Program& program, nn::ValueId x) {
                           return gatv2_layer(program, x, options, false);
                         }),
                         graph);
      const Dense x = problem.product(problem.input(), "first");
      const Dense l = problem.product(x, "lin_l");
      const Dense r = problem.product(x, "lin_r");
      const auto score = [&](std::size_t i, std::size_t j, std::size_t h) {
        const std::size_t cols = l[0].size() / static_cast<std::size_t>(options.heads);
        double sum = 0.0;
        for (std::size_t c = h * cols; c < (h + 1) * cols; ++c)
          sum += problem.values("att")[c] * leaky(l[j][c] + r[i][c], options);
        return sum;
      };
      problem.check(problem.attend(l, options, false, score), problem.attend(l, options, true, score));
    }
  }
}

TEST_CASE("the neighbour maximum equals a search over all pairs") {
  for (const graph::LocalGraph& graph : graphs()) {
    Comparison problem(program_with([](nn::Program& program, nn::ValueId x) {
                         return nn::append_neighbour_max(program, x);
                       }),
                       graph);
    const Dense x = problem.product(problem.input(), "first");
    Dense y(x.size(), std::vector<double>(x[0].size(), 0.0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t c = 0; c < x[i].size(); ++c) {
        double largest = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < x.size(); ++j) {
          if (problem.edges(i, j, false) > 0) largest = std::max(largest, x[j][c]);
        }
        if (std::isfinite(largest)) y[i][c] = largest;
      }
    }
    problem.check(y, y);
  }
}

/// Columns that are made before the loss and read after it: what a node keeps from forward to backward.
std::int64_t kept_columns(const nn::Program& program) {
  std::size_t loss = 0;
  while (!std::holds_alternative<nn::op::Loss>(program.operations[loss].kind)) ++loss;
  std::vector<nn::ValueId> kept;
  for (std::size_t k = loss + 1; k < program.operations.size(); ++k) {
    for (const nn::ValueId input : program.operations[k].inputs) {
      const bool forward = std::any_of(
          program.operations.begin(), program.operations.begin() + static_cast<std::ptrdiff_t>(loss),
          [&](const nn::Operation& operation) {
            return operation.output == input && !std::holds_alternative<nn::op::Input>(operation.kind) &&
                   !std::holds_alternative<nn::op::Columns>(operation.kind);  // part of another row
          });
      if (forward && std::find(kept.begin(), kept.end(), input) == kept.end()) kept.push_back(input);
    }
  }
  std::int64_t columns = 0;
  for (const nn::ValueId value : kept) columns += program.cols(value);
  return columns;
}

TEST_CASE("attention keeps rows of nodes only: so many columns, and more edges need no more memory") {
  constexpr std::int64_t kHeads = 3;
  constexpr std::int64_t kWidth = 12;  // heads times channels
  const nn::AttentionOptions options = {.heads = kHeads, .p = 0.4, .stream = 1};
  struct Layer {
    std::function<nn::ValueId(nn::Program&, nn::ValueId)> append;
    std::int64_t kept;
  };
  const std::vector<Layer> layers = {
      // [M | q | s], [y | n | m]; [z | t | s] is made again beside the edge passes
      {[&](nn::Program& program, nn::ValueId x) {
         x = program.linear(x, program.add_weight("lin", 4, kWidth, 0));
         return gat_layer(program, x, options);
       },
       2 * kWidth + 4 * kHeads},
      // l, r, [M | q], y
      {[&](nn::Program& program, nn::ValueId x) {
         const nn::ValueId l = program.linear(x, program.add_weight("lin_l", 4, kWidth, 0));
         const nn::ValueId r = program.linear(x, program.add_weight("lin_r", 4, kWidth, 0));
         return nn::append_attention_v2(program, l, r, program.add_vector("att", kWidth, 0), options);
       },
       3 * kWidth + 2 * kHeads},
      // x, y
      {[&](nn::Program& program, nn::ValueId x) {
         return nn::append_neighbour_max(program, program.linear(x, program.add_weight("lin", 4, kWidth, 0)));
       },
       2 * kWidth}};
  std::vector<NodeId> sources, targets;
  for (NodeId pair = 2; pair < kNodes * kNodes; ++pair) {  // without 0 -> 1, so that it is not symmetric
    sources.push_back(pair / kNodes);
    targets.push_back(pair % kNodes);
  }
  const graph::LocalGraph sparse = directed_graph(false);
  const graph::LocalGraph dense = graph::whole_graph(graph::build_in_edges(kNodes, sources, targets), 4, 2);
  REQUIRE(sparse.symmetric == dense.symmetric);
  for (const Layer& layer : layers) {
    const nn::Program model = program_with(layer.append);
    const nn::Schedules schedules = nn::make_schedules(model, sparse);
    CHECK(kept_columns(schedules.train.program) == layer.kept + 4);  // 4: the first product's rows
    const std::int64_t elements = nn::make_schedules(model, dense).train.arena_elements;
    CHECK(elements == schedules.train.arena_elements);
  }
}

TEST_CASE("numbers of heads that cannot be are refused") {
  for (const std::int64_t heads :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, kernels::kMaxHeads + 1}) {
    const auto build = [&] {
      program_with(
          [&](nn::Program& program, nn::ValueId x) { return gat_layer(program, x, {.heads = heads}); });
    };
    CHECK_THROWS_AS(build(), InputError);
  }
}

}  // namespace
}  // namespace halo::test
