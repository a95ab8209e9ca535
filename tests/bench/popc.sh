#!/bin/sh
# popc.sh <file>: wall time of popc, for tile and host, beside clang alone on the same file with the same flags and headers.
#
#   popc_vs_clang_small      a C++ file with one vertex; the rival compiles it for the host only
#   popc_vs_clang_small_c    the same in C
#   popc_vs_clang_templates  a template with 200 instantiations; the rival compiles it for the host and then for the tile
#   two_clangs_at_once       small: clang for host and tile side by side, the floor on two cores
#
# All commands for a file are measured in rotation, so that other work affects each
# alike; values are medians.
set -eu

output=$1
turns=${POPULUS_BENCH_TURNS:-21}

cat >small.cpp <<'END'
#include <poplar/Vertex.hpp>

class SumVertex : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<float> out;
  bool compute()
  {
    float sum = 0;
    for (unsigned i = 0; i < in.size(); ++i) sum += in[i];
    *out = sum;
    return true;
  }
};
END
cat >small.c <<'END'
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in;
  OUTPUT(float) out;
} SumVertex;

COMPUTE(SumVertex)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];
  *vertex->out = sum;
  return true;
}
END
{
  sed -e 's/^class/template <typename T, int N> class/' -e 's/float/T/g' -e 's/sum += in\[i\]/sum += in[i] * T(N)/' small.cpp
  for n in $(seq 50); do
    for type in float int half unsigned; do echo "template class SumVertex<$type, $n>;"; done
  done
} >templates.cpp

# clang_command <target> <file>: what popc starts, as shell words.
clang_command() {
  "$POPULUS_BIN/popc" -### "$2" 2>&1 | grep -F -e "--target=$1" | head -n 1
}

# command <name> <shell text>
names=
command() {
  names="$names $1"
  printf '%s\n' "$2" >"$1.sh"
  : >"$1.times"
  sh "$1.sh" # warm, and it must work
}

# take_turns: each command so far, again and again; then they are forgotten.
take_turns() {
  turn=0
  while [ $turn -lt "$turns" ]; do
    for name in $names; do
      start=$(date +%s%N)
      sh "$name.sh"
      echo $(($(date +%s%N) - start)) >>"$name.times"
    done
    turn=$((turn + 1))
  done
  names=
}

for file in small.cpp small.c templates.cpp; do
  clang_command riscv32 "$file" >tile.txt
  clang_command "$(uname -m)" "$file" >host.txt
  command "popc-$file" "'$POPULUS_BIN/popc' $file -o popc.gp"
  command "host-$file" "$(cat host.txt) -o host.o"
  command "both-$file" "$(cat host.txt) -o host.o && $(cat tile.txt) -o tile.o"
  command "floor-$file" "$(cat host.txt) -o host.o & $(cat tile.txt) -o tile.o; wait"
  take_turns
done

median_ms() {
  sort -n "$1.times" | awk '{ t[NR] = $1 } END { printf "%.1f", t[int((NR + 1) / 2)] / 1e6 }'
}

# report <name> <of> <rival's name> <rival>
report() {
  value=$(median_ms "$2")
  rival=$(median_ms "$4")
  ratio=$(awk "BEGIN { printf \"%.2f\", $value / $rival }")
  echo "{\"name\": \"$1\", \"value\": $value, \"unit\": \"ms\", \"rival\": \"$3\", \"rival_value\": $rival, \"ratio\": $ratio}"
}

{
  report popc_vs_clang_small popc-small.cpp 'clang-19 for the host' host-small.cpp
  report popc_vs_clang_small_c popc-small.c 'clang-19 for the host' host-small.c
  report two_clangs_at_once floor-small.cpp 'clang-19 for the host' host-small.cpp
  report popc_vs_clang_templates popc-templates.cpp 'clang-19 for host, then tile' both-templates.cpp
} >>"$output"
