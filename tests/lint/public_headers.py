#!/usr/bin/env python3
"""The public headers, include/halo/**/*.hpp.

    public_headers.py ROOT              prints them, one a line
    public_headers.py ROOT --compiled HEADER...
                                        fails where the list has changed since the build was configured, so that no
                                        header escapes the build of header_check.cpp.in
"""

import pathlib
import sys


def main():
    root, *rest = sys.argv[1:]
    include = pathlib.Path(root) / "include"
    headers = sorted(str(header.relative_to(include)) for header in include.glob("halo/**/*.hpp"))
    if rest[:1] != ["--compiled"]:
        print(*headers, sep="\n")
        return 0
    compiled = set(rest[1:])
    changed = sorted(compiled.symmetric_difference(headers))
    for header in changed:
        print(f"{header}: {'is gone' if header in compiled else 'was not compiled alone'}; "
              "run `meson setup --reconfigure`")
    print(f"{len(compiled)} headers compile alone")
    return 1 if changed or not compiled else 0


if __name__ == "__main__":
    sys.exit(main())
