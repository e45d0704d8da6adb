"""A run that is stopped by a signal, damage or a full disk can be continued, but only as the run it was."""

import json
import os
import resource
import shutil
import signal
import subprocess

import halo_runs
from halo_runs import (HaloTest, Programs, bits_of_run, environment, generate, metrics, mpi_command, partition, ranks_of,
                       resume_command, run, start, succeed, train_command, wait_for_epochs)

# Everything that a checkpoint has to keep: moments, schedule, early stopping, best weights.
OPTIONS = {"--hidden": 16, "--dropout": "0.4", "--lr": 1, "--schedule": "plateau", "--plateau-patience": 0,
           "--patience": 12, "--clip-norm": "0.5", "--evaluate-every": 2, "--threads": 1}


WHOLE = 30  # epochs of a run that is not interrupted


def with_options(*options):
    """OPTIONS and those given, which count where both name one."""
    merged = {**OPTIONS, **dict(zip(options[::2], options[1::2], strict=True))}
    return [word for option in merged.items() for word in option]


class ResumingTest(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "data", "--kind", "sbm", "--nodes", 2000, "--features", 16, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 4)

    def train(self, name, *options, ranks=2):
        out = self.folder / name
        succeed(train_command(ranks, self.parts, out, *with_options(*options)))
        return out

    def interrupted(self, name="run", *options, ranks=2):
        """Has checkpoints of the epochs 12 and 18; the rate has been reduced by then."""
        return self.train(name, "--epochs", 20, "--checkpoint-every", 6, *options, ranks=ranks)


class Resuming(ResumingTest):
    def test_signals(self):
        options = ("--epochs", 150, "--patience", 1000)
        expected = bits_of_run(self.train("whole", *options))
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
            with self.subTest(signal=number.name):
                out = self.folder / number.name
                job = start(train_command(2, self.parts, out, *with_options(*options)))
                wait_for_epochs(job, out, 5)
                # To one rank, which must stop all. A signal to the launcher reaches every rank, but MPICH's then may
                # return 0 whatever the ranks say: there the message and the checkpoint have to do.
                to_launcher = number == signal.SIGINT
                os.kill(job.pid if to_launcher else ranks_of(out)[0], number)
                said, _ = job.communicate(timeout=60)
                self.assertIn(job.returncode, (0, 3) if to_launcher else (3,), said)
                self.assertIn("stopped by a signal", said)
                self.assertIn(f"--resume {out}", said)
                epoch = len(metrics(out))
                self.assertLess(epoch, 150)
                self.assertEqual([file.name for file in (out / "checkpoints").iterdir()], [f"epoch-{epoch:06}"])
                self.assertFalse((out / "summary.json").exists())
                succeed(resume_command(3, out))
                self.assertEqual(bits_of_run(out), expected)

    def test_a_finished_run_stays_as_it_is(self):
        out = self.train("run", "--epochs", 6, "--checkpoint-every", 3)
        before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
        done = succeed(resume_command(3, out))
        self.assertIn("is finished", done.stdout)
        self.assertEqual({file: file.read_bytes() for file in out.rglob("*") if file.is_file()}, before)

    def test_an_early_stop_stays_one(self):
        out = self.train("run", "--epochs", 200, "--patience", 3, "--evaluate-every", 1)
        self.assertTrue(json.loads((out / "summary.json").read_text())["stopped_early"])
        before = bits_of_run(out)
        self.assertIn("is finished", succeed(resume_command(2, out, "--epochs", 300)).stdout)
        self.assertEqual(bits_of_run(out), before)

    def test_a_damaged_checkpoint_gives_way_to_the_one_before(self):
        expected = bits_of_run(self.train("whole", "--epochs", WHOLE))
        whole = self.interrupted()
        newest = "checkpoints/epoch-000018"

        def flip(path):
            data = path.read_bytes()
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

        damages = {
            "a changed byte": lambda folder: flip(folder / "parameters.npy"),
            "a cut file": lambda folder: (folder / "optimizer_mean.npy").write_bytes(
                (folder / "optimizer_mean.npy").read_bytes()[:-9]),
            "an empty file": lambda folder: (folder / "best_parameters.npy").write_bytes(b""),
            "a missing file": lambda folder: (folder / "optimizer_square.npy").unlink(),
            "a changed state": lambda folder: (folder / "state.json").write_text(
                (folder / "state.json").read_text().replace('"evaluations_since": ', '"evaluations_since": 1')),
            "a cut state": lambda folder: (folder / "state.json").write_text((folder / "state.json").read_text()[:100]),
            "no state": lambda folder: (folder / "state.json").unlink(),
        }
        for number, (name, damage) in enumerate(damages.items()):
            with self.subTest(damage=name):
                out = self.folder / f"damaged{number}"
                shutil.copytree(whole, out)
                damage(out / newest)
                done = succeed(resume_command(1, out, "--epochs", WHOLE, "--checkpoint-every", 5, "--keep-checkpoints", 3))
                self.assertIn("epoch 18 cannot be used", done.stderr)
                self.assertEqual(bits_of_run(out), expected)
                self.assertEqual(json.loads((out / "summary.json").read_text())["resumed_from_epoch"], 12)
                self.assertEqual(sorted(file.name for file in (out / "checkpoints").iterdir()),
                                 ["epoch-000020", "epoch-000025", "epoch-000030"])

    def test_without_a_usable_checkpoint_a_killed_run_begins_again(self):
        expected = bits_of_run(self.train("whole", "--epochs", 8))
        out = self.train("run", "--epochs", 8)
        (out / "summary.json").unlink()
        done = succeed(resume_command(2, out))
        self.assertIn("no usable checkpoint", done.stderr)
        self.assertEqual(bits_of_run(out), expected)

    def refuses(self, command, *words):
        done = run(command, timeout=30)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_refusals(self):
        out = self.interrupted()
        before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
        raised = ("--epochs", WHOLE)
        for ranks in (1, 2):
            self.refuses(resume_command(ranks, out, *raised, "--lr", "0.25"), "--lr", "0.25", "1.0")
            self.refuses(resume_command(ranks, out, *raised, "--model", "sage"), "--model", "sage", "gcn")
            self.refuses(resume_command(ranks, out, *raised, "--seed", 77), "--seed", "77")
            self.refuses(resume_command(ranks, out, "--epochs", 8), "--epochs", "8", "20")
            self.refuses(resume_command(ranks, out, "--out", self.folder / "other"), "--resume", "--out")
            self.refuses(resume_command(ranks, self.folder / "nowhere"), "--resume", "nowhere")
            self.refuses(train_command(ranks, self.parts, out), f"--resume {out}")
        other = partition(self.folder / "data", self.folder / "other_parts", 4, "--seed", 9, "--method", "random")
        ids = [json.loads((parts / "partition.json").read_text())["run_id"] for parts in (self.parts, other)]
        self.refuses(mpi_command(2, Programs.train, other, "--resume", out, *raised), *ids)
        self.assertEqual({file: file.read_bytes() for file in out.rglob("*") if file.is_file()}, before)

    def test_a_checkpoint_of_another_model_is_refused(self):
        out = self.interrupted()
        wider = self.interrupted("wider", "--hidden", 24)
        shutil.rmtree(out / "checkpoints")
        shutil.copytree(wider / "checkpoints", out / "checkpoints")
        self.refuses(resume_command(2, out, "--epochs", WHOLE), "--hidden", "16", "24")

    def test_metrics_that_were_cut_are_refused(self):
        out = self.interrupted()
        text = (out / "metrics.jsonl").read_text()
        (out / "metrics.jsonl").write_text(text[:200])
        self.refuses(resume_command(2, out, "--epochs", WHOLE), "metrics.jsonl", "200 bytes")

    def test_a_cosine_run_cannot_get_longer(self):
        out = self.interrupted("cosine", "--schedule", "cosine")
        self.refuses(resume_command(2, out, "--epochs", WHOLE), "cosine", "30", "20")

    def test_a_full_disk_keeps_the_last_good_checkpoint(self):
        # As in failing_rank.py; the weights (64 KiB) do not fit, the lines of metrics do.
        wide = ("--hidden", 1000, "--lr", "0.05")
        expected = bits_of_run(self.train("whole", "--epochs", WHOLE, *wide))
        out = self.interrupted("run", *wide)
        command = resume_command(2, out, "--epochs", 26, "--checkpoint-every", 2)
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120,
                              env=environment(UCX_TLS="tcp,self"),
                              preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                                  resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))))
        self.assertIn("no checkpoint of epoch 20, training goes on and that of epoch 18 stays", done.stderr)
        self.assertIn("no checkpoint of epoch 26", done.stderr)
        self.assertEqual(done.returncode, 1)  # the weights of the end do not fit either
        self.assertEqual(sorted(file.name for file in (out / "checkpoints").iterdir()), ["epoch-000012", "epoch-000018"])
        succeed(resume_command(3, out, "--epochs", WHOLE))
        self.assertEqual(bits_of_run(out), expected)


if __name__ == "__main__":
    halo_runs.main()
