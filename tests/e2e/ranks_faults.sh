#!/bin/sh
# A fault in one of four instances ends all of them within seconds. The message names the instance
# and the reason. No process and no incomplete file is left.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/ranks.sh"
quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/ranks.c" -o ranks.gp
# This word marks the command lines of this test's programs.
ln -s ranks.gp "$$.gp"

check_nothing_left()
{
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    # shellcheck disable=SC2009 # the state is wanted, too
    left=$(ps -eo stat=,args= | grep "rank_program $$[.]gp" | grep -v '^Z' || true)
    [ -n "$left" ] || return 0
    sleep 0.5
  done
  fail "$1: $left"
}

# ends <fault> <status> <words>...: each of the words is in some line of standard error.
ends()
{
  fault=$1 expected=$2 status=0
  shift 2
  "$poprun" --mpi "$mpi" --num-instances 4 --rank-timeout "${timeout:-0}" "$rank_program" "$$.gp" ipu "$fault" 2 all.a >out 2>err || status=$?
  [ $status = "$expected" ] || fail "$mpi, $fault: status $status: $(cat err)"
  for words; do
    grep -q -- "$words" err || fail "$mpi, $fault: no '$words': $(cat err)"
  done
  check_nothing_left "$mpi, $fault"
  [ ! -e all.a ] || "$POPULUS_BIN/popexec" --list all.a >list || fail "$mpi, $fault: half an archive"
  [ -z "$(find . -name 'all.a?*')" ] || fail "$mpi, $fault: $(ls)"
}
host=$(hostname)

for mpi in $mpis; do
  ends killed 137 "poprun: instance 2 on $host was ended by signal 9"
  ends callback 3 "^error: the callback of stream 'each' failed with 17" "^error: instance 2 on $host: the callback of stream"
  ends ends 3 "instance 2 on $host at the end of the program"
done
timeout=6
ends hangs 3 "error: instance 2 on $host has not come to 'the run of a program' in 6 s"
# An instance that stops anywhere is named, not those that wait for it.
ends stops 3 "^error: instance 2 on $host has not come to '"
! grep -q "instance [013] on $host has not come" err || fail "$mpi, stops: $(cat err)"
ends second 3 "error: instance 2 on $host has not come to 'the compilation of a graph' in 6 s"
timeout=
# The rest does not depend on the MPI.
ends other 3 "error: instance 2 on $host has made another graph than instance 0 on $host, or has other options: their hashes"
ends vertex 3 "^error: device fault INVALID_ADDRESS at address 0x8 on tile 1, worker 0 of replica 2" \
  "^error: instance 2 on $host: device fault INVALID_ADDRESS at address 0x8"
ends aborts 3 "^error: instance 2 on $host: the run was stopped (pop_engine_stop)"
ends disk 4 "cannot write 'all.a': File too large" "poprun: instance 2 on $host has ended with exit status 4"
case $POPULUS_SANITIZE in *address*) ;; *)
  ends memory 4 "^error: instance 2 on $host: no memory for remote buffer 'store'"
  # What arrives too late is not taken for the answer to a later call.
  for mpi in $mpis; do
    status=0
    "$poprun" --mpi "$mpi" --num-instances 2 --rank-timeout 30 "$POPULUS_BUILD_DIR/tests/support/rank_memory" >out 2>err || status=$?
    [ $status = 3 ] || fail "$mpi: status $status: $(cat err)"
    grep -q '^error: no memory for 268435456 bytes from instance 1' err || fail "$mpi: $(cat err)"
    grep -q '^error: the instances have lost each other: see the first error' err || fail "$mpi: $(cat err)"
  done ;;
esac

# A full disk for one instance: a small file system, if this user may mount one.
mkdir full
if mount -t tmpfs -o size=16k none full 2>/dev/null; then
  trap 'umount full' EXIT
  status=0
  # shellcheck disable=SC2016 # expanded by the instance
  "$poprun" --mpi "$mpi" --num-instances 4 sh -c 'to=all.$POPDIST_INSTANCE_INDEX; [ $POPDIST_INSTANCE_INDEX != 2 ] || to=full/all.a; exec "$0" "$1" ipu none 9 $to' \
    "$rank_program" "$$.gp" >out 2>err || status=$?
  [ $status = 4 ] || fail "full disk: status $status: $(cat err)"
  grep -q "cannot write 'full/all.a': No space left on device" err || fail "full disk: $(cat err)"
  grep -q "poprun: instance 2 on $host has ended with exit status 4" err || fail "full disk: $(cat err)"
  [ -z "$(ls full)" ] || fail "full disk: $(ls full)"
  check_nothing_left "full disk"
  umount full
  trap - EXIT
else
  echo "not tried: a full disk, as no file system can be mounted here"
fi

# Another build of the library, in the program or beside it. The test changes the identity that the
# library records.
made_of=$(sed -n 's/.*"\(.*\)".*/\1/p' "$POPULUS_BUILD_DIR/runtime/ranks_identity.h")
mkdir other
cp "$rank_program" other/
for file in "$rank_program" "$POPULUS_BUILD_DIR/lib/libpopulus-internals.so"; do
  [ ! -e "$file" ] || ! grep -q "$made_of" "$file" || LC_ALL=C sed "s/$made_of/00000000${made_of#????????}/" "$file" >"other/${file##*/}"
done
grep -q "00000000${made_of#????????}" other/* || fail "nothing says what it was made of"
status=0
# shellcheck disable=SC2016 # expanded by the instance
"$poprun" --mpi "$mpi" --num-instances 4 sh -c '[ $POPDIST_INSTANCE_INDEX != 2 ] || LD_LIBRARY_PATH=other exec other/rank_program "$1" ipu; exec "$0" "$1" ipu' \
  "$rank_program" "$$.gp" >out 2>err || status=$?
[ $status = 3 ] || fail "other build: status $status: $(cat err)"
grep -q "^error: instance 2 on $host has another version of Populus (.* 00000000.*) than instance 0 on $host (.*): install the same on all" err ||
  fail "other build: $(cat err)"
check_nothing_left "other build"

# The module that carries the messages is from another build.
mkdir data
for file in "$POPULUS_DATA_DIR"/*; do ln -s "$file" data/; done
rm "data/populus-mpi-$mpi.so"
LC_ALL=C sed 's/ranks 4/ranks 0/' "$POPULUS_DATA_DIR/populus-mpi-$mpi.so" >"data/populus-mpi-$mpi.so"
status=0
POPULUS_DATA_DIR=$PWD/data "$poprun" --mpi "$mpi" --num-instances 2 "$rank_program" "$$.gp" ipu >out 2>err || status=$?
[ $status = 4 ] || fail "other module: status $status: $(cat err)"
grep -q "populus-mpi-$mpi.so belongs to another build of Populus" err || fail "other module: $(cat err)"

# Archives are compared when they are loaded. This one is another program of the same name.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"0.a"}' "$rank_program" ranks.gp ipu >out
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"1.a"}' POPDIST_INSTANCE_INDEX=0 "$rank_program" ranks.gp ipu other 0 >out
head -c 240 /dev/zero >zeros
status=0
# shellcheck disable=SC2016 # expanded by the instance
"$poprun" --mpi "$mpi" --num-instances 2 sh -c '"$0" $POPDIST_INSTANCE_INDEX.a --in each=zeros --in same=zeros --out seen=s --out kept=k' "$POPULUS_BIN/popexec" >out 2>err || status=$?
[ $status = 3 ] || fail "status $status: $(cat err)"
grep -q "instance 1 on $host has loaded another program than instance 0 on $host: their tiles have the hashes" err || fail "$(cat err)"

# Each instance must get the same number of replicas.
status=0
"$poprun" --num-instances 3 "$rank_program" ranks.gp ipu >out 2>err || status=$?
[ $status = 3 ] || fail "status $status"
grep -q 'a graph of 4 replicas cannot be shared out to 3 instances' err || fail "$(cat err)"

# A program that sets its own share must set it right.
status=0
POPLAR_ENGINE_OPTIONS='{"target.firstRuntimeReplica":"0","target.numberRuntimeReplica":"2"}' \
  "$poprun" --num-instances 2 "$rank_program" ranks.gp ipu >out 2>err || status=$?
[ $status = 3 ] || fail "status $status: $(cat err)"
grep -q 'target.firstRuntimeReplica is 0, where it would have to be 2: of the graph.s 4 replicas this process, one of 2' err || fail "$(cat err)"
