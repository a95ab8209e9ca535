#!/bin/sh
# abi.sh [REVISION]: compares the exported symbols of the shared libraries with those of a revision
# (by default the last release, a tag v*), by abidiff: functions and data, and the types of the
# public headers that they use. Additions are shown but are no failure; neither is a higher number
# of enumerators (…_COUNT). Exit status: 0 programs of that revision run with today's libraries (or
# a library has another soname), 1 something that they use has changed, 2 there is no such revision,
# 4 tools are missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

if [ $# -gt 1 ]; then
  echo "usage: abi.sh [REVISION]" >&2
  exit 2
fi
command -v abidiff >/dev/null || { say "no abidiff: install abigail-tools"; exit 4; }
revision=${1-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)} ||
  { say "there is no release yet (no tag v*): name a revision"; exit 2; }
commit=$(git rev-parse --verify --quiet --end-of-options "$revision^{commit}") || { say "there is no revision '$revision'"; exit 2; }
sh cmake/setup.sh

# Targets of the libraries that have public headers (populus_component), and the folders
# of these headers.
libraries='archive-ipu codelet popc-lib populus'
folders='libarchive-ipu libcodelet popc runtime'

say "building $revision"
before=$root/build-abi/$commit
if [ ! -d "$before" ]; then
  mkdir -p "$before.tmp"
  git archive "$commit" | tar -x -C "$before.tmp"
  mv "$before.tmp" "$before"
fi
# shellcheck disable=SC2086 # words
(cd "$before" && CCACHE_BASEDIR=$before && build package $libraries)
say "building what is here"
# shellcheck disable=SC2086 # words
build package $libraries

# headers <tree>: copies the public headers of a tree into one folder and prints its name.
headers() {
  into=$1/build-package/public-headers
  rm -rf "$into"
  mkdir -p "$into"
  for folder in $folders; do cp -r "$1/$folder/include/." "$into"; done
  echo "$into"
}

soname() { # <library>
  readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'
}

# Programs may ask for fewer than there are.
counts=$(cat "$before"/*/include/populus/*.h | grep -oE '\<POP[A-Z0-9_]*_COUNT\>' | sort -u | paste -s -d ,)
mkdir -p build-package
printf '[suppress_type]\ntype_kind = enum\nchanged_enumerators = %s\n' "$counts" >build-package/abi.suppressions

# compare <library> <library> <option>...: exit status 0: no difference, 4: some.
compare() {
  status=0
  abidiff --headers-dir1 "$then" --headers-dir2 "$now" --suppressions build-package/abi.suppressions "$@" || status=$?
  [ $((status & 3)) -eq 0 ] || { say "abidiff could not compare $1"; exit 4; }
  return "$status"
}

failed=
then=$(headers "$before") now=$(headers "$root")
for target in $libraries; do
  name=lib${target%-lib}.so
  old=$before/build-package/lib/$name new=build-package/lib/$name
  compare "$old" "$new" || : # shows what has been added, too
  if [ "$(soname "$old")" != "$(soname "$new")" ]; then
    say "$name has another soname"
  elif ! compare "$old" "$new" --no-added-syms >build-package/changed; then
    say "$name: what programs use has changed since $revision, and its soname has not"
    failed=1
  else
    say "$name: programs that were linked with $revision run"
  fi
done
[ -z "$failed" ]
