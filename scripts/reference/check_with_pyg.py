#!/usr/bin/env python3
"""Optional: compares logits, loss and gradients of the golden models with those of PyTorch Geometric's GCNConv and SAGEConv.

    python3 -m venv --system-site-packages VENV && VENV/bin/pip install torch_geometric==2.3.1
    VENV/bin/python scripts/reference/check_with_pyg.py

The golden values are computed anew by dense_models (make_golden.py --check ties them to the files). SAGEConv knows no
edge weights: of the weighted case it is compared with the weights left out. Exit status 1 if anything differs by more than 1e-12.
"""

import dataclasses
import sys

import torch
from torch_geometric.nn import GCNConv, SAGEConv

import dense_models
from golden_graphs import CLASSES, FEATURES, all_cases
from make_golden import AGREEMENT, HIDDEN, LAYERS, DenseRun, initial_parameters


def layers_of(model, params):
    """PyG layers that hold the golden parameters, and (name, tensor, transposed) of each of their parameters."""
    widths = [FEATURES] + [HIDDEN] * (LAYERS - 1) + [CLASSES]
    convs, named = [], []
    for layer, (cols_in, cols_out) in enumerate(zip(widths, widths[1:])):
        if model == "gcn":
            conv = GCNConv(cols_in, cols_out).double()
            parts = [("weight", conv.lin.weight), ("bias", conv.bias)]
        else:
            conv = SAGEConv(cols_in, cols_out, aggr="mean").double()
            parts = [("root_weight", conv.lin_r.weight), ("neighbour_weight", conv.lin_l.weight),
                     ("bias", conv.lin_l.bias)]
        for part, tensor in parts:
            name = f"layers.{layer}.{part}"
            value = torch.from_numpy(params[name])
            tensor.data.copy_(value.t() if value.dim() == 2 else value)
            named.append((name, tensor))
        convs.append(conv)
    return convs, named


def difference(model, case, params):
    """Largest difference of logits, loss and gradients between PyG and dense_models."""
    convs, named = layers_of(model, params)
    x, edge_index = torch.from_numpy(case.features), torch.from_numpy(case.edge_index)
    weight = () if case.edge_weight is None else (torch.from_numpy(case.edge_weight).double(),)
    for layer, conv in enumerate(convs):
        x = conv(x, edge_index, *weight)
        x = torch.relu(x) if layer + 1 < LAYERS else x
    loss = dense_models.loss_of(x, torch.from_numpy(case.labels), torch.from_numpy(case.train_idx))
    loss.backward()

    expected_loss, expected_logits, expected_gradients = DenseRun(model, case, params).loss_and_gradients()
    differences = [abs(loss.item() - expected_loss), (x.detach() - torch.from_numpy(expected_logits)).abs().max().item()]
    for name, tensor in named:
        gradient = tensor.grad.t() if tensor.grad.dim() == 2 else tensor.grad
        differences.append((gradient - torch.from_numpy(expected_gradients[name])).abs().max().item())
    return max(differences)


def main():
    worst = 0.0
    for case in all_cases():
        for model in ("gcn", "sage"):
            params = initial_parameters(model, case.parameter_seed)
            shown = case if model == "gcn" else dataclasses.replace(case, edge_weight=None)
            here = difference(model, shown, params)
            weights = "weighted" if shown.edge_weight is not None else "unweighted"
            print(f"{case.name:21} {model:4} ({weights:10})  PyG differs by {here:.1e}")
            worst = max(worst, here)
    sys.exit(0 if worst <= AGREEMENT else 1)


if __name__ == "__main__":
    main()
