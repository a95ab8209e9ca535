# A source with the chip's inline assembly still compiles: popc takes the path without __IPU__ and
# prints a note. The option --portable forces or forbids this.
set -u
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

cat >clamp.cpp <<'END_OF_CODELET'
#include <poplar/Vertex.hpp>
using namespace poplar;
#ifdef __IPU__
typedef unsigned short Count;
#else
typedef unsigned Count;
#endif
class Clamp : public Vertex
{
public:
  Count count;
  Vector<float, VectorLayout::SHORT_SPAN> data;
  Output<int> out;
  bool compute()
  {
    float high = 4, low;
#ifdef __IPU__
    asm("f32min %[low], %[a], %[b]" : [low] "=r"(low) : [a] "r"(high), [b] "r"(high));
#else
    low = high < 3 ? high : 3;
#endif
    *out = static_cast<int>(low + count + data.size());
    return true;
  }
};
END_OF_CODELET
note='popc: note: clamp.cpp: its inline assembly is for another instruction set; compiled the portable path (without __IPU__) instead'

# By default: one note, the code of the portable path, and the tile's layouts and types in the
# vertex table.
"$popc" -Wall -Werror clamp.cpp -o clamp.gp 2>said.txt || fail "auto ends with $?"
[ "$(cat said.txt)" = "$note" ] || fail "auto says: $(cat said.txt)"
[ "$("$run" clamp.gp Clamp)" = 'out = 3' ] || fail "runs: $("$run" clamp.gp Clamp)"
"$popc" --list-vertices --target ipu2 clamp.cpp 2>/dev/null >list.txt
grep -q 'count .* unsigned int  *0  *4$' list.txt && grep -q 'data .* short_span  *float  *4  *4$' list.txt || fail "$(cat list.txt)"
"$popc" -Wall -Werror clamp.cpp -o again.gp 2>/dev/null && cmp -s clamp.gp again.gp || fail 'other bytes the second time'
"$popc" -w clamp.cpp -o again.gp 2>said.txt && [ ! -s said.txt ] || fail "-w says: $(cat said.txt)"
"$popc" --target=ipu1 -S -o clamp.s clamp.cpp 2>said.txt && [ -s clamp.s ] && [ "$(cat said.txt)" = "$note" ] ||
  fail "-S says: $(cat said.txt)"

# -v shows the commands that run. For the tile there are two; --vectors=never removes the passes
# between them that handle loops and vectors.
"$popc" -v --vectors=never --target ipu2,cpu clamp.cpp -o again.gp 2>said.txt
[ "$(grep -c 'target=riscv32' said.txt)" = 2 ] && [ "$(grep -c -e '-D__IPU__' said.txt)" = 1 ] || fail "-v: $(cat said.txt)"

# --portable takes the portable path at once and without a note. --portable=never forbids it.
"$popc" --portable -Wall clamp.cpp -o asked.gp 2>said.txt && [ ! -s said.txt ] && cmp -s clamp.gp asked.gp ||
  fail "--portable says: $(cat said.txt)"
"$popc" --portable=always '-###' clamp.cpp 2>&1 | grep -q -e '-D__IPU__' && fail '--portable=always defines __IPU__'
"$popc" --portable=never --portable=auto clamp.cpp -o asked.gp 2>/dev/null || fail 'the last --portable does not count'
"$popc" --portable=never clamp.cpp -o never.gp 2>never.txt
[ $? = 1 ] && [ ! -e never.gp ] || fail '--portable=never compiles'
grep -q 'clamp.cpp:18:9: error: unrecognized instruction mnemonic' never.txt || fail "never says: $(cat never.txt)"
"$popc" --portable=perhaps clamp.cpp 2>said.txt
[ $? = 2 ] && grep -q "'--portable=perhaps': it is auto, always or never" said.txt || fail "perhaps: $(cat said.txt)"

# The chip's registers in C. A source that tests the IPU version gets one note for all its
# compilations.
cat >registers.c <<'END_OF_CODELET'
#include <populus/vertex.h>
typedef struct { OUTPUT(int) out; } Registers;
COMPUTE(Registers) {
#if defined(__IPU__) && __IPU_ARCH_VERSION__ >= 1
  __asm__ volatile("{ ld64step $a0:1, $mzero, %0+=, 1\n fnop }" : "+r"(vertex->out) : : "$a0:1");
#endif
  *vertex->out = 7;
  return true;
}
END_OF_CODELET
"$popc" registers.c -o registers.gp 2>said.txt || fail "registers.c: $(cat said.txt)"
[ "$(grep -c 'popc: note: registers.c: ' said.txt)" = 1 ] && [ "$(wc -l <said.txt)" = 1 ] || fail "says: $(cat said.txt)"
[ "$("$run" registers.gp Registers)" = 'out = 7' ] || fail 'registers.gp does not run'
for target in ipu1 ipu21; do "$popc" --target $target registers.c -o $target.gp 2>/dev/null || fail "$target"; done

# If the portable path does not compile either, the first errors are shown, with a hint. Other
# mistakes are not compiled twice.
sed 's/low = high.*/low = nothing;/' clamp.cpp >both.cpp
"$popc" both.cpp -o both.gp --target ipu2 2>said.txt && fail 'both.cpp compiles'
"$popc" --portable=never both.cpp -o both.gp --target ipu2 2>never.txt
hint='popc: note: both.cpp: its inline assembly is for another instruction set, and without __IPU__ it does not compile either'
echo "$hint" >>never.txt
cmp -s said.txt never.txt && grep -q mnemonic said.txt || fail "both.cpp: $(cat said.txt)"
sed 's/asm(.*/low = nothing;/' clamp.cpp >mistake.cpp
"$popc" -v mistake.cpp -o mistake.gp --target ipu2 2>said.txt && fail 'mistake.cpp compiles'
[ "$(grep -c 'target=riscv32' said.txt)" = 1 ] || fail 'mistake.cpp is compiled twice'

# For the chip's own assembly the note says which instruction set it is and what to do.
printf '%s\n' '.globl helper' '.type helper, @function' 'helper:' '  exitz $mzero' >chip.S
"$popc" chip.S -o chip.gp 2>said.txt
[ $? = 1 ] && grep -q "^popc: note: chip.S: this is assembly of Graphcore's chip; tiles here execute RISC-V .*<ipu_builtins.h>$" said.txt ||
  fail "chip.S: $(cat said.txt)"
printf '%s\n' '#include <poplar/Vertex.hpp>' 'struct V : poplar::Vertex { poplar::Output<int> out;' \
  'bool compute() { *out = 1; asm volatile("exitz $mzero"); return true; } };' >exit.cpp
"$popc" exit.cpp -o exit.gp 2>said.txt
[ $? = 1 ] && grep -q "^popc: note: exit.cpp: this is assembly of Graphcore's chip" said.txt || fail "exit.cpp: $(cat said.txt)"
printf '%s\n' '.globl helper' '.type helper, @function' 'helper:' '  addi a0, a0' >ours.S
"$popc" ours.S -o ours.gp 2>said.txt && fail 'ours.S compiles'
! grep -q "Graphcore" said.txt || fail "ours.S: $(cat said.txt)"

# An assembly file that is for the chip alone: without __IPU__ it is empty, and the vertex uses the
# compute() that is defined beside it. A mistake in our own assembly stays an error.
entry=__runCodelet_Beside
printf '%s\n' '#ifdef __IPU__' ".globl $entry" ".type $entry, @function" "$entry:" '.worker' '  exitz $mzero' '#endif' >Beside.S
printf '%s\n' '#include <poplar/Vertex.hpp>' '#include <poplar/HalfFloat.hpp>' 'using namespace poplar;' \
  'struct Beside : Vertex { static const bool isExternalCodelet = is_integral_v<int>;' \
  '  Output<int> out; bool compute() { *out = 41; return true; } };' >Beside.cpp
"$popc" -Werror Beside.cpp Beside.S -o beside.gp 2>said.txt || fail "Beside: $(cat said.txt)"
note='popc: note: Beside.S: it is assembly of another instruction set; compiled without __IPU__, where nothing may be left of it'
[ "$(cat said.txt)" = "$note" ] || fail "Beside: $(cat said.txt)"
[ "$("$run" beside.gp Beside)" = 'out = 41' ] || fail "Beside runs: $("$run" beside.gp Beside)"
# If a build also asks for the host, such a file gives nothing for either target.
"$popc" --target ipu2,cpu Beside.S -o nothing.gp 2>said.txt && [ "$(cat said.txt)" = "$note" ] ||
  fail "Beside.S for ipu2,cpu: $(cat said.txt)"
printf '%s\n' '#if defined(__IPU__) && __IPU_ARCH_VERSION__ == 1' 'exitz $mzero' '#endif' >Older.S
"$popc" --target ipu2,cpu Beside.S Older.S -o nothing.gp 2>said.txt && [ "$(cat said.txt)" = "$note" ] ||
  fail "Beside.S and Older.S for ipu2,cpu: $(cat said.txt)"
printf '%s\n' '.globl helper' 'helper:' '  ret' >tile.S
"$popc" --target ipu2,cpu tile.S -o tile.gp 2>said.txt && fail 'assembly of tiles is something for the host'
grep -q "hold nothing for target 'cpu'" said.txt || fail "tile.S for ipu2,cpu: $(cat said.txt)"
"$popc" --target ipu2,cpu Beside.S tile.S -o tile.gp 2>said.txt && fail 'nor beside the assembly of a chip'
grep -q "hold nothing for target 'cpu'" said.txt || fail "Beside.S and tile.S for ipu2,cpu: $(cat said.txt)"
# Each use of a macro may give an error. What popc keeps of many errors suffices to recognize the
# assembly, and is the beginning of what it shows.
{ printf '%s\n' '#ifdef __IPU__' '.rept 40000' '  exitz $mzero' '.endr' '#endif'; } >many.S
"$popc" many.S -o many.gp 2>said.txt || fail "many.S: $(tail -n 3 said.txt)"
grep -q '^popc: note: many.S: it is assembly of another' said.txt || fail "many.S: $(head -c 300 said.txt)"
"$popc" --portable=never many.S -o many.gp 2>said.txt && fail 'many.S compiles as it is'
grep -q 'error: unknown operand' said.txt && grep -q 'more diagnostics than anybody reads' said.txt || fail "many.S: $(head -c 300 said.txt)"
[ "$(wc -c <said.txt)" -lt 50000 ] || fail "many.S: $(wc -c <said.txt) bytes of diagnostics"
"$popc" --portable=never Beside.S -o never.gp 2>/dev/null && fail '--portable=never leaves assembly out'
{ echo '#ifdef __IPU__'; cat ours.S; echo '#endif'; } >guarded.S
"$popc" guarded.S -o guarded.gp 2>said.txt && fail 'a mistake in guarded.S makes it empty'

# A class whose kind differs between the chip's assembly and C++ has the kind of C++, with and
# without __IPU__.
cat >kind.cpp <<'END_OF_CODELET'
#include <poplar/Vertex.hpp>
using namespace poplar;
#ifdef POPLIBS_DISABLE_ASM_CODELETS
typedef MultiVertex Base;
#else
typedef SupervisorVertex Base;
#endif
struct Kind : Base {
  Output<Vector<unsigned>> out;
  bool compute();
  bool compute(unsigned worker)
  {
    if (worker < out.size()) out[worker] = worker;
    return true;
  }
};
END_OF_CODELET
for portable in auto always; do
  "$popc" --portable=$portable --list-vertices kind.cpp 2>said.txt >list.txt
  grep -q '^ *Kind.*multi' list.txt || fail "kind.cpp, $portable: $(cat list.txt said.txt)"
done

# The features that codelets test for reach all memory of every tile.
printf '%s\n' '#include <poplar/AvailableVTypes.h>' '#if defined(VECTOR_AVAIL_SCALED_PTR32) || defined(VECTOR_AVAIL_SCALED_PTR64)' \
  '#error a part' '#endif' '#if defined(VECTORLIST_AVAIL_DELTAN) || !defined(VECTOR_AVAIL_SHORT_SPAN)' '#error rows' '#endif' >reach.cpp
"$popc" reach.cpp -o reach.gp 2>said.txt || fail "reach.cpp: $(cat said.txt)"

[ $failures = 0 ]
