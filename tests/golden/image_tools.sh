#!/bin/sh
# Archives of tile images, read by other tools: each tool exits with 0, prints nothing to standard
# error, and shows what we wrote. The code in the images comes from clang 19, with instructions of
# every extension of the tile.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

make_images=$POPULUS_BUILD_DIR/tests/support/make_images
riscv_objdump=riscv64-unknown-elf-objdump

for tool in ar size nm readelf objdump clang-19 llvm-objcopy-19 llvm-objdump-19 llvm-readelf-19 llvm-size-19; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done

has_not()
{
  ! grep -E -- "$2" "$1" || fail "$1 has a line '$2'"
}

cat >code.s <<'END'
  mul a0, a1, a2
  flw fa0, 4(a0)
  fmul.h fa0, fa0, fa1
  fcvt.s.h fa0, fa0
  csrr a0, fcsr
  sh2add a0, a1, a2
  ctz a0, a1
  ret
END
clang-19 --target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -c code.s -o code.o
llvm-objcopy-19 -O binary --only-section=.text code.o code.bin

"$make_images" images.a ipu2 5 code.bin >made
"$make_images" again.a ipu2 5 code.bin >made-again
cmp images.a again.a || fail "the same images make different bytes"

# The guide's pipeline: one number for each tile, in tile order.
quiet sizes size -A images.a
grep -e ".text" sizes | awk '{print $2}' >per-tile
awk '{print $2}' made | cmp - per-tile || fail "size -A: $(cat per-tile)"
quiet sizes llvm-size-19 -A images.a
grep -e ".text" sizes | awk '{print $2}' | cmp - per-tile || fail "llvm-size -A"
quiet sizes size images.a
quiet sizes sh -c 'size -A images.a | grep -c text'
has sizes '^5$' # no other line has the word

quiet members ar t images.a
awk '{print $1}' made | cmp - members || fail "ar t: $(cat members)"
quiet verbose ar tv images.a
has verbose '^rw-r--r-- 0/0 .* 1970 tile-00003.elf$'
quiet out ar x images.a
quiet out llvm-ar-19 t images.a
cmp out members || fail "llvm-ar t"
[ "$(ls tile-*.elf | wc -l)" = 5 ] || fail "ar x extracts $(ls)"

image=tile-00003.elf
quiet readelf.out readelf -aW $image
has readelf.out 'Class: +ELF32$' "Data: +2's complement, little endian" 'Machine: +RISC-V' 'Type: +EXEC' \
  'Flags: +0x2, single-float ABI' 'Entry point address: +0x4e000' \
  ' \.text +PROGBITS +0004c000 [0-9a-f]+ 00212c 00 +AX' \
  'LOAD +0x[0-9a-f]+ 0x0004c000 0x0004c000 0x0212c 0x0212c R E ' \
  'Tag_RISCV_arch: "rv32i2p1_m2p0_f2p2_.*zfh1p0_.*zba1p0_zbb1p0"' 'Tag_RISCV_stack_align: 16-bytes' \
  '0004e000 +16 FUNC +GLOBAL +DEFAULT +1 control' '0004e010 +16 FUNC +LOCAL +DEFAULT +1 vertex' \
  '0004e020 +12 OBJECT +GLOBAL +DEFAULT +1 variable' '0004e02c +256 OBJECT +GLOBAL +DEFAULT +1 stack'
quiet llvm-readelf.out llvm-readelf-19 -aW $image
has llvm-readelf.out '0004e010 +16 FUNC +LOCAL' '\.text +PROGBITS +0004c000'
quiet out llvm-readelf-19 -A $image
has out 'Value: rv32i2p1_m2p0_f2p2_.*zfh1p0_.*zba1p0_zbb1p0'

quiet objdump.out objdump -x $image
has objdump.out 'start address 0x0004e000' 'vaddr 0x0004c000' ' 0 \.text +0000212c +0004c000' \
  '0004e02c g +O \.text	00000100 stack'
quiet out objdump -x images.a

quiet nm.out nm -S $image
has nm.out '^0004e000 00000010 T control$' '^0004e010 00000010 t vertex$' '^0004e020 0000000c T variable$'

# Code is shown as instructions, and data as data. As code, bytes 0xd0 would be instructions of the
# F extension.
for objdump in $riscv_objdump llvm-objdump-19; do
  command -v "$objdump" >/dev/null || { echo "not checked: there is no $objdump"; continue; }
  quiet disassembly "$objdump" -d $image
  has disassembly 'mul	a0, ?a1, ?a2' 'flw	fa0, ?(4|0x4)\(a0\)' 'fmul.h	fa0, ?fa0, ?fa1' 'fcvt.s.h	fa0, ?fa0' \
    'sh2add	a0, ?a1, ?a2' 'ctz	a0, ?a1' '	ret' '<vertex>:' \
    '4e020: ?	?(d0d0d0d0 d0d0d0d0 d0d0d0d0|d0 d0 d0 d0)'
  has_not disassembly 'fn?m(add|sub)|<unknown>|unimp'
  quiet out "$objdump" -d images.a
done

if command -v eu-elflint >/dev/null; then
  quiet lint eu-elflint --gnu-ld $image
  has lint '^No errors$'
  quiet out eu-readelf -a $image
fi

# Each tile has its own build id. strip removes the symbols and nothing else that is needed.
quiet out readelf -nW $image
has out 'GNU +0x00000010	NT_GNU_BUILD_ID' 'Build ID: [0-9a-f]{32}$'
for i in 0 1 2 3 4; do
  quiet id$i sh -c "readelf -nW tile-0000$i.elf | sed -n 's/.*Build ID: //p'"
done
[ "$(sort -u id0 id1 id2 id3 id4 | wc -l)" = 5 ] || fail "build ids: $(cat id0 id1 id2 id3 id4)"
if command -v file >/dev/null; then
  quiet out file $image
  has out "ELF 32-bit LSB executable, UCB RISC-V, .*BuildID\[[a-z0-9/]+\]=$(cat id3)"
fi
for tool in riscv64-unknown-elf-strip 'riscv64-unknown-elf-strip -g' riscv64-unknown-elf-objcopy llvm-strip-19 llvm-objcopy-19; do
  command -v "${tool%% *}" >/dev/null && command -v eu-elflint >/dev/null || continue
  cp $image changed.elf
  # shellcheck disable=SC2086 # words
  quiet out $tool changed.elf
  quiet lint eu-elflint --gnu-ld changed.elf
  has lint '^No errors$'
  quiet out readelf -nW changed.elf
  has out "Build ID: $(cat id3)"
done
for strip in riscv64-unknown-elf-strip llvm-strip-19; do
  command -v $strip >/dev/null || { echo "not checked: there is no $strip"; continue; }
  quiet out $strip -o stripped.elf $image
  quiet sections readelf -SW stripped.elf
  has sections ' \.text +PROGBITS +0004c000 [0-9a-f]+ 00212c 00 +AX'
  has_not sections 'symtab'
  has sections '\.populus\.segments +PROGBITS +00000000 [0-9a-f]+ 000024 '
  llvm-objcopy-19 -O binary --only-section=.text stripped.elf stripped.bin
  llvm-objcopy-19 -O binary --only-section=.text $image image.bin
  cmp stripped.bin image.bin || fail "$strip changes memory"
done

# Memory starts at another address on another target.
"$make_images" ipu1.a ipu1 1 code.bin >/dev/null
quiet sizes size -A ipu1.a
has sizes '^\.text +[0-9]+ +262144$'
