#!/bin/sh
# qemu_differential.sh [first seed] [number of programs]: the engines and an independent RISC-V
# implementation give the same results.
#
# tests/support/qemu_gen.c makes random programs with all instructions of rv32imf_zicsr_zfh_zba_zbb,
# special values and all rounding modes. Each runs in qemu-riscv32 and on the software IPU. The
# contents of memory and registers must be equal to the bit. For the interpreter, exception flags
# are compared too; one program is about 1,600 cases, 16,000 instructions. Every tenth seed also
# makes a shorter program for the translator. The default, 60 seeds, takes a few seconds. A
# difference prints the seed, the case and both values;
#
#   sh tests/e2e/qemu_differential.sh <seed> 1
#
# with POPULUS_BUILD_DIR set repeats it (for seeds that divide by ten, on both engines). A
# difference between qemu 7.2 and the specification would be listed here; none is known (over 10^6
# cases).
set -eu

first=${1:-1}
programs=${2:-60}
generator=$POPULUS_BUILD_DIR/tests/support/qemu_gen
# A program that does not end must not hang the tests.
qemu="timeout 20 qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true"

command -v qemu-riscv32 >/dev/null || {
  echo "skipped: qemu-riscv32 is not installed (Debian: qemu-user)"
  exit 77
}

# compare <seed> <engine>
compare() {
  "$generator" make "$1" program.elf "$2"
  chmod +x program.elf
  $qemu ./program.elf >dump || {
    echo "seed $1, $2: qemu-riscv32 ends with status $?"
    exit 1
  }
  "$generator" check "$1" dump "$2" >result 2>&1 || {
    echo "seed $1, $2:"
    cat result
    failed=$((failed + 1))
  }
}

echo "seeds $first to $((first + programs - 1))"
failed=0
seed=$first
while [ "$seed" -lt $((first + programs)) ] && [ $failed -lt 5 ]; do
  compare "$seed" interpreter
  [ $((seed % 10)) -ne 0 ] || compare "$seed" translator
  seed=$((seed + 1))
done
cat result
[ $failed -eq 0 ]
