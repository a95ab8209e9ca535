#!/bin/sh
# faults_table.sh [--list]: every fault of tests/FAULTS.md is named by a test, and a name of a test
# has no other ids.
set -eu
cd "${POPULUS_SOURCE_DIR:-$(dirname "$0")/../..}/tests"
folders='cli e2e fuzz golden unit'
failures=0

fail()
{
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# naming <id>: the files that contain the id, alone or between underscores.
naming()
{
  # shellcheck disable=SC2086 # several words
  grep -rlE --include='*.c' --include='*.sh' "(^|[^A-Za-z0-9])$1([^A-Za-z0-9]|\$)" $folders | grep -v faults_table | sort
}

ids=$(sed -n 's/^| \([A-Z][0-9][0-9]\) | .*/\1/p' FAULTS.md)
[ "$(echo "$ids" | wc -l)" -ge 150 ] || fail "FAULTS.md has $(echo "$ids" | wc -l) faults"
[ -z "$(echo "$ids" | sort | uniq -d)" ] || fail "twice in FAULTS.md: $(echo "$ids" | sort | uniq -d)"
for id in $ids; do
  files=$(naming "$id" || :)
  [ "${1-}" != --list ] || echo "$id $(echo "$files" | tr '\n' ' ')"
  case $(grep "^| $id " FAULTS.md) in
  *'(not tested: '*) [ -z "$files" ] || fail "FAULTS.md says that $id is not tested, but $files" ;;
  *) [ -n "$files" ] || fail "no test names $id: $(grep "^| $id " FAULTS.md)" ;;
  esac
done

# Ids in the names of tests: `Test(suite, X01_X02_what_it_shows`.
for id in $(sed -n 's/^Test([a-z0-9_]*, *\([A-Z][0-9][0-9]_[A-Za-z0-9_]*\).*/\1/p' unit/*.c unit/*/*.c | tr '_' '\n' |
  grep -xE '[A-Z][0-9]{2}' | sort -u); do
  echo "$ids" | grep -qx "$id" || fail "a test's name has $id, which FAULTS.md has not"
done
exit $((failures > 0))
