#!/bin/sh
# O05: the variables of the log set its destination and its levels. A wrong value gets one warning,
# and the program still runs.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

program="$POPULUS_BIN/matvec_split 20 30"
form='^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9][0-9][0-9] [1-9][0-9]* P[OL]:[A-Z]+ +\[[EWIDT]\] '

# lines <file>: the file is not empty, and each line has the form of a log line.
lines()
{
  [ -s "$1" ] || fail "$1 is empty"
  ! grep -Ev "$form" "$1" || fail "$1 has lines that are none"
}

# Standard error is the default. Standard output and files are chosen by name.
POPLAR_LOG_LEVEL=DEBUG $program >out 2>err
lines err
! grep -q 'PO:' out || fail "log on standard output"
POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=stdout $program >out 2>err
[ ! -s err ] || fail "log on standard error"
has out "$form"
POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=file $program >/dev/null 2>err
[ ! -s err ] || fail "log on standard error"
lines file
size=$(wc -l <file)
POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=file $program >/dev/null
[ "$(wc -l <file)" -eq $((2 * size)) ] || fail "the file was not appended to"

# The construction of a graph is a phase. It lasts from the graph's creation until it is compiled.
has file 'PO:GRAPH +\[D\] Starting phase: graphConstruction$' \
  'PO:GRAPH +\[D\] Ending phase: graphConstruction \(duration [0-9]+ ms; diff RSS: -?[0-9.e-]+ MB\)$'

# An executable that is found in the cache needs no construction: its log has no such phase, so a
# user can look for recompilations.
for file in cold warm; do
  POPLAR_EXECUTABLE_CACHE_DIR=cache POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=$file $program >/dev/null
done
has cold 'Starting phase: graphConstruction$' "Couldn't find cache/[0-9a-f]+\.a"
has warm 'Loaded [^ ]+ from cache/[0-9a-f]+\.a'
if grep -q graphConstruction warm; then fail "a graph from the cache was constructed"; fi

# A name does not bring control characters into a log, C1 among them.
odd=$(printf 'odd\033[31m\302\233\233\303\251')
POPLAR_EXECUTABLE_CACHE_DIR=$odd POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=odd $program >/dev/null
has odd "$(printf "Couldn't find odd[?]\\[31m[?]{3}\303\251/")"

# Each level includes the lines of the levels before it.
for level in OFF ERR WARN INFO DEBUG TRACE trace; do
  POPLAR_LOG_LEVEL=$level POPLAR_LOG_DEST=at.$level $program >/dev/null
done
[ ! -s at.OFF ] && [ ! -s at.ERR ] || fail "OFF or ERR has lines"
! grep -q '\[[DT]\]' at.INFO || fail "INFO has more than it should"
! grep -q '\[T\]' at.DEBUG || fail "DEBUG has more than it should"
has at.TRACE '\[T\] tile 17: [1-9][0-9]* bytes of memory'
[ "$(grep -c '\[T\] tile' at.TRACE)" -eq 1472 ] || fail "not all tiles"
has at.trace '\[T\] tile 17: '

# One part of the log can have a level of its own.
POPLAR_LOG_LEVEL=INFO POPLAR_COMPILER_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=part $program >/dev/null
has part 'PO:COMPILER \[D\]'
! grep -q 'PO:ENGINE *\[D\]' part || fail "another part than the one that was named"
POPLAR_LOG_LEVEL=DEBUG POPLAR_COMPILER_LOG_LEVEL=OFF POPLAR_LOG_DEST=without $program >/dev/null
! grep -q 'PO:COMPILER' without || fail "a part that is off"
has without 'PO:ENGINE *\[D\]'

# Messages of PopLibs go to a log of their own.
POPLIBS_LOG_LEVEL=INFO POPLIBS_LOG_DEST=poplibs POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=poplar \
  "$POPULUS_BIN/variables" >/dev/null
lines poplar
! grep -q 'PL:' poplar || fail "PL lines in the log of PO"
lines poplibs
has poplibs 'PL:POPUTIL +\[I\] mapTensorLinearly: '
! grep -q 'PO:' poplibs || fail "PO lines in the log of PL"

# A wrong value is reported once, and the program runs.
POPLAR_LOG_LEVEL=LOUD $program >/dev/null 2>err
[ "$(wc -l <err)" -eq 1 ] || fail "not one warning: $(head -3 err)"
has err "\[W\] POPLAR_LOG_LEVEL is 'LOUD'; it can be OFF, ERR, WARN, INFO, DEBUG or TRACE$"
POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=no/such/folder/file $program >/dev/null 2>err
has err "\[W\] POPLAR_LOG_DEST: cannot open 'no/such/folder/file': No such file or directory; logging to stderr$"
[ "$(grep -c 'cannot open' err)" -eq 1 ] || fail "several warnings"
POPLIBS_LOG_LEVEL=7 $program >/dev/null 2>err
has err "PL:LOG +\[W\] POPLIBS_LOG_LEVEL is '7'"
POPLAR_ENGINE_LOG_LEVEL=much $program >/dev/null 2>err
has err "POPLAR_ENGINE_LOG_LEVEL is 'much'"

# Two processes with several threads append whole lines to one file.
for _ in 1 2; do
  POPLAR_LOG_LEVEL=TRACE POPLAR_LOG_DEST=shared $program >/dev/null &
done
wait
lines shared
[ "$(cut -d ' ' -f 2 shared | sort -u | wc -l)" -eq 2 ] || fail "not two processes"
[ "$(grep -c '\[T\] tile' shared)" -eq $((2 * 1472)) ] || fail "lines are missing"
