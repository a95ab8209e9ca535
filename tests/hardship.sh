#!/bin/sh
# hardship.sh [CASES]: the long form of e2e/malloc_sweep….sh and e2e/sudden_death.sh: so many allocations of each tool fail, and
# so many times whoever writes is killed; 1000 unless told. POPULUS_TEST_SEED chooses which (1). Exit status: 0 nothing found.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"
me=hardship
build release
export POPULUS_TEST_CASES="${1:-1000}" POPULUS_SANITIZE='' POPULUS_SOURCE_DIR="$root" POPULUS_BUILD_DIR="$root/build"
export POPULUS_BIN="$root/build/bin" POPULUS_DATA_DIR="$root/build/lib/populus"
for test in sudden_death malloc_sweep malloc_sweep_cpu malloc_sweep_cpu_none; do
  sh "$root/cmake/run-test.sh" "$root/build/tests/work/hardship-$test" sh "$root/tests/e2e/$test.sh"
done
