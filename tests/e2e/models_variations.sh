#!/bin/sh
# Operations of random types, shapes, attributes and forms give the results that
# models_variations.py calculates from the text of the specification. Modules like those that
# frameworks export, written by hand, give the results of NumPy. POPULUS_TEST_SEED is the first
# seed. POPULUS_TEST_CASES sets the number of modules, which then also run in the interpreter and on
# the CPU device. All run once more with a copy limit of 0, as if every operand were large.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
case $POPULUS_SANITIZE in ?*) echo "skipped: too slow under a sanitizer"; exit 77 ;; esac
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1

first=${POPULUS_TEST_SEED-1} count=${POPULUS_TEST_CASES-4}
seed=$first
while [ "$seed" -lt $((first + count)) ]; do
  python3 "$POPULUS_SOURCE_DIR/tests/e2e/models_variations.py" "$seed" 5 >"seed-$seed.mlir"
  seed=$((seed + 1))
done
exported=$POPULUS_SOURCE_DIR/tests/e2e/models/exported
quiet out "$POPULUS_BIN/pophlo" --check "$exported"/*.mlir
has out '^19 of 19 files hold, with [0-9]+ checks$'
for how in 'ipu auto' ${POPULUS_TEST_CASES:+'ipu interpreter' 'cpu auto'}; do
  POPULUS_TILE_ENGINE=${how#* } quiet out "$POPULUS_BIN/pophlo" --check --device "${how% *}" seed-*.mlir
  has out "^$count of $count files hold, with [0-9]+ checks\$"
done
quiet out "$POPULUS_BIN/pophlo" --check --copy-limit=0 "$exported"/*.mlir seed-*.mlir
has out "^$((count + 19)) of $((count + 19)) files hold, with [0-9]+ checks\$"
