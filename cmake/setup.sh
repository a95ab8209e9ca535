#!/bin/sh
# setup.sh [tests]: installs the missing Debian packages of cmake/packages.txt; those with @tests
# only if asked for. Root installs; other users are told what to type. Exit status: 0 all there, 4
# something is missing and could not be installed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  echo "setup: this is no Debian system: install what $here/packages.txt lists in your system's way" >&2
  exit 4
fi

wanted='s/#.*//; /@tests/d'
[ "${1-}" != tests ] || wanted='s/#.*//; s/@tests//'
missing=
# shellcheck disable=SC2013 # words
for package in $(sed "$wanted" "$here/packages.txt"); do
  # Node from another source than Debian is as good, and includes npm.
  case $package in nodejs | npm) ! command -v npm >/dev/null 2>&1 || continue ;; esac
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
  [ "$status" = installed ] || missing="$missing $package"
done

[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  {
    echo "setup: some Debian packages are missing. Please install them, then start again:"
    echo
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends$missing"
    echo
  } >&2
  exit 4
fi

echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of words
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } </dev/null >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install the packages above; is this Debian 12 with a network?" >&2
  exit 4
fi
