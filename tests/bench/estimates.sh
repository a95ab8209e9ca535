#!/bin/sh
# estimates.sh <file>: tutorial 7 with a matrix of 10000 x 1000 on a model of ipu1, in cycles (estimates.c).
#
# tutorial7_ipu1_cycles is the program's cycles from its first step to its last, with the tutorial's
# estimates of its vertices. The cycles of a program that does nothing are subtracted: 172 of 5476.
# Its rival is the figure of the guide's sample, 5,071. runtime/profile/README.md explains the
# difference, with the steps that the program prints.
#
# tutorial7_ipu1_code_cycles is the same with the cycles of the vertices' code. The estimate assumes
# an instruction that multiplies and adds two floats in a cycle, which this tile does not have.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

output=$1
"$POPULUS_BUILD_DIR/tests/bench/estimates" "$POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp" >figures
get() { # a figure without what an empty program takes
  awk -v name="$1" '{ at[$1] = $2 } END { print at[name] - at["empty"] }' figures
}
number tutorial7_ipu1_cycles "$(get program)" cycles "the guide's sample" 5071
number tutorial7_ipu1_code_cycles "$(get ipu)" cycles
