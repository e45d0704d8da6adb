#pragma once

#include <cstdint>
#include <string>

#include "halo/nn/program.hpp"

namespace halo::nn {

/// Options that the models share.
struct ModelOptions {
  std::string model = "gcn";  ///< gcn, sage or mlp
  int layers = 2;
  std::int64_t hidden = 64;
  double dropout = 0.5;        ///< before every layer but the first
  double input_dropout = 0.0;  ///< on the features
};

/// Builds the model's forward program for `feature_cols` features and `classes` classes. InputError on an
/// unknown model or options out of range.
///   gcn   y = A (x W) + b, A the normalised adjacency with loops      (Kipf, Welling 2017)
///   sage  y = x W_root + mean_{j in N(i)} x_j W_neighbour + b         (Hamilton et al. 2017, mean)
///   mlp   y = x W + b: what the features say without the graph
/// relu and dropout between layers.
Program build_model(const ModelOptions& options, std::int64_t feature_cols, std::int64_t classes);

/// Glorot uniform weights (Glorot, Bengio 2010: bound sqrt(6 / (rows + cols))), zero biases; a function of
/// the seed alone. `flat` has parameter_count() elements.
template <typename Real>
void initialise_parameters(const Program& program, std::uint64_t seed, Real* flat);

}  // namespace halo::nn
