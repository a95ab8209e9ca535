# For tests of ranks: `mpis` lists the installed MPIs that Populus was built with. Without any,
# the test is skipped.
# shellcheck disable=SC2034 # for those who include this
poprun=$POPULUS_BIN/poprun
# shellcheck disable=SC2034
rank_program=$POPULUS_BUILD_DIR/tests/support/rank_program
# MPI itself leaks memory.
export ASAN_OPTIONS=detect_leaks=0
mpis=
for mpi in openmpi mpich; do
  if [ -f "$POPULUS_DATA_DIR/populus-mpi-$mpi.so" ] && command -v "mpirun.$mpi" >/dev/null; then mpis="$mpis $mpi"; fi
done
[ -n "$mpis" ] || { echo "skipped: neither Open MPI nor MPICH is installed, with what Populus needs to be built with them"; exit 77; }
case $POPULUS_SANITIZE in *thread*) echo "skipped: MPI is not built for ThreadSanitizer"; exit 77 ;; esac
