# Sourced by quickstart.sh, test.sh and tests/bench/run.sh: finds the tree, and builds it.
#
# The script sets `root`, the top folder of the clone. This file changes to it and sets:
#
#   jobs     how many compilers run at once

me=$(basename "$0" .sh)
# shellcheck disable=SC2154 # the script sets it
cd "$root" || exit 1
jobs=$(nproc 2>/dev/null || echo 2)
LC_ALL=C.UTF-8
export LC_ALL

# Caches compilations. A launcher that is already set, even to nothing, is kept.
if command -v ccache >/dev/null 2>&1; then
  CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
  export CMAKE_C_COMPILER_LAUNCHER
  # Sources of another clone count as the same. (So debug data may name that clone:
  # gdb's `set substitute-path`.)
  CCACHE_BASEDIR=${CCACHE_BASEDIR-$root}
  CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
  # What a file includes is known from the compiler's own list. Preprocessing each file once more
  # to learn it took a sixth of a build's time.
  CCACHE_DEPEND=${CCACHE_DEPEND-1}
  export CCACHE_BASEDIR CCACHE_NOHASHDIR CCACHE_DEPEND
fi

say() {
  printf '%s: %s\n' "$me" "$*"
}

# build <preset> [target]...: configures once and builds. Output is shown only after a failure.
# Codelets that the popc of this preset has compiled from the same sources are cached below the
# user's cache folder, as ccache caches objects. That holds for builds only: tests decide
# themselves what they share.
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
