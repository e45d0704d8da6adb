#include "halo/nn/executor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "column_statistics.hpp"
#include "constants.hpp"
#include "halo/base/error.hpp"
#include "halo/base/parallel.hpp"
#include "passes/uses.hpp"
#include "tile_context.hpp"
#include "traits.hpp"

namespace halo::nn {
namespace {

bool reads_ids(const Schedule& schedule) {
  return std::ranges::any_of(schedule.program.operations,
                             [](const Operation& operation) { return needs_neighbour_ids(operation.kind); });
}

/// Next to any other term of a sum; and yet what it has multiplied can be divided by it.
constexpr double kAsGoodAsZero = 0x1p-60;

template <typename Real>
void fill_rows(MatrixView<Real> rows, Real value) {
  std::fill_n(rows.data, rows.rows * rows.cols, value);
}

}  // namespace

template <typename Real>
Executor<Real>::GraphData::GraphData(const graph::LocalGraph& graph_, bool needs_ids)
    : graph(graph_), gcn_factor(graph_.owned), inverse_degree(graph_.owned), loop(graph_.owned) {
  for (std::int64_t i = 0; i < graph.owned; ++i) {
    const double degree = graph.in_degree[at(i)];
    const auto to_add = static_cast<double>(graph.loop_to_add[at(i)]);
    const double with_loop = degree + to_add;
    gcn_factor.data()[i] = static_cast<Real>(with_loop > 0.0 ? 1.0 / std::sqrt(with_loop) : kAsGoodAsZero);
    inverse_degree.data()[i] = static_cast<Real>(degree != 0.0 ? 1.0 / degree : 1.0);
    loop.data()[i] = static_cast<Real>(to_add);
  }
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(graph.groups.size()); ++g) {
    all_groups.push_back(g);
    (graph.groups[at(g)].interior_in ? interior_groups : boundary_groups)[0].push_back(g);
    (graph.groups[at(g)].interior_out ? interior_groups : boundary_groups)[1].push_back(g);
  }
  if (!needs_ids) return;
  const auto ids_of = [this](const graph::Adjacency& edges) {
    std::vector<NodeId> ids = graph.original_id;
    ids.insert(ids.end(), edges.halo_original_id.begin(), edges.halo_original_id.end());
    return ids;
  };
  neighbour_ids[0] = ids_of(graph.in);
  if (!graph.symmetric) neighbour_ids[1] = ids_of(graph.out());
}

template <typename Real>
void Executor<Real>::GraphData::add_edges_to_levels(const Schedule& schedule) {
  if (!graph.has_levels) return;
  for (std::size_t k = 0; k < schedule.rows.size(); ++k) {
    const auto gather = gather_of(schedule.program.operations[k].kind);
    const std::int8_t level = schedule.rows[k].edges;
    if (!gather || level == graph::kLastLevel) continue;
    const graph::Adjacency& whole = gather->direction == Direction::kIn ? graph.in : graph.out();
    graph::Adjacency& kept = edges_to_level[{gather->direction, level}];
    if (kept.indptr.size() == 1) {
      kept = graph::edges_to_level(whole, graph.level, static_cast<std::uint8_t>(level));
    }
  }
}

template <typename Real>
Executor<Real>::Executor(Graphs graphs, MatrixView<const Real> features, Targets targets, Schedules schedules,
                         Exchange<Real>& exchange, int threads)
    : train_data_(graphs.train, reads_ids(schedules.train)),
      features_(features),
      targets_(std::move(targets)),
      exchange_(exchange),
      threads_(threads),
      train_(std::move(schedules.train)),
      evaluation_(std::move(schedules.evaluation)),
      arena_(std::max(train_.arena_elements, evaluation_.arena_elements)),
      sums_(train_.program,
            targets_.task == Task::kSingleLabel || targets_.task == Task::kMultiLabel ? targets_.cols : 0,
            threads),
      predictions_(targets_.task == Task::kSingleLabel ? at(graphs.train.owned) : 0, 0) {
  if (&graphs.train != &graphs.evaluation) {
    evaluation_data_.emplace(graphs.evaluation, reads_ids(evaluation_));
  }
  train_data_.add_edges_to_levels(train_);
  for (const ParameterId weight : transposed_weights(train_.program)) {
    transposed_.try_emplace(weight, train_.program.parameter(weight).size());
  }
  for (const Reduction& reduction : train_.program.reductions) reductions_.emplace_back(at(reduction.size));
  for (int thread = 0; thread < threads_; ++thread) {
    scratch_.emplace_back(std::max(train_.scratch_elements, evaluation_.scratch_elements));
  }
}

template <typename Real>
void Executor<Real>::set_row_loss(RowLoss<Real>* loss) {
  row_loss_ = loss;
  row_loss_gradient_.resize(at(train_.program.parameter_count()));
}

template <typename Real>
std::int64_t Executor<Real>::GraphData::factor_bytes() const {
  const std::int64_t factors = gcn_factor.size() + inverse_degree.size() + loop.size();
  const std::int64_t ids = std::ssize(neighbour_ids[0]) + std::ssize(neighbour_ids[1]);
  return factors * static_cast<std::int64_t>(sizeof(Real)) + ids * static_cast<std::int64_t>(sizeof(NodeId));
}

template <typename Real>
MemoryPlan Executor<Real>::memory_plan() const {
  constexpr auto kReal = static_cast<std::int64_t>(sizeof(Real));
  MemoryPlan plan;
  plan.arena = arena_.size() * kReal;
  for (const Buffer<Real>& buffer : scratch_) plan.scratch += buffer.size() * kReal;
  for (const auto& [key, buffer] : constants_) plan.constants += buffer.size() * kReal;
  plan.sums = sums_.bytes();
  for (const auto& [id, weight] : transposed_) plan.weights += weight.size() * kReal;
  plan.row_factors = train_data_.factor_bytes() + (evaluation_data_ ? evaluation_data_->factor_bytes() : 0);
  for (const auto& [key, edges] : train_data_.edges_to_level) {
    plan.edges_to_level += std::ssize(edges.indptr) * static_cast<std::int64_t>(sizeof(EdgeId)) +
                           std::ssize(edges.columns) * static_cast<std::int64_t>(sizeof(LocalId)) +
                           std::ssize(edges.weights) * static_cast<std::int64_t>(sizeof(float));
  }
  return plan;
}

template <typename Real>
void Executor<Real>::fold_constants() {
  fold(train_);
  fold(evaluation_);
}

template <typename Real>
void Executor<Real>::fold(const Schedule& schedule) {
  const Program& program = schedule.program;
  std::vector<Stage> missing;  // a stage whose results an earlier schedule has made already is left out whole
  std::vector<std::string> made;
  for (const Stage& stage : schedule.constant_stages) {
    Stage rest = stage;
    rest.operations.clear();
    for (const std::int32_t position : stage.operations) {
      const Operation& operation = program.operations[at(position)];
      const ValueId value = operation.output;
      const std::string& key = schedule.placements[at(value)].constant;
      if (is_features(schedule, value, operation) || constants_.contains(key)) continue;
      constants_[key] =
          Buffer<Real>((train_data_.graph.owned + schedule.halo_rows[at(value)]) * program.cols(value));
      made.push_back(key);
      rest.operations.push_back(position);
    }
    if (!rest.operations.empty()) missing.push_back(std::move(rest));
  }
  for (const Stage& stage : missing) run_stage(schedule, stage);
  keep_constants_read(schedule, made);
}

template <typename Real>
void Executor<Real>::keep_constants_read(const Schedule& schedule, const std::vector<std::string>& made) {
  for (const std::string& key : made) {
    if (!stays(schedule, key)) constants_.erase(key);
  }
}

template <typename Real>
void Executor<Real>::set_trace(TraceRecorder& recorder) {
  train_trace_.emplace(recorder, train_, /*evaluation=*/false);
  evaluation_trace_.emplace(recorder, evaluation_, /*evaluation=*/true);
}

template <typename Real>
void Executor<Real>::run_epoch_stages(const Schedule& schedule, std::optional<StageTrace>& trace) {
  trace_ = trace ? &*trace : nullptr;
  for (std::size_t k = 0; k < schedule.stages.size(); ++k) {
    const TraceSpan span = trace_ != nullptr ? trace_->stage(k) : TraceSpan(nullptr, TraceKind::kStage);
    run_stage(schedule, schedule.stages[k]);
  }
  trace_ = nullptr;
}

template <typename Real>
void Executor<Real>::run_stage(const Schedule& schedule, const Stage& stage) {
  finish_reductions(schedule, stage);
  const GraphData& data = data_of(schedule);
  if (stage.whole) {
    run_external_loss(schedule, schedule.program.operations[at(stage.operations.front())]);
  } else if (stage.gathered == kNone) {
    run_groups(schedule, stage, data.all_groups, TraceKind::kGroups);
  } else {
    const auto direction = stage.direction == Direction::kIn ? 0U : 1U;
    exchange_.start(stage.direction, stage.level, view(schedule, stage.gathered));
    run_groups(schedule, stage, data.interior_groups[direction], TraceKind::kInterior);
    exchange_.finish();
    run_groups(schedule, stage, data.boundary_groups[direction], TraceKind::kBoundary);
  }
}

template <typename Real>
void Executor<Real>::run_groups(const Schedule& schedule, const Stage& stage,
                                std::span<const std::int32_t> groups, TraceKind kind) {
  const graph::LocalGraph& graph = data_of(schedule).graph;
  parallel_for(
      static_cast<std::int64_t>(groups.size()), threads_,
      [&](std::int64_t k, int thread) {
        run_group(schedule, stage, graph.groups[at(groups[at(k)])], thread);
      },
      [this] { exchange_.poke(); });
  if (trace_ != nullptr) trace_->record_groups(kind);
}

template <typename Real>
void Executor<Real>::run_group(const Schedule& schedule, const Stage& stage, const graph::TileGroup& group,
                               int thread) {
  const std::int64_t begin = trace_ != nullptr ? steady_nanoseconds() : 0;
  sums_.begin_group(thread, stage);
  TileContext<Real> context(*this, schedule, thread);
  for (std::int32_t t = group.first_tile; t < group.last_tile; ++t) {
    context.set_tile(context.graph().tiles[at(t)]);
    for (const std::int32_t position : stage.operations) run_operation(schedule, position, context);
  }
  sums_.end_group(thread, stage);
  if (trace_ != nullptr) trace_->note_group(thread, begin);
}

template <typename Real>
void Executor<Real>::run_operation(const Schedule& schedule, std::int32_t position,
                                   TileContext<Real>& context) {
  const Operation& operation = schedule.program.operations[at(position)];
  const OperationRows& rows = schedule.rows[at(position)];
  context.set_operation(operation, rows);
  if (context.level() > rows.compute) {
    if (context.level() <= rows.fill) fill_rows(context.output(), Real{0});
    return;
  }
  std::visit(
      [&](const auto& kind) {
        using Op = std::decay_t<decltype(kind)>;
        if constexpr (!std::is_same_v<Op, op::Aggregate> && !std::is_same_v<Op, op::ExternalLoss>) {
          run(kind, context);
        }
      },
      operation.kind);
}

template <typename Real>
void Executor<Real>::run_external_loss(const Schedule& schedule, const Operation& operation) {
  if (row_loss_ == nullptr) throw Error("the program has an external loss, but none was set");
  std::fill(row_loss_gradient_.begin(), row_loss_gradient_.end(), Real{0});
  const RowRange owned{0, train_data_.graph.owned};
  row_loss_value_ =
      row_loss_->compute(view(schedule, operation.inputs[0]).slice(owned), parameters_, seed_, epoch_,
                         view(schedule, operation.output).slice(owned), row_loss_gradient_);
}

template <typename Real>
void Executor<Real>::finish_reductions(const Schedule& schedule, const Stage& stage) {
  for (const ReductionId id : stage.reductions) {
    exchange_.sum(sums_.merge_reduction(id));
    sums_.read_reduction(id, reductions_[at(id)]);
    for (const Operation& operation : schedule.program.operations) {
      const auto* norm = std::get_if<op::BatchNorm>(&operation.kind);
      if (norm != nullptr && norm->sums == id) move_running_statistics(schedule.program, *norm);
    }
  }
}

template <typename Real>
void Executor<Real>::move_running_statistics(const Program& program, const op::BatchNorm& norm) {
  const Parameter& mean = program.parameter(norm.running_mean);
  const Parameter& variance = program.parameter(norm.running_variance);
  const std::vector<double>& sums = reductions_[at(norm.sums)];
  const auto rows = static_cast<double>(train_data_.graph.global_active);
  for (std::int64_t c = 0; c < mean.cols; ++c) {
    const ColumnStatistics column = column_statistics(sums, c, mean.cols, rows);
    const double unbiased = rows > 1.0 ? column.variance * rows / (rows - 1.0) : column.variance;
    const auto move = [&](const Parameter& parameter, double to) {
      Real& value = running_[at(parameter.offset + c)];
      value = static_cast<Real>((1.0 - norm.momentum) * static_cast<double>(value) + norm.momentum * to);
    };
    move(mean, column.mean);
    move(variance, unbiased);
  }
}

template <typename Real>
void Executor<Real>::transpose_weights() {
  for (auto& [id, transposed] : transposed_) {
    const Parameter& shape = train_.program.parameter(id);
    const MatrixView<const Real> weight(parameters_.data() + shape.offset, shape.rows, shape.cols);
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      for (std::int64_t c = 0; c < shape.cols; ++c) transposed.data()[c * shape.rows + r] = weight.row(r)[c];
    }
  }
}

template <typename Real>
double Executor<Real>::train(std::span<Real> parameters, std::uint64_t seed, std::uint64_t epoch,
                             std::span<Real> gradient) {
  parameters_ = parameters;
  running_ = parameters;
  seed_ = seed;
  epoch_ = epoch;
  transpose_weights();
  sums_.clear();
  run_epoch_stages(train_, train_trace_);
  {
    const TraceSpan span(train_trace_ ? &train_trace_->recorder() : nullptr, TraceKind::kSums);
    exchange_.sum(sums_.merge(false));
    std::fill(gradient.begin(), gradient.end(), Real{0});
    sums_.read_gradient(gradient);
  }
  if (!train_.program.external_loss) return sums_.measure(0, Measure::kLoss) / targets_.loss_count(0);
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += row_loss_gradient_[k];
  return row_loss_value_;
}

template <typename Real>
Scores Executor<Real>::evaluate(std::span<const Real> parameters) {
  parameters_ = parameters;
  sums_.clear();
  run_epoch_stages(evaluation_, evaluation_trace_);
  exchange_.sum(sums_.merge(true));
  return read_scores();
}

template <typename Real>
Scores Executor<Real>::read_scores() const {
  Scores scores;
  scores.accuracy.fill(std::numeric_limits<double>::quiet_NaN());
  const auto counts = sums_.total_counts();
  scores.counts.assign(counts.begin(), counts.end());
  const std::size_t classes = counts.size() / kSplits;
  for (int split = 0; split < kSplits; ++split) {
    const auto rows = static_cast<double>(targets_.global_count[at(split)]);
    scores.loss[at(split)] = sums_.measure(split, Measure::kLoss) / targets_.loss_count(split);
    scores.squared_error[at(split)] = sums_.measure(split, Measure::kSquaredError) / rows;
    scores.absolute_error[at(split)] = sums_.measure(split, Measure::kAbsoluteError) / rows;
    if (targets_.task != Task::kSingleLabel) continue;
    std::int64_t right = 0;
    for (const ClassCounts& of_class : counts.subspan(at(split) * classes, classes)) {
      right += of_class.true_positive;
    }
    scores.accuracy[at(split)] = static_cast<double>(right) / rows;
  }
  return scores;
}

template <typename Real>
MatrixView<const Real> Executor<Real>::logits() const {
  auto* self = const_cast<Executor*>(this);  // address() serves writers too; the result is const again
  return MatrixView<const Real>(self->view(evaluation_, evaluation_.program.logits))
      .slice({0, train_data_.graph.owned});
}

template <typename Real>
Real* Executor<Real>::address(const Schedule& schedule, ValueId value) {
  const Placement& place = schedule.placements[at(value)];
  if (place.memory == Memory::kArena) return arena_.data() + place.offset;
  const auto found = constants_.find(place.constant);
  // The one constant without a buffer of its own is the feature matrix, which no operation writes.
  return found != constants_.end() ? found->second.data() : const_cast<Real*>(features_.data);
}

template <typename Real>
MatrixView<Real> Executor<Real>::view(const Schedule& schedule, ValueId value) {
  return {address(schedule, value), train_data_.graph.owned + schedule.halo_rows[at(value)],
          schedule.program.cols(value)};
}

template <typename Real>
MatrixView<Real> Executor<Real>::tile_view(const Schedule& schedule, ValueId value, int thread,
                                           RowRange rows) {
  const Placement& place = schedule.placements[at(value)];
  if (place.memory != Memory::kScratch) return view(schedule, value).slice(rows);
  return {scratch_[at(thread)].data() + place.offset, rows.size(), schedule.program.cols(value)};
}

template <typename Real>
const typename Executor<Real>::GraphData& Executor<Real>::data_of(const Schedule& schedule) const {
  return &schedule == &evaluation_ && evaluation_data_ ? *evaluation_data_ : train_data_;
}

template class Executor<float>;
template class Executor<double>;

}  // namespace halo::nn
