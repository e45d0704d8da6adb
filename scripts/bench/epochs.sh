#!/usr/bin/env bash
# Epoch time and memory of GraphSAGE 3x256 on a generated graph of 2^20 nodes and 3.3e7 edge entries, against PyTorch.
#   scripts/bench/epochs.sh BUILD WORK [--epochs N] [--peer]
# BUILD  Meson build folder
# WORK   folder for the graph, the parts and the runs (about 3 GB); what is there already is used again
# --peer also times scripts/reference/torch_full_graph.py (install_dependencies.sh --reference)
# Run it on a quiet machine. Every configuration computes the same loss; the summary checks that.
set -euo pipefail

fail() {
  echo "epochs.sh: $*" >&2
  exit 2
}

epochs=4
peer=false
folders=()
while [ $# -gt 0 ]; do
  case "$1" in
    --epochs)
      [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || fail "--epochs needs a positive number, not '${2:-}'"
      epochs=$2
      shift 2
      ;;
    --peer)
      peer=true
      shift
      ;;
    -h | --help)
      sed -n '2,7s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*) fail "unknown option $1 (known: --epochs, --peer)" ;;
    *)
      folders+=("$1")
      shift
      ;;
  esac
done
[ ${#folders[@]} -eq 2 ] || fail "usage: epochs.sh BUILD WORK [--epochs N] [--peer]"
build=${folders[0]}
work=${folders[1]}
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$work"
if [ ! -d "$work/graph" ]; then
  "$build/datasets/gnn_dataset" generate --kind sbm --nodes 1048576 --classes 47 --communities 1504 --degree 31.8 \
    --homophily 0.8 --features 100 --seed 1 --out "$work/graph"
fi
[ -d "$work/parts" ] || "$build/partition/gnn_partition" "$work/graph" --parts 8 --seed 1 --out "$work/parts" --quiet
rm -rf "$work/runs"
mkdir "$work/runs"

for layout in "1 1" "1 2" "2 1"; do
  read -r ranks threads <<<"$layout"
  echo "epochs.sh: $ranks rank(s), $threads thread(s)" >&2
  mpiexec -n "$ranks" "$build/src/apps/gnn_train" "$work/parts" --model sage --layers 3 --hidden 256 --dropout 0 \
    --epochs "$epochs" --evaluate-every "$epochs" --threads "$threads" --quiet --out "$work/runs/halo_${ranks}_$threads" >/dev/null
done
if $peer; then
  for threads in 1 2; do
    echo "epochs.sh: PyTorch, $threads thread(s)" >&2
    python=/usr/bin/python3  # Debian's, which has Debian's PyTorch
    "$python" "$here/../reference/torch_full_graph.py" "$work/parts" --model sage --layers 3 --hidden 256 \
      --epochs "$epochs" --threads "$threads" >"$work/runs/torch_$threads.json"
  done
fi
python3 "$here/summarise_epochs.py" "$work/runs"
