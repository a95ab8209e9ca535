#!/bin/sh
# test.sh [--quick]: everything that must hold before a change goes in: set-up, format, scripts,
# both builds, clang-tidy, all tests of both builds. With --quick, while working: format,
# scripts, the release build, its unit tests (random tests with a tenth of their seeds), and
# clang-tidy over the differences from the upstream branch. Stops at the first stage that fails,
# names it on the last line, and exits with status 1 (4: packages are missing). clang-tidy starts
# as soon as there is a build, and uses the processors that tests leave idle.
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
  "$@" || failed "$name"
  took=$(($(date +%s) - begin))
  [ "$took" -lt 5 ] || say "$name took $took s"
}

failed() { # <name of a stage>
  say "FAILED: $1"
  exit 1
}

# begin_beside <name> <command>...: starts a stage that uses the processors when the stages after it
# leave them idle. `end_beside` waits for it and shows its output. `timeout` makes it a process
# group, which ends with this script. It stays in the session, since Linux gives sessions equal
# shares, whatever nice says.
begin_beside() {
  beside_name=$1
  shift
  say "$beside_name, beside what follows"
  beside_log=$(mktemp)
  nice -n 19 timeout 2h "$@" >"$beside_log" 2>&1 &
  beside=$!
  trap 'kill "$beside" 2>/dev/null || :; rm -f "$beside_log"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

end_beside() {
  status=0
  wait "$beside" || status=$?
  cat "$beside_log"
  [ "$status" = 0 ] || failed "$beside_name"
  rm -f "$beside_log"
  trap - EXIT INT TERM
}

# Tests run side by side, two more than there are processors, since some wait (for a browser, a
# socket, a signal). Each has a folder of its own. The test's own time limit ends a hang.
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
  POPULUS_TEST_PART=10
  export POPULUS_TEST_PART
  stage "unit tests" tests release -R '^unit-'
  say "passed what --quick looks at"
  exit 0
fi
begin_beside "clang-tidy" sh cmake/tidy.sh
stage "build sanitize" build sanitize
stage "tests release" tests release
stage "the rest of clang-tidy" end_beside
stage "tests sanitize" tests sanitize
say "all passed"
