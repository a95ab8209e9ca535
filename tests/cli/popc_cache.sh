# POPC_CACHE: popc takes a codelet that it compiled before from the cache folder. The output, the
# messages and the rule for make have the same bytes. An entry is used only while nothing that
# shapes the output has changed; it does not matter where our headers are installed. Sources whose
# inputs cannot be known are always compiled. A damaged entry or an unusable folder costs a warning.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popc=$POPULUS_BIN/popc
real=$(command -v clang-19) || { echo "no clang-19 in PATH"; exit 77; }

# A clang in PATH that records each start.
mkdir bin
printf '#!/bin/sh\necho started >>"%s/started"\nexec "%s" "$@"\n' "$PWD" "$real" >bin/clang-19
chmod +x bin/clang-19
PATH=$PWD/bin:$PATH
export POPC_CACHE="$PWD/cache/of/mine"
folder=$POPC_CACHE/native-$(id -u)

# A file written a moment ago may change again within one tick of the file system's clock, so popc does
# not trust it yet.
settle() { sleep 0.02; }
# compiled|found <what> <popc's arguments>...: popc starts clang, or does not. Its messages are in
# said.
run()
{
  rm -f started
  "$popc" "$@" 2>said || fail "popc $*: $(cat said)"
}
compiled()
{
  what=$1
  shift
  run "$@"
  [ -e started ] || fail "$what: not compiled"
}
found()
{
  what=$1
  shift
  run "$@"
  [ ! -e started ] || fail "$what: compiled"
}
entries() { find cache -name '*.codelet' | wc -l; }

mkdir first second
cat >sum.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <cmath>
#include "parts/scale.h"
#include <late.h>
class Sum : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<float> out;
  bool compute() {
    int unused;
    float sum = 0;
    for (unsigned i = 0; i < in.size(); ++i) sum += std::sin(in[i]) * SCALE + LATE;
    *out = sum;
    return true;
  }
};
END
mkdir parts
echo '#define SCALE 2' >parts/scale.h
echo '#define LATE 1' >second/late.h
set -- -Ifirst -Isecond -Wall -g sum.cpp
settle

"$popc" --no-cache -MD "$@" -o fresh.gp 2>fresh.said
[ ! -e cache ] || fail "--no-cache writes"
POPC_CACHE='' "$popc" "$@" -o out.gp 2>said
[ ! -e cache ] || fail "an empty POPC_CACHE is a folder"
sed 's/^fresh.gp:/out.gp:/' fresh.d >fresh.rule

compiled 'the first time' -MD "$@" -o out.gp
[ "$(entries)" = 1 ] || fail "$(entries) entries"
for time in first again; do
  cmp fresh.gp out.gp || fail "$time: other bytes than without a cache"
  cmp fresh.said said || fail "$time: other messages"
  cmp fresh.rule out.d || fail "$time: another rule"
  has said 'unused variable'
  rm out.gp out.d
  found 'the second time' -MD "$@" -o out.gp
done
found 'another output' "$@" -o other.gp
cmp fresh.gp other.gp || fail "another output: other bytes"

# What shapes the output. After each change the first call compiles, the second finds the entry, and
# the bytes are those without a cache.
changed()
{
  settle
  "$popc" --no-cache "$@" -o fresh.gp 2>/dev/null
  compiled "$change" "$@" -o out.gp
  cmp fresh.gp out.gp || fail "$change: stale"
  found "$change, again" "$@" -o out.gp
  cmp fresh.gp out.gp || fail "$change, again: stale"
}
change='a macro' && changed -DMORE "$@"
change='a level' && changed -O3 "$@"
change='a target' && changed --target=ipu2 "$@"
change='warnings' && changed -Wno-unused-variable "$@"
echo '#define SCALE 3' >parts/scale.h
change='a header' && changed "$@"
cp -p parts/scale.h kept.h && echo '#define SCALE 4' >parts/scale.h && touch -r kept.h parts/scale.h
change="a header with its old size and time" && changed "$@"
echo '#define LATE 2' >first/late.h
change='a header in front of another' && changed "$@"
rm first/late.h
change='without it' && changed "$@"
mkdir -p first/parts && cp second/late.h first/parts/late.h
found 'a header that nobody asks for' "$@" -o out.gp
echo '// the end' >>sum.cpp
change='the source' && changed "$@"
sleep 0.02 && touch bin/clang-19
change='clang' && changed "$@"

# Our headers, libraries and popc-reflect in another folder: the entry is found, unless a header
# differs.
mkdir moved
cp -r "$POPULUS_DATA_DIR/." moved/
settle
"$popc" "$@" -o out.gp 2>/dev/null
POPULUS_DATA_DIR=$PWD/moved found 'installed elsewhere' "$@" -o moved.gp
cmp out.gp moved.gp || fail "installed elsewhere: other bytes"
echo '#define OTHER 1' >>moved/device/include/poplar/Vertex.hpp
settle
(export POPULUS_DATA_DIR="$PWD/moved"; change='our header' && changed "$@")

# What only checks makes other objects of vectors than what compiles.
cat >pairs.c <<'END'
#include <populus/vertex.h>
typedef float pair __attribute__((vector_size(8)));
typedef struct { INOUT(VECTOR(float, ONE_PTR, 8)) x; } Pairs;
COMPUTE(Pairs)
{
  pair *p = (pair *)vertex->x;
  for (unsigned i = 0; i < 9; ++i) p[i] = p[i] * p[i] + p[i];
  return true;
}
END
settle
"$popc" --no-cache pairs.c -o fresh.gp
"$popc" --no-cache --list-vertices fresh.gp >fresh.list
compiled 'a check' -fsyntax-only pairs.c
compiled 'behind a check' pairs.c -o out.gp
cmp fresh.gp out.gp || fail "behind a check: other bytes"
"$popc" --list-vertices pairs.c >list
diff fresh.list list || fail "a list of a source has other sizes than that of its .gp"

# Sources and options that always make popc compile.
for text in '__TIME__' '__DATE__' '__has_include("x.h")'; do
  printf '#include <populus/vertex.h>\n#if 1\nconst char *why = "" %s "";\n#endif\n' "$(echo "$text" | grep '^__[DT]')" >always.c
  case $text in __has*) printf '#if %s\n#endif\n' "$text" >>always.c ;; esac
  settle
  compiled "$text" always.c -o out.gp
  compiled "$text, again" always.c -o out.gp
done
echo 'int plain;' >plain.c
settle
before=$(entries)
for option in -v --save-temps --no-cache '-X -Wall' -MMD -ftime-trace=trace.json; do
  # shellcheck disable=SC2086 # words
  compiled "$option" $option plain.c -o out.gp
done
POPC_CLANG=$PWD/bin/clang-19 compiled 'POPC_CLANG' plain.c -o out.gp
CPATH=$PWD compiled 'CPATH' plain.c -o out.gp
[ "$(entries)" = "$before" ] || fail "what is always compiled was kept"
echo 'int wrong' >wrong.c
refuses 1 'wrong.c:1' "$popc" wrong.c -o out.gp
[ "$(entries)" = "$before" ] || fail "what does not compile was kept"

# A damaged entry, or one that others may write, is reported, compiled again, and replaced.
rm -r cache
compiled 'an empty folder' plain.c -o fresh.gp
entry=$(find cache -name '*.codelet')
cp "$entry" good.codelet
size=$(wc -c <"$entry")
for at in 0 9 $((size - 1)); do
  byte=$(od -An -tu1 -j "$at" -N 1 good.codelet)
  # shellcheck disable=SC2059 # an octal number
  printf "\\$(printf %o $((byte ^ 64)))" | dd of="$entry" bs=1 seek="$at" conv=notrunc 2>/dev/null
  compiled "damage at $at" plain.c -o out.gp
  has said "warning: the compiled codelet '$folder/[0-9a-f]{32}\.codelet' cannot be used, compiling again: it is damaged"
  cmp fresh.gp out.gp && cmp good.codelet "$entry" || fail "damage at $at: not mended"
done
for size in 0 23 100; do
  head -c "$size" good.codelet >"$entry"
  compiled "cut to $size" plain.c -o out.gp
  has said 'it is damaged'
done
chmod 666 "$entry"
compiled 'an entry that others may write' plain.c -o out.gp
has said 'others may write it'
found 'mended' plain.c -o out.gp
! grep 'cannot be used' said || fail "mended: $(cat said)"
chmod 755 "$folder"
compiled 'a folder for others' plain.c -o out.gp
has said 'others may use the folder'
chmod 700 "$folder"

# An unusable folder is reported once for all sources of a run, and popc compiles.
echo file >file
echo 'int other;' >other.c
settle
POPC_CACHE=$PWD/file/cache compiled 'a file in the way' plain.c other.c -o out.gp
has said "warning: compiled codelets are not cached: cannot make the folder '$PWD/file/cache"
[ "$(grep -c 'not cached' said)" = 1 ] || fail "said more than once: $(cat said)"
POPC_CACHE=$PWD/file/cache compiled '-w' -w plain.c -o out.gp
[ ! -s said ] || fail "-w: $(cat said)"

# popc processes that run side by side write the same bytes and leave only the entry.
rm -r cache
pids=
for i in 1 2 3 4 5 6; do
  "$popc" plain.c -o "beside$i.gp" &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "side by side"; done
for i in 1 2 3 4 5 6; do cmp fresh.gp "beside$i.gp" || fail "side by side: other bytes"; done
[ "$(find cache -type f | wc -l)" = 1 ] || fail "left: $(find cache -type f)"

# An entry that is removed after popc has seen it is none. (With the sanitizers, their library must be the first.)
cat >remove.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int access(const char *path, int mode)
{
  int result = faccessat(AT_FDCWD, path, mode, 0);
  if (result == 0 && strstr(path, ".codelet")) unlink(path);
  return result;
}
END
if [ -z "$POPULUS_SANITIZE" ]; then
  cc -shared -fPIC remove.c -o remove.so
  LD_PRELOAD=$PWD/remove.so "$popc" plain.c -o out.gp 2>said || fail "removed: $(cat said)"
  ! grep 'cannot be used' said || fail 'removed: it is said'
fi

# The limit of the folder's size, in MiB.
export POPC_CACHE_LIMIT=1
for i in 1 2 3 4 5 6 7 8; do
  echo "const unsigned char large[200000] = {$i};" >large.c
  "$popc" --target=cpu -w large.c -o out.gp
done
kib=$(du -sk cache | cut -f 1)
[ "$kib" -gt 600 ] && [ "$kib" -le 1100 ] || fail "limited to 1 MiB, the folder has $kib KiB"
found 'the newest' --target=cpu -w large.c -o out.gp
