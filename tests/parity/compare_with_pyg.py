#!/usr/bin/env python3
"""Runs every case of scripts/reference/pyg_case_list.py live: PyTorch Geometric in float64 on one side, the product in
double and in float on the other, from the same weights on the same graph.

    compare_with_pyg.py PROBE WORK [--only WORD]

PROBE is the program parity_probe, WORK a folder for the cases. Prints one line a case and a closing line; exit status 1
if a case differs, 2 if none was run. A difference is relative: |a - b| / (|b| + size / 10), where the size is the largest
|b| of the array; in float, and where the gradient of a whole parameter is rounding noise (a bias in front of batch
norm), the size is that of the largest gradient of the model.

Limits in double: 1e-10 for everything; 1e-8 for the outputs behind ten steps of Adam, which divides by the size of a
gradient, noise included. In float: 1e-5 for outputs, loss and gradients, 1e-4 for the losses of ten steps. Attention
scores of hundreds leave gradients so small that Adam's steps follow their rounding: in double 1e-9 for gradients, 1e-6
for the losses of ten steps and 1e-5 for the outputs behind them, in float 1e-3 for the losses. Where PyTorch's own
float32 is off by more than a tenth of a limit in float, ten times that counts.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import torch_geometric

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "reference"))
from pyg_case_list import live_cases  # noqa: E402
from pyg_cases import Reference, graphs, write_case, write_dataset  # noqa: E402

LIMITS = {"double": {"outputs": 1e-10, "gradients": 1e-10, "losses": 1e-10, "after": 1e-8},
          "float": {"outputs": 1e-5, "gradients": 1e-5, "losses": 1e-4, "after": np.inf}}
EXTREME_LIMITS = {"double": {**LIMITS["double"], "gradients": 1e-9, "losses": 1e-6, "after": 1e-5},
                  "float": {**LIMITS["float"], "losses": 1e-3}}
GROUPS = ("outputs", "gradients", "losses", "after")
NOISE = 1e-9  # of the largest gradient: less is rounding


def difference(found, expected, size):
    """Largest relative difference of two arrays."""
    if found.size != expected.size or not np.isfinite(found).all():
        return np.inf
    expected = expected.ravel()
    return float((np.abs(found.ravel() - expected) / (np.abs(expected) + 0.1 * size)).max())


def differences(found, expected, own_size):
    """Group -> largest relative difference of two results of a case; `own_size`: gradients are judged by their own size."""
    if set(found) != set(expected):
        raise RuntimeError(f"arrays of one side only: {sorted(set(found) ^ set(expected))}")
    sizes = {name: np.abs(values).max() for name, values in expected.items()}
    gradients = [name for name in expected if name.startswith("grad.")]
    largest = max(sizes[name] for name in gradients)
    for name in gradients:
        if not own_size or sizes[name] <= NOISE * largest:
            sizes[name] = largest
    each = {name: difference(found[name], values, sizes[name]) for name, values in expected.items()}
    names = dict(zip(GROUPS, (["logits", "loss"], gradients, ["losses"], ["logits_after"])))
    return {group: max(each[name] for name in members) for group, members in names.items()}


def limits(case, own_float):
    """(precision, group) -> limit; `own_float`: what PyTorch's float32 is off."""
    chosen = EXTREME_LIMITS if case.attention_scale > 1.0 else LIMITS
    allowed = {(precision, group): limit for precision, groups in chosen.items() for group, limit in groups.items()}
    for group in GROUPS:
        allowed["float", group] = max(allowed["float", group], 10.0 * own_float[group])
    return allowed


def run_probe(options, folder, precision):
    """What the product computes, name -> array."""
    out = folder / precision
    run = subprocess.run([options.probe, folder, out, precision], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return {path.name.removesuffix(".npy"): np.load(path) for path in out.glob("*.npy")}


def run_case(options, case, arrays, seed):
    """"double", "float" (the product) and "torch" (PyTorch's float32) -> group -> difference from PyTorch's float64."""
    reference = Reference(case, arrays, seed)
    expected = reference.run()
    folder = options.work / case.name
    shutil.rmtree(folder, ignore_errors=True)
    write_case(folder, case, f"../graphs/{case.graph}", reference.parameters())
    found = {precision: differences(run_probe(options, folder, precision), expected, precision == "double")
             for precision in ("double", "float")}
    found["torch"] = differences(Reference(case, arrays, seed, torch.float32).run(), expected, False)
    return found


def report(case, found):
    """Prints a case's line; true if it agrees."""
    allowed = limits(case, found["torch"])
    bad = [f"{precision} {group}" for (precision, group), limit in allowed.items()
           if not found[precision][group] <= limit]
    figures = "   ".join(" ".join(f"{groups[group]:7.0e}" for group in GROUPS[:3]) for groups in found.values())
    print(f"{case.name:33} {figures}  {'DIFFERS: ' + ', '.join(bad) if bad else 'ok'}", flush=True)
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probe", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--only", default="", help="cases whose name holds this word")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}")
    print("columns: outputs and loss, gradients, losses of ten steps; in double, in float, in PyTorch's float32")
    data = graphs()
    for name, arrays in data.items():
        write_dataset(options.work / "graphs" / name, arrays)
    worst, passed, failed = {}, 0, 0
    for seed, case in enumerate(live_cases(), 1):
        if options.only not in case.name:
            continue
        try:
            found = run_case(options, case, data[case.graph], seed)
        except RuntimeError as error:
            print(f"{case.name:33} FAILED: {error}", flush=True)
            failed += 1
            continue
        good = report(case, found)
        passed, failed = passed + good, failed + (not good)
        for precision, groups in found.items():
            for group, value in groups.items():
                worst[precision, group] = max(worst.get((precision, group), 0.0), value)
    for (precision, group), value in worst.items():
        print(f"largest difference, {precision:6} {group:9} {value:.1e}")
    print(f"{passed} passed, {failed} failed")
    return 2 if passed + failed == 0 else int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
