"""The second, independent implementation: NumPy over edge lists with a backward pass derived by hand.

Shares nothing with dense_models.py: no dense matrix, no autograd, no torch.optim. make_golden.py demands that both
agree to 1e-12.
"""

import numpy as np


class Aggregation:
    """y[target] += coefficient * x[source] over edges, plus own * x: the linear map of a layer and its transpose."""

    def __init__(self, source, target, coefficient, own):
        self.source, self.target, self.coefficient, self.own = source, target, coefficient, own

    def _pull(self, x, read, write):
        y = self.own[:, None] * x
        np.add.at(y, write, self.coefficient[:, None] * x[read])
        return y

    def apply(self, x):
        return self._pull(x, self.source, self.target)

    def apply_transposed(self, dy):
        return self._pull(dy, self.target, self.source)


def aggregation_of(model, case):
    if model == "mlp":
        return None
    num_nodes = len(case.labels)
    source, target = case.edge_index
    weight = np.ones(len(source)) if case.edge_weight is None else case.edge_weight.astype(np.float64)
    in_degree = np.zeros(num_nodes)
    np.add.at(in_degree, target, weight)
    if model == "sage":
        return Aggregation(source, target, weight / in_degree[target], np.zeros(num_nodes))
    has_loop = np.zeros(num_nodes, dtype=bool)
    has_loop[source[source == target]] = True
    added = np.where(has_loop, 0.0, 1.0)
    c = 1.0 / np.sqrt(in_degree + added)
    return Aggregation(source, target, c[target] * weight * c[source], added * c * c)


class EdgeModel:
    def __init__(self, model, case):
        self.model, self.case = model, case
        self.aggregation = aggregation_of(model, case)

    def forward(self, params, x):
        """Returns logits and the input of every layer followed by the logits."""
        layers = 1 + max(int(name.split(".")[1]) for name in params)
        inputs = [x]
        for layer in range(layers):
            x = self.linear(params, layer, inputs[-1])
            inputs.append(np.maximum(x, 0.0) if layer + 1 < layers else x)
        return inputs[-1], inputs

    def linear(self, params, layer, x):
        """One layer without its ReLU."""
        at = f"layers.{layer}."
        if self.model == "sage":
            neighbours = self.aggregation.apply(x @ params[at + "neighbour_weight"])
            return x @ params[at + "root_weight"] + neighbours + params[at + "bias"]
        y = x @ params[at + "weight"]
        return (self.aggregation.apply(y) if self.model == "gcn" else y) + params[at + "bias"]

    def loss_and_gradients(self, params):
        case = self.case
        logits, inputs = self.forward(params, case.features)
        rows = logits[case.train_idx]
        shifted = rows - rows.max(axis=1, keepdims=True)
        probability = np.exp(shifted)
        total = probability.sum(axis=1, keepdims=True)
        here = np.arange(len(rows)), case.labels[case.train_idx]
        loss = (np.log(total[:, 0]) - shifted[here]).mean()

        dy = np.zeros_like(logits)
        probability /= total
        probability[here] -= 1.0
        dy[case.train_idx] = probability / len(rows)
        gradients = {}
        for layer in range(len(inputs) - 2, -1, -1):
            dx = self._linear_backward(params, layer, inputs[layer], dy, gradients)
            dy = dx * (inputs[layer] > 0.0)
        return loss, logits, gradients

    def _linear_backward(self, params, layer, x, dy, gradients):
        at = f"layers.{layer}."
        gradients[at + "bias"] = dy.sum(axis=0)
        pulled = dy if self.model == "mlp" else self.aggregation.apply_transposed(dy)
        if self.model == "sage":
            gradients[at + "root_weight"] = x.T @ dy
            gradients[at + "neighbour_weight"] = x.T @ pulled
            return dy @ params[at + "root_weight"].T + pulled @ params[at + "neighbour_weight"].T
        gradients[at + "weight"] = x.T @ pulled
        return pulled @ params[at + "weight"].T


def train_losses(model, params, optimizer, steps, lr, weight_decay):
    """Loss before each of `steps` full-batch steps. Adam: Kingma & Ba 2015 with L2 added to the gradient."""
    params = {name: value.copy() for name, value in params.items()}
    first = {name: np.zeros_like(value) for name, value in params.items()}
    second = {name: np.zeros_like(value) for name, value in params.items()}
    losses = []
    for step in range(1, steps + 1):
        loss, _, gradients = model.loss_and_gradients(params)
        losses.append(loss)
        for name, p in params.items():
            g = gradients[name] + weight_decay * p
            if optimizer == "sgd":
                p -= lr * g
                continue
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.999 * second[name] + 0.001 * g * g
            mean = first[name] / (1.0 - 0.9**step)
            square = second[name] / (1.0 - 0.999**step)
            p -= lr * mean / (np.sqrt(square) + 1e-8)
    return np.array(losses)
