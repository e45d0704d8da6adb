#include "edge_passes.hpp"

#include <numeric>
#include <variant>

#include "halo/kernels/attention.hpp"
#include "halo/kernels/neighbour_max.hpp"
#include "halo/kernels/neighbour_sum.hpp"

namespace halo::train {
namespace {

Buffer<float> matrix(std::int64_t elements) {
  Buffer<float> values(elements);
  for (std::int64_t k = 0; k < elements; ++k) values.data()[k] = 0.125F * static_cast<float>(k % 13 - 6);
  return values;
}

/// Widths of the matrices with a row for each row of the sum, result last (tables in operations.hpp and
/// edge_operations.hpp; H C: columns of all heads).
std::vector<std::int64_t> widths(const nn::Kind& kind, std::int64_t cols) {
  using std::holds_alternative;
  const auto heads = std::visit(
      [](const auto& k) -> std::int64_t {
        if constexpr (requires { k.options.heads; }) return k.options.heads;
        return 0;
      },
      kind);
  if (holds_alternative<nn::op::AttentionNormaliser>(kind)) return {3 * heads};
  if (const auto* sum = std::get_if<nn::op::AttentionSum>(&kind)) {
    const std::int64_t width = cols - 2 * heads;
    return {3 * heads, sum->for_backward ? 2 * width + heads : width};
  }
  if (holds_alternative<nn::op::AttentionSourceGradient>(kind)) return {cols - heads, heads, cols - heads};
  if (holds_alternative<nn::op::AttentionV2Normaliser>(kind)) return {cols, 2 * heads};
  if (holds_alternative<nn::op::AttentionV2Sum>(kind)) return {cols, 2 * heads, cols};
  if (holds_alternative<nn::op::AttentionV2SourceGradient>(kind)) return {cols / 2 - heads, cols / 2 - heads};
  if (holds_alternative<nn::op::AttentionV2TargetGradient>(kind)) return {2 * cols + 2 * heads, cols};
  if (holds_alternative<nn::op::NeighbourMaxShare>(kind)) return {cols, cols, 2 * cols};
  if (holds_alternative<nn::op::NeighbourMaxGradient>(kind)) return {cols / 2, cols / 2};
  return {cols};  // sum and maximum
}

class Runner {
 public:
  Runner(const EdgeRows& edges, RowRange rows, MatrixView<float> x, std::span<const MatrixView<float>> others,
         std::span<const NodeId> ids, std::span<const float> loops, std::span<const float> att)
      : edges_(edges), rows_(rows), x_(x), others_(others), ids_(ids), loops_(loops), att_(att) {}

  void operator()(const nn::op::NeighbourSum& sum) const {
    kernels::neighbour_sum<float>({.indptr = edges_.indptr.data(),
                                   .columns = edges_.columns.data(),
                                   .self = sum.add_loop ? loops_.data() : nullptr,
                                   .x = x_,
                                   .y = others_[0],
                                   .rows = rows_});
  }
  void operator()(const nn::op::AttentionNormaliser& op) const {
    kernels::attention_normaliser<float>(pass(op.options), x_, others_[0]);
  }
  void operator()(const nn::op::AttentionSum& op) const {
    kernels::attention_sum<float>(pass(op.options), x_, others_[0], others_[1]);
  }
  void operator()(const nn::op::AttentionSourceGradient& op) const {
    kernels::attention_source_gradient<float>(pass(op.options), x_, others_[0], others_[1], others_[2]);
  }
  void operator()(const nn::op::AttentionV2Normaliser& op) const {
    kernels::attention_v2_normaliser<float>(pass(op.options), att_, x_, others_[0], others_[1]);
  }
  void operator()(const nn::op::AttentionV2Sum& op) const {
    kernels::attention_v2_sum<float>(pass(op.options), att_, x_, others_[0], others_[1], others_[2]);
  }
  void operator()(const nn::op::AttentionV2SourceGradient& op) const {
    kernels::attention_v2_source_gradient<float>(pass(op.options), att_, x_, others_[0], others_[1]);
  }
  void operator()(const nn::op::AttentionV2TargetGradient& op) const {
    std::vector<float> d_att(att_.size(), 0.0F);  // of this thread
    kernels::attention_v2_target_gradient<float>(pass(op.options), att_, x_, others_[0], others_[1], d_att);
  }
  void operator()(const nn::op::NeighbourMax&) const {
    kernels::neighbour_max<float>(neighbours(), x_, others_[0]);
  }
  void operator()(const nn::op::NeighbourMaxShare&) const {
    kernels::neighbour_max_share<float>(neighbours(), x_, others_[0], others_[1], others_[2]);
  }
  void operator()(const nn::op::NeighbourMaxGradient&) const {
    kernels::neighbour_max_gradient<float>(neighbours(), x_, others_[0], others_[1]);
  }
  template <typename RowLocal>
  void operator()(const RowLocal&) const {}  // looks at no edges

 private:
  kernels::Attention<float> pass(const nn::AttentionOptions& options) const {
    return {.indptr = edges_.indptr.data(),
            .columns = edges_.columns.data(),
            .loop = options.loops ? loops_.data() : nullptr,
            .rows = rows_,
            .heads = options.heads,
            .slope = static_cast<float>(options.slope),
            .dropout = options.p,
            .rng = CounterRng(1, 2, 3),
            .id = ids_.data()};
  }
  kernels::NeighbourEdges neighbours() const {
    return {.indptr = edges_.indptr.data(), .columns = edges_.columns.data(), .rows = rows_};
  }

  const EdgeRows& edges_;
  RowRange rows_;
  MatrixView<float> x_;
  std::span<const MatrixView<float>> others_;
  std::span<const NodeId> ids_;
  std::span<const float> loops_;
  std::span<const float> att_;
};

}  // namespace

EdgePass::EdgePass(const EdgeRows& edges, const nn::Kind& kind, std::int64_t cols)
    : edges_(edges),
      kind_(kind),
      gathered_(matrix(edges.matrix_rows * cols)),
      x_(gathered_.data(), edges.matrix_rows, cols),
      ids_(at(edges.matrix_rows)) {
  const std::int64_t rows = std::ssize(edges.indptr) - 1;
  for (const std::int64_t width : widths(kind, cols)) {
    buffers_.push_back(matrix(rows * width));
    others_.emplace_back(buffers_.back().data(), rows, width);
  }
  std::iota(ids_.begin(), ids_.end(), NodeId{0});
  loops_.assign(at(rows), 1.0F);
  const bool scores = std::holds_alternative<nn::op::AttentionV2Normaliser>(kind);
  att_.assign(at(scores ? cols : others_.back().cols), 0.125F);  // H C
}

void EdgePass::run(RowRange rows) const {
  std::visit(Runner(edges_, rows, x_, others_, ids_, loops_, att_), kind_);
}

}  // namespace halo::train
