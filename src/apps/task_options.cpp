#include "task_options.hpp"

namespace halo::apps {

void add_task_options(CLI::App& app, train::TaskOptions& task, nn::ModelOptions& model) {
  app.option_defaults()->group("Task")->always_capture_default();
  app.add_option("--class-weights", task.class_weights,
                 "single label: none, balanced, or one number for each class (1,0.5,2)");
  app.add_option("--label-smoothing", task.label_smoothing, "single label: share spread over all classes");
  app.add_option("--regression-loss", task.regression_loss, "regression: mse or mae");
  app.add_option("--metric", task.metrics,
                 "what is reported, the first one counts: accuracy, f1_micro, f1_macro, roc_auc, mse, mae; "
                 "links: roc_auc, mrr, hits@K; without: those of the task")
      ->delimiter(',');
  app.add_flag("--inductive", task.inductive,
               "train on the subgraph of the training nodes, judge on the whole graph");
  app.add_option("--negatives", task.negatives, "link prediction: non-edges drawn for each edge and epoch");
  app.add_option("--hits-k", task.hits_k, "link prediction: the K of Hits@K")->delimiter(',');
  app.add_option("--decoder", model.decoder, "link prediction: dot or mlp of two nodes' outputs");
}

}  // namespace halo::apps
