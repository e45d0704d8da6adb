#!/usr/bin/env bash
# Reproduces the accuracy table of Kipf & Welling (2017): a two-layer GCN on Cora, Citeseer and Pubmed, public split.
#   run_table.sh DATA BUILD OUT [--seeds N] [--ranks P]
# DATA   folder that holds the dataset folders cora, citeseer and pubmed
# BUILD  Meson build folder with gnn_partition and gnn_train
# OUT    new or empty folder: OUT/<dataset>/parts, OUT/<dataset>/run_<seed>, OUT/table.txt, OUT/table.json
# Trains with seeds 1..N (default 10) on P ranks (default 2) and prints the mean and (sample) deviation of the test
# accuracy at the last epoch beside the published figure. Settings: hidden 16, dropout 0.5 (features too), Adam with
# lr 0.01, weight decay 5e-4 on the first layer, row-normalised features, 200 epochs.
set -euo pipefail

fail() {
  echo "run_table.sh: $*" >&2
  exit 2
}

seeds=10
ranks=2
folders=()
while [ $# -gt 0 ]; do
  case "$1" in
    --seeds | --ranks)
      [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a positive number, not '${2:-}'"
      if [ "$1" = --seeds ]; then seeds=$2; else ranks=$2; fi
      shift 2
      ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*) fail "unknown option $1 (known: --seeds, --ranks)" ;;
    *)
      folders+=("$1")
      shift
      ;;
  esac
done
[ ${#folders[@]} -eq 3 ] || fail "usage: run_table.sh DATA BUILD OUT [--seeds N] [--ranks P]"
data=${folders[0]}
build=${folders[1]}
out=${folders[2]}

# The program's path in the build folder.
program() {
  local found
  found=$(find "$build" -type f -name "$1" -perm -u+x -print -quit 2>/dev/null) || true
  [ -n "$found" ] || fail "no program $1 in $build; build it first: ninja -C $build"
  echo "$found"
}
gnn_partition=$(program gnn_partition)
gnn_train=$(program gnn_train)
for dataset in cora citeseer pubmed; do
  [ -d "$data/$dataset" ] || fail "no dataset folder $data/$dataset"
done
# Runs of another binary or setting must not mix into the table.
[ -z "$(ls -A "$out" 2>/dev/null)" ] || fail "$out is not empty; name a new folder"
mkdir -p "$out"

# Runs a command with its output in a file that is shown if the command fails.
logged() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    echo "run_table.sh: failed: $*" >&2
    cat "$log" >&2
    exit 1
  fi
}

for dataset in cora citeseer pubmed; do
  here=$out/$dataset
  mkdir "$here"
  logged "$here/partition.log" "$gnn_partition" "$data/$dataset" --parts 8 --seed 1 --out "$here/parts"
  for seed in $(seq 1 "$seeds"); do
    echo "run_table.sh: $dataset, seed $seed of $seeds" >&2
    logged "$here/run_$seed.log" mpiexec -n "$ranks" "$gnn_train" "$here/parts" \
      --model gcn --layers 2 --hidden 16 --dropout 0.5 --input-dropout 0.5 \
      --optimizer adam --lr 0.01 --weight-decay 5e-4 --weight-decay-on first --row-normalise \
      --epochs 200 --seed "$seed" --threads 1 --out "$here/run_$seed"
    # Some mpiexec return 0 although a rank was killed.
    [ -f "$here/run_$seed/summary.json" ] || fail "the run left no $here/run_$seed/summary.json; see its log beside it"
  done
done

python3 "$(dirname "$0")/summarise.py" "$out" --seeds "$seeds" --ranks "$ranks"
