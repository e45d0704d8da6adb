#include "halo/nn/executor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/base/exact_sum.hpp"
#include "halo/base/parallel.hpp"
#include "halo/base/timer.hpp"
#include "tile_context.hpp"

namespace halo::nn {
namespace {

/// Parameters whose gradient an operation adds to.
std::array<ParameterId, 2> gradients_of(const Kind& kind) {
  if (const auto* linear = std::get_if<op::LinearWeightGradient>(&kind))
    return {linear->weight, linear->bias};
  if (const auto* bias = std::get_if<op::BiasGradient>(&kind)) return {bias->bias, kNone};
  return {kNone, kNone};
}

/// Calls visit(parameter) for each parameter whose gradient the stage adds to.
template <typename Visit>
void for_each_gradient(const Program& program, const Stage& stage, const Visit& visit) {
  for (const std::int32_t position : stage.operations) {
    for (const ParameterId id : gradients_of(program.operations[at(position)].kind)) {
      if (id != kNone) visit(program.parameter(id));
    }
  }
}

constexpr std::int64_t kLossLimbs = exact_limb_count(kSplits);

}  // namespace

template <typename Real>
Executor<Real>::Executor(const graph::LocalGraph& graph, MatrixView<const Real> features, Targets targets,
                         Schedules schedules, Exchange<Real>& exchange, int threads)
    : graph_(graph),
      features_(features),
      targets_(std::move(targets)),
      exchange_(exchange),
      threads_(threads),
      train_(std::move(schedules.train)),
      evaluation_(std::move(schedules.evaluation)),
      arena_(std::max(train_.arena_elements(), evaluation_.arena_elements())),
      gcn_factor_(graph.owned),
      inverse_degree_(graph.owned),
      loop_(graph.owned),
      parameter_count_(train_.program.parameter_count()),
      sums_(at(threads)),
      predictions_(at(graph.owned), 0) {
  lay_out_arena(train_);
  lay_out_arena(evaluation_);
  for (std::int64_t i = 0; i < graph.owned; ++i) {
    const double degree = graph.in_degree[at(i)];
    const auto loop = static_cast<double>(graph.loop_to_add[at(i)]);
    const double with_loop = degree + loop;
    gcn_factor_.data()[i] = static_cast<Real>(with_loop > 0.0 ? 1.0 / std::sqrt(with_loop) : 0.0);
    inverse_degree_.data()[i] = static_cast<Real>(degree > 0.0 ? 1.0 / degree : 0.0);
    loop_.data()[i] = static_cast<Real>(loop);
  }
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(graph.groups.size()); ++g) {
    all_groups_.push_back(g);
    (graph.groups[at(g)].interior_in ? interior_groups_ : boundary_groups_)[0].push_back(g);
    (graph.groups[at(g)].interior_out ? interior_groups_ : boundary_groups_)[1].push_back(g);
  }
  for (Sums& sums : sums_) {
    sums.gradient_partial = Buffer<Real>(parameter_count_);
    sums.limbs = Buffer<std::int64_t>(exact_limb_count(parameter_count_) + kLossLimbs + kSplits);
  }
}

template <typename Real>
MemoryPlan Executor<Real>::memory_plan() const {
  MemoryPlan plan;
  plan.arena = arena_.size() * static_cast<std::int64_t>(sizeof(Real));
  std::map<std::string, std::int64_t> constants;
  for (const Schedule* schedule : {&train_, &evaluation_}) {
    for (const Stage& stage : schedule->constant_stages) {
      for (const std::int32_t position : stage.operations) {
        const ValueId value = schedule->program.operations[at(position)].output;
        const std::int64_t rows = graph_.owned + schedule->halo_rows[at(value)];
        if (std::holds_alternative<op::Input>(schedule->program.operations[at(position)].kind) &&
            schedule->halo_rows[at(value)] == 0) {
          continue;  // lives in the caller's feature matrix
        }
        constants[schedule->placements[at(value)].constant] = rows * schedule->program.cols(value);
      }
    }
  }
  for (const auto& [key, elements] : constants)
    plan.constants += elements * static_cast<std::int64_t>(sizeof(Real));
  for (const Sums& sums : sums_) {
    plan.sums += sums.gradient_partial.size() * static_cast<std::int64_t>(sizeof(Real)) +
                 sums.limbs.size() * static_cast<std::int64_t>(sizeof(std::int64_t));
  }
  return plan;
}

template <typename Real>
void Executor<Real>::lay_out_arena(const Schedule& schedule) {
  std::vector<std::int64_t>& offsets = slot_offsets_[&schedule];
  std::int64_t offset = 0;
  for (const std::int64_t elements : schedule.slot_elements) {
    offsets.push_back(offset);
    offset += elements;
  }
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
    Stage rest = {.gathered = stage.gathered, .direction = stage.direction, .operations = {}};
    for (const std::int32_t position : stage.operations) {
      const ValueId value = program.operations[at(position)].output;
      const std::string& key = schedule.placements[at(value)].constant;
      const bool in_place = std::holds_alternative<op::Input>(program.operations[at(position)].kind) &&
                            schedule.halo_rows[at(value)] == 0;
      if (in_place || constants_.contains(key)) continue;
      constants_[key] = Buffer<Real>((graph_.owned + schedule.halo_rows[at(value)]) * program.cols(value));
      made.push_back(key);
      rest.operations.push_back(position);
    }
    if (!rest.operations.empty()) missing.push_back(std::move(rest));
  }
  run_stages(schedule, missing);
  // Only what the epoch reads stays; the features themselves stay with the caller.
  for (const std::string& key : made) {
    const bool read = std::any_of(schedule.stages.begin(), schedule.stages.end(), [&](const Stage& stage) {
      return std::any_of(stage.operations.begin(), stage.operations.end(), [&](std::int32_t position) {
        const auto& inputs = program.operations[at(position)].inputs;
        return std::any_of(inputs.begin(), inputs.end(),
                           [&](ValueId input) { return schedule.placements[at(input)].constant == key; });
      });
    });
    if (!read || key == describe(op::Input{})) constants_.erase(key);
  }
}

template <typename Real>
void Executor<Real>::run_stages(const Schedule& schedule, const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) run_stage(schedule, stage);
}

template <typename Real>
void Executor<Real>::run_stage(const Schedule& schedule, const Stage& stage) {
  if (stage.gathered == kNone) {
    run_groups(schedule, stage, all_groups_);
    return;
  }
  const auto direction = stage.direction == Direction::kIn ? 0U : 1U;
  exchange_.start(stage.direction, view(schedule, stage.gathered));
  run_groups(schedule, stage, interior_groups_[direction]);
  exchange_.finish();
  run_groups(schedule, stage, boundary_groups_[direction]);
}

template <typename Real>
void Executor<Real>::run_groups(const Schedule& schedule, const Stage& stage,
                                std::span<const std::int32_t> groups) {
  parallel_for(
      static_cast<std::int64_t>(groups.size()), threads_,
      [&](std::int64_t k, int thread) {
        run_group(schedule, stage, graph_.groups[at(groups[at(k)])], thread);
      },
      [this] { exchange_.poke(); });
}

template <typename Real>
void Executor<Real>::run_group(const Schedule& schedule, const Stage& stage, const graph::TileGroup& group,
                               int thread) {
  Sums& sums = sums_[at(thread)];
  clear_partials(schedule, stage, sums);
  TileContext<Real> context(*this, schedule, thread);
  for (std::int32_t t = group.first_tile; t < group.last_tile; ++t) {
    context.set_tile(graph_.tiles[at(t)].rows);
    for (const std::int32_t position : stage.operations) {
      const Operation& operation = schedule.program.operations[at(position)];
      context.set_operation(operation);
      std::visit(
          [&](const auto& kind) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(kind)>, op::Aggregate>) run(kind, context);
          },
          operation.kind);
    }
  }
  add_partials(schedule, stage, sums);
}

template <typename Real>
void Executor<Real>::clear_partials(const Schedule& schedule, const Stage& stage, Sums& sums) {
  sums.loss_partial.fill(0.0);
  for_each_gradient(schedule.program, stage, [&](const Parameter& parameter) {
    std::fill_n(sums.gradient_partial.data() + parameter.offset, parameter.size(), Real{0});
  });
}

template <typename Real>
void Executor<Real>::add_partials(const Schedule& schedule, const Stage& stage, Sums& sums) {
  const Timer timer;
  for_each_gradient(schedule.program, stage, [&](const Parameter& parameter) {
    exact_add<Real>(sums.gradient_partial.span().subspan(at(parameter.offset), at(parameter.size())),
                    parameter.offset, parameter_count_, gradient_limbs(sums.limbs));
  });
  exact_add<double>(sums.loss_partial, 0, kSplits, loss_limbs(sums.limbs));
  sums.seconds += timer.seconds();
}

template <typename Real>
std::span<std::int64_t> Executor<Real>::gradient_limbs(Buffer<std::int64_t>& limbs) const {
  return limbs.span().first(at(exact_limb_count(parameter_count_)));
}

template <typename Real>
std::span<std::int64_t> Executor<Real>::loss_limbs(Buffer<std::int64_t>& limbs) const {
  return limbs.span().subspan(at(exact_limb_count(parameter_count_)), at(kLossLimbs));
}

template <typename Real>
void Executor<Real>::add_loss(int thread, int split, double loss) {
  sums_[at(thread)].loss_partial[at(split)] += loss;
}

template <typename Real>
void Executor<Real>::add_hits(int thread, int split, std::int64_t hits) {
  sums_[at(thread)].limbs.span().last(kSplits)[at(split)] += hits;
}

template <typename Real>
void Executor<Real>::clear_sums() {
  const Timer timer;
  for (Sums& sums : sums_) sums.limbs.fill(0);
  merge_seconds_ += timer.seconds();
}

template <typename Real>
double Executor<Real>::exact_sum_seconds() const {
  double of_threads = 0.0;
  for (const Sums& sums : sums_) of_threads += sums.seconds;
  return merge_seconds_ + of_threads / static_cast<double>(threads_);
}

template <typename Real>
void Executor<Real>::reset_exact_sum_seconds() {
  merge_seconds_ = 0.0;
  for (Sums& sums : sums_) sums.seconds = 0.0;
}

template <typename Real>
std::span<std::int64_t> Executor<Real>::merge_sums(bool gradients) {
  // Evaluation has no gradients: only the tail of the sums travels.
  const std::size_t skip = gradients ? 0 : at(exact_limb_count(parameter_count_));
  const Timer timer;
  const auto total = sums_.front().limbs.span().subspan(skip);
  for (std::size_t thread = 1; thread < sums_.size(); ++thread) {
    exact_merge(sums_[thread].limbs.span().subspan(skip), total);
  }
  merge_seconds_ += timer.seconds();
  exchange_.sum(total);
  return total;
}

template <typename Real>
double Executor<Real>::total_loss(int split) {
  double loss = 0.0;
  exact_values<double>(loss_limbs(sums_.front().limbs), split, kSplits, std::span(&loss, 1));
  return loss / static_cast<double>(targets_.global_count[at(split)]);
}

template <typename Real>
double Executor<Real>::train(std::span<const Real> parameters, std::uint64_t seed, std::uint64_t epoch,
                             std::span<Real> gradient) {
  parameters_ = parameters;
  seed_ = seed;
  epoch_ = epoch;
  clear_sums();
  run_stages(train_, train_.stages);
  merge_sums(true);
  const Timer timer;
  exact_values<Real>(gradient_limbs(sums_.front().limbs), 0, parameter_count_, gradient);
  merge_seconds_ += timer.seconds();
  return total_loss(0);
}

template <typename Real>
Scores Executor<Real>::evaluate(std::span<const Real> parameters) {
  parameters_ = parameters;
  clear_sums();
  run_stages(evaluation_, evaluation_.stages);
  const auto hits = merge_sums(false).last(kSplits);
  Scores scores;
  for (int split = 0; split < kSplits; ++split) {
    scores.loss[at(split)] = total_loss(split);
    scores.hits[at(split)] = hits[at(split)];
    scores.accuracy[at(split)] =
        static_cast<double>(hits[at(split)]) / static_cast<double>(targets_.global_count[at(split)]);
  }
  return scores;
}

template <typename Real>
MatrixView<const Real> Executor<Real>::logits() const {
  auto* self = const_cast<Executor*>(this);  // address() serves writers too; the result is const again
  return MatrixView<const Real>(self->view(evaluation_, evaluation_.program.logits)).slice({0, graph_.owned});
}

template <typename Real>
Real* Executor<Real>::address(const Schedule& schedule, ValueId value) {
  const Placement& place = schedule.placements[at(value)];
  if (place.slot != kNone) return arena_.data() + slot_offsets_.at(&schedule)[at(place.slot)];
  const auto found = constants_.find(place.constant);
  // The one constant without a buffer of its own is the feature matrix, which no operation writes.
  return found != constants_.end() ? found->second.data() : const_cast<Real*>(features_.data);
}

template <typename Real>
MatrixView<Real> Executor<Real>::view(const Schedule& schedule, ValueId value) {
  return {address(schedule, value), graph_.owned + schedule.halo_rows[at(value)],
          schedule.program.cols(value)};
}

template <typename Real>
std::span<const Real> Executor<Real>::factor(RowFactor factor) const {
  switch (factor) {
    case RowFactor::kGcn:
      return gcn_factor_.span();
    case RowFactor::kInverseDegree:
      return inverse_degree_.span();
    case RowFactor::kOne:
      break;
  }
  return {};
}

template class Executor<float>;
template class Executor<double>;

}  // namespace halo::nn
