#!/bin/sh
# images.sh <file>: linking tiles and writing their archive, beside other tools with the same 1,472
# images of 37 KB (images.c), and the compilation of a million vertices.
#
#   link_write_s          passes link and allocate, then images made, written, synced and renamed
#   link_write_vs_cp      beside cp and sync of the finished archive: times as long
#   link_write_vs_lld     ld.lld-19 once for each tile, then llvm-ar-19 rcs: times as fast
#   link_write_vs_gnu_ld  riscv64-unknown-elf-ld likewise, then ar rcS: times as fast
#   link_write_<n>_…      the same for as many tiles: time, memory that saving adds, peak of the process
#   plan_vs_lower_bound_worst  the worst tile's memory over the lower bound of any plan, for examples
#                         and for graphs that are hard to plan (plan.c)
#   compile_million_vertices_…  each vertex reads two rows of other tiles (scale.c); each pass, by
#                         the log
#
# The rivals link two objects for each tile: the codelets, and the rest of the tile's memory as
# data. Ours and cp are measured in rotation and are medians; the linkers run once over all tiles.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

ROUNDS=9
output=$1
images=$POPULUS_BUILD_DIR/tests/bench/images
gnu=riscv64-unknown-elf

for tool in ld.lld-19 llvm-ar-19 $gnu-ld $gnu-as; do
  command -v "$tool" >/dev/null || { echo "images: there is no $tool" >&2; exit 1; }
done
"$POPULUS_BIN/popc" "$POPULUS_SOURCE_DIR/tests/bench/kernels/scale.c" -o scale.gp
ar x scale.gp tile-0.o

# link_write <file>: one number for each save
link_write() {
  awk '$1 == "link_s" { link = $2 } $1 == "save_s" { print link + $2 }' "$1"
}

copy() {
  cp archive.a copy.a
}

copy_and_sync() {
  cp archive.a copy.a
  sync copy.a
}

# The tiles' memory as objects that a linker takes.
make_objects() {
  mkdir objects
  (cd objects && ar x ../archive.a && rm -f compilation*)
  for image in objects/tile-*.elf; do
    printf '.data\n.incbin "%s"\n' "$image" | $gnu-as -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -o "${image%.elf}.o" -
  done
  rm objects/*.elf
  [ "$(ls objects | wc -l)" -eq 1472 ]
}

# link_all <linker> <argument>...: once for each tile
link_all() {
  for object in objects/*.o; do
    "$@" tile-0.o "$object" -o "${object%.o}.elf"
  done
}

lld() {
  link_all ld.lld-19 --entry=__runCodelet_Scale --image-base=0x4c000
  llvm-ar-19 rcs rival.a objects/*.elf
}

gnu_ld() {
  link_all $gnu-ld -m elf32lriscv --no-relax --entry=__runCodelet_Scale -Ttext=0x4c000
  ar rcS rival.a objects/*.elf
}

"$images" 1 1 scale.gp archive.a >figures # warms up
for _ in $(seq $ROUNDS); do
  "$images" 1 1 scale.gp archive.a >figures
  link_write figures >>ours
  for way in copy copy_and_sync; do
    rm -f copy.a
    seconds $way >>$way.times
  done
done
make_objects
lld_s=$(seconds lld)
rm -f rival.a objects/*.elf
gnu_ld_s=$(seconds gnu_ld)
rm -rf objects rival.a copy.a

ours=$(median ours) copy_s=$(median copy_and_sync.times)
# quotient <a> <b>
quotient() {
  awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'
}
number link_write_s "$ours" s "cp + sync" "$copy_s"
number cp_s "$(median copy.times)" s
number ld_lld_s "$lld_s" s
number gnu_ld_s "$gnu_ld_s" s
number link_write_vs_cp "$(quotient "$ours" "$copy_s")" "times as long as cp + sync"
number link_write_vs_lld "$(quotient "$lld_s" "$ours")" "times as fast as ld.lld-19 + llvm-ar-19"
number link_write_vs_gnu_ld "$(quotient "$gnu_ld_s" "$ours")" "times as fast as GNU ld + ar"

for ipus in 1 4 16; do
  "$images" $ipus 3 scale.gp archive.a >figures
  link_write figures >large
  tiles=$((ipus * 1472))
  number link_write_${tiles}_s "$(median large)" s
  number link_write_${tiles}_memory "$(awk '$1 == "memory_kib" && $2 > most { most = $2 } END { print most / 1024 }' figures)" MiB
  number link_write_${tiles}_peak "$(awk '$1 == "peak_kib" && $2 > most { most = $2 } END { print most / 1024 }' figures)" MiB
  rm -f archive.a
done

POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=log "$POPULUS_BUILD_DIR/tests/bench/scale" exchange scale.gp >scale.txt
# figure <name>: of the objects that scale prints
figure() {
  sed -n "s/.*\"scale_exchange_$1\", \"value\": \([0-9.]*\).*/\1/p" scale.txt
}
number compile_million_vertices_s "$(figure compile_s)" s
number compile_million_vertices_peak_mib "$(figure peak_memory)" MiB
sed -n 's/.*PO:COMPILER.*Ending phase: \([a-z_ ]*\) (duration \([0-9]*\) ms.*/\1 \2/p' log >passes
[ -s passes ] || { echo "images: the log names no pass" >&2; exit 1; }
while read -r pass ms; do
  number "compile_million_vertices_${pass}_s" "$(quotient "$ms" 1000)" s
done <passes

# plan_of <command>...: adds what the worst plan of the archive that it makes is, times its bound
plan_of() {
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' "$@" >/dev/null 2>&1
  "$POPULUS_BUILD_DIR/tests/support/memory_agrees" archive.a | sed -n 's/^worst_plan \([0-9.]*\).*/\1/p' >>plans
  rm -f archive.a
}

plan_of "$POPULUS_BIN/variables"
plan_of "$POPULUS_BIN/suffix_sum"
plan_of "$POPULUS_BIN/matvec" 300 40
plan_of "$POPULUS_BIN/matvec_split" 10000 1000
"$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/planned.c" -o planned.gp
for graph in chip sixteen overfull; do
  plan_of "$POPULUS_BUILD_DIR/tests/bench/plan" $graph planned.gp
done
number plan_vs_lower_bound_worst "$(sort -g plans | tail -1)" "times the lower bound"
