#!/usr/bin/env python3
"""Compares what gnn_plan predicts with what gnn_train measures: peak memory and seconds per epoch.

  scripts/bench/check_plan.py BUILD WORK [--scales 17,20] [--models gcn:128,sage:256] [--layouts 1x1,2x1]
                              [--partition DIR]... [--epochs N]

BUILD  Meson build folder
WORK   folder for graphs, parts and runs; what is there already is used again
--scales     generated graphs of 2^scale nodes, 16 edge entries each in the mean
--models     model:columns, three layers each; gat with four heads
--layouts    ranks x threads, all on this machine
--partition  a partitioned dataset to take beside the generated graphs; small ones say nothing about time
Prints a Markdown table. Of the measured epochs the fastest counts, as of the measured kernels: both then say what the
machine does when nobody else uses it. Run it on a quiet machine all the same.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check_plan.py: {' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def generated_parts(build, work, scale):
    graph, parts = work / f"graph_{scale}", work / f"parts_{scale}"
    nodes = 1 << scale
    if not graph.exists():
        communities = max(1, nodes // (700 * 16)) * 16
        run([build / "datasets/gnn_dataset", "generate", "--kind", "sbm", "--nodes", nodes, "--classes", 16, "--communities",
             communities, "--degree", 16, "--homophily", 0.8, "--features", 100, "--seed", 1, "--out", graph, "--quiet"])
    if not parts.exists():
        run([build / "partition/gnn_partition", graph, "--parts", 8, "--seed", 1, "--out", parts, "--quiet"])
    return parts


def model_options(model):
    name, columns = model.split(":")
    return ["--model", name, "--layers", 3, "--hidden", columns] + (["--heads", 4] if name.startswith("gat") else [])


def measure(build, work, parts, options, ranks, threads, epochs):
    out = work / "run"
    shutil.rmtree(out, ignore_errors=True)
    run(["mpiexec", "-n", ranks, build / "src/apps/gnn_train", parts, *options, "--threads", threads, "--epochs", epochs,
         "--quiet", "--out", out])
    epoch = min(json.loads(line)["epoch_seconds_max"] for line in (out / "metrics.jsonl").read_text().splitlines())
    return json.loads((out / "summary.json").read_text())["peak_bytes_max"], epoch


def predict(build, work, parts, options, ranks, threads):
    text = run([build / "src/apps/gnn_plan", parts, *options, "--threads", threads, "--ranks", ranks, "--ranks-per-host", ranks,
                "--out", work / "run", "--json"])
    plan = json.loads(text)["plans"][0]
    return plan["bytes_largest"], plan["epoch_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--scales", default="17,20")
    parser.add_argument("--models", default="gcn:128,sage:256,gat:64,gin:64")
    parser.add_argument("--layouts", default="1x1,1x2,2x1,4x1")
    parser.add_argument("--partition", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--epochs", type=int, default=5)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    datasets = [(f"2^{scale}", generated_parts(arguments.build, arguments.work, int(scale)))
                for scale in filter(None, arguments.scales.split(","))]
    datasets += [(folder.name, folder) for folder in arguments.partition]
    print("| graph | model | ranks x threads | peak MiB: plan | measured | ratio | epoch s: plan | measured | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, parts in datasets:
        for model in arguments.models.split(","):
            for layout in arguments.layouts.split(","):
                ranks, threads = map(int, layout.split("x"))
                options = model_options(model)
                planned = predict(arguments.build, arguments.work, parts, options, ranks, threads)
                measured = measure(arguments.build, arguments.work, parts, options, ranks, threads, arguments.epochs)
                print(f"| {name} | {model} | {layout} | {planned[0] / 2**20:.0f} | {measured[0] / 2**20:.0f} | "
                      f"{planned[0] / measured[0]:.3f} | {planned[1]:.3f} | {measured[1]:.3f} | "
                      f"{planned[1] / measured[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
