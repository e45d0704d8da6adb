"""gnn_infer: what a trained model says, on any number of ranks, equal to what the training run said; bad input."""

import array
import json
import math
import re
import shutil

import halo_runs
from halo_runs import (HaloTest, Programs, both_ways, generate, mpi_command, partition, run, succeed, train_command,
                       write_dataset)

NODES = 600
CLASSES = 5


def read_npy(path):
    """(shape, values) of an int32 or float32 array."""
    data = path.read_bytes()
    end = 10 + int.from_bytes(data[8:10], "little")
    header = data[10:end].decode()
    shape = tuple(int(word) for word in header.split("'shape': (")[1].split(")")[0].split(",") if word.strip())
    return shape, array.array("i" if "'<i4'" in header else "f", data[end:])


def infer_command(ranks, parts, *options):
    return mpi_command(ranks, Programs.infer, parts, "--threads", 1, "--quiet", *options)


class Inference(HaloTest):
    def setUp(self):
        super().setUp()
        self.dataset = generate(self.folder / "sbm", "--kind", "sbm", "--nodes", NODES, "--classes", CLASSES, "--seed", 5)
        self.parts = partition(self.dataset, self.folder / "parts", 4)

    def train(self, name, *options, parts=None):
        out = self.folder / name
        succeed(train_command(2, parts or self.parts, out, "--threads", 1, "--epochs", 12, *options))
        return out

    def infer(self, ranks, name, *options, parts=None):
        out = self.folder / name
        done = succeed(infer_command(ranks, parts or self.parts, "--out", out, *options))
        return out, done.stdout

    def test_any_number_of_ranks_says_what_the_training_run_said(self):
        trained = self.train("run", "--layers", 3, "--hidden", 16)
        asked = ("--run", trained, "--predictions", "--logits", "--probabilities", "--embeddings", 1, 2)
        results = {}
        for ranks in (1, 2, 3, 4):
            out, said = self.infer(ranks, f"out{ranks}", *asked)
            results[ranks] = {file.name: file.read_bytes() for file in out.iterdir()}
            self.assertEqual(results[ranks]["predictions.npy"], (trained / "predictions.npy").read_bytes())
            self.assertEqual(results[ranks], results[1], f"{ranks} ranks")
            summary = json.loads((trained / "summary.json").read_text())
            self.assertIn(f"test accuracy {summary['test_accuracy']:.4f}", said)
            self.assertEqual(json.loads(results[ranks]["metrics.json"])["val_loss"], summary["val_loss"])
        self.assertEqual(set(results[1]), {"predictions.npy", "logits.npy", "probabilities.npy", "embeddings_1.npy",
                                           "embeddings_2.npy", "metrics.json"})

    def test_every_transport_says_the_same(self):
        trained = self.train("run", "--layers", 3, "--hidden", 16)
        for transport in ("nonblocking", "blocking", "p2p"):
            out, _ = self.infer(3, transport, "--run", trained, "--predictions", "--logits", "--transport", transport)
            self.assertEqual((out / "predictions.npy").read_bytes(), (trained / "predictions.npy").read_bytes(), transport)
            self.assertEqual((out / "logits.npy").read_bytes(), (self.folder / "nonblocking" / "logits.npy").read_bytes(),
                             transport)

    def test_outputs_belong_together(self):
        trained = self.train("run", "--layers", 2, "--hidden", 16)
        out, _ = self.infer(2, "out", "--run", trained, "--predictions", "--logits", "--probabilities", "--embeddings", 1)
        shape, logits = read_npy(out / "logits.npy")
        self.assertEqual(shape, (NODES, CLASSES))
        _, probabilities = read_npy(out / "probabilities.npy")
        shape, predictions = read_npy(out / "predictions.npy")
        self.assertEqual(shape, (NODES,))
        for node in range(NODES):
            row = logits[node * CLASSES:(node + 1) * CLASSES]
            self.assertEqual(predictions[node], max(range(CLASSES), key=lambda k: row[k]))
            total = sum(math.exp(value) for value in row)
            for column, value in enumerate(row):
                self.assertAlmostEqual(probabilities[node * CLASSES + column], math.exp(value) / total, places=6)
        shape, hidden = read_npy(out / "embeddings_1.npy")
        self.assertEqual(shape, (NODES, 16))
        self.assertGreaterEqual(min(hidden), 0.0)  # behind a ReLU
        self.assertGreater(max(hidden), 0.0)

    def test_embeddings_of_the_last_hidden_layer_give_the_logits(self):
        trained = self.train("run", "--model", "mlp", "--layers", 2, "--hidden", 8)
        out, _ = self.infer(3, "out", "--run", trained, "--logits", "--embeddings", 1)
        _, logits = read_npy(out / "logits.npy")
        _, hidden = read_npy(out / "embeddings_1.npy")
        tensors = (trained / "weights.safetensors").read_bytes()
        length = int.from_bytes(tensors[:8], "little")
        header = json.loads(tensors[8:8 + length])
        last = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            last[tuple(entry["shape"])] = array.array("f", tensors[begin:end])
        weight, bias = last[(CLASSES, 8)], last[(CLASSES,)]  # [out x in], as in PyTorch
        for node in range(0, NODES, 37):
            for k in range(CLASSES):
                product = sum(hidden[node * 8 + j] * weight[k * 8 + j] for j in range(8)) + bias[k]
                self.assertAlmostEqual(logits[node * CLASSES + k], product, places=4)

    def test_weights_of_a_file_with_options_of_a_file(self):
        trained = self.train("run", "--model", "sage", "--hidden", 8)
        weights = self.folder / "elsewhere.safetensors"
        config = self.folder / "model.toml"
        shutil.copy(trained / "weights.safetensors", weights)
        config.write_text('model = "sage"\nhidden = 8  # all else as usual\n')
        out, _ = self.infer(3, "out", "--config", config, "--weights", weights, "--predictions")
        self.assertEqual((out / "predictions.npy").read_bytes(), (trained / "predictions.npy").read_bytes())
        other = self.train("other", "--model", "sage", "--hidden", 8, "--seed", 2)
        out, _ = self.infer(2, "out2", "--run", other, "--weights", weights, "--predictions")
        self.assertEqual((out / "predictions.npy").read_bytes(), (trained / "predictions.npy").read_bytes())

    def parts_of(self, name, *options):
        return partition(generate(self.folder / name, "--kind", "sbm", "--nodes", NODES, *options), self.folder / f"{name}_parts", 4)

    def test_several_labels_for_each_node(self):
        parts = self.parts_of("multi", "--task", "multi_label")
        trained = self.train("run", parts=parts)
        out, said = self.infer(3, "out", "--run", trained, "--predictions", "--probabilities", parts=parts)
        self.assertIn("test roc_auc 0.", said)
        self.assertEqual((out / "predictions.npy").read_bytes(), (trained / "predictions.npy").read_bytes())
        shape, predictions = read_npy(out / "predictions.npy")
        self.assertEqual(shape, (NODES, CLASSES))
        _, probabilities = read_npy(out / "probabilities.npy")
        self.assertEqual([value > 0.5 for value in probabilities], [value == 1 for value in predictions])

    def test_a_regression_has_outputs_but_no_probabilities(self):
        parts = self.parts_of("numbers", "--task", "node_regression")
        trained = self.train("run", "--standardise", parts=parts)
        out, said = self.infer(1, "out", "--run", trained, "--predictions", "--logits", parts=parts)
        self.assertIn("test mse ", said)
        self.assertEqual((out / "predictions.npy").read_bytes(), (trained / "predictions.npy").read_bytes())
        self.assertEqual((out / "logits.npy").read_bytes(), (out / "predictions.npy").read_bytes())
        done = run(infer_command(2, parts, "--run", trained, "--out", self.folder / "none", "--probabilities"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("node_regression", done.stderr)

    def test_learnt_rows_of_nodes_come_from_the_file_beside_the_weights(self):
        parts = self.parts_of("bare", "--features", 0)
        trained = self.train("run", "--embedding", 8, "--hidden", 8, parts=parts)
        asked = ("--run", trained, "--predictions", "--embeddings", 1)
        first, _ = self.infer(1, "out1", *asked, parts=parts)
        second, _ = self.infer(3, "out3", *asked, parts=parts)
        self.assertEqual((first / "predictions.npy").read_bytes(), (trained / "predictions.npy").read_bytes())
        for name in ("predictions.npy", "embeddings_1.npy"):
            self.assertEqual((first / name).read_bytes(), (second / name).read_bytes())
        (trained / "embedding.npy").unlink()
        done = run(infer_command(2, parts, "--run", trained))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("embedding.npy", done.stderr)

    def test_links_are_predicted_from_the_same_rows(self):
        held_out = self.folder / "links"
        succeed([Programs.dataset, "split-edges", self.dataset, "--out", held_out, "--quiet"])
        parts = partition(held_out, self.folder / "links_parts", 4)
        trained = self.train("run", "--hidden", 16, "--decoder", "mlp", parts=parts)
        out, said = self.infer(3, "out", "--run", trained, "--logits", parts=parts)
        summary = json.loads((trained / "summary.json").read_text())
        metric = summary["metric"]
        self.assertIn(f"test {metric} {summary['test_' + metric]:.4f}", said)
        self.assertEqual((out / "logits.npy").read_bytes(), (trained / "predictions.npy").read_bytes())

    def test_a_model_judges_another_graph_of_any_size(self):
        path = both_ways((i, i + 1) for i in range(39))
        known = partition(write_dataset(self.folder / "known", 40, path, range(40)), self.folder / "known_parts", 2)
        trained = self.train("run", "--class-weights", "balanced", parts=known)
        unknown = write_dataset(self.folder / "unknown", 30, path[:58:2], [0], test=range(1, 30))
        parts = partition(unknown, self.folder / "unknown_parts", 2)
        out, said = self.infer(2, "out", "--run", trained, "--predictions", parts=parts)
        shape, predictions = read_npy(out / "predictions.npy")
        self.assertEqual(shape, (30,))
        hits = sum(predictions[node] == node % 2 for node in range(1, 30))  # labels of write_dataset
        self.assertIn(f"test accuracy {hits / 29:.4f}", said)
        self.assertIn("validation accuracy none", said)

    def test_inference_needs_less_memory_than_training(self):
        def activations(command):
            return float(re.search(r"([0-9.]+) MiB of activations", succeed(command).stderr).group(1))
        wide = ("--layers", 4, "--hidden", 512)
        trained = self.folder / "run"
        training = activations(mpi_command(1, Programs.train, self.parts, "--out", trained, "--epochs", 1, *wide))
        self.assertLess(activations(mpi_command(1, Programs.infer, self.parts, "--run", trained)), 0.7 * training)

    def test_without_a_folder_only_metrics_are_given(self):
        trained = self.train("run")
        before = sorted(self.folder.rglob("*"))
        done = succeed(infer_command(2, self.parts, "--run", trained))
        self.assertIn("test accuracy 0.", done.stdout)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def refuses(self, *words, options, status=2):
        for ranks in (1, 3):
            out = self.folder / "out"
            done = run(infer_command(ranks, self.parts, *options), timeout=30)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
            self.assertFalse(out.exists())
            self.assertEqual(list(self.folder.glob(".*")), [])

    def test_bad_input(self):
        out = self.folder / "out"
        trained = self.train("run", "--hidden", 16)
        small = self.train("small", "--hidden", 8)
        to_out = ("--out", out, "--predictions")
        self.refuses("--run", options=to_out)
        self.refuses("config.toml", options=("--run", self.folder / "nowhere", *to_out))
        self.refuses("--transport", options=("--run", trained, "--transport", "pigeon", *to_out))
        self.refuses("--out", options=("--run", trained, "--logits"))
        self.refuses("--out", options=("--run", trained, "--out", out))
        self.refuses("hidden layer", "1 to 1", options=("--run", trained, "--out", out, "--embeddings", 2))
        self.refuses("small", "the model has", options=("--run", trained, "--weights", small / "weights.safetensors", *to_out))
        self.refuses("nothing.safetensors", options=("--run", trained, "--weights", self.folder / "nothing.safetensors", *to_out))
        self.refuses("run", options=("--run", trained, "--out", trained, "--predictions"))
        self.refuses("parent folder", options=("--run", trained, "--out", self.folder / "no" / "where", "--predictions"))
        weights = small / "weights.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4])
        self.refuses("not a whole .safetensors file", options=("--run", small, *to_out))
        (small / "config.toml").write_text("hiden = 8\n")
        self.refuses("config.toml, line 1", "hiden", options=("--run", small, *to_out))


if __name__ == "__main__":
    halo_runs.main()
