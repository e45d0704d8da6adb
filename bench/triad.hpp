#pragma once

namespace halo::bench {

/// Best bandwidth, bytes per second, of the STREAM triad a = b + 3 c (McCalpin 1995) over arrays far beyond
/// the last cache; 24 bytes counted per element of 8, as STREAM does. Measured at first use for each number
/// of threads (1 or 2).
double triad_bytes_per_second(int threads);

}  // namespace halo::bench
