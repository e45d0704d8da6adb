"""Options from a file and from a run folder, and several seeds in one run."""

import json
import os
import signal
import statistics

import halo_runs
from halo_runs import (HaloTest, Programs, bits_of_run, generate, metrics, mpi_command, partition, ranks_of, resume_command, run,
                       start, succeed, train_command, wait_for_epochs)


class Options(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "data", "--kind", "sbm", "--nodes", 1500, "--features", 16, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 3)

    def config(self, text):
        path = self.folder / "run.toml"
        path.write_text(text)
        return path

    def test_a_file_gives_options_and_the_command_line_overrides_it(self):
        config = self.config('# a comment\nmodel = "sage"   # another\nepochs = 7\nlr = 0.125\nrow-normalise = true\n'
                             f'partition = "{self.parts}"\nthreads = 1\n')
        out = self.folder / "run"
        succeed(mpi_command(2, Programs.train, "--config", config, "--out", out, "--epochs", 4, "--quiet"))
        used = json.loads((out / "config.json").read_text())
        self.assertEqual([used[key] for key in ("model", "epochs", "lr", "row_normalise", "threads", "hidden")],
                         ["sage", 4, 0.125, True, 1, 64])
        self.assertEqual(len(metrics(out)), 4)

    def test_the_options_of_a_run_give_its_bits_again(self):
        first = self.folder / "first"
        succeed(train_command(2, self.parts, first, "--epochs", 6, "--hidden", 12, "--lr", "0.012345678901234567", "--dropout",
                              "0.3", "--optimizer", "adamw", "--weight-decay", "1e-3", "--schedule", "cosine",
                              "--clip-norm", "0.75", "--seed", 18446744073709551615, "--threads", 1, "--model", "sage",
                              "--no-root-weight"))
        second = self.folder / "second"
        succeed(mpi_command(3, Programs.train, "--config", first / "config.toml", "--out", second))
        self.assertEqual(bits_of_run(first), bits_of_run(second))
        configs = [(folder / "config.toml").read_text().replace(str(folder), "OUT") for folder in (first, second)]
        self.assertEqual(*configs)
        for words in ("lr = 0.012345678901234567", "seed = 18446744073709551615", "no-root-weight = true"):
            self.assertIn(words, configs[0])

    def test_bad_files(self):
        for text, *words in (("lr = 0.1\nlearning = 3\n", "learning", "line 2"), ("epochs\n", "line 1", "epochs"),
                             ("lr = 0.1\nlr = 0.2\n", "twice", "line 2", "lr"), ("lr = \n", "line 1"),
                             ('model = "gcn\n', "line 1"), ("resume = \"x\"\n", "resume"), ("[training]\n", "line 1"),
                             ("config = \"x\"\n", "config")):
            with self.subTest(text=text):
                config = self.config(text)
                out = self.folder / "run"
                for ranks in (1, 2):
                    done = run(train_command(ranks, self.parts, out, "--config", config), timeout=30)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                    for word in (str(config), *words):
                        self.assertIn(word, done.stderr)
                    self.assertFalse(out.exists())
        done = run(train_command(2, self.parts, self.folder / "run", "--config", self.folder / "nowhere.toml"), timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere.toml", done.stderr)

    def test_several_seeds(self):
        out = self.folder / "run"
        options = ("--epochs", 8, "--hidden", 8, "--threads", 1, "--best-weights", "--select", "val_metric")
        done = succeed(train_command(2, self.parts, out, *options, "--runs", 3, "--seed", 5))
        summary = json.loads((out / "summary.json").read_text())
        self.assertEqual(summary["seeds"], [5, 6, 7])
        self.assertEqual(sorted(file.name for file in out.iterdir()),
                         ["config.json", "config.toml", "seed-5", "seed-6", "seed-7", "summary.json"])
        values = [json.loads((out / f"seed-{seed}" / "summary.json").read_text())["test_accuracy"] for seed in (5, 6, 7)]
        accuracy = summary["test_accuracy"]
        self.assertEqual(accuracy["values"], values)
        self.assertAlmostEqual(accuracy["mean"], statistics.mean(values), places=12)
        self.assertAlmostEqual(accuracy["std"], statistics.stdev(values), places=12)
        self.assertIn(f"test accuracy {accuracy['mean']:.4f} +- {accuracy['std']:.4f} over 3 runs", done.stdout)
        # Each is the run that its seed gives alone, and says so in its options.
        alone = self.folder / "alone"
        succeed(train_command(1, self.parts, alone, *options, "--seed", 6))
        self.assertEqual(bits_of_run(alone), bits_of_run(out / "seed-6"))
        again = self.folder / "again"
        succeed(mpi_command(1, Programs.train, "--config", out / "seed-6" / "config.toml", "--out", again, "--quiet"))
        self.assertEqual(bits_of_run(again), bits_of_run(alone))

    def test_several_seeds_are_resumed_where_they_were(self):
        options = ("--epochs", 60, "--hidden", 8, "--threads", 1, "--runs", 3)
        whole = self.folder / "whole"
        succeed(train_command(2, self.parts, whole, *options))
        out = self.folder / "run"
        job = start(train_command(2, self.parts, out, *options))
        wait_for_epochs(job, out / "seed-2", 3)
        os.kill(ranks_of(out)[0], signal.SIGTERM)  # not to the launcher: MPICH's may return 0 then
        said, _ = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 3, said)
        self.assertTrue((out / "seed-1" / "summary.json").exists())
        self.assertFalse((out / "summary.json").exists())
        first = (out / "seed-1" / "summary.json").read_bytes()
        succeed(resume_command(3, out))
        self.assertEqual((out / "seed-1" / "summary.json").read_bytes(), first)
        for seed in (1, 2, 3):
            self.assertEqual(bits_of_run(out / f"seed-{seed}"), bits_of_run(whole / f"seed-{seed}"))
        done = succeed(resume_command(1, out))
        self.assertIn("is finished", done.stdout)

    def test_the_best_weights_by_loss_or_metric(self):
        for select, key, best in (("val_loss", "val_loss", min), ("val_metric", "val_accuracy", max)):
            with self.subTest(select=select):
                out = self.folder / select
                succeed(train_command(2, self.parts, out, "--epochs", 30, "--lr", "0.2", "--best-weights", "--select", select,
                                      "--threads", 1))
                lines = metrics(out)
                values = [line[key] for line in lines]
                summary = json.loads((out / "summary.json").read_text())
                self.assertEqual(summary["chosen_epoch"], values.index(best(values)) + 1)
                self.assertEqual(summary["test_accuracy"], lines[summary["chosen_epoch"] - 1]["test_accuracy"])
                self.assertEqual(len(lines), 30)

    def test_clipping_bounds_the_step(self):
        out = self.folder / "run"
        succeed(train_command(2, self.parts, out, "--epochs", 3, "--clip-norm", "1e-3", "--optimizer", "sgd", "--lr", 1,
                              "--dropout", 0, "--threads", 1))
        lines = metrics(out)
        self.assertGreater(lines[0]["gradient_norm"], 1e-3)
        # A step of length 1e-3 along the gradient lowers the loss by about its length times that of the step.
        fall = lines[0]["train_loss"] - lines[1]["train_loss"]
        self.assertAlmostEqual(fall, 1e-3 * lines[0]["gradient_norm"], delta=1e-4 * lines[0]["gradient_norm"])


if __name__ == "__main__":
    halo_runs.main()
