#!/bin/sh
# execution.sh <file>: the cost of execution profiles, on 1,472 tiles with 1,000 steps
# (execution.c). Medians.
#
# profiling_off_overhead is the time of a run without instrumentation over that of the machine alone
# with the same images: the cost of the ability to profile. profiling_on_time and
# profiling_on_cycles are a run with everything measured over one without, in time of the host and
# in cycles of the device. profiling_peak_mib is the memory of the process with both engines, after
# writing profile, summary and trace.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

ROUNDS=5
STEPS=1000

output=$1
"$POPULUS_BUILD_DIR/tests/bench/execution" $ROUNDS $STEPS >figures
figure() { # median of its rounds
  awk -v name="$1" '$1 == name { print $2 }' figures >rounds
  median rounds
}
ratio() {
  awk -v a="$(figure "$1")" -v b="$(figure "$2")" 'BEGIN { print a / b }'
}
number profiling_off_overhead "$(ratio engine machine)" ratio
number profiling_on_time "$(ratio profiled engine)" ratio
number profiling_on_cycles "$(ratio cycles_on cycles_off)" ratio
number profiling_peak_mib "$(figure peak_mib)" MiB
