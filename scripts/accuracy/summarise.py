#!/usr/bin/env python3
"""Summarises the runs of run_table.sh: writes OUT/table.txt and OUT/table.json and prints the table."""

import argparse
import json
import statistics
from pathlib import Path


def scores(folder, metric):
    """Test score of every run, per cent."""
    values = []
    for path in sorted(folder.glob("run_*/summary.json")):
        score = json.loads(path.read_text())[f"test_{metric}"]
        values += score["values"] if isinstance(score, dict) else [score]
    if not values:
        raise SystemExit(f"summarise.py: no summary below {folder}")
    return [100.0 * value for value in values]


def rows_of(table, out):
    for line in table.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, _, _, splits, metric, published, source = line.split("\t")
        if not (out / name).is_dir():
            continue
        values = scores(out / name, metric)
        yield {"row": name, "metric": metric, "splits": splits, "runs": len(values), "mean": statistics.mean(values),
               "std": statistics.stdev(values) if len(values) > 1 else 0.0, "published": published, "source": source,
               "values": values}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the OUT folder of run_table.sh")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    options = parser.parse_args()

    rows = list(rows_of(options.rows, options.out))
    lines = [f"Test scores in per cent, {options.ranks} ranks",
             f"{'row':24} {'metric':9} {'runs':>4} {'mean':>6} {'std':>5} {'min':>6} {'max':>6}  published"]
    lines += [f"{r['row']:24} {r['metric']:9} {r['runs']:4} {r['mean']:6.2f} {r['std']:5.2f} {min(r['values']):6.2f}"
              f" {max(r['values']):6.2f}  {r['published']} ({r['source']})" for r in rows]
    text = "\n".join(lines)
    (options.out / "table.txt").write_text(text + "\n")
    (options.out / "table.json").write_text(json.dumps({"ranks": options.ranks, "rows": rows}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
