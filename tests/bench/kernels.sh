#!/bin/sh
# kernels.sh <file>: some eighty kernels, ordinary vertices whose data come through fields, beside the host's own code of
# the same source, the CPU device, the interpreter and qemu-riscv32 (see kernels.c for what is measured, kernels/vertices
# for the kernels).
set -eu

output=$1
source=$POPULUS_SOURCE_DIR/tests/bench/kernels/vertices
device=$POPULUS_DATA_DIR/device
families="linear stencils sorting hashing compression parsing dynamic graphs transforms fixed library calls vectors indices bytes"
host="-std=gnu17 -ffp-contract=off -fno-math-errno -Xclang -ffloat16-excess-precision=none -Wno-ignored-attributes"
tile="--target=riscv32-unknown-elf -march=rv32imf_zicsr_zfh_zba_zbb -mabi=ilp32f -ffreestanding -fno-pic -mcmodel=medlow
  -nostdinc -isystem $device/include -isystem $(clang-19 -print-resource-dir)/include"

# The headers that host and tile have in common, without those of the tile's C library.
mkdir headers
ln -s "$POPULUS_SOURCE_DIR/libcodelet/device/include/populus" headers/populus
for family in $families; do
  set -- "$@" "$source/$family.c"
  # shellcheck disable=SC2086
  {
    clang-19 $host -O2 -fPIC -Iheaders -c "$source/$family.c" -o "$family.o2"
    clang-19 $host -O3 -march=native -fPIC -Iheaders -c "$source/$family.c" -o "$family.o3"
    clang-19 $host $tile -O2 -c "$source/$family.c" -o "$family.rv32"
  }
done
shift
"$POPULUS_BIN/popc" --target=ipu2,cpu -O2 "$@" -o kernels.gp
clang-19 -shared ./*.o2 -lm -o host_o2.so
clang-19 -shared ./*.o3 -lm -o host_o3.so
# shellcheck disable=SC2086
clang-19 $host $tile -O2 -fno-builtin -c "$source/linux.c" -o linux.rv32
# shellcheck disable=SC2086
clang-19 $host $tile -O2 -ffunction-sections -I"$POPULUS_SOURCE_DIR/runtime" \
  -c "$POPULUS_SOURCE_DIR/tests/support/rv32/functions.c" -o functions.rv32
clang-19 --target=riscv32-unknown-elf -fuse-ld=lld-19 -nostdlib -static -Wl,--no-relax -Wl,--gc-sections ./*.rv32 "$device/lib/libdevice.a" \
  "$device/lib/libc.a" "$device/lib/libgcc.a" -o kernels.linux
"$POPULUS_BUILD_DIR/tests/bench/kernels" >>"$output"
