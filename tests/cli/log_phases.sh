#!/bin/sh
# At level DEBUG the log names each phase with its time and memory, in the form that the guide's
# readers look for.
set -eu

POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=log POPLAR_ENGINE_OPTIONS='{"target.saveArchive": "archive.a"}' \
  "$POPULUS_BIN/matvec_split" 20 30 >/dev/null

for phase in check place lower exchange liveness live_sections stack emit allocate account 'Saving archive' 'Loading executable' \
  'Running program'; do
  grep -q "\[D\] Starting phase: $phase\$" log
  grep -Eq "\[D\] Ending phase: $phase \(duration [0-9]+ ms; diff RSS: -?[0-9.e-]+ MB\)\$" log
done
grep -Eq 'Program 0: [1-9][0-9]* cycles, [1-9][0-9]* instructions$' log

# Phases of the compiler do not overlap: each one ends before the next one starts.
awk '/PO:COMPILER/ && /(Starting|Ending) phase/ { print $5, $7 }' log | awk '
  NR % 2 == 1 { started = $2; if ($1 != "Starting") exit 1 }
  NR % 2 == 0 && ($1 != "Ending" || $2 != started) { exit 1 }'

# The options debug.verify and debug.logStackSizeAnalysis add lines to the log.
POPLAR_LOG_LEVEL=DEBUG POPLAR_LOG_DEST=more POPLAR_ENGINE_OPTIONS='{"debug.verify": true, "debug.logStackSizeAnalysis": true}' \
  "$POPULUS_BIN/matvec_split" 20 30 >/dev/null
grep -q 'PO:COMPILER \[D\] Ending phase: verify (' more
grep -Eq 'PO:COMPILER \[I\] vertex DotProductVertex needs [0-9]+ bytes of stack$' more
if grep 'bytes of stack\|phase: verify' log; then exit 1; fi

# A lower level shows no phases.
POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=quiet "$POPULUS_BIN/matvec_split" 20 30 >/dev/null
[ ! -s quiet ] || ! grep -q phase quiet
