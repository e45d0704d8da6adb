#include "halo/base/parallel.hpp"

#include <omp.h>

#include <atomic>
#include <exception>

namespace halo {

void parallel_for(std::int64_t count, int threads, FunctionRef<void(std::int64_t, int)> body,
                  FunctionRef<void()> between) {
  if (threads <= 1 || count <= 1) {
    for (std::int64_t index = 0; index < count; ++index) {
      body(index, 0);
      if (between) between();
    }
    return;
  }
  std::exception_ptr first_error;
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> next = 0;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    for (std::int64_t index = next++; index < count && !stop; index = next++) {
      try {
        body(index, thread);
        if (thread == 0 && between) between();
      } catch (...) {
#pragma omp critical(halo_parallel_error)
        if (!first_error) first_error = std::current_exception();
        stop = true;
      }
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace halo
