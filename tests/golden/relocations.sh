# One object has every relocation type of the linker's table. Our linker, lld and GNU ld link it to
# the same addresses, and the bytes must be equal. A type that is in the table and not in the object
# fails this test.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

link_tool=$POPULUS_BUILD_DIR/tests/support/link_tool
gnu_ld=riscv64-unknown-elf-ld

# GNU ld 2.40 does not know the types of the second part.
cat >old.S <<'END'
  .section .text.root, "ax"
  .globl root
root:
  call far                       # CALL_PLT
  auipc ra, 0
  jalr ra, ra
  .reloc root + 8, R_RISCV_CALL, far + 4
  jal far                        # JAL
  beq a0, a1, .+8
  .reloc root + 20, R_RISCV_BRANCH, near
  lui a0, %hi(value + 0x7fc)     # HI20, LO12_I, LO12_S
  addi a0, a0, %lo(value + 0x7fc)
  lui a1, %hi(value - 4)
  sw a0, %lo(value - 4)(a1)
.Lhigh:
  auipc a2, %pcrel_hi(value + 8) # PCREL_HI20, PCREL_LO12_I, PCREL_LO12_S
  lw a3, %pcrel_lo(.Lhigh)(a2)
  sw a3, %pcrel_lo(.Lhigh)(a2)
  lui a4, %tprel_hi(second)      # TPREL_HI20, TPREL_ADD, TPREL_LO12_I, TPREL_LO12_S
  add a4, a4, tp, %tprel_add(second)
  lw a5, %tprel_lo(second)(a4)
  sw a5, %tprel_lo(second)(a4)
  nop
  .reloc ., R_RISCV_RELAX, 0
  .reloc ., R_RISCV_NONE, 0
  nop
  la a0, root2
  lui a0, %hi(numbers)
  ret
root2:
  .section .text.near, "ax"
  .globl near
near:
  ret
  .section .text.far, "ax"
  .globl far
far:
  .zero 0x9a8
  ret
  .section .tdata, "awT"
first:
  .word 1
  .zero 0x804
second:
  .word 2
  .data
value:
  .word 1, 2, 3, 4
numbers:
  .reloc ., R_RISCV_32, near + 12
  .word 7
  .reloc ., R_RISCV_64, far
  .quad 7
  .macro number type, target, what:vararg
  .reloc ., R_RISCV_\type, \target
  \what
  .endm
  number ADD8, numbers, .byte 5
  number SUB8, value, .byte 5
  number SUB6, value, .byte 0xc5
  number SET6, numbers, .byte 0xc5
  number SET8, near, .byte 5
  .byte 0
  number SET16, near, .half 5
  number ADD16, far, .half 0x1234
  number SUB16, value, .half 0x1234
  .half 0
  number ADD32, far, .word 0x12345678
  number SUB32, value, .word 0x12345678
  number SET32, far, .word 9
  number 32_PCREL, near, .word 9
  number ADD64, far, .quad 0x1234567812345678
  number SUB64, value, .quad 0x1234567812345678
END
cat >new.S <<'END'
  .data
  .globl root
root:
from:
  .reloc ., R_RISCV_PLT32, code + 4
  .word 5
  .reloc ., R_RISCV_SET_ULEB128, to
  .reloc ., R_RISCV_SUB_ULEB128, from
  .byte 0x80, 0
  .zero 300
to:
  .section .text.code, "ax"
  .globl code
code:
  nop
  .reloc ., R_RISCV_ALIGN, 4
  nop
  ret
END

compile="clang-19 --target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -mno-relax -c"
for part in old new; do
  $compile $part.S -o $part.o
  quiet $part.txt "$link_tool" 0x50000 $part root $part.o
done

# compare <part> <linker>...: the linker makes the same bytes of the same object and script.
compare()
{
  part=$1
  shift
  quiet out "$@" -m elf32lriscv --no-relax -e 0 -T "$part".ld "$part".o -o "$part".elf
  llvm-objcopy-19 -O binary "$part".elf theirs.bin
  cmp -n "$(wc -c <theirs.bin)" theirs.bin "$part".bin || fail "$1 makes other bytes of $part.S"
  [ "$(wc -c <theirs.bin)" -ge $(($(wc -c <"$part".bin) - 8)) ] || fail "$1 leaves out bytes"
}
compare old ld.lld-19
compare new ld.lld-19
if command -v $gnu_ld >/dev/null; then compare old $gnu_ld --no-warn-rwx-segments; else echo "not compared: there is no $gnu_ld"; fi

# GOT types become the address itself; tests/unit/libarchive-ipu/link.c tests them.
sed -n 's/^ *\[\(R_RISCV_[A-Z0-9_]*\)\] = .*/\1/p' "$POPULUS_SOURCE_DIR/libarchive-ipu/relocation.c" | grep -v GOT | sort >known
llvm-readelf-19 -rW old.o new.o | grep -o 'R_RISCV_[A-Z0-9_]*' | sort -u >tested
cmp known tested || fail "known and not tested, tested and not known: $(comm -3 known tested)"
