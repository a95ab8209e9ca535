#!/bin/sh
# headers.sh <file>: compile time of a program that is #include <poplar/Engine.hpp> and
# nothing else (the aim of issue 8: under a second), beside that of the standard library's
# headers which it includes.
#
#   header_engine_ms, header_engine_o2_ms             user time of g++ -std=c++11, without and with -O2
#   header_engine_clang_ms, header_engine_clang_o2_ms the same of clang++-19
#   header_engine_c++17_ms, header_engine_c++20_ms    g++, later standards: their standard headers are larger
#
# User time, the least of several turns, as other work on the machine makes it larger,
# never smaller.
set -eu

output=$1
turns=${POPULUS_BENCH_TURNS:-7}
engine='#include <poplar/Engine.hpp>'
include=
for folder in runtime runtime/cxx libarchive-ipu libcodelet popc; do include="$include -I$POPULUS_SOURCE_DIR/$folder/include"; done
echo "$engine" >engine.cpp

# user_ms <command>...: the least user time of all turns.
user_ms() {
  turn=0
  while [ $turn -lt "$turns" ]; do
    (
      "$@"
      times
    ) | awk 'NR == 2 { split($1, t, /[ms]/); print (t[1] * 60 + t[2]) * 1000 }'
    turn=$((turn + 1))
  done | sort -n | head -n 1
}

# report <name> <compiler> <argument>...
report() {
  name=$1
  shift
  # What the standard library's own headers cost: those that ours name.
  # shellcheck disable=SC2086 # words
  "$@" $include -M engine.cpp | tr -s ' \134' '\n' |
    sed -n 's,^/.*/c++/[0-9]*/\([a-z_]*\)$,#include <\1>,p' | sort -u >standard.cpp
  # shellcheck disable=SC2086 # words
  value=$(user_ms "$@" $include -c engine.cpp -o engine.o)
  rival=$(user_ms "$@" -c standard.cpp -o standard.o)
  ratio=$(awk "BEGIN { printf \"%.2f\", $value / $rival }")
  echo "{\"name\": \"$name\", \"value\": $value, \"unit\": \"ms\", \"rival\": \"standard headers alone\", \"rival_value\": $rival, \"ratio\": $ratio}"
}

{
  report header_engine_ms g++ -std=c++11
  report header_engine_o2_ms g++ -std=c++11 -O2
  report header_engine_clang_ms clang++-19 -std=c++11
  report header_engine_clang_o2_ms clang++-19 -std=c++11 -O2
  report header_engine_c++17_ms g++ -std=c++17
  report header_engine_c++20_ms g++ -std=c++20
} >>"$output"
