#!/usr/bin/env python3
"""Summarises the runs of run_table.sh: writes OUT/table.txt and OUT/table.json and prints the table."""

import argparse
import json
import statistics
from pathlib import Path

# Test accuracy in per cent: Kipf & Welling, "Semi-supervised classification with graph convolutional networks", 2017.
PUBLISHED = {"cora": 81.5, "citeseer": 70.3, "pubmed": 79.0}


def accuracies(folder, seeds):
    """Test accuracy at the last epoch of every seed, per cent."""
    summaries = [json.loads((folder / f"run_{seed}" / "summary.json").read_text()) for seed in range(1, seeds + 1)]
    return [100.0 * summary["test_accuracy_last"] for summary in summaries]


def row_of(name, values):
    return {
        "dataset": name,
        "mean": statistics.mean(values),
        "std": statistics.stdev(values) if len(values) > 1 else 0.0,
        "published": PUBLISHED[name],
        "accuracies": values,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the OUT folder of run_table.sh")
    parser.add_argument("--seeds", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    options = parser.parse_args()

    rows = [row_of(name, accuracies(options.out / name, options.seeds)) for name in PUBLISHED]
    lines = [f"Test accuracy at the last epoch, GCN 2x16, {options.seeds} seeds, {options.ranks} ranks",
             f"{'dataset':10} {'mean':>6} {'std':>6} {'min':>6} {'max':>6} {'published':>10}"]
    lines += [f"{r['dataset']:10} {r['mean']:6.2f} {r['std']:6.2f} {min(r['accuracies']):6.2f}"
              f" {max(r['accuracies']):6.2f} {r['published']:10.1f}" for r in rows]
    text = "\n".join(lines)
    (options.out / "table.txt").write_text(text + "\n")
    table = {"seeds": options.seeds, "ranks": options.ranks, "rows": rows}
    (options.out / "table.json").write_text(json.dumps(table, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
