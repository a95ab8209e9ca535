#!/bin/sh
# tidy.sh [--changed | file...]: runs clang-tidy with the checks of .clang-tidy, as many at a time
# as there are processors, over the host C files that the release build compiles and the C++
# headers; over the given files; or, with --changed, over those that differ from the upstream
# branch. Exit status 1 if there are findings.
set -eu

cd "$(dirname "$0")/.."
root=$PWD
build=${POPULUS_TIDY_BUILD:-build}
if [ ! -f "$build/compile_commands.json" ]; then
  echo "tidy: no $build/compile_commands.json: run cmake --preset release first" >&2
  exit 4
fi

# The data base has the files that the build compiles, one "file" line for each translation unit.
# Generated files are left out.
compiled() {
  sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" | grep '\.c$' |
    grep -v "^$(cd "$build" && pwd)/" | LC_ALL=C sort -u
}

# Headers that C++ programs include, and those that our C++ tests share. The headers of Vertex.hpp
# are for the tile.
cxx_headers() {
  find "$root/runtime/cxx/include" "$root/tests/cxx" -name '*.hpp' | LC_ALL=C sort
}

# A C header is checked where it is included: in the file of the same name, or in any other.
changed() {
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
  { git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | while IFS= read -r file; do
    case $file in
    *.h)
      if [ -f "${file%.h}.c" ]; then
        echo "${file%.h}.c"
      else
        git grep -l -F "${file##*/}\"" -- '*.c' | head -n 1
      fi
      ;;
    *) echo "$file" ;;
    esac
  done | sed "s|^|$root/|" | LC_ALL=C sort -u >"$build/tidy.changed"
  { compiled; cxx_headers; } | grep -Fx -f "$build/tidy.changed" || :
}

case ${1-} in
--changed) changed ;;
'') compiled; cxx_headers ;;
*) printf '%s\n' "$@" ;;
esac >"$build/tidy.files"

# Clean files are remembered for 30 days.
cache=${POPULUS_TIDY_CACHE:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/populus/tidy}
mkdir -p "$cache"
find "$cache" -type f -mtime +30 -delete

# All C++ headers form one translation unit, as most of the time is the standard library's.
grep '\.hpp$' "$build/tidy.files" | sed 's/.*/#include "&"/' >"$build/tidy_headers.cpp" || :
rm -rf "$build/tidy.read"
mkdir "$build/tidy.read"
started=$(date +%s.%N)
known() { python3 cmake/tidy-known.py "$1" "$build" "$cache" "$started"; }
{
  [ ! -s "$build/tidy_headers.cpp" ] || echo "$build/tidy_headers.cpp"
  grep -v '\.hpp$' "$build/tidy.files" || :
} | known ask >"$build/tidy.unknown"
# The analyser allocates much. Huge pages, if the system and glibc support them, take a
# tenth off its time.
GLIBC_TUNABLES=${GLIBC_TUNABLES-glibc.malloc.hugetlb=1}
export GLIBC_TUNABLES
status=0
tr '\n' '\0' <"$build/tidy.unknown" | xargs -0 -r -I '{}' -P "$(nproc)" sh cmake/tidy-file.sh "$build" '{}' || status=1
known keep
[ "$status" = 0 ] || echo "tidy: see above" >&2
exit "$status"
