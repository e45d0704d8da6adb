#!/usr/bin/env python3
"""Turns a graph of PyTorch Geometric into a dataset folder.

    from_pyg.py data.pt --out DIR                                   a Data object written by torch.save, or a processed file
    from_pyg.py --dataset Planetoid --name Cora --root R --out DIR  a class of torch_geometric.datasets (downloads if it must)

torch.load runs code that the file names: open only files that you trust. Needs torch and torch_geometric.
Exit status: 0 done, 2 bad input (nothing written).
"""

import argparse

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

import dataset_folder
from dataset_folder import BadInput


def unpack(stored):
    """The one graph of what torch.load gave: a Data, or (Data or its dict, slices, ...) of a dataset's processed file."""
    if isinstance(stored, (tuple, list)) and len(stored) > 0 and not all(isinstance(item, Data) for item in stored):
        slices = stored[1] if len(stored) > 1 else None
        stored = stored[0]
        if slices and any(len(cuts) > 2 for cuts in slices.values() if hasattr(cuts, "__len__")):
            raise BadInput("the file holds several graphs; HaloGNN trains on one graph")
    if isinstance(stored, (tuple, list)):
        if len(stored) != 1:
            raise BadInput(f"the file holds {len(stored)} graphs; HaloGNN trains on one graph")
        stored = stored[0]
    return Data.from_dict(stored) if isinstance(stored, dict) else stored


def load_dataset(options):
    import torch_geometric.datasets as datasets
    if not hasattr(datasets, options.dataset):
        raise BadInput(f"torch_geometric.datasets has no class {options.dataset}")
    arguments = {"name": options.name} if options.name else {}
    dataset = getattr(datasets, options.dataset)(root=options.root, **arguments)
    if len(dataset) != 1:
        raise BadInput(f"{options.dataset} holds {len(dataset)} graphs; HaloGNN trains on one graph")
    return dataset[0]


def check_kind(data):
    if isinstance(data, HeteroData):
        raise BadInput(f"a HeteroData with node types {data.node_types}: HaloGNN knows one type of nodes and of edges; "
                       "data.to_homogeneous() gives one, if your model needs no types")
    if not isinstance(data, Data):
        raise BadInput(f"found a {type(data).__name__}; expected a torch_geometric.data.Data")


def edges_of(data, drop_edge_features):
    """edge_index and, where there is one, edge_weight."""
    if data.get("edge_index") is None:
        if data.get("adj_t") is None:
            raise BadInput("the graph has neither edge_index nor adj_t")
        target, source, weight = data.adj_t.coo()  # adj_t[i, j]: the edge j -> i
        edges = torch.stack([source, target])
    else:
        edges, weight = data.edge_index, data.get("edge_weight")
    features = data.get("edge_attr")
    if weight is None and features is not None and not drop_edge_features:
        if features.dim() > 1 and features.size(-1) != 1:
            raise BadInput(f"edge_attr has {features.size(-1)} columns; HaloGNN reads one weight for each edge. "
                           "--drop-edge-features leaves them out")
        weight = features.reshape(-1)
    arrays = {"edge_index": edges.cpu().numpy()}
    if weight is not None:
        arrays["edge_weight"] = weight.cpu().numpy().astype(np.float32)
    return arrays


def splits_of(data):
    """Masks [N], or several splits [N, S] as [S, N]; index lists as they are."""
    arrays = {}
    for ours, theirs in (("train", "train"), ("val", "val"), ("test", "test")):
        mask, ids = data.get(f"{theirs}_mask"), data.get(f"{theirs}_idx")
        if mask is not None and mask.dim() == 2:
            arrays[f"{ours}_masks"] = mask.t().cpu().numpy().astype(np.uint8)
        elif mask is not None:
            arrays[f"{ours}_idx"] = np.flatnonzero(mask.cpu().numpy()).astype(np.int64)
        elif ids is not None:
            arrays[f"{ours}_idx"] = np.sort(ids.cpu().numpy()).astype(np.int64)
    single = {name.split("_")[0] for name in arrays if name.endswith("_idx")}
    if any(name.endswith("_masks") for name in arrays):  # one test set for all splits
        splits = max(len(values) for name, values in arrays.items() if name.endswith("_masks"))
        for split in single:
            mask = np.zeros(data.num_nodes, np.uint8)
            mask[arrays.pop(f"{split}_idx")] = 1
            arrays[f"{split}_masks"] = np.tile(mask, (splits, 1))
    return arrays


def convert(data, drop_edge_features):
    """(arrays, description) of a dataset folder."""
    check_kind(data)
    arrays = edges_of(data, drop_edge_features)
    task = "node_classification"
    if data.get("x") is not None:
        x = data.x.to_dense() if data.x.is_sparse else data.x
        arrays["features"] = x.cpu().numpy().astype(np.float32)
    if data.get("y") is not None:
        arrays["labels"], task = dataset_folder.labels_of(data.y.cpu().numpy(), data.num_nodes)
    arrays.update(splits_of(data))
    return arrays, {"num_nodes": int(data.num_nodes), "task": task}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="file of torch.save")
    parser.add_argument("--dataset", help="class of torch_geometric.datasets")
    parser.add_argument("--name", help="its argument `name`")
    parser.add_argument("--root", default="data", help="its argument `root`")
    parser.add_argument("--drop-edge-features", action="store_true", help="leave edge_attr out")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    if (options.file is None) == (options.dataset is None):
        raise BadInput("name a file or --dataset, one of them")
    if options.file is None:
        data = load_dataset(options)
    else:
        try:
            data = unpack(torch.load(options.file, map_location="cpu", weights_only=False))
        except (OSError, EOFError, RuntimeError) as error:
            raise BadInput(f"cannot read {options.file}: {error}") from error
    arrays, description = convert(data, options.drop_edge_features)
    dataset_folder.write(options.out, arrays, {"name": options.name or str(options.dataset or options.file), **description})


if __name__ == "__main__":
    dataset_folder.run(main)
