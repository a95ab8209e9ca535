#!/bin/sh
# qemu_differential.sh [first seed] [number of programs]: the interpreter against an independent RISC-V implementation.
#
# tests/support/qemu_gen.c makes random programs over all instructions of rv32imf_zicsr_zfh_zba_zbb, with special values,
# all rounding modes and the exception flags; each runs in qemu-riscv32 and on the software IPU, and what they leave in
# memory and registers is compared to the bit. One program is about 1,600 cases, 16,000 instructions; the default, 60
# programs, takes a few seconds. A difference prints the seed, the case and both values;
#
#   sh tests/e2e/qemu_differential.sh <seed> 1
#
# with POPULUS_BUILD_DIR set repeats it. Only differences between qemu 7.2 and the specification would be listed here;
# none is known (over 10^6 cases).
set -eu

first=${1:-1}
programs=${2:-60}
generator=$POPULUS_BUILD_DIR/tests/support/qemu_gen
# Programs are our own, but an executable that does not end must not hang the tests.
qemu="timeout 20 qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true"

command -v qemu-riscv32 >/dev/null || {
  echo "skipped: qemu-riscv32 is not installed (Debian: qemu-user)"
  exit 77
}

echo "seeds $first to $((first + programs - 1))"
failed=0
seed=$first
while [ "$seed" -lt $((first + programs)) ]; do
  "$generator" make "$seed" program.elf
  chmod +x program.elf
  $qemu ./program.elf >dump || {
    echo "seed $seed: qemu-riscv32 ends with status $?"
    exit 1
  }
  "$generator" check "$seed" dump >result 2>&1 || {
    echo "seed $seed:"
    cat result
    failed=$((failed + 1))
    [ $failed -lt 5 ] || break
  }
  seed=$((seed + 1))
done
cat result
[ $failed -eq 0 ]
