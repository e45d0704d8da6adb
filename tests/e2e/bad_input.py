"""Bad input gets one message and exit status 2 on every number of ranks, quickly, and nothing is written."""

import json
import shutil

import halo_runs
from halo_runs import (HaloTest, Programs, both_ways, generate, mpi_command, partition, run, succeed, train_command,
                       write_dataset, write_npy)

RANKS = (1, 2, 4)
PATH = both_ways((i, i + 1) for i in range(39))


class BadInput(HaloTest):
    def setUp(self):
        super().setUp()
        self.dataset = write_dataset(self.folder / "data", 40, PATH, range(0, 40, 2), range(1, 40, 2))
        self.parts = partition(self.dataset, self.folder / "parts", 4)

    def refuses(self, command, *words, written=None):
        done = run(command, timeout=30)
        self.assertEqual(done.returncode, 2, f"{command}\n{done.stdout}{done.stderr}")
        said = done.stderr + done.stdout
        self.assertEqual(said.count("error:"), 1, said)
        for word in words:
            self.assertIn(word, said)
        if written is not None:
            self.assertFalse(written.exists(), f"{written} was left behind")

    def train_refuses(self, *words, parts=None, options=(), ranks=RANKS):
        for count in ranks:
            with self.subTest(ranks=count):
                out = self.folder / "run"
                self.refuses(train_command(count, parts or self.parts, out, *options), *words, written=out)

    def test_partitioned_dataset_that_is_not_there(self):
        self.train_refuses("nowhere", parts=self.folder / "nowhere")

    def test_unfinished_partition(self):
        (self.parts / "partition.json").unlink()
        self.train_refuses("partition.json")

    def test_cut_files(self):
        for name in ("indices.npy", "features.npy", "labels.npy", "part_offsets.npy", "checksums.npy"):
            with self.subTest(file=name):
                whole = (self.parts / name).read_bytes()
                (self.parts / name).write_bytes(whole[:-4])
                self.train_refuses(name)
                (self.parts / name).write_bytes(whole)

    def test_a_file_that_is_missing(self):
        (self.parts / "labels.npy").unlink()
        self.train_refuses("labels.npy")

    def test_a_changed_byte(self):
        for name in ("indptr.npy", "indices.npy", "features.npy", "labels.npy", "split.npy", "original_id.npy",
                     "tile_offsets.npy"):
            with self.subTest(file=name):
                whole = (self.parts / name).read_bytes()
                (self.parts / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
                self.train_refuses(name)
                (self.parts / name).write_bytes(whole)

    def test_a_file_of_another_run(self):
        other = partition(self.dataset, self.folder / "other", 4, "--method", "random", "--seed", 9)
        shutil.copy(other / "indices.npy", self.parts / "indices.npy")
        self.train_refuses("indices.npy")

    def test_a_manifest_that_is_not_json(self):
        (self.parts / "partition.json").write_text("{ not json")
        self.train_refuses("partition.json")

    def test_another_format_version(self):
        manifest = json.loads((self.parts / "partition.json").read_text())
        manifest["format_version"] = 999
        (self.parts / "partition.json").write_text(json.dumps(manifest))
        self.train_refuses("999")

    def test_fewer_parts_than_ranks(self):
        few = partition(self.dataset, self.folder / "few", 2)
        self.train_refuses("2 parts", parts=few, ranks=(3, 4))

    def test_options_out_of_range(self):
        for options in (("--epochs", 0), ("--layers", 0), ("--hidden", 0), ("--dropout", "1.5"), ("--lr", "-1"),
                        ("--model", "nothing"), ("--optimizer", "nothing"), ("--transport", "pigeon"),
                        ("--threads", "-1"), ("--patience", "-1"), ("--log-level", "loud"), ("--weight-decay", "-1"),
                        ("--evaluate-every", 0), ("--input-dropout", "2"), ("--runs", 0), ("--clip-norm", "-1"),
                        ("--checkpoint-every", "-1"), ("--keep-checkpoints", 0), ("--select", "nothing"),
                        ("--schedule", "nothing"), ("--warmup-epochs", "-1"), ("--momentum", "-1")):
            with self.subTest(options=options):
                self.train_refuses(options[0], options=options, ranks=(2,))

    def test_options_of_another_task(self):
        for options in (("--regression-loss", "mae"), ("--negatives", 5), ("--hits-k", "3,7"), ("--decoder", "mlp")):
            with self.subTest(options=options):
                self.train_refuses(options[0], "node_classification", options=options, ranks=(2,))
        regression = partition(generate(self.folder / "values", "--kind", "sbm", "--nodes", 60, "--task", "node_regression"),
                               self.folder / "value_parts", 4)
        for options in (("--class-weights", "balanced"), ("--label-smoothing", "0.1"), ("--metric", "accuracy")):
            with self.subTest(options=options):
                self.train_refuses(options[0], parts=regression, options=options, ranks=(2,))

    def test_run_folder_in_use(self):
        out = self.folder / "run"
        out.mkdir()
        (out / "precious").write_text("kept")
        for count in RANKS:
            self.refuses(train_command(count, self.parts, out), "--out")
        self.assertEqual([file.name for file in out.iterdir()], ["precious"])

    def test_no_training_nodes(self):
        dataset = write_dataset(self.folder / "untrained", 40, PATH, [], range(40))
        done = run([Programs.partition, dataset, "--parts", 2, "--out", self.folder / "untrained_parts", "--quiet"])
        if done.returncode == 0:
            self.train_refuses("no training node", parts=self.folder / "untrained_parts", ranks=(1, 2))
        else:
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_early_stopping_without_validation_nodes(self):
        dataset = write_dataset(self.folder / "novalid", 40, PATH, range(0, 40, 2))
        parts = partition(dataset, self.folder / "novalid_parts", 4)
        self.train_refuses("--patience", parts=parts, options=("--patience", 5), ranks=(1, 2))

    def test_no_features_and_no_embedding(self):
        (self.dataset / "features.npy").unlink()
        parts = partition(self.dataset, self.folder / "bare_parts", 4)
        self.train_refuses("--embedding", "no features", parts=parts)
        succeed(train_command(2, parts, self.folder / "run", "--embedding", 4, "--epochs", 2))

    def partition_refuses(self, dataset, *words, parts=2):
        out = self.folder / "refused"
        self.refuses([Programs.partition, dataset, "--parts", parts, "--out", out], *words, written=out)

    def test_datasets_with_damage(self):
        damages = {
            "id out of range": lambda d: write_npy(d / "edge_index.npy", "<i8", (2, 1), [0, 40]),
            "negative id": lambda d: write_npy(d / "edge_index.npy", "<i8", (2, 1), [0, -1]),
            "edges of three rows": lambda d: write_npy(d / "edge_index.npy", "<i8", (3, 1), [0, 1, 2]),
            "too few feature rows": lambda d: write_npy(d / "features.npy", "<f4", (39, 4), [0.0] * 156),
            "a feature that is not a number": lambda d: write_npy(d / "features.npy", "<f4", (40, 1), [float("nan")] * 40),
            "too few labels": lambda d: write_npy(d / "labels.npy", "<i8", (39,), [0] * 39),
            "a training node without label": lambda d: write_npy(d / "labels.npy", "<i8", (40,), [-1] + [0] * 39),
            "a split id out of range": lambda d: write_npy(d / "val_idx.npy", "<i8", (1,), [40]),
            "splits that overlap": lambda d: write_npy(d / "val_idx.npy", "<i8", (1,), [0]),
            "a file that is not NumPy's": lambda d: (d / "features.npy").write_bytes(b"hello"),
            "a file cut in its header": lambda d: (d / "features.npy").write_bytes((d / "features.npy").read_bytes()[:20]),
            "a file cut in its data": lambda d: (d / "labels.npy").write_bytes((d / "labels.npy").read_bytes()[:-8]),
            "no edges": lambda d: (d / "edge_index.npy").unlink(),
            "no labels": lambda d: (d / "labels.npy").unlink(),
        }
        for number, (name, damage) in enumerate(damages.items()):
            with self.subTest(damage=name):
                dataset = write_dataset(self.folder / f"bad{number}", 40, PATH, range(0, 40, 2), range(1, 40, 2))
                damage(dataset)
                self.partition_refuses(dataset)

    def test_parts_out_of_range(self):
        self.partition_refuses(self.dataset, parts=41)
        self.partition_refuses(self.dataset, parts=0)

    def test_words_that_are_no_options(self):
        for count in RANKS:
            done = run(mpi_command(count, Programs.train, self.parts, "--no-such-option"), timeout=30)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual((done.stdout + done.stderr).count("--no-such-option"), 1)

    def test_the_same_data_are_accepted(self):
        for count in RANKS:  # so that the refusals above are for the damage alone
            succeed(train_command(count, self.parts, self.folder / f"good{count}", "--epochs", 2))


if __name__ == "__main__":
    halo_runs.main()
