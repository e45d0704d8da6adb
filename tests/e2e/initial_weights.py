"""gnn_train from given weights: training goes on from their bits, and --evaluate-only says what gnn_infer says."""

import json
import os
import shutil
import signal
import struct

import halo_runs
from halo_runs import (HaloTest, Programs, bits_of_run, generate, metrics, mpi_command, partition, ranks_of, resume_command, run,
                       start, succeed, train_command, wait_for_epochs)

# Gradient descent keeps nothing but the weights, and without dropout an epoch does not know its number: so many epochs in one
# run or in two are the same.
PLAIN = ("--optimizer", "sgd", "--lr", "0.05", "--dropout", 0, "--threads", 1)
MODELS = {
    "gcn_batch": ("--model", "gcn", "--hidden", 8, "--norm", "batch"),
    "gat_residual": ("--model", "gat", "--hidden", 8, "--heads", 2, "--residual", "linear"),
    "sage_embedding": ("--model", "sage", "--hidden", 8, "--embedding", 4),
}


def with_epsilon(weights, path, value):
    """A weights file with another value in every convs.N.eps."""
    data = bytearray(weights.read_bytes())
    length = int.from_bytes(data[:8], "little")
    for name, tensor in json.loads(data[8:8 + length]).items():
        if name.endswith(".eps"):
            struct.pack_into("<f", data, 8 + length + tensor["data_offsets"][0], value)
    path.write_bytes(data)
    return path


def epsilons(weights):
    data = weights.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    return [struct.unpack_from("<f", data, 8 + length + tensor["data_offsets"][0])[0]
            for name, tensor in header.items() if name.endswith(".eps")]


class InitialWeights(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "data", "--kind", "sbm", "--nodes", 1500, "--features", 16, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 4)

    def train(self, name, *options, ranks=2):
        succeed(train_command(ranks, self.parts, self.folder / name, *options))
        return self.folder / name

    def test_training_goes_on_from_the_bits_of_the_file_on_any_number_of_ranks(self):
        for name, model in MODELS.items():
            whole = self.train(f"{name}_whole", *model, *PLAIN, "--epochs", 6)
            first = self.train(f"{name}_first", *model, *PLAIN, "--epochs", 4)
            for ranks in (1, 2, 3):
                with self.subTest(model=name, ranks=ranks):
                    second = self.train(f"{name}_{ranks}", *model, *PLAIN, "--epochs", 2, "--seed", 99, "--initial-weights",
                                        first / "weights.safetensors", ranks=ranks)
                    expected = bits_of_run(whole)
                    found = bits_of_run(second)
                    for file in set(expected) - {"metrics.jsonl"}:
                        self.assertEqual(found[file], expected[file], file)
                    self.assertEqual([line["val_loss"] for line in metrics(second)],
                                     [line["val_loss"] for line in metrics(whole)[4:]])
                    self.assertEqual((second / "initial" / "weights.safetensors").read_bytes(),
                                     (first / "weights.safetensors").read_bytes())

    def test_every_seed_starts_from_them(self):
        first = self.train("first", *PLAIN, "--epochs", 3)
        out = self.train("out", *PLAIN, "--epochs", 2, "--runs", 2, "--initial-weights", first / "weights.safetensors")
        seeds = [bits_of_run(out / f"seed-{seed}") for seed in (1, 2)]
        self.assertEqual(*seeds)  # without dropout the initial weights are all that a seed decides

    def test_a_resumed_run_does_not_need_the_file(self):
        first = self.train("first", "--epochs", 3, "--hidden", 8, "--embedding", 4, "--threads", 1)
        options = ("--epochs", 200, "--hidden", 8, "--embedding", 4, "--threads", 1, "--runs", 2, "--initial-weights",
                   first / "weights.safetensors")
        whole = self.train("whole", *options)
        out = self.folder / "out"
        job = start(train_command(2, self.parts, out, *options))
        wait_for_epochs(job, out / "seed-1", 3)
        for pid in ranks_of(out):
            os.kill(pid, signal.SIGKILL)  # no checkpoint: the seed starts again, the other has not begun
        job.communicate(timeout=60)
        self.assertFalse((out / "seed-1" / "checkpoints").exists() or (out / "seed-2").exists())
        shutil.rmtree(first)
        succeed(resume_command(3, out))
        for seed in (1, 2):
            self.assertEqual(bits_of_run(out / f"seed-{seed}"), bits_of_run(whole / f"seed-{seed}"))

    def test_a_fixed_epsilon_counts_and_stays(self):
        options = ("--model", "gin", "--hidden", 8, "--weight-decay", "0.1", "--threads", 1)
        first = self.train("first", *options, "--epochs", 3)
        self.assertEqual(epsilons(first / "weights.safetensors"), [0.0, 0.0])
        changed = with_epsilon(first / "weights.safetensors", self.folder / "changed.safetensors", 0.5)
        losses = {}
        for name, file in (("zero", first / "weights.safetensors"), ("half", changed)):
            out = self.train(name, *options, "--epochs", 3, "--initial-weights", file)
            self.assertEqual(epsilons(out / "weights.safetensors"), epsilons(file))
            losses[name] = metrics(out)[0]["train_loss"]
        self.assertNotEqual(losses["zero"], losses["half"])

    def test_evaluation_says_what_inference_says(self):
        for name, model in MODELS.items():
            with self.subTest(model=name):
                trained = self.train(name, *model, "--epochs", 5, "--checkpoint-every", 2, "--best-weights", "--threads", 1)
                inferred = succeed(mpi_command(1, Programs.infer, self.parts, "--run", trained, "--out", self.folder / f"{name}_in",
                                               "--predictions", "--quiet"))
                out = self.folder / f"{name}_out"
                before = sorted(self.folder.rglob("*"))
                command = ("--config", trained / "config.toml", "--initial-weights", trained / "weights.safetensors",
                           "--evaluate-only", "--quiet")
                for ranks in (1, 3):
                    done = succeed(mpi_command(ranks, Programs.train, self.parts, *command))
                    self.assertEqual(done.stdout.splitlines(), inferred.stdout.splitlines()[:-1])
                    self.assertIn("test accuracy 0.", done.stdout)
                self.assertEqual(sorted(self.folder.rglob("*")), before)
                done = succeed(mpi_command(2, Programs.train, self.parts, *command, "--out", out))
                self.assertIn(f"results in {out}", done.stdout)
                self.assertEqual([file.name for file in out.iterdir()], ["metrics.json"])
                self.assertEqual((out / "metrics.json").read_bytes(), (self.folder / f"{name}_in" / "metrics.json").read_bytes())

    def refuses(self, *words, options):
        before = sorted(self.folder.rglob("*"))
        for ranks in (1, 3):
            done = run(mpi_command(ranks, Programs.train, "--quiet", *options), timeout=30)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_weights_of_another_model_are_refused_before_anything_is_written(self):
        trained = self.train("run", "--hidden", 16, "--epochs", 1)
        weights = trained / "weights.safetensors"
        damaged = self.folder / "damaged.safetensors"
        damaged.write_bytes(weights.read_bytes()[:-4])
        for more in ((), ("--runs", 2)):
            to_out = (self.parts, "--out", self.folder / "out", "--epochs", 2, *more, "--initial-weights")
            self.refuses("convs.0.lin.weight is [16, 16], the model has [8, 16]", options=(*to_out, weights, "--hidden", 8))
            self.refuses("not a whole .safetensors file", options=(*to_out, damaged))
            self.refuses("nothing.safetensors", options=(*to_out, self.folder / "nothing.safetensors"))
        self.refuses("convs.0.eps [1] is missing", options=(self.parts, "--model", "gin", "--initial-weights", weights))
        embedding = self.train("rows", "--embedding", 4, "--epochs", 1)
        (embedding / "embedding.npy").unlink()
        self.refuses("embedding.npy", options=(self.parts, "--embedding", 4, "--out", self.folder / "out", "--initial-weights",
                                               embedding / "weights.safetensors"))

    def test_options_that_exclude_each_other(self):
        trained = self.train("run", "--epochs", 1)
        weights = ("--initial-weights", trained / "weights.safetensors")
        evaluate = (self.parts, "--config", trained / "config.toml", *weights, "--evaluate-only")
        self.refuses("--initial-weights beside --resume", options=("--resume", trained, *weights))
        self.refuses("--resume beside --evaluate-only", options=(self.parts, *weights, "--evaluate-only", "--resume", trained))
        self.refuses("--checkpoint-every beside --evaluate-only", options=(*evaluate, "--checkpoint-every", 3))
        self.refuses("--runs beside --evaluate-only", options=(*evaluate, "--runs", 2))
        self.refuses("no weights to evaluate", options=(self.parts, "--config", trained / "config.toml", "--evaluate-only"))
        self.refuses("--out", options=(*evaluate, "--out", trained))


if __name__ == "__main__":
    halo_runs.main()
