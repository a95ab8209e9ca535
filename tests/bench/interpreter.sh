#!/bin/sh
# interpreter.sh <file>: instruction rates of the interpreter alone, one thread, beside qemu-riscv32 (a translator, one thread) in the
# same run, without its start.
#
# The kernels are compiled as popc compiles codelets and run bit for bit the same in both. Their results are compared.
set -eu

output=$1
kernels=$POPULUS_SOURCE_DIR/tests/bench/kernels/kernels.c

# compile <name> <rounds> <program>
compile() {
  clang-19 --target=riscv32-unknown-elf -march=rv32imf_zicsr_zfh_zba_zbb -mabi=ilp32f -ffreestanding -fno-builtin -fno-pic \
    -mcmodel=medlow -O2 -ffp-contract=off -fno-math-errno -fuse-ld=lld-19 -nostdlib -static -Wl,--image-base=0x4c000,--no-relax \
    -DKERNEL="$1" -DROUNDS="$2" "$kernels" -o "$3"
}

# kernel <name> <rounds>: about half a second of interpretation in all
kernel() {
  compile "$1" "$2" "$1.elf"
  compile "$1" 0 "$1.start"
  "$POPULUS_BUILD_DIR/tests/bench/interpreter" "$1" "$1.elf" "$1.start" \
    qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true >>"$output"
}

kernel crc 1000
kernel sort 700
kernel primes 700
kernel dot 7000
kernel relu 6000
kernel mandel 250
kernel half_saxpy 3000
