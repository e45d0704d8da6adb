#!/usr/bin/env bash
# Installs what is missing, builds with warnings as errors and runs every test.
#   scripts/test.sh [--sanitize] [options of `meson test`, as --suite unit]
#   --sanitize       with AddressSanitizer and UndefinedBehaviorSanitizer (own build folder, several times slower)
#   HALO_TEST_DATA   folder with the real datasets; default: shared/data beside this repository, if it is there
# The last line is "N passed, N failed, N skipped". Exit status 0 only if a test ran and none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build-test
# Assertions stay on: a release build would drop them.
setup=(-Dwerror=true -Db_ndebug=false)
if [ "${1:-}" = --sanitize ]; then
  shift
  build=build-sanitize
  setup=(-Dbuildtype=debugoptimized -Db_sanitize=address,undefined)
fi
log=$build/meson-logs/testlog.json

# Prints the closing line from meson's own results and leaves with the status that belongs to them.
close() {
  local status=$?
  trap - EXIT
  python3 - "$log" "$status" <<'PYTHON'
import collections, json, pathlib, sys

log, status = pathlib.Path(sys.argv[1]), int(sys.argv[2])
kinds = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
count = collections.Counter()
for line in log.read_text().splitlines() if log.is_file() else []:
    test = json.loads(line)
    kind = kinds.get(test["result"], "failed")
    count[kind] += 1
    if kind != "passed":
        print(f"{test['result']}: {test['name']}")
if not count:
    print("no test ran: see the messages above")
print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
sys.exit(status or (1 if count["failed"] or not count["passed"] else 0))
PYTHON
}
trap close EXIT
rm -f "$log"

scripts/install_dependencies.sh
echo "test.sh: suite golden compares with stored values of PyTorch Geometric; scripts/parity.sh compares live (needs PyPI)"

data=${HALO_TEST_DATA:-}
if [ -z "$data" ] && [ -d ../shared/data ]; then data=../shared/data; fi
if [ -n "$data" ]; then
  data=$(cd "$data" && pwd)
  echo "test.sh: tests on real data use $data"
else
  echo "test.sh: NO REAL DATA: the tests on real datasets are left out (set HALO_TEST_DATA to their folder)"
fi

if [ -d "$build/meson-info" ]; then
  meson setup --reconfigure "$build" "${setup[@]}" -Dtest_data="$data"
else
  meson setup "$build" "${setup[@]}" -Dtest_data="$data"
fi
ninja -C "$build"
meson test -C "$build" --print-errorlogs "$@"
