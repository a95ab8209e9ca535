# viewer.sh <file>: the page of a large report (viewer/test/bench.mjs): 1,472 tiles x 10,000
# intervals, all different.
#
# viewer_open_ms: time from the address to the first picture, the least of three
# viewer_blocked_ms: longest task of the page's main thread meanwhile, in which it does not react;
#     of the best of three
# viewer_open_task_ms: the same in processor time, which does not depend on other work
# viewer_action_task_ms: processor time of sixty things that a person does then, and in pages with
#     many variables and compute sets
# viewer_aside_task_ms: processor time of twenty others, to which nothing is tuned
# viewer_frame_ms: mean of 120 frames while wheel and keys zoom and pan the window, with flames, the
#     BSP picture and the Summary tab shown; the best of three rounds
# viewer_frame_main_ms: the main thread's part of that, which does not depend on other drawing
# viewer_memory_mib: peak memory of the page's process
# viewer_page_kb: the page without its report
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"
. "$POPULUS_SOURCE_DIR/tests/support/viewer.sh"

output=$1
viewer_tools
node "$POPULUS_SOURCE_DIR/viewer/test/bench.mjs" "$modules" "$chromium" "$POPULUS_BIN/popview" >figures
figure() { awk -v name="$1" '$1 == name { print $2 }' figures; }
number viewer_open_ms "$(figure open_ms)" ms
number viewer_blocked_ms "$(figure blocked_ms)" ms
number viewer_open_task_ms "$(figure open_task_ms)" ms
number viewer_action_task_ms "$(figure action_task_ms)" ms
number viewer_aside_task_ms "$(figure aside_task_ms)" ms
number viewer_frame_ms "$(figure frame_ms)" ms
number viewer_frame_main_ms "$(figure frame_main_ms)" ms
number viewer_memory_mib "$(figure memory_mib)" MiB
number viewer_page_kb "$(figure page_kb)" kB
rm -rf large large.html tiles tiles.html sets sets.html
