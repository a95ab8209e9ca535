#!/bin/sh
# main_job.sh <file>: the main job, tutorial 7 for a matrix of 10000 x 1000 on all 1,472 tiles of ipu2.
#
# The program itself is run ROUNDS times. The times of its steps are those of its log
# (POPLAR_LOG_LEVEL=DEBUG), and each number is a median. The rival of interpreter_mips
# is qemu-riscv32 with the same vertices (kernels/dot_vertex.c). images.sh has the
# rivals of writing the archive.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

ROUNDS=5

output=$1
machine="--target=riscv32-unknown-elf -march=rv32imf_zicsr_zfh_zba_zbb -mabi=ilp32f"
kernels=$POPULUS_SOURCE_DIR/tests/bench/kernels

# The object that popc made of the codelets, tile-0.o.
ar x "$POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp"

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
      else if (/Saving archive/) print milliseconds / 1e3 >>"save"
      else if (/Loading executable/) print milliseconds / 1e3 >>"load"
      else if (/Running program/) run = milliseconds / 1e3
    }
    / Program 0: .* instructions$/ { print $(NF - 1) / 1e6 / run >>"mips" }
    END { print compile >>"compile" }' log
  rm log
}

run_program # warms up
rm compile save load mips
for _ in $(seq "$ROUNDS"); do
  run_program
done

# shellcheck disable=SC2086 # words
clang-19 $machine -ffreestanding -fno-builtin -fno-pic -mcmodel=medlow -O2 -ffp-contract=off -fuse-ld=lld-19 -nostdlib -static \
  -Wl,--image-base=0x4c000,--no-relax -DROUNDS=1000 "$kernels/dot_vertex.c" tile-0.o -o dot_vertex.elf
"$POPULUS_BUILD_DIR/tests/bench/interpreter" dot_vertex dot_vertex.elf \
  qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true >>"$output"
qemu_mips=$(sed -n 's/.*interpreter_mips_dot_vertex.*"rival_value": \([0-9]*\).*/\1/p' "$output")

number graph_compile_s "$(median compile)" s
number save_archive_s "$(median save)" s
number load_s "$(median load)" s
number interpreter_mips "$(median mips)" MIPS qemu-riscv32 "$qemu_mips"
rm -f ./*.a
