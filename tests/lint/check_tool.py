#!/usr/bin/env python3
"""check_tool.py PROGRAM VERSION: what every program answers alike: --help, --version, an unknown option."""

import pathlib
import subprocess
import sys


def main():
    program, version = sys.argv[1:]
    failures = []

    def expect(option, status, check):
        result = subprocess.run([program, option], capture_output=True, text=True, check=False, timeout=20)
        if result.returncode != status or not check(result):
            failures.append(f"{program} {option}: exit status {result.returncode} (expected {status})\n"
                            f"stdout: {result.stdout}\nstderr: {result.stderr}")

    name = pathlib.Path(program).name
    expect("--help", 0, lambda result: "--version" in result.stdout and not result.stderr)
    expect("--version", 0, lambda result: result.stdout.startswith(f"{name} {version}"))
    expect("--no-such-option", 2, lambda result: result.stderr and not result.stdout)
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
