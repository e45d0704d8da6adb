#include "calibration.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "edge_passes.hpp"
#include "halo/base/buffer.hpp"
#include "halo/base/exact_sum.hpp"
#include "halo/base/parallel.hpp"
#include "halo/base/timer.hpp"
#include "halo/kernels/losses.hpp"
#include "halo/kernels/norms.hpp"
#include "halo/kernels/product.hpp"
#include "halo/kernels/rows.hpp"

namespace halo::train {
namespace {

double seconds_of_thread() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Seconds that `count` calls of `body` take threads together, in the fastest of the runs within a few
/// hundredths of a second. Time of threads, not of the clock: what else runs on the machine does not count.
double time_of(std::int64_t count, int threads, const std::function<void(std::int64_t, int)>& body) {
  struct alignas(64) Used {
    double seconds = 0.0;
  };
  double best = std::numeric_limits<double>::infinity();
  const Timer all;
  for (int run = 0; run < 4 || all.seconds() < 0.03; ++run) {
    std::vector<Used> used(at(threads));
    parallel_for(count, threads, [&](std::int64_t index, int thread) {
      const double before = seconds_of_thread();
      body(index, thread);
      used[at(thread)].seconds += seconds_of_thread() - before;
    });
    const double sum = std::accumulate(used.begin(), used.end(), 0.0,
                                       [](double seconds, const Used& of) { return seconds + of.seconds; });
    best = std::min(best, sum);
  }
  return best;
}

Buffer<float> matrix(std::int64_t elements) {
  Buffer<float> values(elements);
  for (std::int64_t k = 0; k < elements; ++k) values.data()[k] = 0.125F * static_cast<float>(k % 13 - 6);
  return values;
}

}  // namespace

Calibration::Calibration(dist::RowSample rows, const CalibrationOptions& options)
    : rows_(std::move(rows)), options_(options) {
  const std::int64_t sampled = std::ssize(rows_.indptr) - 1;
  options_.matrix_rows = std::max({options_.matrix_rows, sampled, std::int64_t{1}});
  for (const NodeId id : rows_.neighbours)
    columns_.push_back(static_cast<LocalId>(id % options_.matrix_rows));
}

double Calibration::once(const std::string& key, const std::function<double()>& measure) {
  const auto [place, is_new] = measured_.try_emplace(key, 0.0);
  if (is_new) place->second = measure();
  return place->second;
}

double Calibration::seconds_per_row(Product product, std::int64_t k, std::int64_t n) {
  return once(fmt::format("product {} {} {}", static_cast<int>(product), k, n),
              [&] { return measure_product(product, k, n); });
}

double Calibration::measure_product(Product product, std::int64_t k, std::int64_t n) const {
  const std::int64_t rows = options_.tile_rows;
  struct Tile {
    Buffer<float> x, w, y;
  };
  std::vector<Tile> tiles;
  for (int thread = 0; thread < options_.threads; ++thread)
    tiles.push_back({matrix(rows * k), matrix(k * n), matrix(rows * n)});
  const auto run = [&](std::int64_t, int thread) {
    Tile& tile = tiles[at(thread)];
    const MatrixView<float> x(tile.x.data(), rows, k), w(tile.w.data(), k, n), y(tile.y.data(), rows, n);
    if (product == Product::kForward) kernels::product<float>(x, w, y, false);
    if (product == Product::kInput) kernels::product_right_transposed<float>(y, w, x, false);
    if (product == Product::kWeight) kernels::product_left_transposed<float>(x, y, w, false);
  };
  constexpr std::int64_t kTiles = 16;  // of each thread: many beside what it takes to start threads
  const std::int64_t tiles_in_all = kTiles * options_.threads;
  return time_of(tiles_in_all, options_.threads, run) / static_cast<double>(tiles_in_all * rows);
}

double Calibration::seconds_per_edge(const nn::Kind& kind, std::int64_t cols) {
  return once(fmt::format("edges {} {}", nn::describe(kind), cols), [&] {
    if (columns_.empty()) return 0.0;
    EdgePass pass({.indptr = rows_.indptr, .columns = columns_, .matrix_rows = options_.matrix_rows}, kind,
                  cols);
    const std::int64_t rows = std::ssize(rows_.indptr) - 1;
    const std::int64_t tiles = (rows + options_.tile_rows - 1) / options_.tile_rows;
    const auto run = [&](std::int64_t tile, int) {
      const std::int64_t begin = tile * options_.tile_rows;
      pass.run({begin, std::min(rows, begin + options_.tile_rows)});
    };
    return time_of(tiles, options_.threads, run) / static_cast<double>(columns_.size());
  });
}

double Calibration::seconds_per_element(Elementwise kind) {
  return once(fmt::format("elementwise {}", static_cast<int>(kind)),
              [&] { return measure_elementwise(kind); });
}

double Calibration::measure_elementwise(Elementwise kind) const {
  constexpr std::int64_t kCols = 64;
  const std::int64_t rows = options_.tile_rows;
  Buffer<float> a = matrix(rows * kCols), b = matrix(rows * kCols);
  const MatrixView<float> x(a.data(), rows, kCols), y(b.data(), rows, kCols);
  std::vector<NodeId> ids(at(rows));
  std::iota(ids.begin(), ids.end(), NodeId{0});
  const std::vector<std::int32_t> labels(at(rows), 0);
  const std::vector<std::uint8_t> use(at(rows), 1);
  const std::vector<float> ones(at(kCols), 1.0F);
  const std::vector<kernels::NormColumn> columns(at(kCols));
  const double seconds = time_of(1, 1, [&](std::int64_t, int) {
    switch (kind) {
      case Elementwise::kPlain:
        return kernels::relu<float>(x, y);
      case Elementwise::kDropout:
        return kernels::relu_dropout<float>(x, ids, CounterRng(1, 2, 3), 0.5, y);
      case Elementwise::kRowNorm:
        return kernels::layer_norm<float>(x, ones, ones, 1e-5, y);
      case Elementwise::kColumnNorm:
        return kernels::batch_norm<float>(x, columns, ones, ones, y);
      case Elementwise::kSoftmax:
        kernels::softmax_cross_entropy<float>(x, labels, use, 1.0, y);
    }
  });
  return seconds / static_cast<double>(rows * kCols);
}

double Calibration::seconds_per_byte() {
  return once("triad", [&] {
    constexpr std::int64_t kElements = std::int64_t{1} << 23, kChunk = std::int64_t{1} << 15;
    Buffer<double> a(kElements), b(kElements), c(kElements);
    for (Buffer<double>* buffer : {&a, &b, &c}) buffer->fill(1.0);
    const auto run = [&](std::int64_t chunk, int) {
      double* const to = a.data() + chunk * kChunk;
      const double* const left = b.data() + chunk * kChunk;
      const double* const right = c.data() + chunk * kChunk;
      for (std::int64_t i = 0; i < kChunk; ++i) to[i] = left[i] + 3.0 * right[i];
    };
    return time_of(kElements / kChunk, options_.threads, run) / (24.0 * kElements);
  });
}

double Calibration::seconds_per_exact_term() {
  return once("exact", [&] {
    constexpr std::int64_t kTerms = std::int64_t{1} << 15;
    const Buffer<float> terms = matrix(kTerms);
    Buffer<std::int64_t> limbs(exact_limb_count(kTerms));
    limbs.fill(0);
    const auto run = [&](std::int64_t, int) { exact_add<float>(terms.span(), 0, kTerms, limbs.span()); };
    return time_of(1, 1, run) / kTerms;
  });
}

}  // namespace halo::train
