#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/nn/program.hpp"

namespace halo::nn {

/// Options of all models; each model reads those that concern it and refuses the others' non-default values.
struct ModelOptions {
  std::string model = "gcn";  ///< one of model_names()
  int layers = 2;
  std::int64_t hidden = 64;         ///< columns of a hidden layer, for attention of all heads together
  double dropout = 0.5;             ///< before every layer but the first
  double input_dropout = 0.0;       ///< on the features
  std::string activation = "relu";  ///< relu, elu or leaky_relu
  std::string norm = "none";        ///< of hidden layers: none, batch, layer or l2
  std::string residual =
      "none";  ///< none; identity: x + layer(x); linear: layer(x) + x W + b in front of the norm
  std::string jumping = "none";  ///< jumping knowledge: none, cat or max of the hidden layers, then a product
  bool input_linear = false;     ///< a linear layer and the activation in front of the first layer
  bool output_linear = false;    ///< hidden layers only, then a linear layer
  std::string aggregator = "mean";  ///< sage: mean, sum, max, or pool (max of a learnt layer)
  bool root_weight = true;          ///< sage: with x W_root
  bool l2_normalise = false;        ///< sage: rows of each layer's output to length 1
  int heads = 8;                    ///< gat, gatv2: hidden layers
  int output_heads = 1;             ///< gat, gatv2: last layer, averaged
  double attention_dropout = 0.0;   ///< gat, gatv2
  double negative_slope = 0.2;      ///< gat, gatv2: of the leaky relu on scores
  bool learn_epsilon = false;       ///< gin
  double alpha = 0.1;               ///< gcnii, appnp: share of the initial representation
  double theta = 0.5;               ///< gcnii: strength of the identity mapping
  int hops = 0;                     ///< sgc, sign, appnp: propagations; 0: 2 for sgc and sign, 10 for appnp
  std::int64_t embedding = 0;       ///< learnt columns for each node, beside the features or instead of them
  std::string storage = "float32";  ///< of rows between stages and of halo rows: float32 or bf16
  bool encoder = false;         ///< no outputs: `hidden` columns for each node, whose pairs a decoder judges
  std::string decoder = "dot";  ///< link prediction: dot or mlp
};

/// Names of the models, in the order of the list below.
std::vector<std::string> model_names();

/// Builds the model's forward program for `feature_cols` features (0: embedding only) and `outputs` classes
/// or columns. InputError on an unknown name, options out of range or of another model. Parameters are named
/// as in the modules of PyTorch Geometric, so that a weights file opens there.
///   gcn    y = A (x W) + b, A the normalised adjacency with loops                   (Kipf, Welling 2017)
///   sage   y = x W_r + agg_{j in N(i)} x_j W_l + b                                  (Hamilton et al. 2017)
///   gat    y_i = sum_j a_ij x_j W, a from <a_dst, x_i W> + <a_src, x_j W>           (Velickovic et al. 2018)
///   gatv2  the same with a from <a, leaky(x_j W_l + x_i W_r)>                       (Brody et al. 2022)
///   gin    y = mlp((1 + e) x_i + sum_j x_j)                                         (Xu et al. 2019)
///   gcnii  y = ((1 - a) A x + a x_0) ((1 - b_l) I + b_l W), b_l = log(theta/l + 1)  (Chen et al. 2020)
///   appnp  z <- (1 - a) A z + a mlp(x), `hops` times                                (Gasteiger et al. 2019)
///   sgc    y = A^hops x W + b                                                       (Wu et al. 2019)
///   sign   y = mlp([x W_0 | A x W_1 | ... ])                                        (Frasca et al. 2020)
///   mlp    y = x W + b: what the features say without the graph
Program build_model(const ModelOptions& options, std::int64_t feature_cols, std::int64_t outputs);

/// Starting values of the flat buffer, parameter_count() elements; a function of the seed alone.
template <typename Real>
void initialise_parameters(const Program& program, std::uint64_t seed, Real* flat);

}  // namespace halo::nn
