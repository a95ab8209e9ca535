#!/bin/sh
# test.sh: everything that has to hold before a change goes in: set-up, both builds, format, clang-tidy, all tests of both
# builds. Stops at the first stage that fails, with exit status 1 (4: packages are missing), and names it on the last line.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

stage() { # <name> <command>...
  name=$1
  shift
  say "$name"
  begin=$(date +%s)
  if "$@"; then
    took=$(($(date +%s) - begin))
    [ "$took" -lt 5 ] || say "$name took $took s"
  else
    say "FAILED: $name"
    exit 1
  fi
}

# Tests run side by side; each has its own folder. A hang ends with the test's own time limit.
tests() { # <preset>
  ctest --preset "$1" -j "$jobs" --no-tests=error --progress
}

sh cmake/setup.sh
stage "format" sh cmake/format.sh
stage "build release" build release
stage "build sanitize" build sanitize
stage "clang-tidy" sh cmake/tidy.sh
stage "tests release" tests release
stage "tests sanitize" tests sanitize
say "all passed"
