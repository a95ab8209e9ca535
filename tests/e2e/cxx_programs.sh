# The libraries and the examples in C++, compiled as users compile them. A graph built in C++ gives
# the archive of the same graph built in C.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
codelets=$POPULUS_BUILD_DIR/share/populus/examples

libraries="-lgcl -lpoprand -lpopnn -lpoplin -lpopops -lpoputil -lpoplar"
for program in libraries layers arithmetic slices_and_order random_numbers mappings lifetimes texts; do
  # shellcheck disable=SC2086 # words
  link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/cxx/$program.cpp" $program $libraries
  ./"$program" >out 2>&1 || fail "$program: $(cat out)"
done
# shellcheck disable=SC2086 # words
link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/cxx/products.cpp" products $libraries
with_comma ./products >out 2>&1 || fail "products: $(cat out)"

# A program may define names that the headers also use, and open the namespace that has them, as
# Boost does for _1.
{
  echo 'namespace other {'
  for name in _1 _2 _3 Abs Add Any Cast Const Copy Exp Expr Graph Interval Max Min Mul Program Select Sequence Square Sub Tanh Tensor Type check map; do
    echo "struct $name {};"
  done
  echo '} using namespace other;'
  (cd "$POPULUS_SOURCE_DIR/runtime/cxx/include" && find poplar popops poplin popnn poprand poputil popfloat gcl pva pvti -name '*.hpp' | sort) |
    sed 's/.*/#include <&>/'
} >hostile.cpp
[ -n "$POPULUS_SANITIZE" ] || cxx "$compiler" -std=c++17 -fsyntax-only hostile.cpp 2>err || fail "hostile.cpp: $(grep -m 5 error: err)"

# Our headers with another libpopops: the program gets an error before it computes wrong numbers.
mkdir other
echo 'int other_popops = 1;' | $ccache cc -fPIC -shared -Wl,-soname,libpopops.so.3 -x c - -o other/libpopops.so.3
ln -s libpopops.so.3 other/libpopops.so
{
  echo '#include <poplar/Graph.hpp>'
  echo '#include <popops/codelets.hpp>'
  echo 'extern "C" int other_popops;'
  echo 'int main() { poplar::Graph graph(poplar::Target::createIPUTarget(other_popops, 1, "ipu2"));'
  echo 'try { popops::addCodelets(graph); } catch (const poplar::poplar_error &e) { std::cout << e.what(); } }'
} >both.cpp
link "$compiler" c++17 both.cpp both -Lother "-Wl,-rpath,$PWD/other" -l:libpopops.so.3 -lpoplar
./both >out 2>&1 || fail "both: $(cat out)"
grep -q "^popops::addCodelets: .*the process has another popops, '$PWD/other/libpopops.so.3'" out || fail "both: $(cat out)"

# pvti traces host programs: it writes nothing by default, and on request a file for Perfetto.
link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/cxx/pvti.cpp" pvti -lpvti -pthread
./pvti >out 2>&1 || fail "pvti: $(cat out)"
PVTI_OPTIONS='{"enable":"false"}' ./pvti >out 2>&1 || fail "pvti: $(cat out)"
PVTI_OPTIONS='{"enable": "true", "directory": "host"}' ./pvti on >out 2>&1 || fail "pvti on: $(cat out)"
[ "$(find . -name '*_GMT_*' | wc -l)" = 1 ] && [ "$(find host -name '*_GMT_*.json' | wc -l)" = 1 ] || fail "$(find . -name '*_GMT_*')"
python3 - host/*_GMT_*.json <<'END' || fail "the trace: $(cat host/*.json)"
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
assert [(e["ph"], e["name"]) for e in events] == [
    ("M", "thread_name"), ("B", 'outer "quoted"'), ("B", "inner"), ("B", "part"), ("i", "moment"), ("B", "seen"), ("E", "seen"),
    ("E", "part"), ("E", "inner"), ("E", 'outer "quoted"'), ("B", "beside"), ("E", "beside"), ("C", "memory (MB)"),
    ("C", "memory (MB)")], events
assert events[1]["args"] == {"step": 3} and events[1]["cat"] == "own" and events[-1]["args"] == {"host": 2}
assert events[10]["tid"] != events[1]["tid"] and all(a["ts"] <= b["ts"] for a, b in zip(events, events[1:]))
END
# Another folder, a channel that is disabled inside a span, a label that is not all UTF-8, a decimal comma; standard output
# is closed.
with_comma env PVTI_OPTIONS='{"enable": "true", "directory": "odd"}' ./pvti odd 2>err >&- || fail "pvti odd: $(cat err)"
python3 - odd/*.json <<'END' || fail "the trace: $(cat odd/*)"
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
assert [(e["ph"], e["name"]) for e in events] == [
    ("B", "elsewhere"), ("E", "elsewhere"), ("B", "half"), ("E", "half"),
    ("i", "\ufffd \u00e9 \ufffd\ufffd\ufffd \U0001f600 \ufffd\ufffd"), ("C", "load")], events
assert events[-1]["args"] == {"half": -0.5e-9} and type(events[0]["ts"]) == float, events
END

if [ -z "$POPULUS_SANITIZE" ]; then
  PVTI_OPTIONS='{"enable": "true", "directory": "forks"}' ./pvti forks >out 2>&1 || fail "pvti forks: $(cat out)"
  cxx "$compiler" -std=c++11 -fsanitize=thread -pthread "$POPULUS_SOURCE_DIR/tests/cxx/pvti.cpp" -o races
  PVTI_OPTIONS='{"enable": "true", "directory": "raced"}' ./races races >out 2>&1 || fail "races: $(cat out)"
fi

# A shared library that hides its symbols has a session of its own. Both write their traces.
cat >sessions.cpp <<'END'
#include <pvti/pvti.hpp>
static pvti::TraceChannel channel = {NAME};
struct Recorded {
  Recorded() { pvti::Tracepoint::event(&channel, NAME); }
} recorded;
#ifdef MAIN
int main() {}
#endif
END
cxx "$compiler" -std=c++11 -fvisibility=hidden -fPIC -shared '-DNAME="library"' sessions.cpp -o libsession.so
cxx "$compiler" -std=c++11 -fvisibility=hidden -DMAIN '-DNAME="program"' sessions.cpp "-Wl,--no-as-needed,-rpath,$PWD" -L. -lsession -o sessions
PVTI_OPTIONS='{"enable": "true", "directory": "two"}' ./sessions >out 2>&1 || fail "sessions: $(cat out)"
python3 - two/* <<'END' || fail "the traces: $(ls two) $(cat two/*)"
import json, sys

assert sorted(e["name"] for file in sys.argv[1:] for e in json.load(open(file))["traceEvents"]) == ["library", "program"]
END
# As Python's json.dumps writes names of folders.
mkdir 'ré😀'
PVTI_OPTIONS='{"enable": true, "directory": "r\u00e9\ud83d\ude00\/\"x\" y"}' ./pvti on >out 2>&1 || fail "pvti on: $(cat out)"
[ "$(find 'ré😀/"x" y' -name '*_GMT_*.json' | wc -l)" = 1 ] || fail "no trace in $(ls)"
for wrong in '{"directory":"\q"}' '{"directory":"\u00g0"}' '{"directory":"\ud83d"}' '{"enable":"yes"}' '{"enabled":"true"}' '{"enable":' '[]' '{} x' '{"directory":"out/x","enable":true}'; do
  if PVTI_OPTIONS=$wrong ./pvti 2>err; then fail "PVTI_OPTIONS=$wrong is taken"; fi
  has err "PVTI_OPTIONS: "
done

# Examples (cxx_examples.sh tests the others).
for name in variables suffix_sum matvec_split elementwise; do
  example $name $name
done
./variables >out 2>err || fail "variables: $(cat err)"
printf '%s\n' 'v1-debug: {1,1.5,2,2.5}' 'v2-debug: {1,1.5,2,2.5}' 'v4-0: {0,1,2,3,4,5,6,7,8,9}' \
  'v4-1: {10,11,12,13,14,15,16,17,18,19}' | cmp - err || fail "variables: $(cat err)"
printf '%s\n' 'Running program' 'Program complete' '' 'h3 data:' '  0 0 0 0' '  0 1 1.5 2' '  0 0 0 0' '  0 0 0 0' |
  cmp - out || fail "variables: $(cat out)"

[ "$(./suffix_sum)" = 'v2: {7,6,4.5,2.5}' ] || fail "suffix_sum"
for worst in 'ipu1 64373' 'ipu2 53807'; do
  ./matvec_split 10000 1000 "${worst% *}" >out || fail "matvec_split: $(cat out)"
  has out "^Worst cost seen: ${worst#* }\$" '^Multiplication result OK$'
done
for wrong in 'abc 40' '40 -1' '0 40' 40; do
  status=0
  # shellcheck disable=SC2086 # words
  ./matvec_split $wrong 2>err || status=$?
  [ $status = 2 ] || fail "matvec_split $wrong: status $status"
  has err '^usage: '
done

./elementwise >out || fail "elementwise"
printf '%s\n' 'v1 + v2: {' ' {5,4.5},' ' {4,3.5}' '}' 'v1 + transpose of v2: {' ' {5,3.5},' ' {5,3.5}' '}' \
  'v1 * v1 - 2 * v2: {' ' {-7,-3.75},' ' {0,4.25}' '}' 'v1 x v2: {' ' {7,4.5},' ' {13,8.5}' '}' 'its sum: 33' |
  cmp - out || fail "elementwise: $(cat out)"

# same <program in C> <program in C++ with arguments, one word> <arguments of the program in C>...:
# both programs write the same archive.
same()
{
  name=$1 command=$2
  shift 2
  # shellcheck disable=SC2086 # words
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"cxx.a"}' ./$command >out 2>&1 || fail "$name: $(cat out)"
  in_c=$POPULUS_BIN/$name
  [ -e "$in_c" ] || in_c=$POPULUS_BUILD_DIR/tests/support/$name
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"c.a"}' "$in_c" "$@" >out 2>&1 || fail "$name: $(cat out)"
  cmp c.a cxx.a || fail "$name: the archives of the graphs in C and C++ differ"
  rm c.a cxx.a
}
same variables variables
same suffix_sum "suffix_sum $codelets/sum_codelets.gp" --device ipumodel
same matvec_split "matvec_split 300 40 ipu2 $codelets/matvec_split_codelets.gp" --device ipumodel 300 40

# Graphs with loops, streams, remote buffers, replicas and libraries.
# shellcheck disable=SC2086 # words
link "$compiler" c++14 "$POPULUS_SOURCE_DIR/tests/cxx/same_graphs.cpp" same_graphs $libraries
same control_flow "same_graphs control_flow $codelets/newton_codelets.gp" --device ipumodel
same streams "same_graphs streams $codelets/average_codelets.gp" --device ipumodel
same remote_buffer "same_graphs remote_buffer $codelets/average_of_two_codelets.gp" --device ipumodel
same replicas "same_graphs replicas $codelets/replicas_codelets.gp" --device ipumodel
same library_graph "same_graphs library_graph"
