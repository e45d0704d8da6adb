#!/usr/bin/env python3
"""Checks the fast PyTorch models of full_graph_model.py, with each operator, against the golden data in float64.

Exit status 1 if the loss, the logits or a gradient differs by more than 1e-12.
"""

import sys

import numpy as np
import scipy.sparse
import torch
import torch.nn.functional as F

from full_graph_model import OPERATORS, Graph, Network
from golden_graphs import CLASSES, FEATURES, all_cases
from make_golden import AGREEMENT, HIDDEN, LAYERS, MODELS, DenseRun, initial_parameters


def in_edges_of(case):
    source, target = case.edge_index
    values = np.ones(len(source)) if case.edge_weight is None else case.edge_weight
    return scipy.sparse.csr_matrix((values, (target, source)), shape=(len(case.labels),) * 2, dtype="float64")


def difference(model, case, operator, precompute):
    params = initial_parameters(model, case.parameter_seed)
    expected_loss, expected_logits, expected_gradients = DenseRun(model, case, params).loss_and_gradients()
    graph = None if model == "mlp" else Graph(in_edges_of(case), model, operator, dtype=torch.float64)
    network = Network(model, FEATURES, HIDDEN, CLASSES, LAYERS).double()
    network.load_state_dict({name: torch.from_numpy(value) for name, value in params.items()})
    features = torch.from_numpy(case.features)
    if precompute:
        network.prepare(graph, features)
    logits = network(graph, features)
    loss = F.cross_entropy(logits[case.train_idx], torch.from_numpy(case.labels)[case.train_idx])
    loss.backward()
    pairs = [(loss.detach(), torch.tensor(expected_loss, dtype=torch.float64)), (logits.detach(), torch.from_numpy(expected_logits))]
    pairs += [(p.grad, torch.from_numpy(expected_gradients[name])) for name, p in network.named_parameters()]
    return max((a - b).abs().max().item() for a, b in pairs)


def main():
    worst = 0.0
    for case in all_cases():
        for model in MODELS:
            for operator in OPERATORS:
                for precompute in (False, True):
                    worst = max(worst, difference(model, case, operator, precompute))
    print(f"largest difference from the golden values: {worst:.1e}")
    sys.exit(0 if worst <= AGREEMENT else 1)


if __name__ == "__main__":
    main()
