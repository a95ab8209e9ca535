#!/bin/sh
# quickstart.sh: from a fresh clone to a program that has run on the software IPU.
# Installs what is missing, builds into build/, runs the main job, leaves its files in build/quickstart/.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

fail() {
  say "$*" >&2
  exit 1
}

# Runs a command, shows it, and keeps a copy of what it prints.
show() {
  log=$1
  shift
  printf '\n$ %s\n' "$*"
  "$@" >"$log" || { cat "$log"; fail "'$*' failed"; }
  cat "$log"
}

# One line of stars per KiB of tile memory: how many tiles need how much.
histogram() {
  awk '{ row = int($1 / 1024); tiles[row]++; if (NR == 1 || row < first) first = row; if (row > last) last = row }
    END { for (row in tiles) if (tiles[row] > most) most = tiles[row]
          print "       KiB  tiles"
          for (row = first; row <= last; row++) if (tiles[row]) {
            stars = ""; for (i = 0; i < 50 * tiles[row] / most; i++) stars = stars "*"
            printf "%4d - %3d  %5d %s\n", row, row + 1, tiles[row], stars } }' "$1"
}

# A codelet becomes 1,472 tile images that run.
main_job() {
  bin=$root/build/bin
  mkdir -p "$root/build/quickstart"
  cd "$root/build/quickstart"
  rm -rf archive.a tiles_elf.txt memory_usage_per_tile.txt report report.html

  say "compiling the codelets of examples/matvec_split"
  show popc.txt "$bin/popc" -O3 "$root/examples/matvec_split/matvec_split_codelets.c" -o codelets.gp

  say "building a graph over 1,472 tiles, saving its archive, running it on the software IPU"
  # shellcheck disable=SC2089,SC2090 # the quotes are JSON's
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}'
  # shellcheck disable=SC2090
  export POPLAR_ENGINE_OPTIONS
  show run.txt "$bin/matvec_split" --codelets codelets.gp --memory --tile-memory tile_memory.txt 10000 1000
  unset POPLAR_ENGINE_OPTIONS

  say "reading every tile's memory with size"
  size -A archive.a >tiles_elf.txt
  size -A archive.a | grep -e ".text" | awk '{print $2}' >memory_usage_per_tile.txt
  printf '\n$ size -A archive.a | head -8\n'
  head -8 tiles_elf.txt
  awk '{ if ($1 != $2) exit 1; print $1 }' tile_memory.txt >reported.txt ||
    fail "the memory report and the loader disagree: see build/quickstart/tile_memory.txt"
  cmp -s reported.txt memory_usage_per_tile.txt ||
    fail "the memory report and the archive disagree: compare build/quickstart/{reported,memory_usage_per_tile}.txt"
  printf '\nmemory per tile, from memory_usage_per_tile.txt (%s tiles):\n' "$(wc -l <memory_usage_per_tile.txt)"
  histogram memory_usage_per_tile.txt

  say "running it again with code that counts cycles, for a page that shows where they go"
  # shellcheck disable=SC2089,SC2090 # the quotes are JSON's
  POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"report","autoReport.outputArchive":"false","debug.instrument":"true"}'
  # shellcheck disable=SC2090
  export POPLAR_ENGINE_OPTIONS
  show profiled.txt "$bin/matvec_split" --codelets codelets.gp 10000 1000
  unset POPLAR_ENGINE_OPTIONS
  show page.txt "$bin/popview" report -o report.html

  say "done; in build/quickstart: archive.a, tiles_elf.txt, memory_usage_per_tile.txt, codelets.gp, report.html"
}

sh cmake/setup.sh
say "building into build/ (a few minutes the first time)"
build release
main_job
