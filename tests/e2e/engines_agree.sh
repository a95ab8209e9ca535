# Every example gives the same results on each engine and with any number of threads (agree in
# tests/support/engines.sh).
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/engines.sh"

count=0
for source in "$POPULUS_SOURCE_DIR"/examples/*/*.c; do
  name=$(basename "$source" .c)
  [ "$name" = "$(basename "$(dirname "$source")")" ] || continue
  [ -x "$POPULUS_BIN/$name" ] || continue
  case $name in
    matvec | matvec_split) agree "$POPULUS_BIN/$name" 64 100 ;;
    mnist) agree "$POPULUS_BIN/$name" --epochs 2 ;; # runs a program again; more epochs only change the numbers
    *) agree "$POPULUS_BIN/$name" ;;
  esac
  count=$((count + 1))
done
[ $count -ge 5 ] || fail "only $count examples were run"
[ $profiles -ge $((count - 1)) ] || fail "only $profiles of $count examples have an execution profile"
