# For tests of D04; scripts source it. The n-th allocation of a tool fails, or all from it on. The
# result must be an error with exit status 4, or be complete: never a signal, an error that blames
# something else, or half a file. If LLVM has no memory, the interpreter continues.
# POPULUS_TEST_CASES allocations of each tool are tried, spread over all (CI: a few);
# POPULUS_TEST_CASES=1000000 tries every one. popexec and the CPU device have few allocations, and
# all are always tried.
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
case $POPULUS_SANITIZE in *address* | *thread*) echo "skipped: the sanitizers have an allocator of their own"; exit 77 ;; esac
preload=$POPULUS_BUILD_DIR/tests/support/libfail_malloc.so
cases=${POPULUS_TEST_CASES:-6}
export POPULUS_TILE_ENGINE=interpreter

# Each run starts no other programs if possible, as these took more time than the runs.
remove_products()
{
  [ ! -e cache ] && [ ! -e reports ] && [ ! -e "$product" ] || rm -rf cache reports "$product"
}
speaks_of_memory() # <file>
{
  while IFS= read -r line; do
    case $line in *[Mm]emory* | *[Aa]llocate*) return 0 ;; esac
  done <"$1"
  return 1
}

failures='n n+' # the n-th allocation; all from it on

# sweep <name> <file that is made, or -> <command>...
sweep()
{
  name=$1 product=$2
  shift 2
  remove_products
  FAIL_MALLOC_COUNT=count LD_PRELOAD="$preload ${llvm:-}" "$@" >whole.out 2>whole.err || fail "$name: $(cat whole.err)"
  [ "$product" = - ] || cp "$product" whole.product
  calls=$(cat count)
  [ "$calls" -gt 10 ] || fail "$name makes $calls allocations: the library does not count"
  mkfifo requests answers
  FAIL_MALLOC=serve LD_PRELOAD="$preload ${llvm:-}" "$@" 8<requests 9>answers >>swept.out 2>>swept.err &
  exec 8>requests 9<answers
  step=$((calls / cases)) tried=0 refused=0
  [ $step -gt 0 ] || step=1
  # Another place in each run of a small sweep would be another test. So a seed decides.
  n=$((1 + ${POPULUS_TEST_SEED:-0} % step))
  while [ $n -le "$calls" ]; do
    for failure in $failures; do
      which=$n${failure#n}
      remove_products
      : >swept.out
      : >swept.err
      echo "$which" >&8
      read -r status <&9 || fail "$name: no run for allocation $which: $(head -5 swept.err)"
      case $status in
      0) cmp -s swept.out whole.out || fail "$name, allocation $which: other output: $(head -5 swept.err)" ;;
      4) refused=$((refused + 1))
        speaks_of_memory swept.err || fail "$name, allocation $which: $(head -5 swept.err)" ;;
      127) refused=$((refused + 1)) ;; # the dynamic linker
      *) fail "$name, allocation $which: exit status $status: $(head -5 swept.err)" ;;
      esac
      if [ "$product" != - ] && [ -e "$product" ]; then
        cmp -s "$product" whole.product || fail "$name, allocation $which: half a file"
      fi
      tried=$((tried + 1))
    done
    n=$((n + step))
  done
  exec 8>&- 9<&-
  wait
  rm requests answers
  [ "$(find . -name '*.tmp' | wc -l)" -eq 0 ] || fail "$name: temporary files are left: $(find . -name '*.tmp')"
  echo "$name: $calls allocations, $tried runs, $refused refused"
}
# LLVM is loaded at the start: its constructors and the thread-local variables of its libraries
# belong to the dynamic linker (base/llvm_thread.h). Everything else that LLVM does is in a thread
# that can be given up.
with_llvm()
{
  llvm=$(ldd "$POPULUS_DATA_DIR/populus-translator.so" | sed -n 's/.*libLLVM[^ ]* => \([^ ]*\).*/\1/p')
  cases=$(((cases + 2) / 3)) # it takes its time
  POPULUS_TILE_ENGINE=translator
}
