"""What the converters share: complaints about input, and writing a dataset folder (datasets/README.md) whole or not at all."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np


class BadInput(Exception):
    """What is wrong, what was found, what to do."""


def run(main):
    """Runs main(); bad input is a message and exit status 2."""
    try:
        main()
    except BadInput as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(2)


def labels_of(y, nodes):
    """(labels as the product reads them, task) of an array [N], [N, 1] or [N, C]."""
    if y.shape[0] != nodes:
        raise BadInput(f"{y.shape[0]} labels for {nodes} nodes")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim > 2:
        raise BadInput(f"labels of shape {y.shape}; expected [N] or [N, C]")
    known = y[~np.isnan(y)] if y.dtype.kind == "f" else y
    whole = bool((known == np.round(known)).all())
    if y.ndim == 1 and whole:
        return np.where(np.isnan(y), -1, y).astype(np.int64) if y.dtype.kind == "f" else y.astype(np.int64), "node_classification"
    if y.ndim == 2 and whole and np.isin(known, (0, 1)).all():
        if known.size != y.size:
            raise BadInput("labels 0 / 1 [N, C] with unknown entries (NaN): a row has to be known as a whole")
        return y.astype(np.uint8), "multi_label"
    return y.astype(np.float32), "node_regression"


def write(out, arrays, description):
    """Writes the arrays and dataset.json into the new folder `out`, which appears when it is whole."""
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} is there already and not empty; name a new folder")
    staged = out.with_name(out.name + ".part")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    for name, values in arrays.items():
        np.save(staged / f"{name}.npy", np.ascontiguousarray(values))
    (staged / "dataset.json").write_text(json.dumps(description, indent=1) + "\n")
    if out.exists():
        out.rmdir()
    os.replace(staged, out)
    shapes = ", ".join(f"{name} {list(values.shape)}" for name, values in arrays.items())
    print(f"{out}: {description['num_nodes']} nodes, {description['task']}; {shapes}")
