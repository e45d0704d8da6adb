#!/usr/bin/env python3
"""Writes (or with --check compares) tests/golden/pyg: what PyTorch Geometric computes in float64 for the stored cases of
pyg_case_list.py. See tests/golden/README.md; scripts/parity.sh makes the environment it needs.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch

from pyg_case_list import stored_cases
from pyg_cases import Reference, graphs, write_case, write_dataset

AGREEMENT = 1e-9  # another BLAS rounds otherwise


def close(found, expected):
    return found.shape == expected.shape and (np.abs(found - expected) <= AGREEMENT * max(1.0, np.abs(expected).max())).all()


def compare(folder, case, arrays):
    """Names of arrays that differ from the stored ones."""
    with np.load(folder / "arrays.npz") as stored:
        names = set(stored.files) ^ set(arrays)
        bad = sorted(names) + [name for name in arrays if name in stored.files and not close(stored[name], arrays[name])]
    record = json.loads((folder / "case.json").read_text())
    return bad + ([] if record == case.record(record["dataset"]) else ["case.json"])


def main():
    default = Path(__file__).resolve().parents[2] / "tests" / "golden" / "pyg"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=default)
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what is there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    data, bad = graphs(), 0
    if not options.check:
        for name, arrays in data.items():
            write_dataset(options.out / "graphs" / name, arrays)
    for seed, case in enumerate(stored_cases(), 1):
        reference = Reference(case, data[case.graph], seed)
        arrays = {**reference.parameters(), **reference.run()}
        folder = options.out / case.name
        if options.check:
            names = compare(folder, case, arrays)
            bad += len(names)
            print(f"{case.name:36} {'differs: ' + ', '.join(names) if names else 'agrees'}")
        else:
            write_case(folder, case, f"../graphs/{case.graph}", arrays)
    print(f"{seed} cases {'compared, ' + str(bad) + ' arrays differ' if options.check else 'written to ' + str(options.out)}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
