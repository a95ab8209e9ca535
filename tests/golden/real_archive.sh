# The archive and the .gp of a real program, read by other tools: each exits with status 0 and
# prints no complaint. The memory report counts the bytes that symbols name, tile by tile. Code is
# shown as instructions, data as data.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
tools="ar nm objdump readelf size llvm-nm-19 llvm-objdump-19 llvm-readelf-19 llvm-size-19 riscv64-unknown-elf-objdump
  riscv64-unknown-elf-nm eu-readelf eu-elflint llvm-objcopy-19 riscv64-unknown-elf-objcopy"
missing=
for tool in $tools; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
have() { case " $missing " in *" $1 "*) return 1 ;; esac; }
have ar && have nm && have llvm-objdump-19 || { echo "skipped: no$missing"; exit 77; }
[ -z "$missing" ] || echo "left out: no$missing"

tiles=7
quiet out "$POPULUS_BIN/popc" -g "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp
for target in ipu1 ipu2; do
  POPLAR_ENGINE_OPTIONS="{\"target.saveArchive\":\"$target.a\"}" \
    quiet $target.txt "$POPULUS_BUILD_DIR/tests/support/busy_graph" busy.gp $target $tiles
  has $target.txt '^counts: \{0,3,0\}$'
done

# look <tool> <argument>... <file>: the tool succeeds and prints no warning.
look()
{
  have "$1" || return 0
  quiet look.out "$@"
  ! grep -iE 'warning|corrupt|error' look.out || fail "$* has something to say"
}

look_at() # <file>
{
  look ar t "$1"
  look readelf -aW "$1"
  look objdump -x "$1"
  look nm -S "$1"
  look size "$1"
  look size -A "$1"
  look llvm-nm-19 -S "$1"
  look llvm-objdump-19 -d "$1"
  look llvm-objdump-19 -x "$1"
  look llvm-readelf-19 -a "$1"
  look llvm-size-19 -A "$1"
  look riscv64-unknown-elf-objdump -d "$1"
  look riscv64-unknown-elf-nm -S "$1"
  look eu-readelf -a "$1"
}
look_at ipu1.a
look_at ipu2.a
look_at busy.gp

# With a section for each use of memory, size shows separate rows, and the memory is the same.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"sections.a","target.archiveSections":"byCategory"}' \
  quiet sections.txt "$POPULUS_BUILD_DIR/tests/support/busy_graph" busy.gp ipu1 $tiles
cmp sections.txt ipu1.txt || fail "with sections by category the program runs another way"
look_at sections.a
quiet rows size -A sections.a
has rows '^\.text +' '^\.data +' '^\.rodata +' '^\.vertex +' '^\.stack +' '^\.control +' '^\.exchange +' '^\.system +'
! grep -E '[a-z]text' rows || fail "a name that grep -e .text finds"
mkdir flat sections
(cd flat && ar x ../ipu1.a)
(cd sections && ar x ../sections.a)
for image in flat/tile-*.elf; do
  split=sections/${image#flat/}
  have eu-elflint && quiet lint eu-elflint --gnu-ld "$split"
  for objcopy in llvm-objcopy-19 riscv64-unknown-elf-objcopy; do
    have $objcopy || continue
    quiet out $objcopy -O binary "$image" flat.bin
    quiet out $objcopy -O binary "$split" split.bin
    cmp flat.bin split.bin || fail "$split: other memory than $image"
    quiet out $objcopy "$split" copy.elf
    quiet out $objcopy -O binary copy.elf split.bin
    cmp flat.bin split.bin || fail "$split: $objcopy loses memory"
  done
done

mkdir members
(cd members && ar x ../busy.gp && [ "$(ls | LC_ALL=C sort)" = "$(ar t ../busy.gp | LC_ALL=C sort)" ]) || fail "ar x busy.gp"

# The number of bytes that symbols name: the union of their ranges, because things that are never
# needed at the same time may share an address. And the number of bytes in gaps shorter than 16,
# which may be padding of linked code and then count as code.
cat >union.awk <<'AWK'
function number(hex,   i, n) {
  for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
  return n
}
NF >= 4 {
  from = number($1); to = from + number($2)
  if (end && from > end && from - end < 16) padding += from - end
  if (from < end) from = end
  if (to > from) { bytes += to - from; end = to }
}
END { print bytes + 0, padding + 0 }
AWK
for target in ipu1 ipu2; do
  mkdir $target
  (cd $target && ar x ../$target.a)
  [ "$(ls $target/tile-*.elf | wc -l)" = $tiles ] || fail "ar x $target.a: $(ls $target)"
  grep -v counts $target.txt | while read -r tile total including_gaps loaded; do
    image=$target/tile-0000$tile.elf
    # shellcheck disable=SC2046 # two numbers
    set -- $(nm -nS "$image" | awk -f union.awk)
    { [ "$1" -le "$total" ] && [ "$total" -le $(($1 + $2)) ]; } ||
      { nm -nS "$image" >&2; fail "$image: symbols name $1 bytes, padding is at most $2; the report counts $total"; }
    [ "$(size -A "$image" | awk '$1 == ".text" {print $2}')" = "$including_gaps" ] || fail "$image: size -A"
    [ "$loaded" = "$including_gaps" ] || fail "$image: $loaded bytes loaded"
  done
done

# Symbols name everything on the tile.
quiet symbols nm -nS ipu1/tile-00000.elf
has symbols ' T __runCodelet_Root$' ' T __runCodelet_DotHalf$' ' T __udivdi3$' ' t weights$' ' t calls_of_tile$' \
  ' t calls_of_worker.worker[05]$' \
  ' t control$' ' t worker.stub$' ' t roots/ExchangePre$' ' t stack.supervisor$' ' t stack.worker5$' \
  ' t vertex.roots.Root.[0-9]+$' ' t vertex.dot products.DotHalf.[0-9]+$' ' t table.roots$' ' t in$' ' t out$' ' t sums$'

# shown <disassembler> <symbol>: the symbol's lines in the disassembly.
shown()
{
  sed -n "/<$2>:/,/^\$/p" "$1.txt"
}

for objdump in llvm-objdump-19 riscv64-unknown-elf-objdump; do
  have $objdump || continue
  quiet $objdump.txt $objdump -d ipu1/tile-00000.elf
  for function in __runCodelet_Root __runCodelet_DotHalf __udivdi3; do
    shown $objdump $function >function.txt
    has function.txt '	ret$'
    # Exceptions are the tile's own instructions. Joined accesses (isa.h) are loads and stores with
    # 6, or 7 for pairs, in funct3, bits 12 to 14, which RISC-V leaves free. Steps are op-imm-32,
    # which rv32 leaves free, with 0 or 2 in funct3.
    grep -E 'unknown|\.word|\.insn|\.4byte' function.txt |
      grep -vE '^ *[0-9a-f]+:[[:space:]]+[0-9a-f]{4}([6e][0-9a-f](03|23|83|a3)|[67ef][0-9a-f](07|27|87|a7)|[028a][0-9a-f][19]b)[[:space:]]' &&
      fail "$objdump: $function is not all instructions"
    :
  done
  shown $objdump __runCodelet_Root >function.txt
  has function.txt 'flw	' 'fmul\.s	' 'fsqrt\.s	' 'fsw	'
  shown $objdump __runCodelet_DotHalf >function.txt
  has function.txt 'flh	' 'fcvt\.s\.h	' 'fadd\.s	'
  # Control code mixes RISC-V with the tile's own instructions, which no disassembler knows.
  shown $objdump control >function.txt
  has function.txt '	(lui|auipc)	' '	(j|jal)	' 'unknown|\.word|\.insn|\.4byte'
  shown $objdump worker.stub >function.txt
  has function.txt '	bnez	' 'unknown|\.word|\.insn|\.4byte'
  # Data is shown as data: 0.5f and 0.25f, and a stack of zeros.
  shown $objdump weights >data.txt
  has data.txt '(00 00 00 3f 00 00 80 3e|3f000000)'
  for object in weights stack.worker0 in calls_of_tile; do
    shown $objdump $object >data.txt
    ! sed 1d data.txt | grep -E '	(c\.)?(unimp|addi?|fl[wh]|fs[wh]|lui|ret|nop)( |	|$)' || fail "$objdump: $object is shown as code"
  done
done
