# A process other than its writer runs an archive: as it was written, and stripped or copied by the
# tools of binutils and LLVM. The results, the cycles and the message of a fault are the same. The
# tools read its metadata like any ELF file.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popexec=$POPULUS_BIN/popexec

quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/examples/matvec_split/matvec_split_codelets.c" -o codelets.gp
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"matvec.a"}' quiet run.txt "$POPULUS_BIN/matvec_split" --target ipu1 \
  --codelets codelets.gp 300 40
cycles=$(sed -n 's/^Program cycles: //p' run.txt)

quiet list "$popexec" --list matvec.a
cat >expected <<END
target ipu1: 1 IPU, 1216 tiles
compiled by Populus $(sed -n 's/.*POPULUS_VERSION "\(.*\)"/\1/p' "$POPULUS_SOURCE_DIR/runtime/include/populus/populus.h")
program 0: multiply
write matrix: float[300,40], 48000 bytes
write inputVector: float[40], 160 bytes
read outputVector: float[300], 1200 bytes
END
cmp expected list || fail "list: $(cat list)"

# fill <bytes> <4 bytes as for printf> <file>: repeats the 4 bytes
fill()
{
  # shellcheck disable=SC2059 # of escapes
  printf "$2" >"$3"
  while [ "$(wc -c <"$3")" -lt "$1" ]; do
    cat "$3" "$3" >twice
    head -c "$1" twice >"$3"
  done
}
# All elements are 1 (0x3f800000), so each result is 40 (0x42200000).
fill 48000 '\000\000\200\077' matrix.bin
fill 160 '\000\000\200\077' vector.bin
fill 1200 '\000\000\040\102' result.bin

# multiply <archive>: the results are right, and the run without loading takes the cycles of the
# host program.
multiply()
{
  quiet loading "$popexec" --repeat 0 --cycles "$1"
  quiet running "$popexec" -w matrix=matrix.bin -w inputVector=vector.bin -r outputVector=out.bin --cycles "$1"
  cmp result.bin out.bin || fail "$1: wrong results"
  took=$(awk '/^cycles/ { print $2 - last; last = $2 }' loading running | tail -1)
  [ "$took" = "$cycles" ] || fail "$1: $took cycles, not $cycles"
}
multiply matvec.a

# A fault in another archive. Its image names the function until it is stripped.
quiet made "$POPULUS_BUILD_DIR/tests/support/small_archive" fault.a
fault()
{
  refuses 3 "device fault INVALID_ADDRESS at address 0x4 on tile 1, worker 0, in vertex Break (number 3 of the graph) of compute set 'break it'" \
    "$popexec" --run break "$1"
}
fault fault.a
grep -q 'in __runCodelet_Break+0x' refuses.err || fail "no function in: $(cat refuses.err)"

# tool <name> <command>...: applies the command to a copy of both archives.
tool()
{
  tool_name=$1
  shift
  if ! command -v "$1" >/dev/null; then
    echo "not checked: there is no $1"
    return
  fi
  for archive in matvec fault; do
    cp $archive.a "$tool_name-$archive.a"
    "$@" "$tool_name-$archive.a" >tool.out 2>tool.err || fail "$*: $(head -3 tool.err)"
    [ ! -s tool.err ] || fail "$* complains: $(head -3 tool.err)"
  done
  multiply "$tool_name-matvec.a"
  fault "$tool_name-fault.a"
}
tool strip riscv64-unknown-elf-strip
! grep -q __runCodelet refuses.err || fail "stripped, and still there is a function: $(cat refuses.err)"
tool objcopy riscv64-unknown-elf-objcopy
tool strip-debug riscv64-unknown-elf-strip -g
tool llvm-strip llvm-strip-19
! grep -q __runCodelet refuses.err || fail "stripped, and still there is a function: $(cat refuses.err)"
tool llvm-objcopy llvm-objcopy-19
[ "$(wc -c <llvm-strip-matvec.a)" -lt "$(wc -c <matvec.a)" ] || fail "llvm-strip takes nothing away"
tool ranlib ranlib

# An archive of several IPUs has a member for each tile, which both size and popsize read.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"ipus.a"}' quiet out "$POPULUS_BIN/replicas" --one-graph
quiet list "$popexec" --list ipus.a
has list '^target ipu2: 4 IPUs, 5888 tiles$' '^stream in data: float\[1000\], for each of 4 replicas, 4000 bytes a copy$'
quiet sizes size -A ipus.a
[ "$(grep -c '^tile-[0-9]*.elf ' sizes)" = 5888 ] || fail "size shows $(grep -c '^tile-' sizes) tiles"
quiet out "$POPULUS_BIN/popsize" --csv ipus.a
rm ipus.a

# The metadata, read by the tools.
quiet out ar x matvec.a metadata.elf
quiet notes readelf -nW metadata.elf
has notes '^ +Populus +0x00000008' '^ +Populus +0x[0-9a-f]+' 'note.populus.metadata'
quiet out readelf -aW metadata.elf
quiet out objdump -x metadata.elf
quiet sizes size metadata.elf
has sizes '^ +0[[:space:]]+0[[:space:]]+0[[:space:]]+0[[:space:]]+0[[:space:]]+metadata.elf$'
quiet names size -A metadata.elf
! grep -q '[a-z]text' names || fail "a section has 'text' in its name: $(cat names)"
nm metadata.elf >out 2>out.err || fail "nm: $(cat out.err)"
eu-elflint --gnu-ld metadata.elf >lint 2>&1 || :
! grep -v "unknown object file note type .* with owner name 'Populus'" lint || fail "eu-elflint: $(cat lint)"

# Another number of threads gives the same bytes.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"again.a","opt.maxCompilationThreads":1}' quiet run.txt \
  "$POPULUS_BIN/matvec_split" --target ipu1 --codelets codelets.gp 300 40
cmp matvec.a again.a || fail "the same graph makes different archives"
