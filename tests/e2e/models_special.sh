#!/bin/sh
# Operations on numbers at the edges of their types give the results that models_special.py
# calculates. POPULUS_TEST_SEED is the first seed. POPULUS_TEST_CASES sets the number of modules,
# which then also run in the interpreter and on the CPU device.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
case $POPULUS_SANITIZE in ?*) echo "skipped: too slow under a sanitizer"; exit 77 ;; esac
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1

first=${POPULUS_TEST_SEED-1} count=${POPULUS_TEST_CASES-1}
seed=$first
while [ "$seed" -lt $((first + count)) ]; do
  python3 "$POPULUS_SOURCE_DIR/tests/e2e/models_special.py" "$seed" >"seed-$seed.mlir"
  seed=$((seed + 1))
done
for how in 'ipu auto' ${POPULUS_TEST_CASES:+'ipu interpreter' 'cpu auto'}; do
  POPULUS_TILE_ENGINE=${how#* } quiet out "$POPULUS_BIN/pophlo" --check --device "${how% *}" seed-*.mlir
  has out "^$count of $count files hold, with [0-9]+ checks\$"
done
