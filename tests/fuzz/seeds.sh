#!/bin/sh
# seeds.sh: makes the first inputs in tests/fuzz/corpus anew after a change of the formats; the rest
# of the corpus stays.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/cmake/common.sh"
me=seeds
build release support-fuzz_seeds support-small_archive

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/link.c" <<'SOURCE'
extern int missing(int) __attribute__((weak));
static const int table[] = {2, 3, 5, 7};
_Thread_local int calls;
int zeros[4];
int *pointers[] = {&zeros[1], zeros};
__attribute__((noinline)) static int helper(int x) { return table[x & 3] + ++calls; }
int entry(int x)
{
  for (int i = 0; i < x; ++i) zeros[i & 3] += helper(i);
  return missing ? missing(x) : *pointers[x & 1];
}
SOURCE
clang-19 --target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -mno-relax -msmall-data-limit=0 -O1 \
  -ffunction-sections -fdata-sections -mcmodel=medlow -c "$work/link.c" -o "$work/link.o"
llvm-objcopy-19 --remove-section=.comment --remove-section=.note.GNU-stack --remove-section=.llvm_addrsig "$work/link.o"

build/tests/support/small_archive "$work/small.a" streams
(cd "$work" && ar x small.a metadata.elf)

seeds=build/tests/support/fuzz_seeds
"$seeds" archive tests/fuzz/corpus/archive
"$seeds" image tests/fuzz/corpus/image
"$seeds" link tests/fuzz/corpus/link "$work/link.o"
"$seeds" metadata tests/fuzz/corpus/metadata "$work/metadata.elf"
