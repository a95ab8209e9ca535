#!/bin/sh
# Scarce resources: descriptors (D03), stack (D08), one processor or very many (D09), folders that
# can be written and /proc (D10). A program works and gives the same results, or says what it lacks.
# It leaves no incomplete file. limits.sh tests little memory.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
case $POPULUS_SANITIZE in *address* | *thread*) echo "skipped: the sanitizers need more of all of it"; exit 77 ;; esac
support=$POPULUS_BUILD_DIR/tests/support
source=$POPULUS_SOURCE_DIR/tests/codelets/busy.c
export POPULUS_TILE_ENGINE=interpreter

# Each tool as a command in the current folder. `product` is the tool's output, if it has one.
within='env' # a command that runs the tool; the shell cannot remove /proc
popc() { "$within" "$POPULUS_BIN/popc" -O2 "$source" -o product; }
host_program() { POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"product"}' "$within" "$support/busy_graph" "$top/busy.gp" ipu2 8; }
popexec() { "$within" "$POPULUS_BIN/popexec" "$top/small.a" --run scale --write in="$top/in.bin" --read out=product; }
popsize() { "$within" "$POPULUS_BIN/popsize" --json "$top/busy.a"; }
tools='popc host_program popexec popsize'
top=$PWD
quiet out "$POPULUS_BIN/popc" -O2 "$source" -o busy.gp
quiet out "$support/small_archive" small.a
printf '\1\74\2\75\3\76\4\77\5\100\6\101' >in.bin
for tool in $tools; do
  mkdir "$tool.whole"
  (cd "$tool.whole" && $tool >out 2>err) || fail "$tool: $(cat "$tool.whole/err")"
  [ ! -s "$tool.whole/err" ] || fail "$tool says $(cat "$tool.whole/err")"
  [ "$tool" != host_program ] || cp host_program.whole/product busy.a
done

# under <what> <tool> <shell words before it>: runs the tool in a fresh folder, sets $status, and
# checks the files that are left.
under()
{
  what="$1: $2" tool=$2 before=$3
  rm -rf here
  mkdir here
  status=0
  (cd here && exec >out 2>err && eval "$before" && $tool) || status=$? # after `before` the shell opens nothing itself
  if [ $status -eq 0 ]; then
    cmp here/out "$tool.whole/out" || fail "$what: other output"
    [ "$tool" = popsize ] || cmp here/product "$tool.whole/product" || fail "$what: another product"
  else
    [ ! -e here/product ] || fail "$what: status $status, and yet there is a product"
  fi
  [ -z "$(find here -name '.*.tmp')" ] || fail "$what: $(ls -A here)"
}

# works ...: as under, and the tool must succeed.
works()
{
  under "$@"
  [ $status -eq 0 ] || fail "$what exits $status: $(cat here/err)"
}

# D03: with 32 descriptors everything works. With fewer, a tool works or says that there are too
# few.
for tool in $tools; do
  refused=0
  for count in 3 4 5 6 8 10 14 16 18 19 20 21 22; do # popc fails in another place with each of the last ones
    under "D03 $count descriptors" "$tool" "ulimit -n $count"
    case $status in
    0) ;;
    4) refused=$((refused + 1)) && grep -Eiq 'too many open files|descriptor' here/err || fail "$what: $(cat here/err)" ;;
    127) refused=$((refused + 1)) ;; # its libraries cannot be loaded
    *) fail "$what exits $status: $(cat here/err)" ;;
    esac
  done
  [ $refused -gt 0 ] || fail "$tool works without descriptors: nothing was tried"
  works "D03 32 descriptors" "$tool" 'ulimit -n 32'
done
# D03: several sources in one call with 32 descriptors.
files=
for number in 1 2 3 4; do
  echo "#include <populus/vertex.h>
typedef struct { OUTPUT(int) out; } V$number;
COMPUTE(V$number) { *vertex->out = $number; return true; }" >"v$number.c"
  files="$files v$number.c"
done
# shellcheck disable=SC2086 # words
(ulimit -n 32 && "$POPULUS_BIN/popc" $files -o many.gp) || fail "D03: popc of 4 sources"

# D08: a stack of 256 KiB suffices. Nested input must not cause recursion of the same depth.
for tool in $tools; do works "D08 a stack of 256 KiB" "$tool" 'ulimit -s 256'; done

# D09: one processor, as a container may have, and 128, more than this machine has.
first=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
for engine in interpreter translator; do
  for tool in host_program popexec; do
    works "D09 one processor, $engine" "$tool" "taskset -cp $first \$\$ >/dev/null && export POPULUS_TILE_ENGINE=$engine"
    works "D09 128 processors, $engine" "$tool" "export POPULUS_TILE_ENGINE=$engine LD_PRELOAD=$support/libmany_processors.so"
  done
done
for tool in popc popsize; do
  works "D09 128 processors" "$tool" "export LD_PRELOAD=$support/libmany_processors.so"
done
# With enough work that each of the 128 processors gets a thread.
quiet whole.out "$support/busy_graph" busy.gp ipu2 400
quiet out env LD_PRELOAD="$support/libmany_processors.so" "$support/busy_graph" busy.gp ipu2 400
cmp out whole.out || fail 'D09: 128 threads: other output'

# D10: only the folder of the output can be written.
mkdir -m 555 nowhere
for tool in $tools; do
  works "D10 no folder to write in" "$tool" "export HOME=$top/nowhere TMPDIR=$top/nowhere/tmp XDG_CACHE_HOME=$top/nowhere/cache"
done
cat >no_proc.sh <<'END'
#!/bin/sh
[ "$(id -u)" = 0 ] && user= || user=-r
exec unshare -m $user sh -c 'mount -t tmpfs none /proc && [ ! -e /proc/self ] && exec "$@"' sh "$@"
END
chmod +x no_proc.sh
if ! ./no_proc.sh true 2>err; then
  echo "skipped in part: here nobody can do without /proc: $(cat err)"
  exit 77
fi
within=$top/no_proc.sh
for tool in $tools; do works 'D10 no /proc' "$tool" :; done
quiet out "$POPULUS_BIN/popc" --link small.a -o linked # the program reads itself
quiet list "$POPULUS_BIN/popexec" --list small.a
quiet out "$within" "$top/linked" --list
cmp out list || fail 'D10: a program that holds its archive'
mkdir -p sources/include
echo '#define VALUE 3' >sources/include/value.h
echo '#include "include/value.h"' >sources/local.h
cat >sources/vertex.cpp <<'END'
#include "local.h"
#include <poplar/Vertex.hpp>
struct V : poplar::Vertex { poplar::Output<int> o; bool compute() { *o = VALUE; return true; } };
END
quiet out "$POPULUS_BIN/popc" sources/vertex.cpp -o with.gp
quiet out "$within" "$POPULUS_BIN/popc" sources/vertex.cpp -o without.gp
cmp with.gp without.gp || fail 'D10: what includes files by relative names'
sed 's/VALUE/UNKNOWN/' sources/vertex.cpp >sources/wrong.cpp
refuses 1 "sources/wrong.cpp:3:|UNKNOWN" "$within" "$POPULUS_BIN/popc" sources/wrong.cpp -o no.gp
refuses 4 '-MD and -MMD need /proc' "$within" "$POPULUS_BIN/popc" -MD sources/vertex.cpp -o no.gp
[ ! -e no.gp ] || fail 'D10: a file of what does not compile'
