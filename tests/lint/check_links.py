#!/usr/bin/env python3
"""check_links.py PROGRAM [--with LIBRARY:SYMBOL] [--without LIBRARY:SYMBOL]...

Looks for a library among those that PROGRAM loads (ldd) and for its symbols in PROGRAM itself (nm, for a static
library): `--without metis:METIS_PartGraphKway` fails if either is there, `--with` if neither is.
"""

import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    program, *rules = sys.argv[1:]
    libraries = [line.split()[0] for line in output_of("ldd", program).splitlines() if line.strip()]
    symbols = {line.split()[-1].split("@")[0] for line in output_of("nm", program).splitlines() if line.strip()}
    failures = 0
    for option, rule in zip(rules[::2], rules[1::2], strict=True):
        library, symbol = rule.split(":")
        there = any(name.startswith(f"lib{library}") for name in libraries) or symbol in symbols
        wanted = {"--with": True, "--without": False}[option]
        failures += there != wanted
        print(f"{'ok' if there == wanted else 'WRONG'}: {program} {'uses' if there else 'does not use'} {library}")
    return 1 if failures or not rules else 0


if __name__ == "__main__":
    sys.exit(main())
