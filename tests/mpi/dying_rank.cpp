// A job in which rank 1 fails in the way that the argument names; test_rank_watch.py looks at what comes out.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "halo/mpi/program.hpp"

namespace {

void fail_on(bool here) {
  if (here) throw halo::InputError("rank 1 dislikes its input");
}

/// Many small pages, which the kernel gives back one by one when the process ends.
void hold_much_memory() {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  void* const pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    std::perror("mmap of much memory");
    std::exit(1);
  }
  ::madvise(pages, kBytes, MADV_NOHUGEPAGE);
  std::memset(pages, 1, kBytes);
}

void die(const std::string& way) {
  fail_on(way == "throw");
  if (way == "exit0") std::exit(0);
  if (way == "abort") {
    std::fprintf(stderr, "error: rank 1 has its reasons\n");
    halo::mpi::abort_all(2);
  }
  if (way == "wait" || way == "heavy")
    std::this_thread::sleep_for(std::chrono::minutes(1));  // to be killed, any of the ranks
}

}  // namespace

int main(int argc, char** argv) {
  return halo::mpi::run_program(argc, argv, [&](const halo::mpi::Communicator& world) {
    const std::string way = argc > 1 ? argv[1] : "";
    if (way == "heavy" && world.rank() == 1) hold_much_memory();
    std::printf("rank %d pid %d\n", world.rank(), static_cast<int>(::getpid()));
    std::fflush(stdout);
    world.barrier();
    if (way == "agreed") world.agree([&] { fail_on(world.rank() == 1); });
    if (world.rank() == 1) die(way);
    std::array<std::int64_t, 1> sum = {1};
    world.sum(sum);  // waits for ever where a rank is dead
    return sum[0] == world.size() ? 0 : 1;
  });
}
