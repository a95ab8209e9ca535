# Every example prints the same, and takes the same cycles and instructions, whatever executes its tile code and on however
# many threads of the host.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

# run <example> <engine> <threads>: what it prints and what its programs cost, to got.txt
run()
{
  case $1 in
    matvec | matvec_split) arguments="64 100" ;;
    *) arguments= ;;
  esac
  rm -f log.txt
  # shellcheck disable=SC2086
  POPULUS_TILE_ENGINE=$2 POPULUS_TILE_THREADS=$3 POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=log.txt \
    "$POPULUS_BIN/$1" $arguments >out.txt 2>err.txt || fail "$1 on the $2 with $3 threads exits $?: $(cat err.txt)"
  grep -o 'Program [0-9]*: [0-9]* cycles, [0-9]* instructions' log.txt >costs.txt || fail "$1: the log tells no cycles"
  sed 's/[0-9.]* ms$/… ms/' out.txt >got.txt
  cat err.txt costs.txt >>got.txt
}

count=0
for source in "$POPULUS_SOURCE_DIR"/examples/*/*.c; do
  name=$(basename "$source" .c)
  [ "$name" = "$(basename "$(dirname "$source")")" ] || continue
  [ -x "$POPULUS_BIN/$name" ] || continue
  run "$name" interpreter 1
  cp got.txt expected.txt
  for how in "interpreter 2" "interpreter 7" "translator 1" "translator 2" "translator 7" "auto 1" "auto 7"; do
    # shellcheck disable=SC2086
    run "$name" $how
    cmp expected.txt got.txt || {
      diff expected.txt got.txt || true
      fail "$name: $how threads: not as with the interpreter on one thread"
    }
  done
  count=$((count + 1))
done
[ $count -ge 5 ] || fail "only $count examples were run"
