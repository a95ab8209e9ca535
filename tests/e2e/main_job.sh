# The main job as a user types it: compile the codelets, multiply 10,000 x 1,000 on each target, and
# read every tile's memory with size. The expected numbers are those of the guide's tutorials 1, 3,
# 6 and 7.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
bin=$POPULUS_BIN
examples=$POPULUS_SOURCE_DIR/examples

quiet out "$bin/popc" -O3 "$examples/matvec_split/matvec_split_codelets.c" -o codelets.gp

# multiply <target> <tiles> <line>...: runs, and prints these lines among others.
multiply()
{
  target=$1 tiles=$2
  shift 2
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' quiet run.txt "$bin/matvec_split" --target "$target" \
    --codelets codelets.gp --memory --tile-memory tile_memory.txt 10000 1000
  for line in "$@" 'Running graph program to multiply matrix by vector' 'Multiplication result OK'; do
    grep -Fqx -- "$line" run.txt || fail "$target: no line '$line' in: $(cat run.txt)"
  done
  has run.txt '^Program cycles: [1-9][0-9]*$' '^    0 tile\(s\) out of memory$'

  # The archive, the report and the loader give the same number for each tile, in the order of the
  # tiles.
  quiet tiles_elf.txt size -A archive.a
  grep -e ".text" tiles_elf.txt | awk '{print $2}' >memory_usage_per_tile.txt
  [ "$(wc -l <memory_usage_per_tile.txt)" = "$tiles" ] || fail "$target: not $tiles lines with .text"
  [ "$(grep -c text tiles_elf.txt)" = "$tiles" ] || fail "$target: 'text' is in other lines, too"
  awk '{print $1}' tile_memory.txt | cmp - memory_usage_per_tile.txt || fail "$target: report and archive differ"
  awk '{print $2}' tile_memory.txt | cmp - memory_usage_per_tile.txt || fail "$target: loader and archive differ"
  [ "$(sort -n memory_usage_per_tile.txt | head -1)" -gt 0 ] || fail "$target: a tile without memory"

  # The summary has the sum of these numbers.
  total=$(awk '{sum += $1} END {print sum}' memory_usage_per_tile.txt)
  sed -n 's/^ *Including Gaps: *\([0-9,]*\) B$/\1/p' run.txt | tr -d , | grep -qx "$total" ||
    fail "$target: the summary does not say $total bytes: $(cat run.txt)"
  rm -f archive.a tile_memory.txt
}

multiply ipu1 1216 'Best split chosen:' \
  'colsAxisSplit=5, total cost=4751 (compute cost=4410, exchange cost=200, reduce exchange cost=45, reduce compute cost=96)' \
  'Worst cost seen: 64373'
multiply ipu2 1472 'Worst cost seen: 53807'
multiply ipu21 1472 'Worst cost seen: 53807'

# Tutorial 1: PrintTensor prints to standard error.
"$bin/variables" >out.txt 2>printed.txt || fail "variables exits $?"
cmp - out.txt <<'END' || fail "variables prints: $(cat out.txt)"
Running program
Program complete

h3 data:
  0 0 0 0
  0 1 1.5 2
  0 0 0 0
  0 0 0 0
END
cmp - printed.txt <<'END' || fail "variables prints to standard error: $(cat printed.txt)"
v1-debug: {1,1.5,2,2.5}
v2-debug: {1,1.5,2,2.5}
v4-0: {0,1,2,3,4,5,6,7,8,9}
v4-1: {10,11,12,13,14,15,16,17,18,19}
END

# A loop that the device ends, and streams with callbacks. The output is compared without the
# cycles, which depend on the compiler.
"$bin/control_flow" 2 10 1e6 >out.txt 2>&1 || fail "control_flow exits $?: $(cat out.txt)"
sed 's/, [0-9]* cycles//' out.txt >found.txt
cmp - found.txt <<'END' || fail "control_flow prints: $(cat out.txt)"
sqrt(2) = 1.41421
sqrt(10) = 3.16228
sqrt(1e+06) = 1000
14 steps
END
"$bin/streams" >out.txt 2>&1 || fail "streams exits $?: $(cat out.txt)"
sed 's/, [0-9]* cycles//' out.txt >found.txt
cmp - found.txt <<'END' || fail "streams prints: $(cat out.txt)"
average: 3.0625 4.0312 ... 4.0312
average: 8.0020 9.0010 ... 9.0010
average: 13.0001 14.0000 ... 14.0000
16 batches made, 15 of them ahead of time
END

"$bin/remote_buffer" >out.txt 2>&1 || fail "remote_buffer exits $?: $(cat out.txt)"
grep -v cycles out.txt >found.txt
printf 'sample 20: 15 ... 15\nsample 1: 1031.5 ... 1031.5\n' | cmp - found.txt || fail "remote_buffer prints: $(cat out.txt)"

# Several IPUs: these programs compare their results with plain C themselves.
"$bin/pipeline" >out.txt 2>&1 || fail "pipeline exits $?: $(cat out.txt)"
grep -q '^4 stages on 4 IPUs, 6 batches of 64: 0 wrong' out.txt || fail "pipeline prints: $(cat out.txt)"
"$bin/replicas" >out.txt 2>&1 || fail "replicas exits $?: $(cat out.txt)"
[ "$(grep -c '^replica [0-3]: 198000$' out.txt)" -eq 4 ] || fail "replicas prints: $(cat out.txt)"

# A program that is compiled once and then taken from the cache, and an archive that is linked into
# a program.
for log in "Couldn't find mine/" 'Loaded suffix sums from mine/'; do
  rm -f log.txt
  POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=log.txt quiet out.txt "$bin/cached_executable" mine
  has log.txt "$log"
  [ "$(tail -1 out.txt)" = 'sums: 1472 1471 ... 1' ] || fail "cached_executable prints: $(cat out.txt)"
done
quiet out.txt "$bin/linked_executable" 4 9 2.25
printf 'sqrt(4) = 2\nsqrt(9) = 3\nsqrt(2.25) = 1.5\n' | cmp - out.txt || fail "linked_executable prints: $(cat out.txt)"
refuses 2 'three positive numbers' "$bin/linked_executable" 4 9

"$bin/control_flow" 2 -1 >out.txt 2>&1 && fail "control_flow takes -1"
grep -q "'-1'" out.txt || fail "control_flow -1: $(cat out.txt)"

# Tutorial 3: with the built codelets, from C source and from C++ source.
cp "$POPULUS_SOURCE_DIR/tests/codelets/basic.cpp" .
for codelets in '' "$examples/suffix_sum/sum_codelets.c" basic.cpp; do
  quiet out.txt "$bin/suffix_sum" ${codelets:+"$codelets"}
  [ "$(cat out.txt)" = 'v2: {7,6,4.5,2.5}' ] || fail "suffix_sum $codelets prints: $(cat out.txt)"
done

# Tutorial 6: fewer rows than tiles, as many, and more.
for size in '1 1' '40 50' '1472 3' '3000 7'; do
  # shellcheck disable=SC2086 # two words
  quiet out.txt "$bin/matvec" $size
  has out.txt '^Multiplication result OK$'
done

# A wrong command line is refused.
refuses 2 "unexpected argument '--tragte'" "$bin/matvec_split" --tragte ipu1 10 10
refuses 2 "'ten' is not a number" "$bin/matvec_split" ten 10
refuses 1 "ipu3|ipu1, ipu2" "$bin/matvec_split" --target ipu3 10 10
