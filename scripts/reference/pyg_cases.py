"""Cases that compare the product with PyTorch Geometric: which model on which graph with which loss, their random
parameters, and what PyTorch computes for them in float64.

A case folder holds case.json and arrays.npz (tests/golden/README.md). Parameters are multiples of 2^-10, so that
float32 starts from the same numbers.
"""

import json
from dataclasses import dataclass, field

import numpy as np
import torch

import golden_graphs
import pyg_twins

TASKS = ("single_label", "multi_label", "mse", "mae")
STEPS = 10
TARGET_COLS = 3

# Model -> options that the twins have but the model does not read, which the product refuses.
NOT_READ = {"sgc": ("layers", "hidden", "dropout", "activation"), "sign": ("layers",)}


@dataclass
class Case:
    name: str
    graph: str
    model: dict
    basic: bool = False           # twin: a ready-made class of PyTorch Geometric
    task: str = "single_label"
    class_weights: list = field(default_factory=list)
    label_smoothing: float = 0.0
    optimizer: str = "adam"
    learning_rate: float = 0.01
    weight_decay: float = 0.0
    attention_scale: float = 1.0  # of the parameters that make attention scores

    def record(self, dataset):
        options = pyg_twins.full(self.model)
        model = {key: value for key, value in options.items() if key not in NOT_READ.get(options["model"], ())}
        return {"dataset": dataset, "model": model, "task": self.task, "outputs": TARGET_COLS,
                "class_weights": self.class_weights, "label_smoothing": self.label_smoothing,
                "optimizer": self.optimizer, "learning_rate": self.learning_rate,
                "weight_decay": self.weight_decay, "steps": STEPS}


def graphs():
    """Name -> arrays of a dataset folder, with labels for every task."""
    weighted, symmetric = golden_graphs.all_cases()
    found = {}
    for name, case, keep_weights in (("weighted", weighted, True), ("directed", weighted, False),
                                     ("symmetric", symmetric, False)):
        arrays = {key.removesuffix(".npy"): value for key, value in case.arrays().items()}
        if not keep_weights:
            arrays.pop("edge_weight", None)
        random = np.random.RandomState(7)
        nodes = len(case.labels)
        arrays["multi_labels"] = random.randint(0, 2, size=(nodes, TARGET_COLS)).astype(np.uint8)
        values = golden_graphs.on_grid(random.standard_normal((nodes, TARGET_COLS))).astype(np.float32)
        values[case.train_idx[2], 1] = np.nan  # a target that is not known
        arrays["values"] = values
        found[name] = arrays
    return found


def random_state(model, case, seed):
    """Name of the product -> parameter or running statistic, float64."""
    random = np.random.RandomState(seed)
    state = {}
    for name, tensor in sorted(product_state(model).items()):
        shape = tuple(tensor.shape)
        if name.endswith("running_var"):
            values = random.uniform(0.5, 2.0, size=shape)
        elif tensor.dim() < 2:
            values = 0.3 * random.standard_normal(shape) + (1.0 if "norm" in name and name.endswith("weight") else 0.0)
        else:
            values = random.standard_normal(shape) * np.sqrt(2.0 / (shape[-1] + shape[-2]))
        if "att" in name.split(".")[-1]:
            values = values * case.attention_scale
        state[name] = torch.from_numpy(np.array(golden_graphs.on_grid(values), dtype=np.float64).reshape(shape))
    return state


def product_name(name):
    """PyTorch's name of a tensor of a twin -> the product's name; None for what the product does not keep."""
    if name.endswith("num_batches_tracked"):
        return None
    return "embedding.weight" if name == "rows" else name.removeprefix("inner.")


def product_state(model):
    named = {product_name(name): tensor for name, tensor in model.state_dict().items()}
    named.pop(None, None)
    return named


class Reference:
    """A case under PyTorch, computed in `dtype`."""

    def __init__(self, case, arrays, seed, dtype=torch.float64):
        self.case, self.arrays, self.dtype = case, arrays, dtype
        options = pyg_twins.full(case.model)
        self.x = torch.from_numpy(arrays["features"]).to(dtype)
        self.edge_index = torch.from_numpy(arrays["edge_index"])
        weight = arrays.get("edge_weight")
        self.edge_weight = None if weight is None else torch.from_numpy(weight).to(dtype)
        build = pyg_twins.basic_model if case.basic else pyg_twins.model_for
        extra = () if case.basic else (self.x.size(0),)
        self.model = build(options, self.x.size(1), TARGET_COLS, *extra).to(dtype)
        self.state = random_state(self.model, case, seed)
        with torch.no_grad():
            for name, tensor in product_state(self.model).items():
                tensor.copy_(self.state[name])

    def logits(self):
        return self.model(self.x, self.edge_index, self.edge_weight)

    def loss(self, logits):
        rows = torch.from_numpy(self.arrays["train_idx"])
        losses = torch.nn.functional
        if self.case.task == "single_label":
            weights = torch.tensor(self.case.class_weights, dtype=self.dtype) if self.case.class_weights else None
            return losses.cross_entropy(logits[rows], torch.from_numpy(self.arrays["labels"])[rows], weight=weights,
                                        label_smoothing=self.case.label_smoothing)
        if self.case.task == "multi_label":
            return losses.binary_cross_entropy_with_logits(
                logits[rows], torch.from_numpy(self.arrays["multi_labels"]).to(self.dtype)[rows])
        target = torch.from_numpy(self.arrays["values"]).to(self.dtype)[rows]
        known = ~torch.isnan(target)
        compare = losses.mse_loss if self.case.task == "mse" else losses.l1_loss
        return compare(logits[rows][known], target[known])

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            logits = self.logits().numpy().copy()
        self.model.train()
        return logits

    def make_optimizer(self):
        makers = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
        return makers[self.case.optimizer](self.model.parameters(), lr=self.case.learning_rate,
                                           weight_decay=self.case.weight_decay)

    def run(self):
        """Key of arrays.npz -> float64 array: logits, loss, grad.<name>, losses, logits_after."""
        found = {"logits": self.evaluate()}
        optimizer, losses = self.make_optimizer(), []
        for step in range(STEPS):
            optimizer.zero_grad()
            loss = self.loss(self.logits())
            loss.backward()
            losses.append(loss.item())
            if step == 0:
                for name, parameter in self.model.named_parameters():
                    gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                    found[f"grad.{product_name(name)}"] = gradient.numpy().copy()
            optimizer.step()
        found["loss"], found["losses"] = np.array(losses[:1]), np.array(losses)
        found["logits_after"] = self.evaluate()
        return found

    def parameters(self):
        return {f"param.{name}": tensor.numpy() for name, tensor in self.state.items()}


def write_dataset(folder, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(values))


def write_case(folder, case, dataset, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.json").write_text(json.dumps(case.record(dataset), indent=1) + "\n")
    np.savez(folder / "arrays.npz", **{name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)})
