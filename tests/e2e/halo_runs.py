"""What the end-to-end tests share: running the programs, and reading what a run left."""

import argparse
import array
import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

RUN_SECONDS = 120  # a run that takes longer hangs


class Programs:
    """Paths of the programs and data, from the command line of the test."""

    dataset = partition = train = infer = plan = mpiexec = None
    data = None


def run(command, env=None, timeout=RUN_SECONDS):
    """Runs a command; returns it finished, with stdout and stderr as text. A hang is a failure with the command's name."""
    command = [str(word) for word in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env or environment())
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"hangs: {' '.join(command)}\n{late.stderr}") from late


def environment(**more):
    """Threads that wait must not spin: the tests run more of them than there are cores."""
    return {**os.environ, "OMP_WAIT_POLICY": "passive", **{name: str(value) for name, value in more.items()}}


def succeed(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {' '.join(map(str, command))}\n{done.stderr}")
    return done


def generate(folder, *options):
    succeed([Programs.dataset, "generate", *options, "--out", folder, "--quiet"])
    return folder


def partition(dataset, folder, parts, *options):
    succeed([Programs.partition, dataset, "--parts", parts, "--out", folder, "--quiet", *options])
    return folder


def mpi_command(ranks, *words):
    return [Programs.mpiexec, "-n", ranks, *words]


def train_command(ranks, parts, out, *options):
    return mpi_command(ranks, Programs.train, parts, "--out", out, "--quiet", *options)


def resume_command(ranks, run_folder, *options):
    return mpi_command(ranks, Programs.train, "--resume", run_folder, "--quiet", *options)


def start(command, **more):
    """Starts a command and returns it running; its output, both kinds in one, is text."""
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment(), **more)


def wait_for_epochs(job, run_folder, epochs):
    """Waits until a running job has written so many lines of metrics."""
    path = Path(run_folder) / "metrics.jsonl"
    until = time.monotonic() + RUN_SECONDS
    while not path.exists() or path.read_bytes().count(b"\n") < epochs:
        if job.poll() is not None or time.monotonic() > until:
            job.kill()
            raise AssertionError(f"the job did not reach epoch {epochs}: {job.communicate()[0]}")
        time.sleep(0.005)


def ranks_of(run_folder):
    """Processes of the ranks that train into a folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if name == "gnn_train" and str(run_folder).encode() in words:
            found.append(int(pid))
    return sorted(found)


def metrics(run_folder):
    return [json.loads(line) for line in (Path(run_folder) / "metrics.jsonl").read_text().splitlines()]


def is_exact(key):
    """True for a figure of metrics.jsonl that must not depend on ranks, threads or transport."""
    return "seconds" not in key and "bytes" not in key


def bits_of_run(run_folder):
    """Everything of a run that must not depend on ranks, threads or transport, as bytes."""
    run_folder = Path(run_folder)
    # repr of a double read from its shortest decimal form: equal texts are equal bits.
    curve = repr([{key: value for key, value in line.items() if is_exact(key)} for line in metrics(run_folder)])
    # Weights and predictions every run has; some also have learnt rows of nodes or scores of links.
    files = {run_folder / "weights.safetensors", run_folder / "predictions.npy", *run_folder.glob("*.npy")}
    return {"metrics.jsonl": curve.encode(), **{file.name: file.read_bytes() for file in files}}


def write_npy(path, dtype, shape, values):
    """A NumPy file without NumPy; dtype "<i8", "<f4" or "|u1"."""
    code = {"<i8": "q", "<f4": "f", "|u1": "B"}[dtype]
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = array.array(code, values)
    Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data.tobytes())


def write_dataset(folder, nodes, edges, train, val=(), test=(), features=4, classes=2):
    """A dataset folder with the directed edges (source, target); features and labels follow from the node ids."""
    folder = Path(folder)
    folder.mkdir(parents=True)
    edges = list(edges)
    write_npy(folder / "edge_index.npy", "<i8", (2, len(edges)), [e[0] for e in edges] + [e[1] for e in edges])
    write_npy(folder / "features.npy", "<f4", (nodes, features),
              [((node * 7 + column * 3) % 11 - 5) / 5 for node in range(nodes) for column in range(features)])
    write_npy(folder / "labels.npy", "<i8", (nodes,), [node % classes for node in range(nodes)])
    for name, ids in (("train", train), ("val", val), ("test", test)):
        write_npy(folder / f"{name}_idx.npy", "<i8", (len(ids),), ids)
    return folder


def both_ways(edges):
    return [edge for source, target in edges for edge in ((source, target), (target, source))]


RANKS = (1, 2, 3, 4, 8)
THREADS = (1, 2)


class HaloTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="halo_e2e_")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def check_same_bits(self, parts, name, options, transports=("nonblocking",)):
        """Trains on every number of ranks and threads and every transport: all runs leave the same bits."""
        expected = None
        for ranks, threads, transport in itertools.product(RANKS, THREADS, transports):
            with self.subTest(name=name, ranks=ranks, threads=threads, transport=transport):
                out = self.folder / f"{name}_{ranks}_{threads}_{transport}"
                succeed(train_command(ranks, parts, out, *options, "--threads", threads, "--transport", transport))
                bits = bits_of_run(out)
                if expected is None:
                    expected = bits
                    curve = [line["train_loss"] for line in metrics(out)]
                    self.assertLess(curve[-1], curve[0])  # something was learnt, so equality says something
                self.assertEqual(bits.keys(), expected.keys())
                for file, value in bits.items():
                    self.assertEqual(value, expected[file], f"{file} differs from that of one rank and one thread")


def main():
    parser = argparse.ArgumentParser()
    for name in ("dataset", "partition", "train", "infer", "plan", "mpiexec"):
        parser.add_argument(f"--{name}", required=True)
    options, rest = parser.parse_known_args()
    for name, value in vars(options).items():
        setattr(Programs, name, value)
    Programs.data = Path(os.environ["HALO_TEST_DATA"]) if os.environ.get("HALO_TEST_DATA") else None
    program = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=2)
    ran_something = program.result.testsRun > len(program.result.skipped)
    sys.exit(0 if program.result.wasSuccessful() and ran_something else 1)
