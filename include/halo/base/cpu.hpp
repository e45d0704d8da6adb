#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo {

/// Vector instruction sets the hot kernels are written for, worst first.
enum class VectorIsa { kPortable, kAvx2, kAvx512 };

/// Best instruction set of this CPU. The environment variable HALO_ISA (portable, avx2, avx512) lowers it,
/// for tests and for machines of mixed kinds; asking for more than the CPU has is an InputError.
VectorIsa vector_isa();
const char* to_string(VectorIsa isa);

/// CPUs this process may run on (its affinity mask), in order. Never empty.
std::vector<int> usable_cpus();

/// Largest resident set of this process so far, bytes.
std::int64_t peak_resident_bytes();

/// Host name, as the kernel gives it.
std::string host_name();

}  // namespace halo
