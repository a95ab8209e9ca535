#!/bin/sh
# tidy.sh [file.c]...: runs clang-tidy with the checks of .clang-tidy over the host C files of the release build, or over
# the files given, as many at a time as there are processors. Exit status 1 if there is anything to say.
set -eu

cd "$(dirname "$0")/.."
build=${POPULUS_TIDY_BUILD:-build}
if [ ! -f "$build/compile_commands.json" ]; then
  echo "tidy: no $build/compile_commands.json: run cmake --preset release first" >&2
  exit 4
fi

# What the build compiles is what the data base names; one "file" line for each translation unit. What protoc-c writes is not ours.
files() {
  if [ $# -gt 0 ]; then
    printf '%s\n' "$@"
  else
    sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" | grep '\.c$' | grep -v '\.pb-c\.c$' | LC_ALL=C sort -u
  fi
}

# The flags are gcc's; Criterion's macros are not ours to judge.
files "$@" | tr '\n' '\0' | xargs -0 -r -n 1 -P "$(nproc)" sh -c '
  clang-tidy-19 --quiet -p "$0" --extra-arg=-Wno-unknown-warning-option "$1" 2>"$0/tidy.$$.log" || {
    grep -v "warnings\{0,1\} generated\|^Suppressed\|^Use -header-filter" "$0/tidy.$$.log" >&2
    rm -f "$0/tidy.$$.log"
    exit 1
  }
  rm -f "$0/tidy.$$.log"' "$build" || {
  echo "tidy: see above" >&2
  exit 1
}
