# Sourced by quickstart.sh, test.sh and tests/bench/run.sh: where the tree is, and how to build it.
#
# The script sets `root`, the top folder of the clone, and is taken there. Here:
#
#   jobs     how many compilers run at once

me=$(basename "$0" .sh)
# shellcheck disable=SC2154 # the script sets it
cd "$root" || exit 1
jobs=$(nproc 2>/dev/null || echo 2)
LC_ALL=C.UTF-8
export LC_ALL

# What a compiler has made once need not be made again. A launcher that is set, and be it to nothing, stays.
if command -v ccache >/dev/null 2>&1; then
  CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
  export CMAKE_C_COMPILER_LAUNCHER
  # The same sources in another clone are the same. (So debug data may name the other clone: gdb's `set substitute-path`.)
  CCACHE_BASEDIR=${CCACHE_BASEDIR-$root}
  CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
  export CCACHE_BASEDIR CCACHE_NOHASHDIR
fi

say() {
  printf '%s: %s\n' "$me" "$*"
}

# build <preset> [target]...: configures once, builds; the output is shown only if something goes wrong. Codelets that the popc
# of this preset has compiled once, of the same sources, are kept as ccache keeps objects: below the user's folder of caches.
# Only here: tests say themselves what they share.
build() {
  preset=$1
  shift
  case $preset in
  release) folder=build ;;
  *) folder=build-$preset ;;
  esac
  mkdir -p "$folder"
  codelets=${XDG_CACHE_HOME:-${HOME:-$root/$folder}/.cache}/populus/popc-$preset
  if ! cmake --preset "$preset" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    return 1
  fi
  if ! POPC_CACHE=${POPC_CACHE-$codelets} cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} >"$folder/build.log" 2>&1; then
    grep -v '^\[[0-9/]*\]' "$folder/build.log" >&2 || tail -n 50 "$folder/build.log" >&2
    return 1
  fi
}
