#!/bin/sh
# The archive of a compiled graph, read by other tools. `size -A` agrees with the memory report and
# the loader on every tile. Symbols name everything with its size. Code is shown as code and data as
# data. A second compilation gives the same bytes.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

for tool in ar size nm readelf objdump llvm-objdump-19; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done

# multiply <archive> <arguments>...
multiply()
{
  archive=$1
  shift
  POPLAR_ENGINE_OPTIONS="{\"target.saveArchive\":\"$archive\"}" \
    quiet output "$POPULUS_BIN/matvec_split" --target ipu1 "$@" 300 40
}

multiply images.a --tile-memory tile-memory
has output 'Multiplication result OK'
multiply again.a
cmp images.a again.a || fail "the same graph makes different archives"

# Columns: size, memory report, loader.
size -A images.a | grep -e ".text" | awk '{print $2}' >per-tile
[ "$(wc -l <per-tile)" = 1216 ] || fail "size -A has $(wc -l <per-tile) lines"
paste -d' ' per-tile tile-memory | awk '$1 != $2 || $1 != $3 { print NR - 1 ": " $0; bad = 1 } END { exit bad }' ||
  fail "size, report and loader differ"
quiet members ar t images.a
{ seq -f 'tile-%05g.elf' 0 1215; echo metadata.elf; echo profile.elf; } | cmp - members || fail "members: $(cat members)"

image=tile-00000.elf
quiet out ar x images.a $image
quiet out readelf -aW images.a
quiet out objdump -x images.a
quiet segments readelf -lW $image
has segments 'LOAD .* 0x00040000 .* R E ' ' +.note.gnu.build-id'
[ "$(grep -c LOAD segments)" = 1 ] || fail "$(cat segments)"

# Everything on the tile has a symbol with a size. Only alignment leaves a few bytes without one.
quiet symbols nm -nS $image
has symbols ' T __runCodelet_DotProductVertex$' ' T __runCodelet_ReduceVertex$' ' t control$' ' t worker.stub$' \
  ' t stack.supervisor$' ' t stack.worker5$' ' t matrix$' ' t inputVector$' ' t table.mulCS$' ' t table.reduceCS$' \
  ' t vertex.mulCS.DotProductVertex.[0-9]+$' ' t vertex.reduceCS.ReduceVertex.[0-9]+$' ' t mulCS/ExchangePre$'
quiet types readelf -p .populus.symbols $image
has types ' float\[300,40\]$' ' float\[40\]$'
quiet sections readelf -SW $image
awk -v end="$(awk '$2 == ".text" || $3 == ".text" { for (i = 1; i <= NF; i++) if ($i == "PROGBITS") print $(i + 1), $(i + 3) }' sections)" '
  function number(hex,   i, n) { for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
  BEGIN { split(end, part, " "); base = number(part[1]); last = base + 8192; limit = base + number(part[2]) }
  NF == 4 { from = number($1); to = from + number($2)
            if (from > last + 15) { print "no symbol before", $0; bad = 1 }
            if (to > last) last = to }
  END { if (last != limit) { print "symbols end at", last, "and the image at", limit; bad = 1 }; exit bad }' symbols >gaps ||
  fail "$(cat gaps)"

# Control code disassembles to its end. A stack is shown as data, although its bytes are in `.text`.
quiet disassembly llvm-objdump-19 -d $image
sed -n '/<worker.stub>:/,/^$/p' disassembly >stub
has stub 'lw	s0, 0x0\(a0\)' 'lw	sp, 0x4\(a0\)' 'lw	t1, 0x4\(s0\)' 'bnez	t0'
sed -n '/<__runCodelet_DotProductVertex>:/,/^$/p' disassembly >vertex
has vertex 'flw	' 'fmul.s' 'fadd.s' '	ret'
# The only unknown instructions in the vertex are steps, which the tile encodes in op-imm-32.
[ "$(grep -c unknown vertex)" = "$(grep -cE ' [0-9a-f]{6}[19]b  *	<unknown>' vertex)" ] || fail "unknown instructions in a vertex"
sed -n '/<stack.worker0>:/,/^$/p' disassembly >stack
! grep -Eq 'unimp|unknown|add' stack || fail "a stack is shown as code"
echo "archive of $(wc -l <per-tile) tiles, $(wc -c <images.a) bytes: ok"
