#!/usr/bin/env python3
"""Turns a node property dataset of the Open Graph Benchmark into a dataset folder.

    from_ogb.py ROOT/ogbn_arxiv --out DIR                     the unpacked download: its folders raw/ and split/
    from_ogb.py --dataset ogbn-arxiv --root ROOT --out DIR    by the ogb package (downloads if it must)

A folder needs NumPy only. --undirected adds every edge's reverse, as the baselines on ogbn-arxiv do. What the ogb package
adds by itself when it reads (the reverse edges of ogbn-products and ogbn-proteins, stored in one direction) is added here too.
Exit status: 0 done, 2 bad input (nothing written).
"""

import argparse
import gzip
from pathlib import Path

import numpy as np

import dataset_folder
from dataset_folder import BadInput

# Stored in one direction; the ogb package adds the other.
STORED_ONE_WAY = ("ogbn_products", "ogbn_proteins")
SPLITS = (("train", "train"), ("val", "valid"), ("test", "test"))


def read_csv(path, dtype):
    """A .csv.gz without header, [rows, columns]."""
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=dtype, ndmin=2)


def need(folder, *names):
    """The first of the files that is there."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise BadInput(f"{folder} holds none of {', '.join(names)}")


def read_binary(raw):
    """raw/data.npz and raw/node-label.npz, as ogbn-papers100M comes."""
    with np.load(raw / "data.npz") as stored:
        graph = {"edge_index": stored["edge_index"], "num_nodes": int(stored["num_nodes_list"].sum())}
        for key in ("node_feat", "edge_feat"):
            graph[key] = stored[key] if key in stored.files else None
    with np.load(need(raw, "node-label.npz")) as stored:
        return graph, stored["node_label"]


def read_folder(folder):
    """(graph, labels, split ids) of an unpacked download."""
    raw = folder / "raw"
    if not raw.is_dir():
        raise BadInput(f"no folder {raw}; expected the unpacked download of a node property dataset")
    if (raw / "data.npz").is_file():
        graph, labels = read_binary(raw)
    else:
        counts = read_csv(need(raw, "num-node-list.csv.gz"), np.int64)
        if counts.size != 1:
            raise BadInput(f"{raw} holds {counts.size} graphs; HaloGNN trains on one graph")
        graph = {"edge_index": read_csv(need(raw, "edge.csv.gz"), np.int64).T, "num_nodes": int(counts[0, 0])}
        for key, name in (("node_feat", "node-feat.csv.gz"), ("edge_feat", "edge-feat.csv.gz")):
            graph[key] = read_csv(raw / name, np.float32) if (raw / name).is_file() else None
        labels = read_csv(need(raw, "node-label.csv.gz"), np.float64)
    if folder.name.replace("-", "_") in STORED_ONE_WAY:
        add_reverse(graph)
    schemes = sorted(path for path in (folder / "split").iterdir() if path.is_dir()) if (folder / "split").is_dir() else []
    if len(schemes) != 1:
        raise BadInput(f"{folder / 'split'} holds {len(schemes)} splits; expected one folder")
    ids = {ours: read_csv(need(schemes[0], f"{theirs}.csv.gz"), np.int64)[:, 0] for ours, theirs in SPLITS}
    return graph, labels, ids


def read_package(name, root):
    """The same from the ogb package."""
    try:
        from ogb.nodeproppred import NodePropPredDataset
    except ImportError as error:
        raise BadInput("--dataset needs the package ogb; an unpacked download needs NumPy only") from error
    dataset = NodePropPredDataset(name=name, root=root)
    graph, labels = dataset[0]
    ids = dataset.get_idx_split()
    return graph, labels, {ours: ids[theirs] for ours, theirs in SPLITS}


def add_reverse(graph):
    graph["edge_index"] = np.concatenate([graph["edge_index"], graph["edge_index"][::-1]], axis=1)
    if graph.get("edge_feat") is not None:
        graph["edge_feat"] = np.concatenate([graph["edge_feat"], graph["edge_feat"]])


def mean_edge_features(graph):
    """Features of a node: the mean of its in-edges' features (the baselines on ogbn-proteins)."""
    if graph.get("edge_feat") is None:
        raise BadInput("--features-from-edges, but the dataset has no edge features")
    nodes, targets = graph["num_nodes"], graph["edge_index"][1]
    counts = np.maximum(np.bincount(targets, minlength=nodes), 1)
    return np.stack([np.bincount(targets, weights=column, minlength=nodes) / counts
                     for column in graph["edge_feat"].T], axis=1)


def convert(graph, labels, ids, options):
    """(arrays, description) of a dataset folder."""
    if options.undirected:
        add_reverse(graph)
        graph["edge_index"] = np.unique(graph["edge_index"], axis=1)
        graph["edge_feat"] = None
    arrays = {"edge_index": graph["edge_index"]}
    features = mean_edge_features(graph) if options.features_from_edges else graph.get("node_feat")
    if features is not None:
        arrays["features"] = features.astype(np.float32, copy=False)
    arrays["labels"], task = dataset_folder.labels_of(np.asarray(labels), graph["num_nodes"])
    for split, values in ids.items():
        arrays[f"{split}_idx"] = np.sort(values).astype(np.int64)
    return arrays, {"num_nodes": int(graph["num_nodes"]), "task": task}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--dataset", help="name for the ogb package")
    parser.add_argument("--root", default="dataset", help="where the ogb package keeps its files")
    parser.add_argument("--undirected", action="store_true", help="every edge in both directions, once")
    parser.add_argument("--features-from-edges", action="store_true",
                        help="features of a node: the mean of its in-edges' features")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    if (options.folder is None) == (options.dataset is None):
        raise BadInput("name a folder or --dataset, one of them")
    if options.undirected and options.features_from_edges:
        raise BadInput("--undirected drops edge features; --features-from-edges needs them")
    found = read_folder(options.folder) if options.folder else read_package(options.dataset, options.root)
    arrays, description = convert(*found, options)
    name = options.dataset or options.folder.name
    dataset_folder.write(options.out, arrays, {"name": name, **description})


if __name__ == "__main__":
    dataset_folder.run(main)
