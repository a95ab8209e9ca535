# A12, E06: four sources tell what is in a tile's memory: `.text` of its image, the image's symbols,
# the memory report, and the loader. They agree to the byte, by category and region, for every
# example and for three large graphs. No memory plan is more than 5 % above the least that is
# possible.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
agrees=$POPULUS_BUILD_DIR/tests/support/memory_agrees
plan=$POPULUS_BUILD_DIR/tests/bench/plan

# agree <what> <number of tiles that are too full>: all sources agree on archive.a.
agree()
{
  quiet agree.txt "$agrees" archive.a per_tile.txt
  has agree.txt "^overfull $2\$"
  awk -v what="$1" '$1 == "worst_plan" && !($2 <= 1.05) { print what ": " $0; exit 1 }' agree.txt || fail "the plan is too large"
  size -A archive.a | awk '$1 == ".text" { print $2 }' >text.txt
  [ -s text.txt ] || fail "$1: size shows no .text"
  awk '{ print $1 }' per_tile.txt | cmp - text.txt || fail "$1: size says something else than the image reader"
  rm -f archive.a
}

# Examples run without arguments if they can.
for folder in "$POPULUS_SOURCE_DIR"/examples/*/; do
  example=$(basename "$folder")
  case $example in
    linked_executable) continue ;; # it compiles nothing
    cpp) continue ;;               # other programs
    models) continue ;;            # modules for pophlo
    matvec*) arguments="300 40" ;;
    mnist) arguments="--epochs 1" ;; # more epochs run the same programs
    *) arguments= ;;
  esac
  # shellcheck disable=SC2086 # words
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' "$POPULUS_BIN/$example" $arguments >out.txt 2>&1 ||
    fail "$example exits $?: $(cat out.txt)"
  agree "$example" 0
done

quiet out.txt "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/planned.c" -o planned.gp
for graph in chip sixteen overfull; do
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' quiet out.txt "$plan" $graph planned.gp
  case $graph in
    overfull) agree $graph 1 ;;
    *) agree $graph 0 ;;
  esac
done
