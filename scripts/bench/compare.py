#!/usr/bin/env python3
"""Trains the same models on the same graph with HaloGNN, DGL and PyTorch Geometric, by turns, and compares time and memory.

    scripts/bench/compare.py BUILD WORK [--models gcn,sage,gat] [--tools dgl,pyg] [--nodes N] [--threads T] ...

BUILD  Meson build folder
WORK   folder for the virtual environment (5 GB), graphs, parts and runs; what is there already is used again

A graph (stochastic block model) of --nodes nodes and about 31.3 edge entries for each is cut into 8 parts; every tool reads these
parts, begins with the same weights and trains the same epochs with Adam and --threads threads. The tools take turns, --rounds
times; each figure is the best round's median over all epochs but the first (which builds caches). Time is that of a
training step: forward, loss, backward, Adam. Memory is the peak of the process: for the peers from the first epoch on,
for HaloGNN from its beginning. A peer whose process needs more than --peer-memory is ended and said not to fit.

The table goes to stdout as Markdown, all figures to WORK/compare.json. The losses of all tools must agree (1e-3 relative at each
epoch); exit status 1 if they do not, 2 on bad arguments.
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = ["torch==2.2.1", "dgl==2.1.0", "torch_geometric==2.6.1", "numpy<2", "safetensors==0.5.3", "pandas", "pyyaml", "pydantic", "torchdata==0.7.1"]
HERE = Path(__file__).resolve().parent
MODELS = {
    "gcn": {"layers": 3, "hidden": 256, "options": []},
    "sage": {"layers": 3, "hidden": 256, "options": []},
    "gat": {"layers": 3, "hidden": 256, "options": ["--heads", "4", "--output-heads", "1"]},
}
NAMES = {"halo": "HaloGNN", "dgl": "DGL", "pyg": "PyTorch Geometric"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--models", default="gcn,sage,gat")
    parser.add_argument("--tools", default="dgl,pyg", help="peers")
    parser.add_argument("--nodes", type=int, default=1 << 20)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peer-memory", type=float, default=20.0, help="GiB")
    options = parser.parse_args()
    options.models, options.tools = options.models.split(","), options.tools.split(",")
    for given, known in ((options.models, MODELS), (options.tools, ("dgl", "pyg"))):
        for name in given:
            if name not in known:
                parser.error(f"unknown {name}; known: {', '.join(known)}")
    if options.epochs < 2 or options.rounds < 1 or options.threads < 1:
        parser.error("at least 2 epochs, 1 round and 1 thread")
    return options


def run(command, **kwargs):
    return subprocess.run([str(word) for word in command], check=True, **kwargs)


def peer_python(work):
    folder = work / "venv"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True)
        run([python, "-m", "pip", "install", "--quiet", *PACKAGES])
        (folder / "complete").touch()
    return python


def make_parts(options):
    graph, parts = options.work / f"graph_{options.nodes}", options.work / f"parts_{options.nodes}"
    communities = max(1, options.nodes // 697 // 47) * 47
    if not graph.exists():
        run([options.build / "datasets/gnn_dataset", "generate", "--kind", "sbm", "--nodes", options.nodes, "--classes", 47,
             "--communities", communities, "--degree", 31.8, "--homophily", 0.8, "--features", 100, "--train", 0.08, "--seed", 1,
             "--out", graph], stderr=subprocess.DEVNULL)
    if not parts.exists():
        run([options.build / "partition/gnn_partition", graph, "--parts", 8, "--seed", 1, "--out", parts, "--quiet"],
            stdout=subprocess.DEVNULL)
    return parts


def halo_command(options, parts, model, out, *more):
    shape = MODELS[model]
    return ["mpiexec", "-n", 1, options.build / "src/apps/gnn_train", parts, "--model", model, "--layers", shape["layers"],
            "--hidden", shape["hidden"], "--dropout", 0, "--activation", "relu", *shape["options"], "--threads",
            options.threads, "--quiet", "--out", out, *more]


def train_halo(options, parts, model, weights, out):
    run(halo_command(options, parts, model, out, "--initial-weights", weights, "--epochs", options.epochs, "--evaluate-every",
                     options.epochs), stdout=subprocess.DEVNULL)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return {"seconds": [line["train_seconds_max"] for line in lines], "losses": [line["train_loss"] for line in lines],
            "peak_bytes": json.loads((out / "summary.json").read_text())["peak_bytes_max"]}


def train_peer(options, python, tool, parts, model, weights):
    shape = MODELS[model]
    limit = int(options.peer_memory * 2**30)
    command = [python, HERE / "peer_train.py", parts, weights, "--tool", tool, "--model", model, "--layers", shape["layers"],
               "--hidden", shape["hidden"], "--epochs", options.epochs, "--threads", options.threads]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
                          env={**os.environ, "DGLBACKEND": "pytorch"})
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if "memory" in done.stderr.lower():
        return {"too_large": True}
    sys.exit(f"{NAMES[tool]} failed:\n{done.stderr}")


def check_losses(model, results):
    reference = results["halo"][0]["losses"]
    for tool, rounds in results.items():
        for result in rounds:
            for epoch, (loss, expected) in enumerate(zip(result.get("losses", []), reference), 1):
                if not math.isclose(loss, expected, rel_tol=1e-3):
                    sys.exit(f"{model}: loss of epoch {epoch}: {NAMES[tool]} {loss}, HaloGNN {expected}")


def compare(options, python, parts, model):
    """Results of every round, by tool."""
    start = options.work / f"start_{model}_{options.nodes}"
    if not start.exists():  # this learning rate moves no weight
        run(halo_command(options, parts, model, start, "--epochs", 1, "--lr", "1e-30"), stdout=subprocess.DEVNULL)
    weights = start / "weights.safetensors"
    results = {tool: [] for tool in ("halo", *options.tools)}
    for number in range(options.rounds):
        for tool in results:
            print(f"compare.py: {model}, round {number + 1}: {NAMES[tool]}", file=sys.stderr, flush=True)
            if any(result.get("too_large") for result in results[tool]):
                continue
            if tool == "halo":
                out = options.work / f"run_{model}_{options.nodes}_{number}_{os.getpid()}"
                results[tool].append(train_halo(options, parts, model, weights, out))
            else:
                results[tool].append(train_peer(options, python, tool, parts, model, weights))
    check_losses(model, results)
    return results


def figures(rounds):
    if any(result.get("too_large") for result in rounds):
        return None
    return (min(statistics.median(result["seconds"][1:]) for result in rounds),
            max(result["peak_bytes"] for result in rounds) / 2**30)


def print_table(options, all_results):
    print(f"{options.nodes} nodes, {options.threads} thread(s), {options.epochs} epochs, {options.rounds} round(s)\n")
    print("| model | tool | s / step | to HaloGNN | peak GiB | to HaloGNN |\n|---|---|---|---|---|---|")
    for model, results in all_results.items():
        own_seconds, own_peak = figures(results["halo"])
        for tool, rounds in results.items():
            of_tool = figures(rounds)
            if of_tool is None:
                print(f"| {model} | {NAMES[tool]} | does not fit in {options.peer_memory:g} GiB | | | |")
                continue
            seconds, peak = of_tool
            print(f"| {model} | {NAMES[tool]} | {seconds:.3f} | {seconds / own_seconds:.2f} | {peak:.2f} | "
                  f"{peak / own_peak:.2f} |", flush=True)


def main():
    options = parse_arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    python = peer_python(options.work)
    parts = make_parts(options)
    results = {model: compare(options, python, parts, model) for model in options.models}
    (options.work / f"compare_{options.nodes}.json").write_text(json.dumps(results, indent=1))
    print_table(options, results)


if __name__ == "__main__":
    main()
