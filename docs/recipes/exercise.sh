#!/usr/bin/env bash
# Runs every recipe on a generated graph of the same shape: columns, classes, task and average degree, scaled down.
#   exercise.sh BUILD OUT [--nodes N] [--epochs E]
# BUILD  Meson build folder with gnn_dataset, gnn_partition and gnn_train
# OUT    new or empty folder: OUT/<recipe>/{dataset,parts,run}
# N nodes (default 2000; an average degree above N / 4 is lowered to it), E epochs (default 3), two ranks. Of a recipe it
# overrides warm-up (none), runs (one) and evaluate-every (each epoch).
# Prints a line a recipe; the last line is "N passed, N failed". Exit status 0 only if all ran.
set -euo pipefail

fail() {
  echo "exercise.sh: $*" >&2
  exit 2
}

nodes=2000
epochs=3
folders=()
while [ $# -gt 0 ]; do
  case "$1" in
    --nodes | --epochs)
      [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a positive number, not '${2:-}'"
      if [ "$1" = --nodes ]; then nodes=$2; else epochs=$2; fi
      shift 2
      ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) fail "unknown option $1 (known: --nodes, --epochs)" ;;
    *) folders+=("$1"); shift ;;
  esac
done
[ ${#folders[@]} -eq 2 ] || fail "usage: exercise.sh BUILD OUT [--nodes N] [--epochs E]"
build=${folders[0]}
out=${folders[1]}
recipes=$(cd "$(dirname "$0")" && pwd)
[ -z "$(ls -A "$out" 2>/dev/null)" ] || fail "$out is not empty; name a new folder"
for program in datasets/gnn_dataset partition/gnn_partition src/apps/gnn_train; do
  [ -x "$build/$program" ] || fail "no program $build/$program; build it first: ninja -C $build"
done
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec) || fail "no mpiexec"

# Recipe, average degree, columns, classes, task, directed, fractions of train, val and test nodes.
table="ogbn_arxiv    7   128 40  node_classification directed 0.54 0.18 0.28
ogbn_products 50  100 47  node_classification both     0.08 0.02 0.90
ogbn_proteins 597 8   112 multi_label         both     0.65 0.16 0.19
reddit        492 602 41  node_classification both     0.66 0.10 0.24
yelp          19  300 100 multi_label         both     0.75 0.10 0.15
papers100m    15  128 172 node_classification directed 0.011 0.0011 0.0019"

run_recipe() {
  local recipe=$1 degree=$2 columns=$3 classes=$4 task=$5 directed=$6 train=$7 val=$8 test=$9
  local here=$out/$recipe generate=() undirected=()
  mkdir -p "$here"
  [ "$degree" -le $((nodes / 4)) ] || degree=$((nodes / 4))
  if [ "$directed" = directed ]; then
    generate=(--directed)
    undirected=(--undirected)
  fi
  # A split of so few nodes still needs some.
  if [ "$recipe" = papers100m ]; then train=$((nodes / 10)) val=$((nodes / 20)) test=$((nodes / 20)); fi
  "$build/datasets/gnn_dataset" generate --kind sbm --nodes "$nodes" --classes "$classes" --degree "$degree" --homophily 0.6 \
    --features "$columns" --task "$task" "${generate[@]}" --train "$train" --val "$val" --test "$test" --seed 1 \
    --threads 1 --out "$here/dataset" &&
    "$build/partition/gnn_partition" "$here/dataset" --parts 4 "${undirected[@]}" --seed 1 --threads 1 --quiet --out "$here/parts" &&
    "$mpiexec" -n 2 "$build/src/apps/gnn_train" "$here/parts" --config "$recipes/$recipe.toml" --epochs "$epochs" \
      --evaluate-every 1 --warmup-epochs 0 --runs 1 --threads 1 --quiet --out "$here/run" &&
    [ -f "$here/run/summary.json" ]
}

passed=0
failed=0
while read -r recipe rest; do
  mkdir -p "$out/$recipe"
  # shellcheck disable=SC2086  # the fields of a line
  if run_recipe "$recipe" $rest </dev/null >"$out/$recipe/log" 2>&1; then
    passed=$((passed + 1))
    echo "$recipe: $(grep '^test' "$out/$recipe/log")"
  else
    failed=$((failed + 1))
    echo "$recipe: FAILED"
    cat "$out/$recipe/log"
  fi
done <<<"$table"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
