#!/usr/bin/env python3
"""Trains GCN, GraphSAGE (mean) or GAT full-graph with DGL or PyTorch Geometric on the CPU: one run of compare.py.

Reads a partitioned dataset (so that both sides have the same node order) and initial weights with the names of PyTorch
Geometric. Prints one JSON object: seconds and loss of every training step (forward, loss, backward, Adam), peak memory.
The peers get what their documentation advises: DGL both sparse forms made beforehand, PyTorch Geometric a CSR adjacency where the
layer can use one and cached normalisation.
"""

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

import numpy as np


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("partition", type=Path)
    parser.add_argument("weights", type=Path, help="initial weights, .safetensors")
    parser.add_argument("--tool", choices=("dgl", "pyg"), required=True)
    parser.add_argument("--model", choices=("gcn", "sage", "gat"), required=True)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=256, help="columns of a hidden layer, all heads")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


OPTIONS = parse_arguments()
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # read when the libraries are loaded
    os.environ[variable] = str(OPTIONS.threads)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from safetensors.torch import load_file  # noqa: E402


def peak_bytes(reset=False):
    """Peak resident set since the process began, or since the last reset (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text()).group(1)) * 1024


def load_dataset(folder):
    arrays = {name: np.load(folder / f"{name}.npy") for name in ("indptr", "indices", "features", "labels", "split")}
    train = torch.from_numpy(np.flatnonzero(arrays["split"] == 1))
    return arrays["indptr"], arrays["indices"], torch.from_numpy(arrays["features"]), torch.from_numpy(
        arrays["labels"].astype(np.int64)), train


def shapes(cols_in, outputs):
    widths = [cols_in] + [OPTIONS.hidden] * (OPTIONS.layers - 1) + [outputs]
    return list(zip(widths, widths[1:]))


class Network(torch.nn.Module):
    """Layers with ReLU between them."""

    def __init__(self, convs):
        super().__init__()
        self.convs = torch.nn.ModuleList(convs)

    def forward(self, graph, x):
        for conv in self.convs[:-1]:
            x = F.relu(conv(graph, x))
        return self.convs[-1](graph, x)


class DglLayer(torch.nn.Module):
    """A layer of DGL; the heads of GAT side by side."""

    def __init__(self, conv):
        super().__init__()
        self.conv = conv

    def forward(self, graph, x):
        return self.conv(graph, x).flatten(1)


def dgl_layer(kind, cols_in, cols_out, last):
    import dgl.nn as gnn
    if kind == "gcn":
        return DglLayer(gnn.GraphConv(cols_in, cols_out))
    if kind == "sage":
        return DglLayer(gnn.SAGEConv(cols_in, cols_out, "mean"))
    heads = 1 if last else OPTIONS.heads
    return DglLayer(gnn.GATConv(cols_in, cols_out // heads, heads, negative_slope=0.2))


def dgl_state(kind, layer, conv, weights):
    """The parameters of a layer from the weights by PyTorch Geometric's names."""
    def of(name):
        return weights[f"convs.{layer}.{name}"]
    if kind == "gcn":
        return {"weight": of("lin.weight").T, "bias": of("bias")}
    if kind == "sage":
        return {"fc_neigh.weight": of("lin_l.weight"), "fc_self.weight": of("lin_r.weight"), "fc_self.bias": of("lin_l.bias")}
    return {"fc.weight": of("lin.weight"), "attn_l": of("att_src"), "attn_r": of("att_dst"), "bias": of("bias")}


def make_dgl(indptr, indices, features, outputs, weights):
    import dgl
    graph = dgl.graph(("csc", (torch.from_numpy(indptr), torch.from_numpy(indices.astype(np.int64)), torch.tensor([]))),
                      num_nodes=len(features))
    if OPTIONS.model != "sage":
        graph = dgl.add_self_loop(dgl.remove_self_loop(graph))
    graph = graph.int().formats(["coo", "csr", "csc"])
    graph.create_formats_()
    pairs = shapes(features.shape[1], outputs)
    network = Network(dgl_layer(OPTIONS.model, *pair, i + 1 == len(pairs)) for i, pair in enumerate(pairs))
    for i, layer in enumerate(network.convs):
        state = dgl_state(OPTIONS.model, i, layer.conv, weights)
        layer.conv.load_state_dict({name: value.reshape(layer.conv.state_dict()[name].shape) if value.dim() != 2 else value
                                    for name, value in state.items()})
    return network, graph


class PygLayer(torch.nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.conv = conv

    def forward(self, graph, x):
        return self.conv(x, graph)


def pyg_layer(kind, cols_in, cols_out, last):
    import torch_geometric.nn as gnn
    if kind == "gcn":
        return PygLayer(gnn.GCNConv(cols_in, cols_out, cached=True))
    if kind == "sage":
        return PygLayer(gnn.SAGEConv(cols_in, cols_out))
    heads = 1 if last else OPTIONS.heads
    return PygLayer(gnn.GATConv(cols_in, cols_out // heads, heads=heads))


def make_pyg(indptr, indices, features, outputs, weights):
    nodes = len(features)
    if OPTIONS.model == "gat":  # attention needs the edges one by one
        targets = np.repeat(np.arange(nodes), np.diff(indptr))
        graph = torch.from_numpy(np.stack([indices.astype(np.int64), targets]))
    else:
        graph = torch.sparse_csr_tensor(torch.from_numpy(indptr), torch.from_numpy(indices.astype(np.int64)),
                                        torch.ones(len(indices)), size=(nodes, nodes))
    pairs = shapes(features.shape[1], outputs)
    network = Network(pyg_layer(OPTIONS.model, *pair, i + 1 == len(pairs)) for i, pair in enumerate(pairs))
    network.load_state_dict({re.sub(r"^(convs\.\d+)\.", r"\1.conv.", name): value for name, value in weights.items()})
    return network, graph


def step(network, graph, features, labels, train, optimizer):
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(network(graph, features).index_select(0, train), labels[train])
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(OPTIONS.threads)
    indptr, indices, features, labels, train = load_dataset(OPTIONS.partition)
    make = {"dgl": make_dgl, "pyg": make_pyg}[OPTIONS.tool]
    network, graph = make(indptr, indices, features, int(labels.max()) + 1, load_file(OPTIONS.weights))
    del indptr, indices
    optimizer = torch.optim.Adam(network.parameters(), lr=OPTIONS.lr)
    peak_bytes(reset=True)
    seconds, losses = [], []
    for epoch in range(OPTIONS.epochs):
        start = time.perf_counter()
        losses.append(step(network, graph, features, labels, train, optimizer))
        seconds.append(time.perf_counter() - start)
        print(f"{OPTIONS.tool} {OPTIONS.model}: epoch {epoch + 1} loss {losses[-1]:.6f} {seconds[-1]:.3f} s", file=sys.stderr)
    versions = {"torch": torch.__version__}
    versions[OPTIONS.tool] = sys.modules[{"dgl": "dgl", "pyg": "torch_geometric"}[OPTIONS.tool]].__version__
    print(json.dumps({"seconds": seconds, "losses": losses, "peak_bytes": peak_bytes(), "versions": versions}))


if __name__ == "__main__":
    main()
