#!/usr/bin/env bash
# Compares HaloGNN live with PyTorch Geometric: every layer, model, norm and loss, and the converters of scripts/convert.
#   scripts/parity.sh [--torch VERSION] [--only WORD]
#   --torch VERSION  PyTorch of this version from PyPI (5 GB on disk); default: Debian's python3-torch
#   --only WORD      only the cases whose name holds this word, and no converters
# Makes a virtual environment in build-parity, installs what it needs there, builds, runs. Needs the network; the suite
# `golden` of `meson test` has stored values of the same comparison for machines without one.
# The last line is "N passed, N failed". Exit status 0 only if cases ran and all agree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

geometric=2.6.1
torch=
only=
while [ $# -gt 0 ]; do
  case "$1" in
    --torch | --only)
      [ -n "${2:-}" ] || { echo "parity.sh: $1 needs a value" >&2; exit 2; }
      if [ "$1" = --torch ]; then torch=$2; else only=$2; fi
      shift 2
      ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "parity.sh: unknown option $1 (known: --torch, --only)" >&2; exit 2 ;;
  esac
done

build=build-parity
if [ -z "$torch" ]; then
  scripts/install_dependencies.sh --reference
  python=/usr/bin/python3  # Debian's, which sees python3-torch
  venv=$build/venv
  options=(--system-site-packages)
  packages=()
else
  scripts/install_dependencies.sh
  python=python3
  venv=$build/venv-torch-$torch
  options=()
  packages=("torch==$torch" 'numpy<2' scipy)
fi

[ -d "$build/meson-info" ] || meson setup "$build"
ninja -C "$build" tests/parity/parity_probe src/apps/gnn_train src/apps/gnn_infer datasets/gnn_dataset partition/gnn_partition

if [ ! -x "$venv/bin/python" ]; then
  "$python" -m venv "${options[@]}" "$venv" || {
    echo "parity.sh: $python cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
    exit 2
  }
fi
"$venv/bin/pip" install --quiet "${packages[@]}" "torch_geometric==$geometric" 'safetensors==0.5.3'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
"$venv/bin/python" tests/parity/compare_with_pyg.py "$build/tests/parity/parity_probe" "$work" --only "$only" |
  tee "$work/cases.log" || status=1
if [ -z "$only" ]; then
  "$venv/bin/python" tests/parity/check_converters.py "$build" "$work/converters" | tee "$work/converters.log" || status=1
  "$venv/bin/python" scripts/reference/make_golden_pyg.py --check | tee "$work/golden.log" || status=1
fi

# One closing line for all parts, from the closing line of each.
awk '$2 == "passed," && $4 == "failed" { passed += $1; failed += $3 }
     END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }' "$work"/*.log || status=1
exit "$status"
