#!/usr/bin/env python3
"""Writes (or with --check compares) the golden data of tests/golden/data: small datasets with the logits, the loss,
every gradient and ten losses of GCN, GraphSAGE (mean) and MLP as PyTorch computes them in float64.

Two implementations that share no code must agree to 1e-12 before anything is written. See tests/golden/README.md.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch

import dense_models
import edge_models
from golden_graphs import CLASSES, FEATURES, all_cases, on_grid

MODELS = ("gcn", "sage", "mlp")
LAYERS, HIDDEN, STEPS = 3, 8, 10
WEIGHT_DECAY = 5e-4
ADAM_LR, SGD_LR = 0.01, 0.1
AGREEMENT = 1e-12
# Nearer to a kink of the ReLU, a float32 trainer could fall on its other side and no tolerance would be fair.
KINK_DISTANCE = 1e-5


def initial_parameters(model, seed):
    """Random parameters on the 2^-10 grid in layer order, name -> float64 array."""
    random = np.random.RandomState(1000 * seed + MODELS.index(model))
    widths = [FEATURES] + [HIDDEN] * (LAYERS - 1) + [CLASSES]
    params = {}
    for layer, (cols_in, cols_out) in enumerate(zip(widths, widths[1:])):
        for matrix in ("root_weight", "neighbour_weight") if model == "sage" else ("weight",):
            values = random.standard_normal((cols_in, cols_out)) * np.sqrt(2.0 / (cols_in + cols_out))
            params[f"layers.{layer}.{matrix}"] = on_grid(values)
        params[f"layers.{layer}.bias"] = on_grid(0.1 * random.standard_normal(cols_out))
    return params


class DenseRun:
    """dense_models with autograd and torch.optim on one case, in `dtype`."""

    def __init__(self, model, case, params, dtype=torch.float64):
        self.model = model
        self.a = dense_models.adjacency(case).to(dtype)
        self.x = torch.from_numpy(case.features).to(dtype)
        self.labels, self.train_idx = torch.from_numpy(case.labels), torch.from_numpy(case.train_idx)
        self.initial, self.dtype = params, dtype

    def fresh_parameters(self):
        return {name: torch.tensor(value, dtype=self.dtype, requires_grad=True) for name, value in self.initial.items()}

    def loss(self, params):
        logits = dense_models.forward(self.model, self.a, self.x, params)
        return dense_models.loss_of(logits, self.labels, self.train_idx), logits

    def loss_and_gradients(self):
        params = self.fresh_parameters()
        loss, logits = self.loss(params)
        loss.backward()
        return loss.item(), logits.detach().numpy(), {name: p.grad.numpy() for name, p in params.items()}

    def train_losses(self, make_optimizer):
        params = self.fresh_parameters()
        optimizer = make_optimizer(list(params.values()))
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss, _ = self.loss(params)
            losses.append(loss.item())
            loss.backward()
            optimizer.step()
        return np.array(losses)


def adam(params):
    return torch.optim.Adam(params, lr=ADAM_LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=WEIGHT_DECAY)


def sgd(params):
    return torch.optim.SGD(params, lr=SGD_LR, weight_decay=WEIGHT_DECAY)


PRODUCT_NAMES = {
    "gcn": {"weight": "convs.{}.lin.weight", "bias": "convs.{}.bias"},
    "sage": {"root_weight": "convs.{}.lin_r.weight", "neighbour_weight": "convs.{}.lin_l.weight", "bias": "convs.{}.lin_l.bias"},
    "mlp": {"weight": "lins.{}.weight", "bias": "lins.{}.bias"},
}


def product_name(model, name):
    """The product's name of a parameter: layers.0.weight of a gcn is convs.0.lin.weight."""
    _, layer, part = name.split(".")
    return PRODUCT_NAMES[model][part].format(layer)


def expected_values(model, case, params):
    """File name -> float64 array of one model folder."""
    run = DenseRun(model, case, params)
    loss, logits, gradients = run.loss_and_gradients()
    files = {}
    for name, value in params.items():
        files[f"param_{product_name(model, name)}.npy"] = value
        files[f"grad_{product_name(model, name)}.npy"] = gradients[name]
    files["logits.npy"] = logits
    files["loss.npy"] = np.array([loss])
    files["adam_losses.npy"] = run.train_losses(adam)
    files["sgd_losses.npy"] = run.train_losses(sgd)
    return files


def cross_check(model, case, params, files):
    """Raises unless edge_models agrees with every value of `files` to 1e-12. Returns the largest difference."""
    twin = edge_models.EdgeModel(model, case)
    loss, logits, gradients = twin.loss_and_gradients(params)
    expected = {f"grad_{product_name(model, name)}.npy": gradients[name] for name in params}
    expected["logits.npy"] = logits
    expected["loss.npy"] = np.array([loss])
    expected["adam_losses.npy"] = edge_models.train_losses(twin, params, "adam", STEPS, ADAM_LR, WEIGHT_DECAY)
    expected["sgd_losses.npy"] = edge_models.train_losses(twin, params, "sgd", STEPS, SGD_LR, WEIGHT_DECAY)
    worst = 0.0
    for name, value in expected.items():
        difference = np.abs(files[name] - value).max()
        if not difference <= AGREEMENT:
            raise RuntimeError(f"{case.name}/{model}/{name}: the two implementations differ by {difference}")
        worst = max(worst, difference)
    return worst


def check_usefulness(model, case, params, files):
    """Raises where the data could not tell a right trainer from a wrong one, or would be unfair to float32."""
    twin = edge_models.EdgeModel(model, case)
    _, inputs = twin.forward(params, case.features)
    nearest = min(np.abs(twin.linear(params, layer, inputs[layer])).min() for layer in range(LAYERS - 1))
    if nearest < KINK_DISTANCE:
        raise RuntimeError(f"{case.name}/{model}: an input of {nearest} is too near to the kink of the ReLU")
    for name, value in files.items():
        if name.startswith("grad_") and np.abs(value).max() < 1e-3:
            raise RuntimeError(f"{case.name}/{model}/{name}: the gradient is next to nothing")
    single = DenseRun(model, case, params, torch.float32)
    return max(np.abs(single.train_losses(adam) - files["adam_losses.npy"]).max(),
               np.abs(single.train_losses(sgd) - files["sgd_losses.npy"]).max())


def build_all():
    """Path below the data folder -> array, with a line of figures for each model."""
    files = {}
    for case in all_cases():
        files.update({f"{case.name}/{name}": value for name, value in case.arrays().items()})
        for model in MODELS:
            params = initial_parameters(model, case.parameter_seed)
            values = expected_values(model, case, params)
            twin_difference = cross_check(model, case, params, values)
            float32_difference = check_usefulness(model, case, params, values)
            losses = values["adam_losses.npy"]
            print(f"{case.name:21} {model:4}  loss {losses[0]:.6f} -> {losses[-1]:.6f}  twins differ by"
                  f" {twin_difference:.1e}  losses in float32 by {float32_difference:.1e}")
            files.update({f"{case.name}/{model}/{name}": value for name, value in values.items()})
    return files


def write(folder, files):
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.ascontiguousarray(value))


def compare(folder, files):
    """Number of files that are missing, unexpected or other than computed now (beyond rounding of another BLAS)."""
    bad = [f"{path}: not made by this script" for path in sorted(
        str(p.relative_to(folder)) for p in folder.rglob("*.npy")) if path not in files]
    for name, value in files.items():
        path = folder / name
        stored = np.load(path) if path.exists() else None
        if stored is None or stored.dtype != value.dtype or stored.shape != value.shape:
            bad.append(f"{name}: missing or of another type")
        elif not np.abs(stored - value).max() <= AGREEMENT:
            bad.append(f"{name}: differs by {np.abs(stored - value).max()}")
    print("\n".join(bad) if bad else f"{len(files)} files agree")
    return len(bad)


def main():
    default = Path(__file__).resolve().parents[2] / "tests" / "golden" / "data"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=default, help="data folder (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what is there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    files = build_all()
    if options.check:
        sys.exit(1 if compare(options.out, files) else 0)
    write(options.out, files)
    print(f"{len(files)} files written to {options.out}")


if __name__ == "__main__":
    main()
