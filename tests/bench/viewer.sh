# viewer.sh <file>: the page of a large report (viewer/test/bench.mjs): 1,472 tiles x 10,000 intervals, all different.
#
# viewer_open_ms is the time from the address to the first picture, the least of three; viewer_blocked_ms the
# longest task of the page's own thread meanwhile, in which it reacts to nobody, of the best of three; viewer_open_task_ms the same in
# processor time, which does not depend on who else works, viewer_action_task_ms that of sixty things a person does then, and in pages with
# many variables and many compute sets, viewer_aside_task_ms that of twenty others, which are not looked at when the page is made faster. viewer_frame_ms is the mean of 120 frames in
# which the window is zoomed and panned by wheel and keys, with flames, the BSP picture and the Summary tab shown, the best of
# three rounds; viewer_frame_main_ms what the page's own thread takes of it, which does not depend on who else draws.
# viewer_memory_mib is the most that the page's process has had. viewer_page_kb is the page without its report.
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
