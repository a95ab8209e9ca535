#!/bin/sh
# run.sh TARGET [SECONDS]: builds a fuzz target and runs it for SECONDS of processor time (default:
# 60). run.sh all [SECONDS]: runs all targets in turn, SECONDS each; continues after a finding, and
# lists the targets with findings.
#
# The start corpus is the committed one, for objects also the tests' codelets, compiled now, and
# what earlier runs have kept in build-fuzz/corpus/TARGET. A finding goes to
# build-fuzz/findings/TARGET. Commit it with the repair as a small file (-minimize_crash=1) in
# tests/fuzz/corpus/TARGET, under a name that says what it was. Exit status: 0 nothing found, 2
# there is no such target, otherwise libFuzzer's.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${1:-}
seconds=${2:-60}
if [ "$target" = all ] && [ $# -le 2 ]; then
  found=
  for folder in "$here"/corpus/*/; do
    name=$(basename "$folder")
    echo "fuzz: $name, $seconds s"
    sh "$0" "$name" "$seconds" || found="$found $name"
  done
  [ -z "$found" ] || echo "fuzz: findings in$found: build-fuzz/findings" >&2
  [ -z "$found" ]
  exit
fi
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -d "$here/corpus/$target" ]; then
  {
    echo "usage: sh tests/fuzz/run.sh TARGET [SECONDS], where TARGET is all or one of:"
    ls "$here/corpus" | sed 's/^/  /'
  } >&2
  exit 2
fi

. "$root/cmake/common.sh"
me=fuzz
build fuzz

seeds=build-fuzz/seeds/$target
corpus=build-fuzz/corpus/$target
findings=build-fuzz/findings/$target
mkdir -p "$seeds" "$corpus" "$findings"
sources=
case $target in
gp | link)
  build release popc device
  sources=$(ls tests/codelets/*.c tests/codelets/*.cpp)
  ;;
report)
  build release support-small_archive
  work=$(mktemp -d)
  (cd "$work" && POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"."}' \
    "$root/build/tests/support/small_archive" small.a streams)
  # Numbered as in report.c.
  number=0
  for file in profile.pop graph.cbor execution.cbor graph.json execution.json vars.json debug.json archive.a code.json; do
    # shellcheck disable=SC2059 # an escape, put together
    [ ! -f "$work/$file" ] || { printf "\\$(printf %03o $number)" && cat "$work/$file"; } >"$seeds/$file"
    number=$((number + 1))
  done
  rm -rf "$work"
  ;;
executable | object | graph)
  export POPULUS_DATA_DIR="$root/build-fuzz/lib/populus" POPULUS_SOURCE_DIR="$root"
  ;;
esac
for source in $sources; do
  # Some of them must not compile.
  build/bin/popc -O2 "$source" -o "$seeds/$(basename "$source").gp" 2>"$seeds/log" || say "no seed: $source"
done
rm -f "$seeds/log"

# A single allocation has libFuzzer's usual limit. The process has a higher one, and runs only for a
# short time: each object that is made and freed leaves a page of addresses (runtime/base/object.h),
# for which AddressSanitizer keeps half a kilobyte.
slice=120 # seconds; `metadata` makes 36,000 objects in one, `model` a million
# Each slice first reads the whole corpus, which takes these targets a minute or two.
case $target in
kernels | machine | graph) slice=900 ;;
esac
set -- -rss_limit_mb=4096 -malloc_limit_mb=2048 -max_len=65536 -timeout=20 -print_final_stats=1 -artifact_prefix="$findings/"
[ ! -f "tests/fuzz/$target.dict" ] || set -- "$@" -dict="tests/fuzz/$target.dict"

# look_at_clock: `now` becomes the processor time, in seconds, of everything that this
# script has run.
clock=$(mktemp)
trap 'rm -f "$clock"' EXIT
look_at_clock()
{
  times >"$clock" # in a pipeline it would be another shell's
  now=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += 60 * t[1] + t[2] } print int(sum) }' "$clock")
}

# libFuzzer counts wall time, of which a busy machine gives it only a part.
look_at_clock
end=$((now + seconds))
while [ "$now" -lt "$end" ]; do
  [ "$slice" -le $((end - now)) ] || slice=$((end - now))
  "build-fuzz/tests/fuzz/fuzz-$target" "$@" -max_total_time=$slice "$corpus" "tests/fuzz/corpus/$target" "$seeds"
  look_at_clock
done
