# For scripts that compare engines of tile code. Defines agree.

# run <engine:threads:cache> <options> <program> <arguments>...: writes the program's output and the
# costs of its programs to got.txt, and its reports, if the options ask for some, to reports/. The
# cache is a folder: `fresh` caches executables only, so that they are the same but tile code is
# translated anew; `kept` caches executables and native code.
run()
{
  engine=${1%%:*} threads=${1#*:} cache=${1##*:} options=$2
  threads=${threads%:*}
  shift 2
  case $cache in
  fresh) rm -rf fresh/native-* ;;
  kept)
    mkdir -p kept
    [ -z "$(find fresh -name '*.a')" ] || cp -u fresh/*.a kept/
    ;;
  esac
  rm -rf log.txt reports
  mkdir reports
  POPULUS_TILE_ENGINE=$engine POPULUS_TILE_THREADS=$threads POPLAR_ENGINE_OPTIONS=$options POPLAR_EXECUTABLE_CACHE_DIR=$cache \
    POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=log.txt \
    "$@" >out.txt 2>err.txt || fail "$* on the $engine with $threads threads exits $?: $(cat err.txt)"
  grep -o 'Program [0-9]*: [0-9]* cycles, [0-9]* instructions' log.txt >costs.txt || fail "$*: the log tells no cycles"
  sed 's/[0-9.]* ms$/… ms/' out.txt >got.txt
  cat err.txt costs.txt >>got.txt
}

profiles=0 # programs that have one: those that were compiled without debug.instrument do not

# agree <program> <arguments>...: the program prints the same, and takes the same cycles and
# instructions, with every engine and any number of host threads. So does its execution profile.
# The reference is one thread of the interpreter; the other runs are $plainly and $with_profile.
# Their code is translated twice, by one thread and by seven; the other runs of the translator
# find the results of the first in the cache, from this or another program. The graph is
# compiled once for each kind of run: the first run compiles it and the others load it. Other
# tests compare two compilations (reproducible.sh, executable_cache.sh).
plainly="interpreter:7:fresh translator:1:kept translator:7:fresh auto:2:kept"
with_profile="interpreter:2:fresh translator:2:kept auto:7:fresh"
# Under the sanitizers, which do not look for different numbers, there is one run of each kind.
[ -z "$POPULUS_SANITIZE" ] || plainly="interpreter:7:fresh translator:7:fresh" with_profile=auto:7:kept
agree()
{
  plain='{}' profiled='{"debug.instrument":"true","autoReport.outputExecutionProfile":"true","autoReport.directory":"reports"}'
  run interpreter:1:fresh "$plain" "$@"
  cp got.txt expected.txt
  for how in $plainly; do
    run "$how" "$plain" "$@"
    cmp expected.txt got.txt || {
      diff expected.txt got.txt || true
      fail "$*: $how: not as with the interpreter on one thread"
    }
  done
  rm -rf expected
  run interpreter:1:fresh "$profiled" "$@"
  mv reports expected
  [ ! -s expected/execution.json ] || profiles=$((profiles + 1))
  for how in $with_profile; do
    run "$how" "$profiled" "$@"
    diff -r expected reports >differences || fail "$*: $how: another profile: $(head -c 500 differences)"
  done
}
