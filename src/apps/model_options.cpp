#include "model_options.hpp"

namespace halo::apps {

void add_model_options(CLI::App& app, nn::ModelOptions& model) {
  app.option_defaults()->group("Model")->always_capture_default();
  app.add_option("--model", model.model, "gcn, sage or mlp");
  app.add_option("--layers", model.layers, "number of layers");
  app.add_option("--hidden", model.hidden, "columns of the hidden layers");
  app.add_option("--dropout", model.dropout, "dropout before every layer but the first");
  app.add_option("--input-dropout", model.input_dropout,
                 "dropout on the features; above 0 the first aggregation has to run every epoch");
}

}  // namespace halo::apps
