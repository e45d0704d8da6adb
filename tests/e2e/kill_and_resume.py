"""Killed at any moment, one rank or all, a run with checkpoints ends with the bits of one that nobody killed.

    kill_and_resume.py ... --moments 50    kills at so many random moments (6 unless told)
"""

import os
import random
import signal
import sys
import time

import halo_runs
from halo_runs import (HaloTest, bits_of_run, generate, partition, ranks_of, resume_command, start, succeed,
                       train_command)

OPTIONS = ("--model", "sage", "--hidden", 16, "--dropout", "0.4", "--epochs", 40, "--schedule", "step", "--step-size", 10,
           "--best-weights", "--threads", 1, "--checkpoint-every", 1)
RANKS = 3
moments = 6


class KillAndResume(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "data", "--kind", "sbm", "--nodes", 2000, "--features", 16, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 4)

    def kill(self, run_folder, after, chance):
        """Starts a run and kills, so many seconds later, one of its ranks or all. Returns whether there was one to kill."""
        job = start(train_command(RANKS, self.parts, run_folder, *OPTIONS))
        time.sleep(after)
        pids = ranks_of(run_folder)
        victims = pids if chance.random() < 0.5 else chance.sample(pids, min(1, len(pids)))
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it ended in the meantime
        job.communicate(timeout=60)
        return bool(victims)

    def finish(self, run_folder, ranks):
        if run_folder.exists():
            succeed(resume_command(ranks, run_folder))
        else:  # killed before there was anything to continue
            succeed(train_command(ranks, self.parts, run_folder, *OPTIONS))

    def test_random_moments(self):
        chance = random.Random(1)
        started = time.monotonic()
        whole = self.folder / "whole"
        succeed(train_command(RANKS, self.parts, whole, *OPTIONS))
        seconds = time.monotonic() - started
        expected = bits_of_run(whole)
        killed = 0
        for moment in range(moments):
            after = seconds * (moment + chance.random()) / moments
            with self.subTest(moment=moment, after=after):
                run_folder = self.folder / f"run{moment}"
                killed += self.kill(run_folder, after, chance)
                self.finish(run_folder, ranks=1 + moment % 4)
                self.assertEqual(bits_of_run(run_folder), expected)
        self.assertGreater(killed, moments // 3)  # else nothing has been tested


if __name__ == "__main__":
    if "--moments" in sys.argv:
        place = sys.argv.index("--moments")
        moments = int(sys.argv[place + 1])
        del sys.argv[place:place + 2]
    halo_runs.main()
