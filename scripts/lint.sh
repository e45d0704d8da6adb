#!/usr/bin/env bash
# Checks the style of the C++ files: layers, format and, which takes minutes, clang-tidy.
#   scripts/lint.sh [--fix-format] [FILE.cpp...]    FILEs: clang-tidy reads these only (default: all but tests)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${HALO_LINT_BUILD:-build}
format=$(command -v clang-format-14 || command -v clang-format)
if [ "${1:-}" = --fix-format ]; then
  exec python3 tests/lint/check_format.py "$format" . --fix
fi

status=0
python3 tests/lint/check_layering.py . || status=1
python3 tests/lint/check_format.py "$format" . || status=1

[ -f "$build/compile_commands.json" ] || meson setup "$build"
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(find src partition datasets -name '*.cpp' | sort)
fi
# GCC's own options are unknown to clang, which must not matter here.
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" \
  clang-tidy-14 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-attributes || status=1
exit $status
