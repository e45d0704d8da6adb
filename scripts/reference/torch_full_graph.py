#!/usr/bin/env python3
"""Trains GCN, GraphSAGE (mean) or an MLP full-graph with PyTorch on the CPU: the peer that HaloGNN's epoch times are
measured against. Reads a dataset folder or a partitioned one, prints one JSON object on stdout, progress on stderr.
"""

import argparse
import json
import os
import re
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="dataset folder, or folder of gnn_partition")
    parser.add_argument("--model", choices=("gcn", "sage", "mlp"), default="sage")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.0, help="between layers")
    parser.add_argument("--input-dropout", type=float, default=0.0, help="of the features")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--weight-decay-on", choices=("all", "first"), default="all", help="layers it acts on")
    parser.add_argument("--row-normalise", action="store_true", help="divide each feature row by its absolute sum")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--operator", choices=("auto", "scaled-bag", "weighted-bag", "csr"), default="auto",
                        help="how PyTorch multiplies by the adjacency; auto times all and takes the fastest")
    parser.add_argument("--no-precompute", action="store_true", help="aggregate the fixed features in every epoch")
    return parser.parse_args()


OPTIONS = parse_arguments()
# The BLAS library reads its thread count when it is loaded, that is before torch.set_num_threads can be called.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(OPTIONS.threads)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from full_graph_model import Graph, Network  # noqa: E402


def log(text):
    print(text, file=sys.stderr, flush=True)


def load_features(folder):
    if (folder / "features.npy").exists():
        return np.load(folder / "features.npy").astype(np.float32)
    parts = [np.load(folder / f"feat_{name}.npy") for name in ("values", "indices", "indptr", "shape")]
    return scipy.sparse.csr_matrix(tuple(parts[:3]), shape=tuple(parts[3])).toarray().astype(np.float32)


def load_index(path, num_nodes):
    """Ids from ids or from a mask."""
    array = np.load(path)
    is_mask = array.dtype in (np.bool_, np.uint8) and len(array) == num_nodes
    return torch.from_numpy(np.flatnonzero(array) if is_mask else array.astype(np.int64))


def load_partitioned(folder):
    """The same from a partitioned dataset: the graph in the node order that HaloGNN trains it in."""
    features = np.load(folder / "features.npy")
    indptr, indices = np.load(folder / "indptr.npy"), np.load(folder / "indices.npy")
    weights = folder / "edge_weight.npy"
    values = np.load(weights) if weights.exists() else np.ones(len(indices), np.float32)
    in_edges = scipy.sparse.csr_matrix((values, indices, indptr), shape=(len(features), len(features)))
    labels = torch.from_numpy(np.load(folder / "labels.npy").astype(np.int64))
    split = np.load(folder / "split.npy")
    splits = {name: torch.from_numpy(np.flatnonzero(split == i)) for i, name in enumerate(("train", "val", "test"), 1)}
    return torch.from_numpy(features), in_edges, labels, splits


def load_dataset(folder):
    if (folder / "partition.json").exists():
        return load_partitioned(folder)
    features = load_features(folder)
    num_nodes = len(features)
    source, target = np.load(folder / "edge_index.npy", mmap_mode="r")
    weights = folder / "edge_weight.npy"
    values = np.load(weights).astype(np.float32) if weights.exists() else np.ones(len(source), np.float32)
    in_edges = scipy.sparse.csr_matrix((values, (target, source)), shape=(num_nodes, num_nodes))
    labels = torch.from_numpy(np.load(folder / "labels.npy").astype(np.int64))
    splits = {name: load_index(folder / f"{name}_idx.npy", num_nodes) for name in ("train", "val", "test")}
    return torch.from_numpy(features), in_edges, labels, splits


def blas_name():
    """File names of the dense linear algebra libraries in this process."""
    maps = Path("/proc/self/maps").read_text()
    names = set(re.findall(r"/(lib[^/\s]*(?:blas|mkl)[^/\s]*\.so[^/\s]*)", maps))
    return sorted(names) + (["mkl (inside torch)"] if torch.backends.mkl.is_available() else [])


def peak_bytes(reset=False):
    """Peak resident set since the process began, or since the last reset (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(match.group(1)) * 1024 if match else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def make_optimizer(network):
    first = list(network.layers[0].parameters())
    others = [p for layer in network.layers[1:] for p in layer.parameters()]
    decay_others = OPTIONS.weight_decay if OPTIONS.weight_decay_on == "all" else 0.0
    groups = [{"params": first, "weight_decay": OPTIONS.weight_decay}, {"params": others, "weight_decay": decay_others}]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=OPTIONS.lr)


def train_step(network, graph, features, labels, train_idx, optimizer):
    network.train()
    optimizer.zero_grad(set_to_none=True)
    logits = network(graph, features)
    loss = F.cross_entropy(logits.index_select(0, train_idx), labels[train_idx])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(network, graph, features, labels, splits):
    network.eval()
    right = network(graph, features).argmax(dim=1) == labels
    return {name: right[ids].float().mean().item() for name, ids in splits.items() if len(ids)}


def train(network, graph, features, labels, splits):
    """One record per epoch."""
    optimizer = make_optimizer(network)
    records = []
    for epoch in range(1, OPTIONS.epochs + 1):
        start, cpu_start = time.perf_counter(), time.process_time()
        loss = train_step(network, graph, features, labels, splits["train"], optimizer)
        trained, cpu_trained = time.perf_counter(), time.process_time()
        accuracy = evaluate(network, graph, features, labels, splits)
        done = time.perf_counter()
        records.append({"epoch": epoch, "train_loss": loss, "train_seconds": trained - start,
                        "train_cpu_seconds": cpu_trained - cpu_start, "epoch_seconds": done - start,
                        **{f"{name}_accuracy": a for name, a in accuracy.items()}})
        if epoch <= 5 or epoch % 20 == 0:
            log(" ".join(f"{key} {value:.4g}" for key, value in records[-1].items()))
    return records


def main():
    torch.set_num_threads(OPTIONS.threads)
    torch.manual_seed(OPTIONS.seed)
    start = time.perf_counter()
    features, in_edges, labels, splits = load_dataset(OPTIONS.dataset)
    if OPTIONS.row_normalise:
        features = F.normalize(features, p=1, dim=1)
    graph = None
    if OPTIONS.model != "mlp":
        graph = Graph(in_edges, OPTIONS.model, OPTIONS.operator, OPTIONS.hidden)
        log(f"{len(features)} nodes, {graph.entries} entries, symmetric {graph.symmetric}, operator {graph.operator}"
            f" {graph.operator_seconds}")
    del in_edges
    network = Network(OPTIONS.model, features.shape[1], OPTIONS.hidden, int(labels.max()) + 1, OPTIONS.layers,
                      OPTIONS.dropout, OPTIONS.input_dropout)
    if not OPTIONS.no_precompute:
        network.prepare(graph, features)
    set_up_seconds, set_up_peak = time.perf_counter() - start, peak_bytes()
    blas = blas_name()
    if any(name.startswith("libblas.so.3.") for name in blas):
        log("warning: the reference BLAS is in use; dense products are 10-20 times slower than with OpenBLAS")

    peak_bytes(reset=True)
    records = train(network, graph, features, labels, splits)
    result = {
        "options": {key: str(value) if isinstance(value, Path) else value for key, value in vars(OPTIONS).items()},
        "torch": torch.__version__, "blas": blas,
        "operator": graph.operator if graph else None,
        "operator_seconds": graph.operator_seconds if graph else None,
        "symmetric": graph.symmetric if graph else None,
        "set_up_seconds": set_up_seconds, "set_up_peak_bytes": set_up_peak, "train_peak_bytes": peak_bytes(),
        **{f"{key}_median": statistics.median(r[key] for r in records)
           for key in ("train_seconds", "train_cpu_seconds", "epoch_seconds")},
        "epochs": records,
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
