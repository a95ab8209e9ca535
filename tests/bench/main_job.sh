#!/bin/sh
# main_job.sh <file>: the main job, tutorial 7 for a matrix of 10000 x 1000 on all 1,472 tiles of ipu2.
#
# The program itself is run ROUNDS times; what its steps took is what its log says (POPLAR_LOG_LEVEL=DEBUG), and each
# number is a median. The rivals run in turn with it:
#
#   link_write_s           ld.lld-19 once for each image, then llvm-ar-19 rcs. The images are as large, and linked from
#                          two objects each: the codelets, and the rest as data. SAMPLE tiles are measured and scaled up.
#   link_write_s_cp        cp of the archive, and sync of the copy: we sync, too
#   interpreter_mips       qemu-riscv32 running the same vertices (kernels/dot_vertex.c)
set -eu

ROUNDS=5
SAMPLE=100
TILES=1472

output=$1
machine="--target=riscv32-unknown-elf -march=rv32imf_zicsr_zfh_zba_zbb -mabi=ilp32f"
kernels=$POPULUS_SOURCE_DIR/tests/bench/kernels

# The object that popc made of the codelets, tile-0.o.
ar x "$POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp"

# seconds <command>...: prints the wall time of a command
seconds() {
  from=$(date +%s.%N)
  "$@" >/dev/null
  date +%s.%N | awk -v from="$from" '{ print $1 - from }'
}

median() {
  sort -g "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# number <name> <value> <unit> [<rival> <rival's value>]: more is better for MIPS, so the ratio is ours to the rival's
number() {
  if [ $# -eq 3 ]; then
    printf '{"name": "%s", "value": %.3f, "unit": "%s"}\n' "$1" "$2" "$3"
  else
    printf '{"name": "%s", "value": %.3f, "unit": "%s", "rival": "%s", "rival_value": %.3f, "ratio": %.3f}\n' \
      "$1" "$2" "$3" "$4" "$5" "$(awk -v a="$2" -v b="$5" 'BEGIN { print a / b }')"
  fi >>"$output"
}

# What the log says of one run, in seconds and MIPS.
run_program() {
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive": "archive.a"}' POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=log \
    "$POPULUS_BIN/matvec_split" --target ipu2 10000 1000 >printed
  grep -q 'Multiplication result OK' printed
  awk '
    / Ending phase: / {
      milliseconds = $0
      sub(/.*\(duration /, "", milliseconds)
      if (/PO:COMPILER/) compile += milliseconds / 1e3
      else if (/Saving archive/) print milliseconds / 1e3 >>"link_write"
      else if (/Loading executable/) print milliseconds / 1e3 >>"load"
      else if (/Running program/) run = milliseconds / 1e3
    }
    / Program 0: .* instructions$/ { print $(NF - 1) / 1e6 / run >>"mips" }
    END { print compile >>"compile" }' log
  rm log
}

# The objects that the rival links: each tile's image as data, and the codelets.
make_objects() {
  mkdir objects
  (cd objects && ar x ../archive.a)
  for image in objects/tile-000[0-9][0-9].elf; do
    printf '.data\n.incbin "%s"\n' "$image" |
      clang-19 $machine -c -x assembler - -o "${image%.elf}.o"
    rm "$image"
  done
  rm objects/*.elf
  [ "$(ls objects | wc -l)" -eq $SAMPLE ]
}

link_and_archive() {
  rm -f rival.a
  for object in objects/*.o; do
    ld.lld-19 --entry=__runCodelet_DotProductVertex --image-base=0x4c000 tile-0.o "$object" -o "${object%.o}.elf"
  done
  llvm-ar-19 rcs rival.a objects/*.elf
}

copy_and_sync() {
  rm -f copy.a
  cp archive.a copy.a
  sync copy.a
}

run_program # warms up, and makes the archive for the rivals
rm compile link_write load mips
make_objects
for round in $(seq $ROUNDS); do
  run_program
  seconds copy_and_sync >>copy
  [ "$round" -gt 3 ] || seconds link_and_archive >>link
done

clang-19 $machine -ffreestanding -fno-builtin -fno-pic -mcmodel=medlow -O2 -ffp-contract=off -fuse-ld=lld-19 -nostdlib -static \
  -Wl,--image-base=0x4c000,--no-relax -DROUNDS=1000 "$kernels/dot_vertex.c" tile-0.o -o dot_vertex.elf
"$POPULUS_BUILD_DIR/tests/bench/interpreter" dot_vertex dot_vertex.elf \
  qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true >>"$output"
qemu_mips=$(sed -n 's/.*interpreter_mips_dot_vertex.*"rival_value": \([0-9]*\).*/\1/p' "$output")

number graph_compile_s "$(median compile)" s
number link_write_s "$(median link_write)" s "ld.lld-19 + llvm-ar-19 ($SAMPLE tiles x $TILES/$SAMPLE)" \
  "$(median link | awk -v n=$TILES -v sample=$SAMPLE '{ print $1 * n / sample }')"
number link_write_s_cp "$(median link_write)" s "cp + sync" "$(median copy)"
number load_s "$(median load)" s
number interpreter_mips "$(median mips)" MIPS qemu-riscv32 "$qemu_mips"
rm -rf objects ./*.a
