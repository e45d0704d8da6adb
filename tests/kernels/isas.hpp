#pragma once

#include <vector>

#include "halo/base/cpu.hpp"

namespace halo::test {

/// The instruction sets this process may use: those of the CPU up to HALO_ISA.
inline std::vector<VectorIsa> usable_isas() {
  std::vector<VectorIsa> isas;
  for (const VectorIsa isa : {VectorIsa::kPortable, VectorIsa::kAvx2, VectorIsa::kAvx512}) {
    if (isa <= vector_isa()) isas.push_back(isa);
  }
  return isas;
}

}  // namespace halo::test
