#!/usr/bin/env python3
"""Reads every #include line (and every meson.build) against the layers of docs/architecture.md.

    check_layering.py ROOT           check the tree; prints each violation, exit status 1 if there is one
    check_layering.py --self-test    plant one violation of every kind and see that each is found
"""

import pathlib
import re
import sys
import tempfile

# Module -> the modules it may include besides itself.
ALLOWED = {
    "base": "",
    "graph": "base",
    "mpi": "base",
    "kernels": "base graph",
    "datasets": "base graph",
    "partition": "base graph kernels datasets",
    "dist": "base graph mpi kernels datasets",
    "nn": "base graph kernels datasets dist",
    "optim": "base graph kernels datasets dist nn",
    "train": "base graph mpi kernels datasets dist nn optim",
    "apps": "base graph mpi kernels datasets dist nn optim train",
}
ALLOWED = {module: set(names.split()) | {module} for module, names in ALLOWED.items()}

# Header of a library -> the folders that may include it.
GUARDED = [
    (re.compile(r"mpi\.h$"), ["src/mpi"]),
    (re.compile(r"metis\.h$"), ["partition"]),
    (re.compile(r"boost/"), ["partition"]),
    (re.compile(r"(Eigen/|libxsmm)"), ["src/kernels"]),
    (re.compile(r"(zip|zlib)\.h$"), ["datasets"]),
    (re.compile(r"CLI/"), ["src/apps", "src/train", "partition", "datasets"]),
]
# Library in a meson.build -> the folders that may depend on it; the same rule, seen from the linker.
GUARDED_DEPENDENCIES = {
    "mpi_dep": ["src/mpi"],  # MPICH itself; the module is halo_mpi_dep
    "metis_lib": ["partition"],
    "boost_dep": ["partition"],
    "eigen_dep": ["src/kernels"],
    "xsmm_dep": ["src/kernels"],
    "libzip_dep": ["datasets"],
    "zlib_dep": ["datasets"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
SOURCES = {".hpp", ".cpp", ".h", ".inl"}


def module_of(path):
    """The module that owns a path relative to the root, or None outside of the product."""
    parts = path.parts
    if parts[:2] == ("include", "halo"):
        return parts[2]
    if parts[0] == "src":
        return parts[1]
    return parts[0] if parts[0] in ("partition", "datasets") else None


def may_use(path, folders):
    return any(path.is_relative_to(folder) for folder in folders)


def check_include(root, path, bracket, name):
    """The violation of one #include, or None."""
    module = module_of(path)
    for pattern, folders in GUARDED:
        if pattern.match(name) and not may_use(path, folders):
            return f"<{name}> belongs to {' and '.join(folders)} alone"
    if name.startswith("halo/"):
        target = name.split("/")[1]
        if bracket == "<":
            return f'write "{name}", with quotes'
        if target not in ALLOWED:
            return f'"{name}" is of no known module'
        if target not in ALLOWED[module]:
            return f"{module} may not include {target} (allowed: {', '.join(sorted(ALLOWED[module]))})"
    elif bracket == '"':
        if not (root / path.parent / name).is_file():
            return f'"{name}" is not beside this file: write "halo/<module>/<file>.hpp" or <system header>'
        inside = (root / path.parent / name).resolve().relative_to(root.resolve())
        if module_of(inside) != module:
            return f'"{name}" is a private header of {module_of(inside)}'
    return None


def check_build_file(path, text):
    """Violations of one module's meson.build."""
    module = module_of(path)
    for name in sorted(set(re.findall(r"\b(\w+_(?:dep|lib))\b", text))):
        folders = GUARDED_DEPENDENCIES.get(name)
        if folders and not may_use(path, folders):
            yield f"{name} belongs to {' and '.join(folders)} alone"
        other = name.rsplit("_", 1)[0].removeprefix("halo_")
        if not folders and other in ALLOWED and other not in ALLOWED[module]:
            yield f"{module} may not link {other} (allowed: {', '.join(sorted(ALLOWED[module]))})"


def check_tree(root):
    """(number of include lines, list of violations) of a tree."""
    count, violations = 0, []
    for top in ("include/halo", "src", "partition", "datasets"):
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root)
            if file.name == "meson.build" and len(path.parts) > 1:
                found = check_build_file(path, file.read_text(encoding="utf-8"))
                violations += [f"{path}: {problem}" for problem in found]
            if file.suffix not in SOURCES:
                continue
            if module_of(path) not in ALLOWED:
                violations.append(f"{path}: {module_of(path)} is not a module of docs/architecture.md")
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if match is None:
                    continue
                count += 1
                problem = check_include(root, path, *match.groups())
                if problem:
                    violations.append(f"{path}:{number}: {problem}")
    return count, violations


PLANTED = {
    "include/halo/graph/a.hpp": '#include "halo/mpi/communicator.hpp"',
    "include/halo/mpi/b.hpp": "#include <mpi.h>",
    "include/halo/partition/c.hpp": "#  include <metis.h>",
    "src/nn/d.cpp": '#include "halo/mpi/communicator.hpp"',
    "src/train/e.cpp": '#include "halo/partition/report.hpp"',
    "src/train/f.cpp": "#include <boost/graph/adjacency_list.hpp>",
    "src/kernels/g.cpp": '#include "halo/datasets/npy.hpp"',
    "src/dist/h.cpp": '#include "../mpi/handle.hpp"',
    "src/base/i.cpp": '#include "nowhere.hpp"',
    "src/base/j.cpp": "#include <halo/base/ids.hpp>",
    "src/other/k.cpp": "#include <vector>",
    "partition/l.cpp": '#include "halo/dist/ownership.hpp"',
    "src/train/meson.build": "train_lib = static_library('t', dependencies: [partition_dep])",
    "src/nn/meson.build": "nn_lib = static_library('n', dependencies: [halo_mpi_dep])",
    "src/dist/meson.build": "dist_lib = static_library('d', dependencies: [mpi_dep])",
    "src/optim/meson.build": "optim_lib = static_library('o', dependencies: [metis_lib])",
}
INNOCENT = {
    "src/mpi/handle.hpp": "#include <mpi.h>",
    "src/mpi/calls.cpp": '#include "handle.hpp"',
    "partition/metis.cpp": "#include <metis.h>",
    "src/dist/plan.cpp": '#include "halo/mpi/communicator.hpp"\n#include <vector>',
    "src/apps/meson.build": "executable('a', dependencies: [halo_mpi_dep, train_dep, cli_dep])",
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**PLANTED, **INNOCENT}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n", encoding="utf-8")
        _, violations = check_tree(root)
    found = sorted(violation.split(":")[0] for violation in violations)
    if found != sorted(PLANTED):
        print("planted:", *sorted(PLANTED), "found:", *violations, sep="\n  ")
        return 1
    print(f"each of {len(PLANTED)} planted violations was found, and no other")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    count, violations = check_tree(pathlib.Path(sys.argv[1]))
    print(*violations, sep="\n")
    print(f"{count} include lines read, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
