#!/bin/sh
# A replicated graph in several ranks gives the same output, cycles and profile as in one process,
# to the bit. The test runs under each installed MPI, on the device and on the CPU, and compares the
# output of the last instance.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/ranks.sh"
quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/ranks.c" -o ranks.gp

for device in ipu cpu; do
  "$rank_program" ranks.gp $device >alone.$device
  grep -q '^run 1: ' alone.$device || fail "$(cat alone.$device)"
done
[ "$(grep -c '^seen: ' alone.ipu)" = 16 ] || fail "$(cat alone.ipu)"

# same <mpi> <instances> <device>
same()
{
  "$poprun" --mpi "$1" --num-instances "$2" --num-replicas=4 --only-output-from-instance=$(($2 - 1)) \
    "$rank_program" ranks.gp "$3" >out 2>err || fail "$*: $(cat err)"
  cmp out alone."$3" || fail "$*: $(diff out alone."$3" | head -n 5)"
}
for mpi in $mpis; do
  same "$mpi" 1 ipu
  same "$mpi" 2 ipu
  same "$mpi" 4 ipu
  same "$mpi" 4 cpu
done

# A program may start and end MPI itself.
for mpi in $mpis; do
  "$poprun" --mpi "$mpi" --num-instances 2 --only-output-from-instance 1 "$rank_program" ranks.gp ipu own-mpi >out 2>err ||
    fail "$mpi: $(cat err)"
  cmp out alone.ipu || fail "$mpi: $(diff out alone.ipu | head -n 5)"
done

# There is no limit to the engines that a program makes one after the other. A call of one waits in
# a thread while another one is called.
for mpi in $mpis; do
  "$poprun" --mpi "$mpi" --rank-timeout 60 --num-instances 2 "$POPULUS_BUILD_DIR/tests/support/rank_tags" 32772 >out 2>err ||
    fail "$mpi: $(cat err)"
done

# A program may end while a thread waits.
for mpi in $mpis; do
  "$poprun" --mpi "$mpi" --num-instances 2 "$POPULUS_BUILD_DIR/tests/support/rank_ends" >out 2>err || fail "$mpi: $(cat err)"
done

# A program may set the replicas of each process itself.
quiet out "$poprun" --num-instances 2 --num-replicas 4 sh -c \
  'POPLAR_ENGINE_OPTIONS="{\"target.firstRuntimeReplica\":\"$POPDIST_REPLICA_INDEX_OFFSET\",\"target.numberRuntimeReplica\":\"$POPDIST_NUM_LOCAL_REPLICAS\"}" "$@"' \
  sh "$rank_program" ranks.gp ipu

# An unchanged example: its exit status says whether the sums are right.
"$POPULUS_BIN/replicas" >alone
for mpi in $mpis; do
  "$poprun" --mpi="$mpi" --num-instances=2 --only-output-from-instance=0 "$POPULUS_BIN/replicas" >out 2>err || fail "$(cat err)"
  cmp out alone
done

# Only one instance compiles.
POPLAR_LOG_LEVEL=INFO "$poprun" --num-instances=2 --mpi-global-args --tag-output sh -c 'POPLAR_LOG_DEST=log.$POPDIST_INSTANCE_INDEX exec "$0"' \
  "$POPULUS_BIN/replicas" >out 2>err || fail "$(cat err)"
grep -q 'Begin compilation: main' log.0 || fail "$(cat log.0)"
grep -q 'Instance 0 compiles' log.1 || fail "$(cat log.1)"
! grep -q 'Begin compilation' log.1 || fail "$(cat log.1)"

# 16 ranks with one replica each, and with 256 IPUs, which are four link domains.
many=$POPULUS_BUILD_DIR/tests/support/many_replicas
for what in "16 2 64" "256 1 8"; do
  # shellcheck disable=SC2086 # three arguments
  "$many" $what >alone 2>err || fail "$(cat err)"
  # shellcheck disable=SC2086
  "$poprun" --num-instances 16 --num-replicas "${what%% *}" --only-output-from-instance 15 "$many" $what >out 2>err || fail "$what: $(cat err)"
  cmp out alone || fail "$what: $(cat out alone)"
done

# Training with all-reduced gradients gives the same loss, to the last bit, and the same cycles. It
# also learns. The executables are cached.
POPLAR_EXECUTABLE_CACHE_DIR=$PWD/kept
export POPLAR_EXECUTABLE_CACHE_DIR
"$POPULUS_BIN/mnist" >out || fail "it has not learned: $(cat out)"
"$POPULUS_BIN/mnist" --epochs 1 >alone
# trained <mpi> <instances>
trained()
{
  "$poprun" --mpi="$1" --num-instances="$2" --only-output-from-instance=$(($2 - 1)) "$POPULUS_BIN/mnist" --epochs 1 >out 2>err ||
    fail "$*: $(cat err)"
  cmp out alone || fail "$*: $(diff out alone)"
}
for mpi in $mpis; do
  trained "$mpi" 2
  trained "$mpi" 4
done
trained "$mpi" 1
unset POPLAR_EXECUTABLE_CACHE_DIR

# Programs in C++ with gcl.
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
link "$compiler" c++14 "$POPULUS_SOURCE_DIR/tests/cxx/collectives.cpp" ./collectives -lpopops -lpoputil -lpoplar || fail "not compiled"
./collectives
for mpi in $mpis; do
  "$poprun" --mpi="$mpi" --num-instances=2 ./collectives >out 2>err || fail "$mpi: $(cat out err)"
  # MPICH mixes lines of instances.
  [ "$(grep -o 'collectives are right' out | grep -c right)" = 2 ] || fail "$mpi: $(cat out)"
done
