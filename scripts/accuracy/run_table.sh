#!/usr/bin/env bash
# Makes the accuracy table of docs/accuracy.md: every row of rows.tsv, with the settings of configs/.
#   run_table.sh DATA BUILD OUT [--seeds N] [--ranks P] [--only WORD] [--epochs E]
# DATA   folder that holds the dataset folders
# BUILD  Meson build folder with gnn_dataset, gnn_partition and gnn_train
# OUT    new or empty folder: OUT/<row>/..., OUT/table.txt, OUT/table.json
# Trains each row with seeds 1..N (default 10) on P ranks (default 2); a row with published splits trains once on each of the
# first N of them, seed and split together. --only: rows whose name holds WORD. --epochs: at most E epochs, to try the files.
set -euo pipefail

fail() {
  echo "run_table.sh: $*" >&2
  exit 2
}

seeds=10
ranks=2
only=
epochs=
folders=()
while [ $# -gt 0 ]; do
  case "$1" in
    --seeds | --ranks | --epochs)
      [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a positive number, not '${2:-}'"
      if [ "$1" = --seeds ]; then seeds=$2; elif [ "$1" = --ranks ]; then ranks=$2; else epochs=$2; fi
      shift 2
      ;;
    --only)
      [ -n "${2:-}" ] || fail "--only needs a word"
      only=$2
      shift 2
      ;;
    -h | --help)
      sed -n '2,8s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*) fail "unknown option $1 (known: --seeds, --ranks, --only, --epochs)" ;;
    *)
      folders+=("$1")
      shift
      ;;
  esac
done
[ ${#folders[@]} -eq 3 ] || fail "usage: run_table.sh DATA BUILD OUT [--seeds N] [--ranks P] [--only WORD] [--epochs E]"
data=${folders[0]}
build=${folders[1]}
out=${folders[2]}
here=$(cd "$(dirname "$0")" && pwd)

# The program's path in the build folder.
program() {
  local found
  found=$(find "$build" -type f -name "$1" -perm -u+x -print -quit 2>/dev/null) || true
  [ -n "$found" ] || fail "no program $1 in $build; build it first: ninja -C $build"
  echo "$found"
}
gnn_dataset=$(program gnn_dataset)
gnn_partition=$(program gnn_partition)
gnn_train=$(program gnn_train)
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec) || fail "no mpiexec"
# Runs of another binary or setting must not mix into the table.
[ -z "$(ls -A "$out" 2>/dev/null)" ] || fail "$out is not empty; name a new folder"

rows=$(grep -v '^#' "$here/rows.tsv" | awk -F '\t' -v only="$only" 'index($1, only)')
[ -n "$rows" ] || fail "no row of rows.tsv has '$only' in its name"
while IFS=$'\t' read -r _ dataset _; do
  [ -d "$data/$dataset" ] || fail "no dataset folder $data/$dataset"
done <<<"$rows"
mkdir -p "$out"

# Runs a command with its output in a file that is shown if the command fails.
logged() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1 </dev/null; then
    echo "run_table.sh: failed: $*" >&2
    cat "$log" >&2
    exit 1
  fi
}

# train_row FOLDER CONFIG NAME OPTION...: one gnn_train on FOLDER/parts_NAME, run folder FOLDER/run_NAME.
train_row() {
  local folder=$1 config=$2 name=$3
  shift 3
  logged "$folder/run_$name.log" "$mpiexec" -n "$ranks" "$gnn_train" "$folder/parts_$name" --config "$config" "$@" \
    --threads 1 --quiet --out "$folder/run_$name"
  # Some mpiexec return 0 although a rank was killed.
  [ -f "$folder/run_$name/summary.json" ] || fail "the run left no $folder/run_$name/summary.json; see its log beside it"
}

while IFS=$'\t' read -r row dataset config splits _; do
  echo "run_table.sh: $row" >&2
  folder=$out/$row
  config=$here/configs/$config.toml
  input=$data/$dataset
  mkdir "$folder"
  extra=()
  if [ -n "$epochs" ]; then extra=(--epochs "$epochs"); fi
  if [ "$splits" = links ]; then
    logged "$folder/links.log" "$gnn_dataset" split-edges "$input" --seed 1 --out "$folder/links"
    input=$folder/links
  fi
  if [ "$splits" = published ]; then
    for split in $(seq 0 $((seeds < 10 ? seeds - 1 : 9))); do
      logged "$folder/partition_$split.log" "$gnn_partition" "$input" --parts 8 --seed 1 --split "$split" --out "$folder/parts_$split"
      train_row "$folder" "$config" "$split" --seed $((split + 1)) "${extra[@]}"
    done
  else
    logged "$folder/partition.log" "$gnn_partition" "$input" --parts 8 --seed 1 --out "$folder/parts_all"
    train_row "$folder" "$config" all --seed 1 --runs "$seeds" "${extra[@]}"
  fi
done <<<"$rows"

python3 "$here/summarise.py" "$out" --rows "$here/rows.tsv" --ranks "$ranks"
