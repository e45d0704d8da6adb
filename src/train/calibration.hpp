#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "halo/dist/partition_scan.hpp"
#include "halo/nn/operations.hpp"

namespace halo::train {

/// Which product of a tile: y = x w, dx = dy w^T, dw += x^T dy.
enum class Product { kForward, kInput, kWeight };
/// Row-local loops by what an element costs.
enum class Elementwise { kPlain, kDropout, kRowNorm, kColumnNorm, kSoftmax };

/// How a calibration measures.
struct CalibrationOptions {
  int threads = 1;  ///< at once: what they share (memory, caches) they share in the run too
  std::int64_t tile_rows = 256;
  std::int64_t matrix_rows = 0;  ///< rows that neighbours are spread over
};

/// What this machine needs for the kernels of a program, measured at first use, milliseconds each. All
/// figures are seconds of one thread while `threads` work.
class Calibration {
 public:
  /// `rows`: real rows of the graph; an id counts modulo matrix_rows, so that near ones stay near.
  Calibration(dist::RowSample rows, const CalibrationOptions& options);

  double seconds_per_row(Product product, std::int64_t k, std::int64_t n);
  /// Of a sum over edges; `cols`: of the gathered value.
  double seconds_per_edge(const nn::Kind& kind, std::int64_t cols);
  double seconds_per_element(Elementwise kind);
  /// STREAM's triad, 24 bytes for each element of 8.
  double seconds_per_byte();
  /// exact_add() of one term.
  double seconds_per_exact_term();

 private:
  double once(const std::string& key, const std::function<double()>& measure);
  double measure_product(Product product, std::int64_t k, std::int64_t n) const;
  double measure_elementwise(Elementwise kind) const;

  dist::RowSample rows_;
  std::vector<LocalId> columns_;
  CalibrationOptions options_;
  std::map<std::string, double> measured_;
};

}  // namespace halo::train
