#!/bin/sh
# test.sh [--quick]: everything that has to hold before a change goes in: set-up, format, scripts, both builds, clang-tidy,
# all tests of both builds. With --quick, while working: format, scripts, the release build, its unit tests, and clang-tidy
# over what differs from the upstream branch. Stops at the first stage that fails, with exit status 1 (4: packages are
# missing), and names it on the last line.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

case ${1-} in
'') quick= ;;
--quick) quick=1 ;;
*)
  echo "usage: test.sh [--quick]" >&2
  exit 2
  ;;
esac

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

# Tests run side by side, two more than there are processors, since some wait (for a browser, a socket, a signal); each has
# its own folder. A hang ends with the test's own time limit.
tests() { # <preset> [option]...
  preset=$1
  shift
  ctest --preset "$preset" -j $((jobs + 2)) --no-tests=error --progress "$@"
}

sh cmake/setup.sh tests
rm -rf build/tests/codelets build-sanitize/tests/codelets # what tests find compiled, this run has compiled
stage "format" sh cmake/format.sh
stage "scripts" sh cmake/check-scripts.sh
stage "build release" build release
if [ "$quick" ]; then
  stage "clang-tidy of what changed" sh cmake/tidy.sh --changed
  stage "unit tests" tests release -R '^unit-'
  say "passed what --quick looks at"
  exit 0
fi
stage "build sanitize" build sanitize
stage "clang-tidy" sh cmake/tidy.sh
stage "tests release" tests release
stage "tests sanitize" tests sanitize
say "all passed"
