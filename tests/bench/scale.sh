#!/bin/sh
# scale.sh <file>: graphs that are large in one way each (scale.c): time of each step, peak memory, quality of exchanges.
set -eu

output=$1
scale=$POPULUS_BUILD_DIR/tests/bench/scale
"$POPULUS_BIN/popc" "$POPULUS_SOURCE_DIR/tests/bench/kernels/scale.c" -o scale.gp

for graph in local exchange one_tile huge huge_unmapped nested copies transpose many_copies reduce ipus16 ipus16_loaded; do
  "$scale" $graph scale.gp archive.a >>"$output"
  rm -f archive.a
done
"$scale" 64_ipus scale.gp >>"$output" # its archive has 2 GB
