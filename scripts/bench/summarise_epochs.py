#!/usr/bin/env python3
"""The table of epochs.sh: seconds of a training step (median), peak memory, what waits and exact sums cost."""

import json
import sys
from pathlib import Path


def halo_row(folder):
    summary = json.loads((folder / "summary.json").read_text())
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    _, ranks, threads = folder.name.split("_")
    return {"what": f"gnn_train, {ranks} rank(s) x {threads} thread(s)", "seconds": summary["train_seconds_median"],
            "peak_bytes": summary["peak_bytes_max"], "losses": [line["train_loss"] for line in lines],
            "wait": summary["halo_wait_seconds_mean"], "exact": summary["exact_sum_seconds_mean"],
            "halo_bytes": summary["halo_bytes_per_epoch"]}


def torch_row(file):
    summary = json.loads(file.read_text())
    return {"what": f"PyTorch {summary['torch']}, {summary['options']['threads']} thread(s)",
            "seconds": summary["train_seconds_median"], "peak_bytes": summary["train_peak_bytes"]}


def main():
    runs = Path(sys.argv[1])
    rows = [halo_row(folder) for folder in sorted(runs.glob("halo_*"))]
    if any(row["losses"] != rows[0]["losses"] for row in rows):
        sys.exit("the losses of the runs differ: " + repr([row["losses"] for row in rows]))
    rows += [torch_row(file) for file in sorted(runs.glob("torch_*.json"))]
    print(f"{'':36} {'s/step':>8} {'ratio':>6} {'peak GiB':>9} {'halo wait s':>12} {'exact sums':>11} {'halo GB':>8}")
    for row in rows:
        text = f"{row['what']:36} {row['seconds']:8.2f} {row['seconds'] / rows[0]['seconds']:6.2f} {row['peak_bytes'] / 2**30:9.2f}"
        if "exact" in row:
            text += f" {row['wait']:12.2f} {100 * row['exact'] / row['seconds']:9.2f} % {row['halo_bytes'] / 1e9:8.2f}"
        print(text)


if __name__ == "__main__":
    main()
