// A job in which rank 1 fails in the way that the argument names; test_rank_watch.py looks at what comes out.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "halo/mpi/program.hpp"

namespace {

void fail_on(bool here) {
  if (here) throw halo::InputError("rank 1 dislikes its input");
}

void die(const std::string& way) {
  fail_on(way == "throw");
  if (way == "exit0") std::exit(0);
  if (way == "abort") {
    std::fprintf(stderr, "error: rank 1 has its reasons\n");
    halo::mpi::abort_all(2);
  }
  if (way == "wait") std::this_thread::sleep_for(std::chrono::minutes(1));  // to be killed, any of the ranks
}

}  // namespace

int main(int argc, char** argv) {
  return halo::mpi::run_program(argc, argv, [&](const halo::mpi::Communicator& world) {
    std::printf("rank %d pid %d\n", world.rank(), static_cast<int>(::getpid()));
    std::fflush(stdout);
    world.barrier();
    const std::string way = argc > 1 ? argv[1] : "";
    if (way == "agreed") world.agree([&] { fail_on(world.rank() == 1); });
    if (world.rank() == 1) die(way);
    std::array<std::int64_t, 1> sum = {1};
    world.sum(sum);  // waits for ever where a rank is dead
    return sum[0] == world.size() ? 0 : 1;
  });
}
