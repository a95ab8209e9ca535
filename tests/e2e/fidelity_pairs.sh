# Of two ways to do the same work, the one that was published as faster is also faster here. The
# pairs are marked > in tests/bench/fidelity/rows, which names the source of each figure.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

rows=$POPULUS_SOURCE_DIR/tests/bench/fidelity/rows
"$POPULUS_BIN/popc" -O3 "$POPULUS_SOURCE_DIR/tests/bench/fidelity/codelets.cpp" -o codelets.gp
sed -n 's/^> //p' "$rows" >pairs
# shellcheck disable=SC2046 # words
"$POPULUS_BUILD_DIR/tests/bench/fidelity" codelets.gp $(tr ' ' '\n' <pairs | sort -u) >figures
[ "$(wc -l <pairs)" -ge 10 ] || fail "only $(wc -l <pairs) pairs"
awk '
  FILENAME == ARGV[1] { published[$1] = $3; ours[$1] = $4; next }
  !ours[$1] || !ours[$2] { print "no figures of " $1 " or " $2; next }
  published[$1] <= published[$2] { print $1 " was not published as slower than " $2; next }
  ours[$1] <= ours[$2] { print $1 " takes " ours[$1] " cycles, " $2 " " ours[$2] ": not slower, as published" }
' figures pairs >wrong
[ ! -s wrong ] || fail "$(cat wrong)"
