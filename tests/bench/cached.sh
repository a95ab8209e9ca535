#!/bin/sh
# cached.sh <file>: engines from the executable cache, for tutorial 7 with a matrix of 10000 x 1000 on ipu2 (cached.c).
#
# cached_load_ms is the time of pop_engine_create with a hit and of pop_engine_load, for which a
# program waits before it runs. Its rival is the same without a cache. cached_load_vs_compile is
# that time over the time of pop_engine_create without a cache, which only compiles. Medians; the
# files are in the page cache.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

ROUNDS=9

output=$1
"$POPULUS_BUILD_DIR/tests/bench/cached" $ROUNDS "$POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp" cache >figures
sum() { # of two figures of each round
  awk -v a="$1" -v b="$2" '$1 == a { first = $2 } $1 == b { print first + $2 }' figures >sums
  median sums
}
awk '$1 == "compiled" { print $2 }' figures >compiled
cached=$(sum cached cached_load)
number cached_load_ms "$cached" ms "without the cache" "$(sum compiled compiled_load)"
number cached_load_vs_compile "$(awk -v a="$cached" -v b="$(median compiled)" 'BEGIN { print a / b }')" ratio
rm -rf cache
