#!/bin/sh
# StableHLO's own conformance programs, from the folder POPULUS_STABLEHLO. Each is compiled, run and
# checked on tiles, on both engines, and on the CPU device. The test prints a table by operation,
# and all programs must pass. They run once more on tiles with a copy limit of 0, as if all operands
# were large. With a sanitizer every fortieth program runs; if POPULUS_TEST_CASES is set, all run.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
folder=${POPULUS_STABLEHLO-$POPULUS_SOURCE_DIR/../shared/data/stablehlo}
[ -d "$folder" ] || { echo "skipped: there is no folder $folder"; exit 77; }
every=1
[ -z "$POPULUS_SANITIZE" ] || [ -n "${POPULUS_TEST_CASES-}" ] || every=40

# table <file>: passed programs and all programs, by the operation at the start of the file's name.
table()
{
  awk '/^(pass|FAIL) / { name = $2; sub(/.*\//, "", name)
         sub(/_(bool|bfloat16|float(16|32|64)|u?int(8|16|32|64)|complex64|any|shape|dtype)[_.].*/, "", name); sub(/\.mlir$/, "", name)
         all[name]++; good[name] += $1 == "pass" }
       END { for (name in all) printf "%-44s %4d of %4d%s\n", name, good[name], all[name], good[name] < all[name] ? "  <--" : "" }' "$1" |
    sort
}

# judge <what> <programs>...
judge()
{
  judge_what=$1
  shift
  status=0
  "$POPULUS_BIN/pophlo" --check -v --everywhere "$@" >out 2>err || status=$?
  echo "== $judge_what: $(tail -1 out)"
  table out
  cat err
  [ $status -le 1 ] || fail "$judge_what: status $status"
}

at=0
for program in "$folder"/*.mlir; do
  at=$((at + 1))
  [ $((at % every)) -ne 0 ] || set -- "$@" "$program"
done
judge 'conformance' "$@"
! grep '^FAIL' out || fail 'programs do not hold'
quiet out "$POPULUS_BIN/pophlo" --check --copy-limit=0 "$@"
has out "^$# of $# files hold"

# One of the interpreter's programs needs a type of 8 bits, which the error names.
if [ -d "$folder/interpret" ]; then
  judge 'of the interpreter' "$folder"/interpret/*.mlir
  ! grep -v 'the type f8.* is not supported$' err || fail 'programs do not hold'
fi
