"""GCN, GraphSAGE (mean) and MLP written with dense matrices, so that they can be checked by eye against the formulas.

A is the dense [N, N] matrix with A[i, j] = weight of the edge j -> i: row i holds the in-edges of node i.
Weights are stored [in, out], and a layer is y = x W + b. Everything is float64.
"""

import torch


def adjacency(case):
    num_nodes = case.features.shape[0]
    weights = case.edge_weight if case.edge_weight is not None else [1.0] * case.edge_index.shape[1]
    a = torch.zeros(num_nodes, num_nodes, dtype=torch.float64)
    for source, target, weight in zip(case.edge_index[0], case.edge_index[1], weights):
        a[target, source] = float(weight)
    return a


def gcn_matrix(a):
    """D^-1/2 (A + L) D^-1/2 (Kipf & Welling 2017). L adds the loop of weight 1 only where a node has none yet."""
    loops = torch.diag((torch.diagonal(a) == 0).to(a.dtype))
    with_loops = a + loops
    d = with_loops.sum(dim=1)
    return torch.diag(d**-0.5) @ with_loops @ torch.diag(d**-0.5)


def mean_matrix(a):
    """Rows of A divided by their sums (Hamilton et al. 2017, mean); a row without in-edges stays zero."""
    d = a.sum(dim=1, keepdim=True)
    return torch.where(d > 0, a / torch.where(d > 0, d, torch.ones_like(d)), torch.zeros_like(a))


def forward(model, a, x, params):
    """Logits [N, C]. `params` maps names (layers.0.weight, ...) to tensors; ReLU between layers, none after the last."""
    layers = 1 + max(int(name.split(".")[1]) for name in params)
    propagate = {"gcn": gcn_matrix, "sage": mean_matrix, "mlp": lambda _: None}[model](a)
    for layer in range(layers):
        p = {name.split(".")[2]: value for name, value in params.items() if name.startswith(f"layers.{layer}.")}
        if model == "gcn":
            x = propagate @ x @ p["weight"] + p["bias"]
        elif model == "sage":
            x = x @ p["root_weight"] + propagate @ x @ p["neighbour_weight"] + p["bias"]
        else:
            x = x @ p["weight"] + p["bias"]
        if layer + 1 < layers:
            x = torch.relu(x)
    return x


def loss_of(logits, labels, train_idx):
    """Mean cross-entropy over the training nodes."""
    log_probability = torch.log_softmax(logits[train_idx], dim=1)
    return -log_probability[torch.arange(len(train_idx)), labels[train_idx]].mean()
