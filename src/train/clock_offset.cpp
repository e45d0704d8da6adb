#include "clock_offset.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "halo/base/trace.hpp"

namespace halo::train {

ClockOffset clock_offset(std::span<const Passage> own, std::span<const Passage> reference) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t k = 0; k < own.size(); ++k) {
    least = std::max(least, reference[k].entered - own[k].left);
    most = std::min(most, reference[k].left - own[k].entered);
  }
  if (least <= 0 && 0 <= most) return {.offset = 0, .error = std::max(-least, most)};
  return {.offset = least + (most - least) / 2, .error = (most - least + 1) / 2};
}

ClockOffset measure_clock_offset(const mpi::Communicator& communicator) {
  std::array<Passage, 16> own;  // the first ones are slow, the best one counts
  for (Passage& passage : own) {
    passage.entered = steady_nanoseconds();
    communicator.barrier();
    passage.left = steady_nanoseconds();
  }
  auto reference = own;
  communicator.broadcast(std::as_writable_bytes(std::span(reference)), 0);
  return communicator.rank() == 0 ? ClockOffset{} : clock_offset(own, reference);
}

}  // namespace halo::train
