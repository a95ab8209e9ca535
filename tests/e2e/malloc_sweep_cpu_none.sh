# D04 (tests/support/sweep.sh): a program on the CPU device; all allocations from some point on
# fail.
set -u
. "$POPULUS_SOURCE_DIR/tests/support/sweep.sh"
with_llvm
cases=1000000 failures=n+
sweep 'CPU device' - "$POPULUS_BIN/matvec_split" --device cpu 60 40
