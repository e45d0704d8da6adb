#!/usr/bin/env python3
"""Calls gnn_partition as a user does: exit statuses, one message, nothing left behind.

    test_gnn_partition.py PATH_TO_GNN_PARTITION
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile


def write_npy(path, dtype, shape, values):
    """A little-endian .npy file of version 1.0."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    code = {"<f4": "f", "<i8": "q", "|u1": "B"}[dtype]
    data = struct.pack(f"<{len(values)}{code}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def make_dataset(folder, nodes=24):
    """A ring with both directions of every edge, two features, two classes."""
    folder.mkdir()
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    edges = ring + [(b, a) for a, b in ring]
    write_npy(folder / "edge_index.npy", "<i8", [2, len(edges)], [a for a, _ in edges] + [b for _, b in edges])
    write_npy(folder / "features.npy", "<f4", [nodes, 2], [float(i) for i in range(2 * nodes)])
    write_npy(folder / "labels.npy", "<i8", [nodes], [i % 2 for i in range(nodes)])
    for first, name in enumerate(["train_idx", "val_idx", "test_idx"]):
        ids = list(range(first, nodes, 3))
        write_npy(folder / f"{name}.npy", "<i8", [len(ids)], ids)


class Caller:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)

    def expect_refusal(self, words, *arguments):
        """Exit status 2, nothing on stdout, all `words` on stderr, no new file."""
        before = sorted(self.folder.rglob("*"))
        done = self.run(*arguments)
        assert done.returncode == 2, (arguments, done)
        assert done.stdout == "", done.stdout
        for word in words:
            assert word in done.stderr, (word, done.stderr)
        assert sorted(self.folder.rglob("*")) == before


def check_success(caller):
    done = caller.run("data", "--parts", 4, "--out", "parts", "--balance", "nodes,train", "--threads", 1)
    assert done.returncode == 0, done
    for words in ["24 nodes, 48 edges, 4 parts", "halo rows", "cut edges"]:
        assert words in done.stdout, done.stdout
    assert "order of nodes" in done.stderr, done.stderr
    manifest = json.loads((caller.folder / "parts" / "partition.json").read_text())
    assert manifest["parts"] == 4 and manifest["options"]["balance"] == ["nodes", "train"]
    assert manifest["quality"]["cut_edges"] >= 4
    quiet = caller.run("data", "--parts", 1, "--out", "one", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", ""), quiet
    for option in ["--help", "--version"]:
        assert caller.run(option).returncode == 0


def check_splits(caller):
    """Two splits as masks: --split chooses one of them."""
    make_dataset(caller.folder / "splits")
    write_npy(caller.folder / "splits" / "train_masks.npy", "|u1", [2, 24], [1] * 5 + [0] * 19 + [0] * 15 + [1] * 9)
    for split, train in [(0, 5), (1, 9)]:
        done = caller.run("splits", "--parts", 3, "--out", f"split{split}", "--split", split)
        assert done.returncode == 0, done
        manifest = json.loads((caller.folder / f"split{split}" / "partition.json").read_text())
        assert manifest["train_nodes"] == train and manifest["options"]["split"] == split, manifest
    caller.expect_refusal(["no such split", "0 to 1"], "splits", "--parts", 3, "--out", "new", "--split", 2)


def check_refusals(caller):
    caller.expect_refusal(["--parts"], "data", "--out", "new")
    caller.expect_refusal(["1 to 24"], "data", "--parts", 25, "--out", "new")
    caller.expect_refusal(["--parts"], "data", "--parts", "many", "--out", "new")
    caller.expect_refusal(["--method", "scotch"], "data", "--parts", 2, "--out", "new", "--method", "scotch")
    caller.expect_refusal(["--objective"], "data", "--parts", 2, "--out", "new", "--objective", "volume", "--scheme", "recursive")
    caller.expect_refusal(["--balance", "mass"], "data", "--parts", 2, "--out", "new", "--balance", "nodes,mass")
    caller.expect_refusal(["log level"], "data", "--parts", 2, "--out", "new", "--log-level", "loud")
    caller.expect_refusal(["parts"], "data", "--parts", 2, "--out", "parts")
    caller.expect_refusal(["nowhere"], "nowhere", "--parts", 2, "--out", "new")
    caller.expect_refusal(["parent"], "data", "--parts", 2, "--out", "no/such/folder")
    caller.expect_refusal(["numbered splits"], "data", "--parts", 2, "--out", "new", "--split", 0)
    (caller.folder / "data" / "labels.npy").unlink()
    for name in ["train_idx", "val_idx", "test_idx"]:
        (caller.folder / "data" / f"{name}.npy").unlink()
    caller.expect_refusal(["no labels"], "data", "--parts", 2, "--out", "new")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_dataset(folder / "data")
        caller = Caller(pathlib.Path(sys.argv[1]).resolve(), folder)
        check_success(caller)
        check_splits(caller)
        check_refusals(caller)


if __name__ == "__main__":
    main()
