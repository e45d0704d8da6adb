#!/usr/bin/env python3
"""check_format.py CLANG_FORMAT ROOT [--fix]: every C++ file is formatted as .clang-format says (clang-format 14).

Exit status 77 (skipped) where CLANG_FORMAT is empty; --fix formats the files in place.
"""

import pathlib
import subprocess
import sys

FOLDERS = ("include", "src", "partition", "datasets", "tests", "bench")


def main():
    program, root, *options = sys.argv[1:]
    if not program:
        print("clang-format 14 is not installed: scripts/install_dependencies.sh", file=sys.stderr)
        return 77
    files = sorted(
        str(file)
        for folder in FOLDERS
        for file in (pathlib.Path(root) / folder).rglob("*")
        if file.suffix in (".cpp", ".hpp", ".inl")
    )
    if not files:
        print(f"no C++ file under {root}", file=sys.stderr)
        return 1
    mode = ["-i"] if options == ["--fix"] else ["--dry-run", "-Werror", "--ferror-limit=3"]
    result = subprocess.run([program, "--style=file", *mode, *files], check=False)
    print(f"{len(files)} files; to format them: scripts/lint.sh --fix-format")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
