# popexec: programs, handles, and files in and out. Mistakes get a message, and the exit statuses
# are those of all tools.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popexec=$POPULUS_BIN/popexec

quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" small.a
quiet list "$popexec" -l small.a
grep -v '^compiled by Populus [0-9.]*$' list | cmp - /dev/fd/3 3<<'END' || fail "list: $(cat list)"
target ipu2: 1 IPU, 2 tiles
program 0: scale
program 1: break
write in: half[2,3], 12 bytes
read out: half[2,3], 12 bytes
write n: char[4], 4 bytes
read count: char[4], 4 bytes
END

# Raw files: the halves 1 to 6 are doubled once, and three times.
printf '\000\074\000\100\000\102\000\104\000\105\000\106' >in.bin
quiet out "$popexec" --write in=in.bin --run scale --read out=out.bin small.a
printf '\000\100\000\104\000\106\000\110\000\111\000\112' | cmp - out.bin || fail "wrong results: $(od -tx2 out.bin)"
[ ! -s out ] || fail "prints: $(cat out)"
printf '\001\002\003\377' >n.bin
quiet out "$popexec" small.a -w in=in.bin -w n=n.bin --run 0 --repeat 3 -r out=out.bin -r count=n2.bin --cycles
printf '\000\110\000\114\000\116\000\120\000\121\000\122' | cmp - out.bin || fail "wrong results: $(od -tx2 out.bin)"
printf '\004\005\006\002' | cmp - n2.bin || fail "wrong results: $(od -tx1 n2.bin)"
has out '^cycles: [1-9][0-9]*$' '^instructions: [1-9][0-9]*$'
quiet out "$popexec" --repeat 0 --run scale --memory small.a
has out '^Memory Usage:$' '^    0 tile\(s\) out of memory$'

# Profiles of an archive that measures its runs. For an archive that does not, popexec says so.
POPLAR_ENGINE_OPTIONS='{"debug.instrument":"true","debug.computeInstrumentationLevel":"vertex"}' \
  quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" measured.a streams
quiet out "$popexec" --profile profiles --in numbers=n.bin --out counts=counts.bin --run stream --run scale measured.a
has profiles/execution.json '"profilerMode":"VERTICES"' '"programTraceComplete":true' '"type":"StreamCopy"'
has profiles/execution.txt '^Execution:$' '^  Total cycles: +[0-9,]+ \(approx [0-9.]+ microseconds\)$' \
  '^  Total thread balance: +[0-9.]+%$' '^    Count +\(2 instances\): +[0-9,]+$' '^  --- External Sync ---$' \
  '^  StreamCopy \(cycles 118 - 121\): get$' '^    Active Tiles: +1 / 2$'
has profiles/execution_stacks.folded '^stream;count them;OnTileExecute [0-9]+$' '^scale;External Sync 118$'
[ ! -f "$POPULUS_DATA_DIR/viewer.js" ] || has profiles/report.html "default-src 'none'" '^</html>'
has profiles/execution_trace.json '^\{"displayTimeUnit":"ns","traceEvents":\[\{"ph":"M"'
# Many runs are reported once: after each of them it would take hours.
quiet out "$popexec" --profile many --in numbers=n.bin --out counts=many.bin --run scale --repeat 1000 measured.a
[ "$(grep -o '"supersteps"' many/execution.json | wc -l)" -eq 1000 ] || fail "not all runs are reported"
# The folder is that of --profile, although an environment that is set for other programs names one.
POPLAR_ENGINE_OPTIONS='{"debug.maxCyclesPerRun":1000000,"autoReport.directory":"of \"others\""}' \
  POPLAR_RUNTIME_OPTIONS='{"autoReport.directory":"of others"}' \
  quiet out "$popexec" --profile own --in numbers=n.bin --out counts=counts.bin --run scale measured.a
has own/execution.txt '^Execution:$'
for folder in of*others*; do [ ! -e "$folder" ] || fail "reports are in '$folder'"; done
POPLAR_ENGINE_OPTIONS='{"debug.maxCyclesPerRun":200,"autoReport.directory":"of others"}' refuses 3 'OUT_OF_CYCLES' \
  "$popexec" --profile own --in numbers=n.bin --out counts=counts.bin --run scale measured.a
POPLAR_ENGINE_OPTIONS='{"autoReport.directory":' refuses 2 'POPLAR_ENGINE_OPTIONS: it is not JSON' \
  "$popexec" --profile own --in numbers=n.bin --out counts=counts.bin --run scale measured.a
refuses 2 '--profile names the folder: there can be no --option autoReport.directory' \
  "$popexec" --profile own --option autoReport.directory=other --run scale measured.a
quiet out "$popexec" --profile fewer --option autoReport.outputExecutionProfile=false --in numbers=n.bin \
  --out counts=counts.bin --run scale measured.a
[ -e fewer/graph.json ] && [ ! -e fewer/execution.json ] || fail "$(ls fewer)"
# Without a page, as in a build without the viewer, all other files are there.
quiet out "$popexec" --profile no_page --option autoReport.outputViewer=false --in numbers=n.bin \
  --out counts=counts.bin --run scale measured.a
for file in vars debug code; do [ -s "no_page/$file.json" ] || fail "no $file.json: $(ls no_page)"; done
# A run that ends in a fault is in the profile, too.
"$popexec" --profile faulted --in numbers=n.bin --out counts=many.bin --run scale --repeat 3 --option debug.maxCyclesPerRun=200 measured.a 2>err && fail "no fault"
has err 'OUT_OF_CYCLES'
has faulted/execution.txt 'Run 1 ended in an error: device fault OUT_OF_CYCLES'
"$popexec" --profile unmeasured -w in=in.bin --run scale small.a >out 2>err || fail "$(cat err)"
has err 'the archive does not measure its runs: compile it with the option debug.instrument'
[ ! -e unmeasured/execution.json ] || fail "a profile of nothing"

# npy <file> <dictionary> <elements>: a file as NumPy writes it, version 1.0.
npy()
{
  { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$2"; cat "$3"; } >"$1"
}
npy in.npy "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }" in.bin
quiet out "$popexec" -w in=in.npy --run scale -r out=out.npy -r count=n.npy small.a
printf '\000\100\000\104\000\106\000\110\000\111\000\112' >doubled.bin
tail -c 12 out.npy | cmp - doubled.bin || fail "wrong results: $(od -c out.npy)"
head -c 128 out.npy | cut -c 11- | head -1 | grep -aq "^{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), } *$" ||
  fail "header: $(od -c out.npy)"
[ "$(wc -c <out.npy)" = 140 ] || fail "out.npy has $(wc -c <out.npy) bytes: the header is a multiple of 64"
grep -aq "'|i1'.*'shape': (4,)" n.npy || fail "header: $(od -c n.npy)"
# popexec reads the files that it writes.
quiet out "$popexec" -w in=out.npy -w n=n.npy --run scale -r out=again.bin small.a
printf '\000\104\000\110\000\112\000\114\000\115\000\116' | cmp - again.bin || fail "wrong results: $(od -tx2 again.bin)"
if python3 -c 'import numpy' 2>numpy.txt; then
  python3 -c 'import numpy; a = numpy.load("out.npy"); assert a.shape == (2, 3) and a.dtype == numpy.float16 and a[1][2] == 12'
fi

# Files that do not fit.
npy wrong.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" in.bin
refuses 1 "'wrong.npy': it has elements '<f8' and shape [2,3], but handle 'in' is half[2,3], which is '<f2'" \
  "$popexec" -w in=wrong.npy --run 0 small.a
npy wrong.npy "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }" in.bin
refuses 1 "shape [3,2], but handle 'in' is half[2,3]" "$popexec" -w in=wrong.npy --run 0 small.a
npy wrong.npy "{'descr': '<f2', 'fortran_order': True, 'shape': (2, 3), }" in.bin
refuses 1 "Fortran order" "$popexec" -w in=wrong.npy --run 0 small.a
npy wrong.npy "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }" n.bin
refuses 1 "'wrong.npy': it has 4 bytes of elements, but handle 'in' is half[2,3]: 12" "$popexec" -w in=wrong.npy --run 0 small.a
refuses 1 "'in.bin': it has 12 bytes of elements, but handle 'n' is char[4]: 4" "$popexec" -w n=in.bin --run 0 small.a
refuses 1 "missing.bin" "$popexec" -w n=missing.bin --run 0 small.a
for size in 0 1 7 9 11 40 127; do
  head -c $size in.npy >wrong.npy
  refuses 1 "'wrong.npy': " "$popexec" -w in=wrong.npy --run 0 small.a
done
for dictionary in "{}" "{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (2, 3)}" "'descr': '<f2'" \
  "{'descr': '<f2', 'fortran_order': Perhaps, 'shape': (2, 3)}" "{'descr': '<f2', 'fortran_order': False, 'shape': (2, x)}" \
  "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3" "{'descr': '<ffffffffffffffffffff2', 'fortran_order': False}"; do
  npy wrong.npy "$dictionary" in.bin
  refuses 1 "'wrong.npy': the .npy header " "$popexec" -w in=wrong.npy --run 0 small.a
done
refuses 4 "cannot" "$popexec" --run 0 -r count=no/such/folder/n.bin small.a

# Streams: three copies of four elements. The file has two, so the third copy is the first again.
quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" streams.a streams
quiet list "$popexec" --list streams.a
has list '^stream in numbers: char\[4\], 4 bytes a copy$' '^stream out counts: char\[4\], 4 bytes a copy$'
printf '\001\002\003\004\021\022\023\024' >numbers.bin
printf '\002\003\004\005\022\023\024\025\002\003\004\005' >counts.bin
quiet out "$popexec" --run stream --in numbers=numbers.bin --out counts=got.bin streams.a
cmp counts.bin got.bin || fail "wrong results: $(od -tx1 got.bin)"
npy numbers.npy "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2, 2), }" numbers.bin
quiet out "$popexec" --run stream --in numbers=numbers.npy --out counts=got.npy streams.a
tail -c 12 got.npy | cmp - counts.bin || fail "wrong results: $(od -tx1 got.npy)"
head -1 got.npy | grep -aq "'|i1'.*'shape': (3, 4)" || fail "header: $(od -c got.npy)"
refuses 2 "stream 'numbers' needs a file: --in numbers=FILE" "$popexec" --run stream --out counts=got.bin streams.a
refuses 2 "stream 'counts' needs a file: --out counts=FILE" "$popexec" --run stream --in numbers=numbers.bin streams.a
refuses 1 "no stream 'number' to feed; did you mean 'numbers'?" "$popexec" --run stream --in number=numbers.bin \
  --in numbers=numbers.bin --out counts=got.bin streams.a
head -c 6 numbers.bin >odd.bin
for wrong in odd.bin /dev/null/none; do
  refuses 1 "$wrong" "$popexec" --run stream --in numbers=$wrong --out counts=got.bin streams.a
done
refuses 1 "it has 6 bytes of elements, but stream 'numbers' is char[4]: a multiple of 4" \
  "$popexec" --run stream --in numbers=odd.bin --out counts=got.bin streams.a
# Streams without elements: their files are empty.
: >empty.bin
quiet out "$popexec" --run stream --in numbers=numbers.bin --in nothing=empty.bin --out counts=got.bin --out silence=got.npy streams.a
head -1 got.npy | grep -aq "'<f4'.*'shape': (0, 0)" || fail "header: $(od -c got.npy)"
refuses 1 "it has 8 bytes of elements, but stream 'nothing' is float[0]: 0" \
  "$popexec" --run stream --in numbers=numbers.bin --in nothing=numbers.bin --out counts=got.bin streams.a

# Unknown names are reported before anything runs.
refuses 1 "no handle 'im' to write; did you mean 'in'?|--list" "$popexec" -w im=in.bin --run break small.a
refuses 1 "no handle 'in' to read" "$popexec" -r in=in.bin --run break small.a
refuses 1 "no program 'scall': the archive has 2" "$popexec" --run scall small.a
refuses 1 "no program '2': the archive has 2" "$popexec" --run 2 small.a
refuses 2 "the archive has 2 programs: --run says which" "$popexec" small.a

# The command line.
refuses 2 "no archive is given|usage: popexec" "$popexec"
refuses 2 "there is no option '--lisst'" "$popexec" --lisst small.a
refuses 2 "there is no option '-x'" "$popexec" -x small.a
refuses 2 "there is no option '-x'" "$popexec" -xl small.a
refuses 2 "an argument is missing behind '--run'" "$popexec" small.a --run
refuses 2 "NAME=FILE is expected instead of 'in'" "$popexec" -w in small.a
refuses 2 "--repeat takes a number of times, not 'often'" "$popexec" --repeat often small.a
refuses 2 "one archive only, and not also 'b.a'" "$popexec" small.a b.a
refuses 2 "debug.maxCyclePerRun|did you mean 'debug.maxCyclesPerRun'" env \
  POPLAR_ENGINE_OPTIONS='{"debug.maxCyclePerRun":1}' "$popexec" --run 0 small.a

# Faults of the device, damaged archives, an output that cannot be written.
refuses 3 "device fault INVALID_ADDRESS at address 0x4 on tile 1" "$popexec" --run break small.a
refuses 3 "OUT_OF_CYCLES" env POPLAR_ENGINE_OPTIONS='{"debug.maxCyclesPerRun":10}' "$popexec" --run 0 small.a
refuses 1 "none.a" "$popexec" none.a
refuses 1 "in.bin" "$popexec" --list in.bin
head -c 20000 small.a >cut.a
refuses 1 "'cut.a'" "$popexec" --list cut.a
if [ -c /dev/full ]; then
  status=0
  "$popexec" --list small.a >/dev/full 2>full.err || status=$?
  [ $status = 4 ] || fail "a full disk makes exit status $status"
fi

# The manual names every option that --help does.
quiet help "$popexec" --help
quiet version "$popexec" --version
has version '^popexec, Populus version [0-9]+\.[0-9]+\.[0-9]+$'
sed 's/\\-/-/g' "$POPULUS_SOURCE_DIR/runtime/tools/popexec.1" >manual
grep -o '^ .*--[a-z]*' help | grep -o -- '--[a-z]*' | while read -r option; do
  grep -Fq -- "$option" manual || fail "the manual says nothing of $option"
done

# C06: an output is neither the archive nor another output. A file may be updated.
cp small.a own.a
ln own.a second.a
for output in own.a second.a; do
  refuses 2 "the file for 'count', '$output', is the archive" "$popexec" -w n=n.bin --run scale -r count=$output own.a
done
cmp small.a own.a || fail "popexec has overwritten its archive"
refuses 2 "'out' and 'count' would be the same file, 'both.bin'" "$popexec" --run scale -r out=both.bin -r count=both.bin small.a
mkdir folder
for output in ./both.bin folder/../both.bin "$PWD/both.bin"; do # which is not there yet
  refuses 2 "'out' and 'count' would be the same file" "$popexec" --run scale -r out=both.bin -r count="$output" small.a
done
quiet out "$popexec" --run scale -r out=both.bin -r count=folder/both.bin small.a
rm both.bin
cp n.bin updated.bin
quiet out "$popexec" -w n=updated.bin --run scale -r count=updated.bin -r out=/dev/null -r out=/dev/null small.a
printf '\002\003\004\000' | cmp - updated.bin || fail "wrong results: $(od -tx1 updated.bin)"

# Standard input and output can serve one name each.
quiet out "$popexec" -w in=- --run scale -r out=- small.a <in.bin
cmp out doubled.bin || fail "wrong results: $(od -tx2 out)"
quiet out sh -c "cat numbers.bin | '$popexec' --run stream --in numbers=- --out counts=- streams.a | cat"
cmp out counts.bin || fail "wrong results: $(od -tx1 out)"
head -c 200000 /dev/zero >long.bin
refuses 1 "'-': it has |bytes of elements, but handle 'in' is half[2,3]: 12" "$popexec" -w in=- --run 0 small.a <long.bin
refuses 1 "'-': it has 5 bytes of elements" "$popexec" -w in=- --run 0 small.a <<END
five
END
refuses 2 "standard input is for 'n'" "$popexec" -w in=- -w n=- --run 0 small.a </dev/null
refuses 2 "standard output is for 'count'" "$popexec" -r out=- -r count=- --run 0 small.a
refuses 2 "standard output is for 'out': nothing else can be printed there" "$popexec" -r out=- --cycles --run 0 small.a

# Elements of another type or byte order.
npy wrong.npy "{'descr': '>f2', 'fortran_order': False, 'shape': (2, 3), }" in.bin
refuses 1 "elements '>f2'|its bytes are in the other order, array.astype turns them" "$popexec" -w in=wrong.npy --run 0 small.a
npy wrong.npy "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }" in.bin
refuses 1 "elements '<i2'|array.astype converts it" "$popexec" -w in=wrong.npy --run 0 small.a
npy column.npy "{'descr': '|i1', 'fortran_order': True, 'shape': (4,), }" n.bin # with one dimension, both orders are the same
quiet out "$popexec" -w n=column.npy --run scale -r count=n2.bin small.a
printf '\002\003\004\000' | cmp - n2.bin || fail "wrong results: $(od -tx1 n2.bin)"

# Options of the engine.
refuses 3 "OUT_OF_CYCLES" "$popexec" --option debug.maxCyclesPerRun=10 --run 0 small.a
quiet out "$popexec" --option target.tileEngine=interpreter --option target.tileEngineThreads=1 --run scale small.a
refuses 2 "debug.maxCyclePerRun|did you mean 'debug.maxCyclesPerRun'" "$popexec" --option debug.maxCyclePerRun=10 --run 0 small.a
refuses 2 "'debug.maxCyclesPerRun' cannot be 'few'" "$popexec" --option debug.maxCyclesPerRun=few --run 0 small.a
refuses 2 "is about compiling" "$popexec" --option debug.keepDuplicateCode=true --run 0 small.a
refuses 2 "--option takes KEY=VALUE, not 'fast'" "$popexec" --option fast --run 0 small.a

# If an output cannot be written, the file stays as it was.
echo before >kept.bin
chmod 444 kept.bin
if ! [ -w kept.bin ]; then
  refuses 4 "kept.bin" "$popexec" --run 0 -r out=kept.bin small.a
fi
[ "$(cat kept.bin)" = before ] || fail "a file that could not be written has changed"

# A remote buffer is a handle of two dimensions: all its rows.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"remote.a"}' quiet out "$POPULUS_BIN/remote_buffer"
quiet list "$popexec" --list remote.a
has list '^remote buffer samples: float\[4096,1000\], 4000 bytes a row$'
head -c 16384000 "$POPULUS_BIN/remote_buffer" >rows.bin
head -c 800 /dev/zero >zeros.bin
missing=$((16384000 - $(wc -c <rows.bin)))
yes 'some more bytes' | head -c $missing >>rows.bin
quiet out "$popexec" --run 0 --in numbers=zeros.bin --repeat 0 --write samples=rows.bin --read samples=back.bin remote.a
cmp rows.bin back.bin || fail "the rows of a remote buffer come back as others"
quiet out "$popexec" --run 0 --in numbers=zeros.bin --repeat 0 --write samples=rows.bin --read samples=back.npy remote.a
head -1 back.npy | grep -aq "'<f4'.*'shape': (4096, 1000)" || fail "header: $(head -c 128 back.npy)"
refuses 1 "'in.bin': it has 12 bytes of elements, but remote buffer 'samples' is float[4096,1000]: 16384000" \
  "$popexec" --run 0 --in numbers=zeros.bin --write samples=in.bin remote.a
refuses 1 "no handle 'sample' to read; did you mean 'samples'?" "$popexec" --run 0 -r sample=back.bin remote.a

# --list as JSON has the contents of the text.
quiet list.json "$popexec" --list --json streams.a
[ "$(wc -l <list.json)" = 1 ] || fail "not on one line"
quiet pretty.json "$popexec" --pretty -l streams.a
quiet list "$popexec" --list streams.a
python3 - <<'END' || fail "$(cat list.json)"
import json, re

listed, text = json.load(open("list.json")), open("list").read()
assert listed == json.load(open("pretty.json"))
assert f"target {listed['target']['name']}: " in text and f"{listed['target']['tiles']} tiles" in text
assert listed["programs"] == re.findall(r"^program [0-9]+: (.*)$", text, re.M)
assert [s["name"] for s in listed["streams"]] == re.findall(r"^stream (?:in|out) ([^:]*): ", text, re.M) != []
assert [h["name"] for h in listed["handles"]] == re.findall(r"^(?:read|write) ([^:]*): ", text, re.M)
assert [b["name"] for b in listed["remoteBuffers"]] == re.findall(r"^remote buffer ([^:]*): ", text, re.M)
END
refuses 2 '--json and --pretty are about --list' "$popexec" --json streams.a

# SIGINT ends a run. The message says where the run was.
quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" endless.a endless
for engine in interpreter translator; do
  "$popexec" --option target.tileEngine=$engine --run forever endless.a >out 2>err &
  popexec_pid=$!
  # A shell starts background jobs with SIGINT ignored. The signal is sent only when popexec catches
  # it, which can take long on a busy machine.
  until grep -qE '^SigCgt:.*[2367abef]$|^State:.Z' "/proc/$popexec_pid/status"; do sleep 0.05; done
  sleep 0.5
  kill -INT $popexec_pid
  status=0
  wait $popexec_pid || status=$?
  [ $status = 130 ] || fail "exit status after SIGINT ($engine): $status: $(cat err)"
  has err '^popexec: the run was stopped \(pop_engine_stop\) on tile [01], .*; superstep [0-9]+, cycle [0-9]+'
done

# Names in an archive come from anybody. Control characters and line ends in them are escaped.
quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" odd.a odd-name
quiet odd "$popexec" -l odd.a
has odd '^read odd.x1b.31m.x0aname: int, 4 bytes$'
