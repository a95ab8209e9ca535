#!/bin/sh
# poprun: its command line, the environment of the instances, and how instances end.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
poprun=$POPULUS_BIN/poprun

# refused <status> <words> <argument>...
refused()
{
  expected=$1 words=$2 status=0
  shift 2
  env PATH="${path-$PATH}" POPULUS_DATA_DIR="${data-$POPULUS_DATA_DIR}" "$poprun" "$@" >out 2>err || status=$?
  [ $status = "$expected" ] || fail "$*: status $status: $(cat err)"
  grep -qF -- "$words" err || fail "$*: $(cat err)"
}
"$poprun" --help >help
grep -q -- '--only-output-from-instance' help || fail "$(cat help)"
"$poprun" --version | grep -q '^poprun (Populus) [0-9]' || fail "version"
refused 2 "there is no option '--num-instnaces'; did you mean '--num-instances'?" --num-instnaces 2 true
refused 2 "there is no option '-n'" -n 2 true
refused 2 "--num-instances cannot be 'two': it takes a number from 1" --num-instances=two true
refused 2 "--num-instances cannot be '0'" --num-instances 0 true
refused 2 "--num-instances needs N" --num-instances
refused 2 "--num-replicas 3 is no multiple of --num-instances 2" --num-instances 2 --num-replicas 3 true
refused 2 "--num-instances 2 is no multiple of --num-ilds 4" --num-instances 2 --num-ilds 4 true
refused 2 "there are the instances 0 to 1" --num-instances 2 --only-output-from-instance 2 true
refused 2 "--mpi cannot be 'lam'" --mpi lam true
refused 2 "--host cannot be '10.0.0.0/8'" --host 10.0.0.0/8 true
refused 2 "--host cannot be 'a,,b'" --host a,,b true
refused 2 "a quote has no end" --mpi-global-args "-x 'A" true
refused 2 "--numa-aware cannot be 'maybe'" --numa-aware=maybe true
refused 2 "which program?" --num-instances 2

# The topology: hosts by name and as networks, each with the same number of instances.
"$poprun" --num-instances=4 --num-replicas 8 --ipus-per-replica=2 --num-ilds 2 --host one,10.0.0.0/30,one --print-topology >out
cat >expected <<'END'
instance  host                     ild   replicas         IPUs
0         one                      0     0-1              4
1         one                      0     2-3              4
2         10.0.0.1                 1     4-5              4
3         10.0.0.1                 1     6-7              4
END
cmp out expected || fail "$(cat out)"

# No MPI in PATH; then an MPI for which Populus was not built.
mkdir empty
path=$PWD/empty
refused 4 "no MPI found, which starts the instances: install the packages openmpi-bin and libopenmpi-dev" true
refused 4 "no MPICH found" --mpi=mpich true
printf '#!/bin/sh\n' >empty/mpirun.openmpi
chmod +x empty/mpirun.openmpi
data=$PWD/empty
refused 4 "Open MPI is installed, but Populus was built without it" true
unset path data

. "$POPULUS_SOURCE_DIR/tests/support/ranks.sh"
# shellcheck disable=SC2016 # expanded by the instance
replicas='$POPDIST_REPLICA_INDEX_OFFSET +$POPDIST_NUM_LOCAL_REPLICAS of $POPDIST_NUM_TOTAL_REPLICAS'
# shellcheck disable=SC2016
say='echo "$POPDIST_INSTANCE_INDEX of $POPDIST_NUM_INSTANCES: '$replicas', $POPDIST_IPUS_PER_REPLICA IPUs, $POPLAR_EXECUTABLE_CACHE_DIR $ONE $TWO" | tee said.$POPDIST_INSTANCE_INDEX'
cat >expected <<'END'
0 of 2: 0 +3 of 6, 4 IPUs, kept 1 t w o
1 of 2: 3 +3 of 6, 4 IPUs, kept 1 t w o
END
mkdir refusing
printf '#!/bin/sh\necho "connection refused" >&2\nexit 255\n' >refusing/ssh
chmod +x refusing/ssh
mkdir silent
python3 -c 'import signal, socket
s = socket.socket()
s.bind(("127.0.0.9", 0))
s.listen()
print(s.getsockname()[1], flush=True)
signal.pause()' >silent/port &
silent=$!
trap 'kill $silent' EXIT
while [ ! -s silent/port ]; do sleep 0.1; done
printf '#!/bin/sh\nexec %s -p %s "$@"\n' "$(command -v ssh)" "$(cat silent/port)" >silent/ssh
chmod +x silent/ssh
for mpi in $mpis; do
  ONE=1 "$poprun" --mpi "$mpi" --num-instances 2 --num-replicas=6 --ipus-per-replica 4 --executable-cache-path kept \
    --mpi-global-args="--allow-run-as-root -x ONE -x 'TWO=t w o'" --mpi-local-args '' --numa-aware=no --vipu-partition p \
    --vipu-server-timeout=600 --update-partition yes --reset-partition=no --remove-partition no --vipu-server-host h \
    sh -c "$say" >out 2>err || fail "$mpi: $(cat err)"
  cat said.0 said.1 | cmp - expected || fail "$mpi: $(cat out)" # MPICH mixes lines of instances
  [ "$(grep -c 'options about partitions have nothing to do' err)" = 1 ] || fail "$(cat err)"
  "$poprun" --mpi "$mpi" --quiet --vipu-partition p true >out 2>err
  [ ! -s err ] || fail "$mpi, --quiet: $(cat err)"
  "$poprun" --mpi "$mpi" --num-instances 2 --only-output-from-instance 1 sh -c "$say" >out 2>err
  [ "$(cut -c1-8 out)" = "1 of 2: " ] || fail "$mpi: $(cat out)"
  "$poprun" --mpi "$mpi" --num-instances 2 --mpi-global-args --tag-output -v echo said >out 2>err
  [ "$(grep -c '1.*said' out)" -ge 1 ] || fail "$mpi: $(cat out)"
  grep -q "^poprun: .*mpirun.$mpi .*echo said$" err || fail "$mpi: $(cat err)"

  # Output to a file has no colours, whatever MPI connects the instances to.
  # shellcheck disable=SC2016
  "$poprun" --mpi "$mpi" sh -c 'echo "[$NO_COLOR]"' >out 2>err
  grep -qF '[1]' out || fail "$mpi: $(cat out)"
  # shellcheck disable=SC2016
  CLICOLOR_FORCE=1 "$poprun" --mpi "$mpi" sh -c 'echo "[$NO_COLOR]"' >out 2>err
  grep -qF '[]' out || fail "$mpi: $(cat out)"

  # A machine that cannot be reached is an error. MPICH alone would wait for ever. Open MPI uses the
  # system's ssh.
  if [ "$mpi" = mpich ] || { command -v ssh >/dev/null && ! ssh -o BatchMode=yes 127.0.0.9 true 2>/dev/null; }; then
    path=$PWD/refusing:$PATH
    refused 4 "poprun: error: cannot reach '127.0.0.9', on which instances are to be started" --mpi "$mpi" --host 127.0.0.9 true
    unset path
  fi

  # A machine that accepts the connection and sends nothing: poprun waits, but not for ever.
  if [ "$mpi" = mpich ] && command -v ssh >/dev/null; then
    path=$PWD/silent:$PATH
    refused 4 "poprun: error: cannot reach '127.0.0.9', on which instances are to be started" --mpi mpich --host 127.0.0.9 true
    unset path
  fi

  # How instances end.
  refused 127 "cannot start 'not-there': No such file" --mpi "$mpi" --num-instances 2 not-there
  # shellcheck disable=SC2016 # expanded by the instance
  refused 7 "poprun: instance 1 on $(hostname) has ended with exit status 7" --mpi "$mpi" --num-instances 3 \
    sh -c '[ $POPDIST_INSTANCE_INDEX != 1 ] || exit 7; sleep 60'
  # shellcheck disable=SC2016
  "$poprun" --mpi "$mpi" --num-instances 2 sh -c 'trap ": >ended.$POPDIST_INSTANCE_INDEX; exit 0" TERM
    : >there.$POPDIST_INSTANCE_INDEX; sleep 60 & wait' >out 2>err &
  while [ ! -e there.0 ] || [ ! -e there.1 ]; do sleep 0.1; done
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ $status = 143 ] && [ -e ended.0 ] && [ -e ended.1 ] || fail "$mpi: status $status: $(cat out err)"
  rm -f said.* there.* ended.*

  # Under nohup a hangup is nothing.
  # shellcheck disable=SC2016
  (trap '' HUP && exec "$poprun" --mpi "$mpi" --num-instances 2 \
    sh -c ': >there.$POPDIST_INSTANCE_INDEX; until [ -e go ]; do sleep 0.1; done') >out 2>err &
  while [ ! -e there.0 ] || [ ! -e there.1 ]; do sleep 0.1; done
  kill -HUP $!
  sleep 0.5
  : >go
  wait $! || fail "$mpi: status $?: $(cat out err)"
  rm -f there.* go

  # Standard input: the first instance gets it, and no instance waits for input that will not come.
  echo given | "$poprun" --mpi "$mpi" --num-instances 2 cat >out 2>err
  grep -qx given out || fail "$mpi: $(cat out err)"
  for input in /dev/null err; do
    : >err
    "$poprun" --mpi "$mpi" --num-instances 2 sh -c 'cat; echo ended' <$input >out
    [ "$(grep -c ended out)" = 2 ] || fail "$mpi: $(cat out)"
  done

  # If the launcher dies, poprun says so. MPICH's launcher would die of SIGPIPE if its input ended
  # before it could pass it on.
  mkdir -p dying
  printf '#!/bin/sh\ntimeout 1 cat\n[ $? = 124 ] || kill -PIPE $$\n%s\n' "kill -TERM \$\$" >"dying/mpirun.$mpi"
  chmod +x "dying/mpirun.$mpi"
  died=$([ "$mpi" = mpich ] && echo 15 || echo 13)
  path=$PWD/dying:$PATH
  refused $((128 + died)) "dying/mpirun.$mpi', which starts the instances, was ended by signal $died" --mpi "$mpi" true </dev/null
  unset path
done
