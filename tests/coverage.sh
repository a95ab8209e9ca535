#!/bin/sh
# coverage.sh [REGEX]: builds with counters, runs the tests whose names match (all, unless told) and
# prints how many of the lines and branches of each folder they have run; then, of folders and
# files, what is below 95 % of lines. Not counted is what a process does after fork and before exec
# (popc/child.c).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"
me=coverage
build coverage
find build-coverage -name '*.gcda' -delete
# Left out: tests that look at allocations and symbols, as they find those of gcov.
ctest --preset coverage -E '^e2e-malloc_sweep|^cli-(popc_forks|symbols|tidy)$' -R "${1:-.}" -j "$jobs" >build-coverage/tests.log 2>&1 || say "tests failed: build-coverage/tests.log"
exec python3 tests/support/coverage.py "$root" build-coverage
