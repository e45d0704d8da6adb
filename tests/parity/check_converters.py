#!/usr/bin/env python3
"""Round trips between the product and PyTorch Geometric, by the converters of scripts/convert.

    check_converters.py BUILD WORK

A graph goes PyG -> dataset folder -> partition -> gnn_train on two ranks; the weights open in PyG and give the logits of
gnn_infer. Weights made in PyG go through gnn_infer the same way. Then the OGB layout, and input that is refused.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import torch_geometric.nn
from safetensors.torch import load_file, save_file
from torch_geometric.data import Data, HeteroData

ROOT = Path(__file__).resolve().parents[2]
CONVERT = ROOT / "scripts" / "convert"
NODES, FEATURES, CLASSES = 60, 9, 4
AGREEMENT = 1e-4  # float32 on both sides, summed in another order

# Options of gnn_train; each is a model of torch_geometric.nn.
MODELS = {
    "gcn": {"model": "gcn"},
    "gcn_layer_cat": {"model": "gcn", "jumping": "cat", "norm": "layer"},
    "sage": {"model": "sage"},
    "sage_pool": {"model": "sage", "aggregator": "pool", "norm": "batch"},
    "gat": {"model": "gat", "heads": 2, "output-heads": 2, "activation": "elu"},
    "gatv2": {"model": "gatv2", "heads": 4, "output-heads": 4},
    "gin": {"model": "gin", "learn-epsilon": True, "norm": "batch"},
    "gin_fixed": {"model": "gin"},
}


def run(*words, status=0):
    """Output of a program; an unexpected exit status raises."""
    found = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if found.returncode != status:
        raise AssertionError(f"{' '.join(map(str, words))}: exit status {found.returncode}, expected {status}\n"
                             f"{found.stdout}{found.stderr}")
    return found.stdout + found.stderr


def script(name, *words, status=0):
    return run(sys.executable, CONVERT / name, *words, status=status)


class World:
    """The programs, a graph in PyG and its partition."""

    def __init__(self, build, work):
        self.work = work
        self.program = {path.name: path for path in build.rglob("gnn_*") if path.is_file() and path.suffix == ""}
        random = np.random.RandomState(3)
        edges = np.unique(random.randint(0, NODES - 2, size=(2, 240)), axis=1)  # the last two nodes have no edge
        masks = torch.from_numpy(random.permutation(NODES))
        self.data = Data(x=torch.from_numpy(random.standard_normal((NODES, FEATURES)).astype(np.float32)),
                         edge_index=torch.from_numpy(edges), y=torch.from_numpy(random.randint(0, CLASSES, NODES)),
                         train_mask=masks < 30, val_mask=(masks >= 30) & (masks < 40), test_mask=masks >= 40)
        torch.save(self.data, work / "data.pt")
        script("from_pyg.py", work / "data.pt", "--out", work / "dataset")
        run(self.program["gnn_partition"], work / "dataset", "--parts", 4, "--seed", 1, "--out", work / "parts")

    def infer(self, out, *words):
        run("mpiexec", "-n", 2, self.program["gnn_infer"], self.work / "parts", *words, "--logits", "--threads", 1,
            "--quiet", "--out", out)
        return np.load(out / "logits.npy")

    def write_config(self, name, model):
        lines = [f"{key} = {json.dumps(value)}" for key, value in {"layers": 2, "hidden": 8, **model}.items()]
        path = self.work / f"{name}.toml"
        path.write_text("\n".join(lines) + "\n")
        return path

    def compare(self, model, logits):
        with torch.no_grad():
            expected = model.eval()(self.data.x, self.data.edge_index).numpy()
        difference = np.abs(logits - expected).max() / np.abs(expected).max()
        assert difference <= AGREEMENT, f"logits differ by {difference}"
        return difference


def check_graph(world):
    read = {name: np.load(world.work / "dataset" / f"{name}.npy") for name in ("edge_index", "features", "labels", "val_idx")}
    assert (read["edge_index"] == world.data.edge_index.numpy()).all()
    assert (read["features"] == world.data.x.numpy()).all() and (read["labels"] == world.data.y.numpy()).all()
    assert (read["val_idx"] == np.flatnonzero(world.data.val_mask.numpy())).all()
    assert f"nodes        {NODES}" in run(world.program["gnn_dataset"], "info", world.work / "dataset")


def check_trained(world, name, model):
    """gnn_train -> PyG, by the file itself and by to_pyg.py."""
    config, out = world.write_config(name, model), world.work / f"run_{name}"
    run("mpiexec", "-n", 2, world.program["gnn_train"], world.work / "parts", "--config", config, "--epochs", 5, "--threads", 1,
        "--quiet", "--out", out)
    logits = world.infer(world.work / f"infer_{name}", "--run", out)
    line = script("to_pyg.py", out, "--out", world.work / f"{name}.pt").strip()
    opened = eval(line, {"torch_geometric": torch_geometric})  # the line is the script's own
    opened.load_state_dict(torch.load(world.work / f"{name}.pt"))
    world.compare(opened, logits)
    opened = eval(line, {"torch_geometric": torch_geometric})
    opened.load_state_dict(load_file(out / "weights.safetensors"))
    world.compare(opened, logits)
    check_made_in_pyg(world, name, config, opened)


def check_made_in_pyg(world, name, config, model):
    """PyG -> gnn_infer."""
    torch.manual_seed(5)
    model.reset_parameters()
    for key, value in model.state_dict().items():
        if "running" in key or key.endswith(("bias", "eps")):
            value.copy_(torch.rand_like(value) + 0.1)
    save_file({key: value.contiguous() for key, value in model.state_dict().items()}, world.work / f"made_{name}.safetensors")
    logits = world.infer(world.work / f"made_{name}", "--config", config, "--weights", world.work / f"made_{name}.safetensors")
    world.compare(model, logits)


def check_old_names(world):
    script("to_pyg.py", world.work / "run_gat", "--version", "2.3", "--out", world.work / "old.pt")
    names = set(torch.load(world.work / "old.pt"))
    assert {"convs.0.lin_src.weight", "convs.0.lin_dst.weight"} <= names and "convs.0.lin.weight" not in names


def check_refused(world):
    hetero = HeteroData()
    hetero["paper"].x = torch.zeros(2, 3)
    wide = Data(x=torch.zeros(2, 3), edge_index=torch.tensor([[0], [1]]), edge_attr=torch.zeros(1, 4))
    for stored, word in ((hetero, "HeteroData"), (wide, "edge_attr"), ([wide, wide], "2 graphs"), (3, "int")):
        torch.save(stored, world.work / "bad.pt")
        message = script("from_pyg.py", world.work / "bad.pt", "--out", world.work / "refused", status=2)
        assert word in message, message
        assert not (world.work / "refused").exists()
    assert "no folder" in script("from_ogb.py", world.work, "--out", world.work / "refused", status=2)
    assert "no weights" in script("to_pyg.py", world.work / "none.safetensors", "--out", world.work / "w.pt", status=2)
    script("from_pyg.py", world.work / "data.pt", "--out", world.work / "dataset", status=2)  # is there already


def check_other_data(world):
    """Weights, several splits, several labels, targets; a matrix adj_t is left to those who have torch_sparse."""
    graph = {"edge_index": torch.tensor([[0, 1], [1, 2]]), "num_nodes": 3}
    masks = torch.tensor([[1, 0], [0, 1], [0, 0]], dtype=torch.bool)
    torch.save(Data(**graph, x=torch.ones(3, 2), edge_attr=torch.tensor([[0.5], [2.0]]), y=torch.tensor([[1, 0], [0, 1], [1, 1]]),
                    train_mask=masks, test_mask=torch.tensor([False, False, True])), world.work / "multi.pt")
    script("from_pyg.py", world.work / "multi.pt", "--out", world.work / "multi")
    assert np.load(world.work / "multi" / "edge_weight.npy").tolist() == [0.5, 2.0]
    assert np.load(world.work / "multi" / "train_masks.npy").tolist() == [[1, 0, 0], [0, 1, 0]]
    assert np.load(world.work / "multi" / "test_masks.npy").tolist() == [[0, 0, 1], [0, 0, 1]]
    assert "multi_label" in run(world.program["gnn_dataset"], "info", world.work / "multi", "--split", 0)
    torch.save(Data(**graph, x=torch.ones(3, 2), y=torch.tensor([0.5, float("nan"), 2.5])), world.work / "targets.pt")
    script("from_pyg.py", world.work / "targets.pt", "--out", world.work / "targets")
    assert "node_regression" in run(world.program["gnn_dataset"], "info", world.work / "targets")


def write_csv(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        np.savetxt(file, np.atleast_2d(values), delimiter=",", fmt="%g")


def check_ogb(world):
    """The layout of a download, made here: one direction of edges, edge features, several labels."""
    folder, random = world.work / "ogbn_proteins", np.random.RandomState(1)
    edges = np.array([[0, 1], [1, 2], [3, 0]])
    features = random.uniform(size=(3, 2)).round(3)
    labels = random.randint(0, 2, size=(5, 3))
    for name, values in (("edge", edges), ("edge-feat", features), ("node-label", labels), ("num-node-list", [[5]]),
                         ("num-edge-list", [[3]])):
        write_csv(folder / "raw" / f"{name}.csv.gz", np.asarray(values))
    for name, ids in (("train", [4, 0]), ("valid", [1]), ("test", [2, 3])):
        write_csv(folder / "split" / "species" / f"{name}.csv.gz", np.array(ids)[:, None])
    script("from_ogb.py", folder, "--features-from-edges", "--out", world.work / "proteins")
    read = {path.stem: np.load(path) for path in (world.work / "proteins").glob("*.npy")}
    assert (read["edge_index"] == np.concatenate([edges.T, edges.T[::-1]], axis=1)).all()
    expected = [(features[0] + features[2]) / 2, (features[0] + features[1]) / 2, features[1], features[2], [0, 0]]
    assert np.allclose(read["features"], expected) and (read["labels"] == labels).all()
    assert read["train_idx"].tolist() == [0, 4]
    assert "multi_label" in run(world.program["gnn_dataset"], "info", world.work / "proteins")


def main():
    build, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    work.mkdir(parents=True)
    passed, failed = 0, 0
    world = World(build, work)
    checks = [("graph of PyG", check_graph, ()), *((f"weights of {name}", check_trained, item) for name, item in
                                                   ((name, (name, model)) for name, model in MODELS.items())),
              ("names before version 2.4", check_old_names, ()), ("other graphs of PyG", check_other_data, ()),
              ("layout of OGB", check_ogb, ()), ("refused input", check_refused, ())]
    for title, check, arguments in checks:
        try:
            check(world, *arguments)
            passed += 1
            print(f"converters: {title:28} ok", flush=True)
        except (AssertionError, RuntimeError, KeyError, SyntaxError) as error:
            failed += 1
            print(f"converters: {title:28} FAILED: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
