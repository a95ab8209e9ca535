#!/bin/sh
# machine.sh <file>: the engines of the software IPU, the CPU device and qemu-riscv32, each relative to the host's own code (clang -O2) of
# the same kernels (see machine.c for what is measured, kernels/machine.c for the kernels); and what the software IPU does
# between vertices (supersteps.c).
set -eu

output=$1
source=$POPULUS_SOURCE_DIR/tests/bench/kernels/machine.c
common="-O2 -ffp-contract=off -fno-math-errno"
tile="--target=riscv32-unknown-elf -march=rv32imf_zicsr_zfh_zba_zbb -mabi=ilp32f -ffreestanding -fno-builtin -fno-pic
  -mcmodel=medlow -fuse-ld=lld-19 -nostdlib -static -Wl,--image-base=0x4c000,--no-relax"
names=

# kernel <name> <rounds>: some tenths of a second on the host
kernel() {
  # shellcheck disable=SC2086
  {
    clang-19 $common -DKERNEL="$1" -DROUNDS="$2" "$source" -o "$1.host"
    clang-19 $common -DKERNEL="$1" -DROUNDS="$2/40" "$source" -o "$1.host_short"
    "$POPULUS_BIN/popc" --target=cpu -O2 -DCODELET -DKERNEL="$1" -DROUNDS="$2" "$source" -o "$1.gp"
    clang-19 $common $tile -DTILE -DKERNEL="$1" -DROUNDS="$2" "$source" -o "$1.tile"
    clang-19 $common $tile -DTILE -DKERNEL="$1" -DROUNDS="$2/40" "$source" -o "$1.short"
    clang-19 $common $tile -DTILE -DSMALL -DKERNEL="$1" -DROUNDS=2 "$source" -o "$1.small"
    clang-19 $common $tile -DLINUX -DKERNEL="$1" -DROUNDS="$2/40" "$source" -o "$1.linux"
    clang-19 $common $tile -DLINUX -DKERNEL="$1" -DROUNDS=0 "$source" -o "$1.linux_start"
  }
  names="$names $1"
}

kernel dot 40000
kernel dot4 80000
kernel stencil 80000
kernel sort 1600
kernel add_relu 120000
kernel half_saxpy 4000
kernel mandelbrot 4000
kernel crc 12000
# shellcheck disable=SC2086
clang-19 $common $tile -DTILE -DKERNEL=calls -DROUNDS=1000 "$source" -o dispatch.tile
# shellcheck disable=SC2086
clang-19 $common $tile -DTILE -DKERNEL=crc -DROUNDS=1200 "$source" -o crc.middle
# shellcheck disable=SC2086,SC2129 # words; lines that are done one after the other
"$POPULUS_BUILD_DIR/tests/bench/machine" $names >>"$output"
# shellcheck disable=SC2086
"$POPULUS_BUILD_DIR/tests/bench/translation" $names >>"$output"
"$POPULUS_BUILD_DIR/tests/bench/supersteps" "$POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp" >>"$output"
