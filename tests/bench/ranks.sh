#!/bin/sh
# ranks.sh <file>: replicas in several ranks, under Open MPI on this machine (ranks.c).
#
# ranks_overhead: 4 replicas that compute and all-reduce, in 2 ranks over the same in one process,
# on the same cores. ranks_16_memory_per_rank: peak memory of one of 16 ranks, each with a replica
# of 64 tiles; its rival is one process with all 16. ranks_allreduce_vs_mpi: an all-reduce of 64 MiB
# over 4 ranks, by tiles, over a bare MPI_Allreduce of as many bytes. The ratio shows the
# simulation, instruction by instruction, of the tiles' exchange and additions.
#
# In the first rounds tile code is interpreted while it is translated, and MPI connects: only the
# last LAST rounds count.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

output=$1
ranks=$POPULUS_BUILD_DIR/tests/bench/ranks
LAST=7

# runs <file> <command>...: the seconds of the last rounds.
runs()
{
  file=$1
  shift
  "$@" >all
  awk '$1 == "run" { print $2 }' all | tail -n $LAST >"$file"
}
in_ranks() { # <instances> <program>...
  n=$1
  shift
  "$POPULUS_BIN/poprun" --mpi openmpi --num-instances "$n" --only-output-from-instance 0 "$@"
}

# Measured in rotation, so that other work of the machine affects both. All threads may use all
# cores (--bind-to none) in both.
: >ratios
for _ in 1 2 3; do
  runs alone "$ranks" mixed 4 64 65536 $((LAST + 3))
  runs two in_ranks 2 "$ranks" mixed 4 64 65536 $((LAST + 3))
  awk -v a="$(median two)" -v b="$(median alone)" 'BEGIN { print a / b }' >>ratios
done
number ranks_overhead "$(median ratios)" ratio

"$ranks" reduce 16 64 4096 1 >all
whole=$(awk '$1 == "peak_mib" { print $2 }' all)
in_ranks 16 "$ranks" reduce 16 64 4096 1 >all
number ranks_16_memory_per_rank "$(awk '$1 == "peak_mib" { print $2 }' all)" MiB "one process" "$whole"

cat >bare.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  enum { COUNT = 16777216, ROUNDS = 10 };
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out);
  for (int i = 0; i < ROUNDS; i++) {
    double begun = MPI_Wtime();
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("run %.6f\n", MPI_Wtime() - begun);
  }
  return MPI_Finalize();
}
END
mpicc.openmpi -O2 bare.c -o bare
: >ratios
for _ in 1 2 3; do
  runs bare_times mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np 4 ./bare
  runs ours in_ranks 4 "$ranks" reduce 4 1472 16777216 $((LAST + 15))
  awk -v a="$(median ours)" -v b="$(median bare_times)" 'BEGIN { print a / b }' >>ratios
done
number ranks_allreduce_vs_mpi "$(median ratios)" ratio
