"""The main job from a dataset to its accuracy, and what a run folder holds."""

import array
import json

import halo_runs
from halo_runs import HaloTest, Programs, generate, metrics, partition, run, succeed, train_command


def read_npy_int32(path):
    data = path.read_bytes()
    header = 10 + int.from_bytes(data[8:10], "little")
    return array.array("i", data[header:])


def read_labels(path):
    data = path.read_bytes()
    header = 10 + int.from_bytes(data[8:10], "little")
    kind = "i" if b"'<i4'" in data[:header] else "q"
    return array.array(kind, data[header:])


class Training(HaloTest):
    def train(self, parts, name, *options, ranks=2):
        out = self.folder / name
        succeed(train_command(ranks, parts, out, "--threads", 1, *options))
        return out, json.loads((out / "summary.json").read_text())

    def sbm(self):
        return generate(self.folder / "sbm", "--kind", "sbm", "--nodes", 4000, "--seed", 3)

    def test_a_graph_helps_where_its_edges_follow_the_classes(self):
        parts = partition(self.sbm(), self.folder / "parts", 4)
        accuracy = {model: self.train(parts, model, "--model", model, "--epochs", 60)[1]["test_accuracy"]
                    for model in ("gcn", "sage", "mlp")}
        self.assertGreater(accuracy["gcn"], accuracy["mlp"] + 0.1)
        self.assertGreater(accuracy["sage"], accuracy["mlp"] + 0.1)
        self.assertGreater(accuracy["gcn"], 0.8)

    def test_a_run_folder_is_complete(self):
        dataset = self.sbm()
        parts = partition(dataset, self.folder / "parts", 4)
        out, summary = self.train(parts, "run", "--epochs", 30, ranks=3)
        self.assertEqual(sorted(file.name for file in out.iterdir()),
                         ["config.json", "config.toml", "metrics.jsonl", "predictions.npy", "summary.json", "weights.safetensors"])
        lines = metrics(out)
        self.assertEqual([line["epoch"] for line in lines], list(range(1, 31)))
        for key in ("epoch_seconds_max", "halo_wait_seconds_mean", "allreduce_seconds_max", "halo_bytes"):
            self.assertGreaterEqual(lines[0][key], 0)
        self.assertGreater(lines[-1]["halo_bytes"], 0)
        self.assertEqual(lines[-1]["test_accuracy"], summary["test_accuracy"])
        self.assertEqual(json.loads((out / "config.json").read_text())["epochs"], 30)
        # Predictions are in the user's order: counted against the user's labels they give the accuracy of the summary.
        predictions = read_npy_int32(out / "predictions.npy")
        labels = read_labels(dataset / "labels.npy")
        test = read_labels(dataset / "test_idx.npy")
        hits = sum(predictions[node] == labels[node] for node in test)
        self.assertEqual(hits / len(test), summary["test_accuracy"])
        tensors = (out / "weights.safetensors").read_bytes()
        length = int.from_bytes(tensors[:8], "little")
        header = json.loads(tensors[8:8 + length])
        self.assertEqual(set(header) - {"__metadata__"},
                         {"convs.0.lin.weight", "convs.0.bias", "convs.1.lin.weight", "convs.1.bias"})
        self.assertEqual(max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"),
                         len(tensors) - 8 - length)

    def test_early_stopping_keeps_the_best_weights(self):
        parts = partition(self.sbm(), self.folder / "parts", 4)
        out, summary = self.train(parts, "run", "--epochs", 500, "--lr", "0.1", "--patience", 10)
        lines = metrics(out)
        self.assertTrue(summary["stopped_early"])
        self.assertLess(len(lines), 500)
        best = min(range(len(lines)), key=lambda k: lines[k]["val_loss"])
        self.assertEqual(summary["chosen_epoch"], lines[best]["epoch"])
        self.assertEqual(len(lines) - 1 - best, 10)
        self.assertEqual(summary["test_accuracy"], lines[best]["test_accuracy"])

    def test_evaluation_every_n_epochs(self):
        parts = partition(self.sbm(), self.folder / "parts", 2)
        out, _ = self.train(parts, "run", "--epochs", 7, "--evaluate-every", 3)
        self.assertEqual([line["epoch"] for line in metrics(out) if "val_accuracy" in line], [3, 6, 7])

    def test_without_a_run_folder_nothing_is_written(self):
        parts = partition(self.sbm(), self.folder / "parts", 2)
        before = sorted(self.folder.rglob("*"))
        done = run([Programs.mpiexec, "-n", 2, Programs.train, parts, "--epochs", 2], timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("test accuracy 0.", done.stdout)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_sgd_learns(self):
        parts = partition(self.sbm(), self.folder / "parts", 2)
        out, _ = self.train(parts, "run", "--epochs", 50, "--optimizer", "sgd", "--lr", "0.5", "--dropout", "0")
        lines = metrics(out)
        self.assertLess(lines[-1]["train_loss"], 0.7 * lines[0]["train_loss"])


if __name__ == "__main__":
    halo_runs.main()
