#include "halo/base/cpu.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "halo/base/error.hpp"

namespace halo {
namespace {

VectorIsa best_of_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return VectorIsa::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorIsa::kAvx2;
#endif
  return VectorIsa::kPortable;
}

VectorIsa choose_isa() {
  const VectorIsa best = best_of_cpu();
  const char* wish = std::getenv("HALO_ISA");
  if (wish == nullptr || std::string_view(wish).empty()) return best;
  for (const VectorIsa isa : {VectorIsa::kPortable, VectorIsa::kAvx2, VectorIsa::kAvx512}) {
    if (std::string_view(wish) == to_string(isa) && isa <= best) return isa;
  }
  throw InputError(
      {.what = "cannot use the wanted vector instructions",
       .where = "environment variable HALO_ISA",
       .found = wish,
       .expected = std::string("portable, avx2 or avx512, at most ") + to_string(best) + " on this CPU",
       .next = "unset HALO_ISA"});
}

}  // namespace

VectorIsa vector_isa() {
  static const VectorIsa isa = choose_isa();
  return isa;
}

const char* to_string(VectorIsa isa) {
  switch (isa) {
    case VectorIsa::kAvx512:
      return "avx512";
    case VectorIsa::kAvx2:
      return "avx2";
    case VectorIsa::kPortable:
      break;
  }
  return "portable";
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace halo
