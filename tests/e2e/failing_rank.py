"""One rank that fails in mid-run ends the job within seconds, with a status that is not zero and a message that names it."""

import os
import resource
import shutil
import signal
import subprocess
import time

import halo_runs
from halo_runs import HaloTest, Programs, environment, generate, mpi_command, partition, run, train_command

SECONDS = 10  # within which the job has to end


class FailingRank(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "data", "--kind", "sbm", "--nodes", 4000, "--features", 16, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 4)

    def start(self, ranks, *options):
        command = mpi_command(ranks, Programs.train, self.parts, "--out", self.folder / "run", "--epochs", 1000000,
                              "--threads", 1, *options)
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=environment())

    def pids(self, job):
        """Process of each rank, from the placement that rank 0 logs; waits until an epoch has been trained."""
        pids = {}
        for line in job.stdout:
            if ", pid " in line:
                rank = int(line.split("info rank ")[1].split(":")[0])
                pids[rank] = int(line.split(", pid ")[1].split(",")[0])
            if "epoch 1/" in line:
                return pids
        raise AssertionError("the job ended before its first epoch")

    def test_kill(self):
        for ranks, victim in ((2, 1), (3, 0), (4, 2)):
            with self.subTest(ranks=ranks, victim=victim):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job = self.start(ranks)
                pids = self.pids(job)
                self.assertEqual(len(pids), ranks)
                os.kill(pids[victim], signal.SIGKILL)
                killed = time.monotonic()
                said, _ = job.communicate(timeout=60)
                self.assertLess(time.monotonic() - killed, SECONDS)
                self.assertNotEqual(job.returncode, 0)
                self.assertIn(f"rank {victim}", said)

    def test_out_of_memory(self):
        limit = 400 << 20  # bytes of address space: enough for MPI, not for the matrices of --hidden 100000

        def starved(*words):
            return ["prlimit", f"--as={limit}", *words]

        command = [Programs.mpiexec, "-n", 1, Programs.train, self.parts, "--hidden", 100000, "--epochs", 3, "--threads", 1,
                   ":", "-n", 1, *starved(Programs.train, self.parts, "--hidden", 100000, "--epochs", 3, "--threads", 1)]
        started = time.monotonic()
        done = run(command, timeout=100)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rank 1", done.stderr)
        self.assertIn("memory", done.stderr)
        self.assertLess(time.monotonic() - started, 60)

    def test_a_slice_that_only_one_rank_finds_damaged(self):
        file = self.parts / "features.npy"
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))  # in the last part
        done = run(train_command(3, self.parts, self.folder / "run"), timeout=30)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("rank 2", done.stderr)
        self.assertIn("features.npy", done.stderr)

    def test_full_disk(self):
        # A file size limit fails writes as a full disk does, without needing a disk to fill; MPI's own shared memory would
        # count too, so the ranks talk through sockets.
        command = train_command(2, self.parts, self.folder / "run", "--epochs", 400, "--hidden", 4)
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120,
                              env=environment(UCX_TLS="tcp,self"),
                              preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                                  resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("metrics.jsonl", done.stderr)
        self.assertFalse((self.folder / "run" / "summary.json").exists())

    def test_divergence(self):
        done = run(train_command(2, self.parts, self.folder / "run", "--optimizer", "sgd", "--lr", "1e30"), timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1)
        self.assertIn("diverged", done.stderr)


if __name__ == "__main__":
    halo_runs.main()
