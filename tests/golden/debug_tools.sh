# Debug information in an archive is stored once for all tiles with the same code. The usual tools
# find it after `ar x`. The codelets are those of the split matrix-vector product, with two
# identical helper functions.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

cat >codelets.c <<'END'
#include <populus/vertex.h>

__attribute__((noinline)) static float add_product(float sum, float a, float b)
{
  return sum + a * b; /* kept copy */
}

typedef struct {
  INPUT(VECTOR(float)) a;
  INPUT(VECTOR(float)) b;
  OUTPUT(float) out;
} DotProductVertex;

COMPUTE(DotProductVertex)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->a.size; ++i)
    sum = add_product(sum, vertex->a.data[i], vertex->b.data[i]); /* call */
  *vertex->out = sum; /* result */
  return true;
}

__attribute__((noinline)) static float add_scaled(float sum, float a, float b)
{
  return sum + a * b; /* folded copy */
}

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(float) out;
} ReduceVertex;

COMPUTE(ReduceVertex)
{
  volatile float one = 1;
  float sum = 0;
  for (unsigned i = 0; i < vertex->in.size; ++i) sum = add_scaled(sum, vertex->in.data[i], one);
  *vertex->out = sum; /* reduced */
  return true;
}
END

# line <words>: the number of the line with that comment.
line()
{
  grep -n "/\* $1 \*/" codelets.c | cut -d: -f1
}

# multiply <archive> <option of popc>...
multiply()
{
  archive=$1
  shift
  quiet out "$POPULUS_BIN/popc" -O2 "$@" codelets.c -o codelets.gp
  POPLAR_ENGINE_OPTIONS="{\"target.saveArchive\":\"$archive\"}" quiet out "$POPULUS_BIN/matvec_split" --target ipu1 \
    --codelets codelets.gp 300 40
  has out 'Multiplication result OK'
}

# address <image> <symbol>
address()
{
  nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1; exit }'
}

# every_line <image>: the tools name the lines of the image's functions.
every_line()
{
  image=$1
  dot=$(address "$image" __runCodelet_DotProductVertex)
  helper=$(address "$image" add_product)
  for tool in "addr2line -fe" "riscv64-unknown-elf-addr2line -fe" "llvm-addr2line-19 -fe"; do
    command -v "${tool%% *}" >/dev/null || continue
    # shellcheck disable=SC2086 # words
    quiet out $tool "$image" "$helper" "$dot"
    has out '^add_(product|scaled)$' "/codelets.c:$(line 'kept copy')\$"
    # shellcheck disable=SC2046,SC2086 # words
    quiet out $tool "$image" $(awk -v from=$((dot)) 'BEGIN { for (i = 0; i < 40; i++) printf "0x%x ", from + 4 * i }')
    has out "/codelets.c:$(line call)\$" "/codelets.c:$(line result)\$"
  done
  quiet out llvm-symbolizer-19 --obj="$image" "$helper"
  has out '^add_(product|scaled)$' "/codelets.c:$(line 'kept copy'):"
  if command -v gdb-multiarch >/dev/null; then
    # gdb's only warning: the file with debug information has no .text, because scripts pick the
    # lines of size -A by that name.
    gdb-multiarch -nx -batch -ex "info line *$helper" -ex "list __runCodelet_ReduceVertex" -ex "ptype ReduceVertex" \
      "$image" >out 2>err || fail "gdb exits $?: $(cat out err)"
    grep -v -e '^$' -e 'warning: section .text not found in .*/code-0000[0-9].dbg$' err >complaints || true
    [ ! -s complaints ] || fail "gdb: $(cat complaints)"
    has out "Line $(line 'kept copy') of .*codelets.c. starts at address 0x0*$(echo "$helper" | sed "s/0x0*//") <add_(product|scaled)>" \
      'COMPUTE.ReduceVertex.$' '^ +const float \*data;$'
  fi
}

for tool in ar nm readelf size llvm-symbolizer-19 llvm-dwarfdump-19; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done

for dwarf in -gdwarf-4 -gdwarf-5; do
  multiply images.a $dwarf
  rm -rf members
  mkdir members
  (cd members && ar x ../images.a)
  ls members/*.dbg >files
  [ "$(wc -l <files)" -le 8 ] || fail "$dwarf: $(wc -l <files) files with debug information"

  # The images have the same names and order as without debug information. Its files follow them.
  quiet sizes size -A images.a
  [ "$(grep -c -e ".text" sizes)" = 1216 ] || fail "size -A: $(grep -c -e ".text" sizes) lines with .text"
  quiet list ar t images.a
  head -1216 list | awk '$1 != sprintf("tile-%05d.elf", NR - 1) { exit 1 }' || fail "members: $(head -3 list)"

  # A tile with both vertices: one helper function serves both.
  both=
  for image in members/tile-*.elf; do
    [ -n "$(address "$image" __runCodelet_ReduceVertex)" ] && [ -n "$(address "$image" add_product)" ] || continue
    both=$image
    break
  done
  [ -n "$both" ] || fail "no tile has both vertices"
  [ "$(address "$both" add_product)" = "$(address "$both" add_scaled)" ] || fail "identical functions are there twice"
  every_line "$both"
  every_line members/tile-00000.elf

  for file in members/*.dbg; do
    # As with other linkers, the entries of removed functions stay. Their address is outside of all
    # ranges.
    llvm-dwarfdump-19 --verify "$file" >out || true
    ! grep '^error: ' out | grep -Ev 'Aggregated|DIE(s? ha(s|ve) overlapping| address ranges are not contained)' ||
      fail "$file: $(cat out)"
    quiet out readelf -wliao "$file"
    quiet sections readelf -SW "$file"
    has sections ' \.code +NOBITS +000[0-9a-f]+ ' ' \.debug_line +PROGBITS'
    if command -v eu-elflint >/dev/null; then
      quiet lint eu-elflint --gnu-ld -d "$file"
      has lint '^No errors$'
    fi
  done
done

# The same graph gives the same bytes. Without -g there is no debug information.
multiply again.a -gdwarf-5
cmp images.a again.a || fail "the same graph makes different archives"
multiply plain.a
quiet list ar t plain.a
! grep '\.dbg$' list || fail "there is debug information without -g"
ar x plain.a tile-00000.elf
quiet sections readelf -SW tile-00000.elf
! grep -q debug sections || fail "$(grep debug sections)"

# debug.keepDuplicateCode gives each function its own copy, for debugging.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"kept.a","debug.keepDuplicateCode":true}' quiet out \
  "$POPULUS_BIN/matvec_split" --target ipu1 --codelets codelets.gp 300 40
image=${both#members/}
ar x kept.a "$image"
[ "$(address "$image" add_product)" != "$(address "$image" add_scaled)" ] || fail "identical functions are there once"
