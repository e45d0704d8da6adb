#!/usr/bin/env bash
# Shows the whole way in a few minutes: install, build, generate a dataset, partition it into 8 parts, train a GCN on
# 2 MPI ranks and print the test accuracy.
#   scripts/demo.sh [--ranks P] [--out DIR]    P: 1 to 8, default 2; DIR: must not exist; default demo_run, demo_run_2 ...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ranks=2
out=
while [ $# -gt 0 ]; do
  case "$1" in
    --ranks | --out)
      [ $# -ge 2 ] || { echo "demo.sh: $1 needs a value" >&2; exit 2; }
      if [ "$1" = --ranks ]; then ranks=$2; else out=$2; fi
      shift 2 ;;
    -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "demo.sh: unknown option $1 (known: --ranks, --out)" >&2; exit 2 ;;
  esac
done
if [[ ! $ranks =~ ^[1-8]$ ]]; then
  echo "demo.sh: --ranks $ranks: the demo makes 8 parts, so 1 to 8 ranks can share them" >&2
  exit 2
fi
if [ -z "$out" ]; then
  out=demo_run
  for ((number = 2; ; ++number)); do
    [ -e "$out" ] || break
    out=demo_run_$number
  done
elif [ -e "$out" ]; then
  echo "demo.sh: $out is there already: name another folder with --out" >&2
  exit 2
fi

# Prints a command, then runs it.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

scripts/install_dependencies.sh
# MPICH's launcher, also where another MPI library is the system's default.
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
[ -f build/build.ninja ] || show meson setup build
show ninja -C build datasets/gnn_dataset partition/gnn_partition src/apps/gnn_train

mkdir -p "$out"
show build/datasets/gnn_dataset generate --kind sbm --nodes 20000 --classes 10 --communities 40 --degree 10 \
  --homophily 0.7 --features 64 --signal 1.0 --seed 1 --out "$out/dataset"
show build/datasets/gnn_dataset info "$out/dataset"
show build/partition/gnn_partition "$out/dataset" --parts 8 --seed 1 --out "$out/parts"
show "$mpiexec" -n "$ranks" build/src/apps/gnn_train "$out/parts" --model gcn --layers 2 --hidden 64 --dropout 0.5 \
  --epochs 100 --optimizer adam --lr 0.01 --weight-decay 5e-4 --seed 1 --out "$out/gcn"
show "$mpiexec" -n "$ranks" build/src/apps/gnn_train "$out/parts" --model mlp --layers 2 --hidden 64 --dropout 0.5 \
  --epochs 100 --optimizer adam --lr 0.01 --weight-decay 5e-4 --seed 1 --out "$out/mlp" --quiet

python3 - "$out" <<'PYTHON'
import json, pathlib, sys

out = pathlib.Path(sys.argv[1])
accuracy = {model: json.loads((out / model / "summary.json").read_text())["test_accuracy"] for model in ("gcn", "mlp")}
print(f"\nTest accuracy: GCN {accuracy['gcn']:.4f}; the same model without the graph (MLP) {accuracy['mlp']:.4f}")
print(f"The dataset, the partitioned dataset and both runs are in {out}")
PYTHON
