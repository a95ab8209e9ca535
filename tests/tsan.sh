#!/bin/sh
# tsan.sh [REGEX]: builds with ThreadSanitizer what has threads and runs its tests: the thread pool, the machine and the
# translator's thread, engines, streams and callbacks, the compilation of images, cache, devices, events. REGEX: those of
# them whose names match. Exit status 0: there are no races.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"
me=tsan
machine='native|control|copies|fault_order|memory|threads|translate|translate_loops|translate_kernels'
engine='callback_threads|engine|host_functions|protection|random|remote_buffers|replicas|stop|streams|use'
threaded="^unit-(base-.*|many_threads|machine-($machine)|engine-($engine)|graph-(registers|threads)|compiler-(host_exchanges|save)|cpu-cpu|(driver|device|events)-.*)\$"

cmake --preset tsan >/dev/null
tests=$(ctest --preset tsan -N -R "$threaded" | sed -n 's/^ *Test *#[0-9]*: //p' | grep -E -e "${1:-.}") || {
  say "no test with threads is called '$1'" >&2
  exit 2
}
# shellcheck disable=SC2086 # words
build tsan $tests popc popc-reflect popc-pairs poplibs popops-codelets poplin-codelets host-library populus-host-linker
POPULUS_TEST_CASES=${POPULUS_TEST_CASES-2}
export POPULUS_TEST_CASES
exec ctest --preset tsan -j "$jobs" -R "^($(echo "$tests" | paste -sd '|' -))\$"
