# The executable cache: an executable that was compiled before is taken from the folder while
# nothing that shapes it has changed. Any number of processes may use the folder, and may be killed.
# Damaged entries are compiled again. The folder's size is limited.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
export POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=log.txt

quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp
cp busy.gp other.gp
quiet uncached env POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"uncached.a"}' "$busy_graph" busy.gp ipu2 8
has log.txt "Begin compilation: .* \\(Hash 0x[0-9a-f]{16}\\)"
! grep -q "Couldn't find" log.txt || fail "a cache is used that nobody asked for"

# run <arguments of busy_graph>...: runs with the cache in cache/. log.txt is the log of this run
# only.
options='"opt.maxCompilationThreads":1'
run()
{
  rm -f log.txt
  quiet out env POPLAR_EXECUTABLE_CACHE_DIR="$PWD/cache/of/mine" POPLAR_ENGINE_OPTIONS="{$options}" "$busy_graph" "$@"
}
entries()
{
  find cache -name '*.a' | wc -l
}
missed()
{
  has log.txt "Begin compilation: .* \(Hash 0x[0-9a-f]{16}\)" "Couldn't find .*/cache/of/mine/[0-9a-f]{16}\.a$"
  ! grep -q 'Loaded ' log.txt || fail "$1: found in the cache"
}
found()
{
  has log.txt "Begin compilation: .* \(Hash 0x[0-9a-f]{16}\)" "Loaded .* from .*/cache/of/mine/[0-9a-f]{16}\.a$"
}

run busy.gp ipu2 8
missed "the first"
cmp out uncached || fail "the first run: $(cat out)"
run busy.gp ipu2 8
found
cmp out uncached || fail "from the cache: $(cat out)"
[ "$(entries)" = 1 ] || fail "$(entries) entries"
entry=$(find "$PWD/cache" -name '*.a')
hash=$(basename "$entry" .a)
has log.txt "Hash 0x$hash"
mkdir entry uncached.members
(cd entry && ar x "$entry" && rm metadata.elf) # it records what the entry was compiled from
(cd uncached.members && ar x ../uncached.a && rm metadata.elf)
diff -r entry uncached.members || fail "an entry is another archive than target.saveArchive writes"
cp "$entry" entry.a
options='"target.saveArchive":"cached.a"'
run busy.gp ipu2 8
found
cmp cached.a uncached.a || fail "an archive from the cache is another"
run other.gp ipu2 8 # another name for the same codelets
found
POPLAR_EXECUTABLE_CACHE_DIR=elsewhere POPLAR_ENGINE_OPTIONS="{\"target.executableCachePath\":\"cache/of/mine\"}" \
  "$busy_graph" busy.gp ipu2 8 >out
found
[ ! -e elsewhere ] || fail "the option does not win over the variable"
quiet out "$POPULUS_BIN/popexec" --list "$entry"

# H08: the graph, the target, the codelets and the compiler's options shape an executable.
run busy.gp ipu2 7
missed "another graph"
run busy.gp ipu1 8
missed "another target"
sed 's/0\.125f/0.25f/' "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" >busy.c
quiet popc.txt "$POPULUS_BIN/popc" -O2 busy.c -o other.gp
run other.gp ipu2 8
missed "other codelets"
options='"debug.workerStackSizeInBytes":4096'
run busy.gp ipu2 8
missed "another option"
[ "$(entries)" = 5 ] || fail "$(entries) entries"
options='"debug.maxCyclesPerRun":1000000000'
run busy.gp ipu2 8
found
options='"opt.maxCompilationThreads":1'

# H01: a damaged entry gives a warning, and is there again for the next run.
for damage in 'truncate -s 0' 'truncate -s 20000' 'truncate -s 100000' 'cp busy.gp' \
  'dd bs=1 seek=40000 count=64 conv=notrunc if=/dev/urandom status=none' shorter; do
  size=$(wc -c <"$entry")
  case $damage in
  dd*) $damage of="$entry" ;;
  shorter) truncate -s -40 "$entry" ;;
  *) $damage "$entry" ;;
  esac
  run busy.gp ipu2 8
  has log.txt "\[W\] cached executable $entry cannot be used, compiling again: .*"
  cmp out uncached || fail "$damage: $(cat out)"
  cmp "$entry" entry.a || fail "$damage: not repaired, $(wc -c <"$entry") of $size bytes"
  run busy.gp ipu2 8
  found
done
# An entry with an image of another archive is damaged too.
quiet out env POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"stranger.a","debug.workerStackSizeInBytes":4096}' \
  "$busy_graph" busy.gp ipu2 8
quiet ar.txt ar x stranger.a tile-00003.elf
cp entry.a mixed.a
quiet ar.txt ar r mixed.a tile-00003.elf
cp mixed.a "$entry"
run busy.gp ipu2 8
has log.txt "\[W\] cached executable .*tile-00003.elf.*damaged, or from another archive"

# H04, H05: a folder that cannot be used or trusted gives one warning, and the program runs.
without_cache()
{
  rm -f log.txt
  quiet out env POPLAR_EXECUTABLE_CACHE_DIR="$1" "$busy_graph" busy.gp ipu2 8
  cmp out uncached || fail "cache folder $1: $(cat out)"
  has log.txt "\[W\] $2"
  [ "$(grep -Fc '[W]' log.txt)" = 1 ] || fail "cache folder $1: $(cat log.txt)"
}
without_cache busy.gp "executables are not cached: 'busy.gp' is not a folder"
mkdir -m 777 anybodys
cp entry.a "anybodys/$hash.a"
without_cache anybodys "executables are not cached: anybody may change what is in the folder 'anybodys' \(mode 777\)"
cmp entry.a "anybodys/$hash.a"
chmod 1777 anybodys # like /tmp
rm -f log.txt
quiet out env POPLAR_EXECUTABLE_CACHE_DIR=anybodys "$busy_graph" busy.gp ipu2 8
has log.txt "Loaded .* from anybodys/$hash.a"
chmod 666 "anybodys/$hash.a"
without_cache anybodys "cached executable anybodys/$hash.a cannot be used, compiling again: anybody may write it"
rm "anybodys/$hash.a"
mkdir "anybodys/$hash.a"
rm -f log.txt
quiet out env POPLAR_EXECUTABLE_CACHE_DIR=anybodys "$busy_graph" busy.gp ipu2 8
has log.txt "anybodys/$hash.a cannot be used, compiling again: it is not a file" 'the executable is not cached: '
rmdir "anybodys/$hash.a"
# Nor does anybody lead the program to another file of its user.
cp busy.gp precious
ln -s "$PWD/precious" "anybodys/$hash.a"
without_cache anybodys "cached executable anybodys/$hash.a cannot be used, compiling again: it is not a file"
cmp busy.gp precious
[ ! -L "anybodys/$hash.a" ] || fail "the entry is still a link"
cmp entry.a "anybodys/$hash.a"
rm "anybodys/$hash.a"
if [ "$(id -u)" = 0 ]; then # only root can give files away
  cp entry.a "anybodys/$hash.a"
  chown 12345 "anybodys/$hash.a"
  without_cache anybodys "cached executable anybodys/$hash.a cannot be used, compiling again: it belongs to user 12345"
  [ "$(stat -c %u "anybodys/$hash.a")" = 0 ] || fail "the entry is still that of user 12345"
  rm "anybodys/$hash.a"
  chown 0:12345 anybodys
  chmod 775 anybodys
  without_cache anybodys "executables are not cached: group 12345 may change what is in the folder 'anybodys' \(mode 775\)"
  cp entry.a "anybodys/$hash.a"
  chown 12345 "anybodys/$hash.a" anybodys
  chmod 755 anybodys # deliberately shared by user 12345
  rm -f log.txt
  quiet out env POPLAR_EXECUTABLE_CACHE_DIR=anybodys "$busy_graph" busy.gp ipu2 8
  has log.txt "Loaded .* from anybodys/$hash.a"
fi
rm -f log.txt
quiet out env POPLAR_EXECUTABLE_CACHE_DIR=busy.gp/cache "$busy_graph" busy.gp ipu2 8
cmp out uncached || fail "without a folder: $(cat out)"
has log.txt "\[W\] the executable is not cached: cannot make the folder 'busy.gp/cache': Not a directory"

# H02: eight processes at once.
rm -rf cache
for i in 1 2 3 4 5 6 7 8; do
  (POPLAR_LOG_DEST=log$i.txt POPLAR_EXECUTABLE_CACHE_DIR=cache "$busy_graph" busy.gp ipu2 8 >out$i 2>err$i; echo $? >status$i) &
done
wait
for i in 1 2 3 4 5 6 7 8; do
  [ "$(cat status$i)" = 0 ] && cmp out$i uncached || fail "process $i of 8 exits $(cat status$i): $(cat err$i)"
  ! grep -Fq '[W]' log$i.txt || fail "process $i of 8: $(cat log$i.txt)"
done
[ "$(ls -A cache)" = "$hash.a" ] || fail "in the cache: $(ls -A cache)"
cmp "cache/$hash.a" entry.a || fail "eight processes made another archive"

# A process is killed at some moment, and another one takes its place. The folder stays usable, and
# no files of killed processes stay in it.
rm -rf cache
for delay in 0.01 0.03 0.05 0.07 0.09 0.11 0.13 0.16 0.2 0.3; do
  rm -f "cache/$hash.a"
  POPLAR_EXECUTABLE_CACHE_DIR=cache "$busy_graph" busy.gp ipu2 8 >killed 2>&1 &
  sleep $delay
  kill -9 $! 2>/dev/null || :
  wait $! 2>/dev/null || :
  rm -f log.txt
  quiet out env POPLAR_EXECUTABLE_CACHE_DIR=cache "$busy_graph" busy.gp ipu2 8
  cmp out uncached || fail "after a kill: $(cat out)"
  ! grep -Fq '[W]' log.txt || fail "after a kill: $(cat log.txt)"
  cmp "cache/$hash.a" entry.a || fail "after a kill: another entry"
done
[ "$(ls -A cache)" = "$hash.a" ] || fail "in the cache: $(ls -A cache)"

# H09: the limit has room for about two entries. The one that was not used for the longest time is
# removed.
rm -rf cache
bytes=$(($(du -k uncached.a | cut -f 1) * 1024 * 5 / 2))
export POPLAR_EXECUTABLE_CACHE_DIR=cache POPLAR_ENGINE_OPTIONS="{\"target.executableCacheMaxBytes\":$bytes}"
use()
{
  rm -f log.txt
  quiet out "$busy_graph" busy.gp ipu2 "$1"
  sleep 0.05
}
use 8
use 9
use 8
has log.txt 'Loaded '
use 10
has log.txt 'Removed cached executable cache/[0-9a-f]{16}\.a'
[ "$(ls cache | wc -l)" = 2 ] && [ -e "cache/$hash.a" ] || fail "in the cache: $(ls cache)"
use 9
has log.txt "Couldn't find"
[ ! -e "cache/$hash.a" ] || fail "the oldest is still there"

# Native code of tiles is cached too. A second run, or popexec, compiles none. Eight processes at
# once and killed processes do no harm.
unset POPLAR_EXECUTABLE_CACHE_DIR POPLAR_ENGINE_OPTIONS
export POPLAR_LOG_LEVEL=DEBUG POPULUS_TILE_ENGINE=translator
rm -rf cache
translate()
{
  rm -f log.txt
  quiet out env POPLAR_EXECUTABLE_CACHE_DIR="$PWD/cache" "$@"
}
translate "$busy_graph" busy.gp ipu2 8
cmp out uncached || fail "translated: $(cat out)"
has log.txt 'MACHINE  \[D\] Compiled native code of 0x[0-9a-f]* \([0-9]+ instructions, [0-9]+ ms\)$'
units=$(grep -c 'Compiled native code' log.txt)
native=cache/native-$(id -u)
[ "$(ls -A "$native" | wc -l)" = "$units" ] || fail "$units compiled, in the cache: $(ls -A "$native")"
second_compiles_nothing()
{
  ! grep -q 'Compiled native code' log.txt || fail "$1 compiles: $(grep 'Compiled native' log.txt)"
  [ "$(grep -c 'Loaded native code .* from .*cache$' log.txt)" = "$units" ] || fail "$1: $(grep native log.txt)"
}
translate "$busy_graph" busy.gp ipu2 8
second_compiles_nothing "the second run"
cmp out uncached || fail "translated before: $(cat out)"
rm -f log.txt
POPLAR_EXECUTABLE_CACHE_DIR=$PWD/cache "$POPULUS_BIN/popexec" --run 0 "cache/$hash.a" >out 2>&1 || fail "popexec: $(cat out)"
second_compiles_nothing popexec
objdump -d "$(find "$native" -name '*.o' | head -n 1)" | grep -q '<unit_[0-9a-f]*_00000000>:' || fail "objdump shows no function"

rm -rf cache
for i in 1 2 3 4 5 6 7 8; do
  (POPLAR_LOG_DEST=log$i.txt POPLAR_EXECUTABLE_CACHE_DIR=$PWD/cache "$busy_graph" busy.gp ipu2 8 >out$i 2>err$i; echo $? >status$i) &
done
wait
for i in 1 2 3 4 5 6 7 8; do
  [ "$(cat status$i)" = 0 ] && cmp out$i uncached || fail "translating process $i of 8 exits $(cat status$i): $(cat err$i)"
  ! grep -Fq '[W]' log$i.txt || fail "translating process $i of 8: $(cat log$i.txt)"
done
for delay in 0.05 0.1 0.15 0.2 0.3; do
  rm -rf "$native"
  POPLAR_EXECUTABLE_CACHE_DIR=$PWD/cache "$busy_graph" busy.gp ipu2 8 >killed 2>&1 &
  sleep $delay
  kill -9 $! 2>/dev/null || :
  wait $! 2>/dev/null || :
  translate "$busy_graph" busy.gp ipu2 8
  cmp out uncached || fail "translated after a kill: $(cat out)"
  ! grep -Fq '[W]' log.txt || fail "translated after a kill: $(cat log.txt)"
done
translate "$busy_graph" busy.gp ipu2 8
second_compiles_nothing "after kills"
[ "$(ls -A "$native" | wc -l)" = "$units" ] || fail "after kills, in the cache: $(ls -A "$native")"

# Executables and native code share the limit. The newest entry stays, whatever its size.
rm -rf "$native"
translate env POPLAR_ENGINE_OPTIONS='{"target.executableCacheMaxBytes":1}' "$busy_graph" busy.gp ipu2 8
has log.txt "Removed cached executable .*/cache/$hash.a" "Removed cached native code .*/$native/[0-9a-f]{32}\.o"
[ "$(find cache -type f | wc -l)" = 1 ] || fail "in the cache: $(find cache -type f)"

# Another compiler has other keys. They contain a hash of its sources, which any byte of them
# changes.
identity()
{
  quiet out cmake -DROOT="$1" -DNAME=POPULUS_COMPILER_IDENTITY -DFILES="$POPULUS_BUILD_DIR/runtime/compiler_identity.h.files" \
    -DOUTPUT="$PWD/$2" -P "$POPULUS_SOURCE_DIR/cmake/source-identity.cmake"
}
identity "$POPULUS_SOURCE_DIR" same.h
cmp same.h "$POPULUS_BUILD_DIR/runtime/compiler_identity.h" || fail "the build is of other sources"
mkdir -p copy/runtime
cp -R "$POPULUS_SOURCE_DIR/libarchive-ipu" "$POPULUS_SOURCE_DIR/libcodelet" copy
for folder in base isa graph compiler executable; do cp -R "$POPULUS_SOURCE_DIR/runtime/$folder" copy/runtime; done
identity "$PWD/copy" copy.h
cmp same.h copy.h || fail "the same sources elsewhere are another compiler"
for file in runtime/compiler/emit/emit.c runtime/graph/graph.h libarchive-ipu/include/populus/link.h libcodelet/data_dir.c; do
  cp same.h before.h
  echo >>copy/$file
  identity "$PWD/copy" copy.h
  ! cmp copy.h before.h >cmp.txt || fail "$file is no part of the compiler"
  cp "$POPULUS_SOURCE_DIR/$file" copy/$file
done
