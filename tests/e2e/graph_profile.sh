# The graph profile of every example in C (profiles_cxx.sh: in C++). It follows the schema, JSON and
# CBOR have the same contents, and a graph has the profile of its archive. Its views of memory agree
# to the byte with each other, with the images, with popsize and with `size -A`. Further graphs give
# bytes to every category; one of them is out of memory, and in one with a single tile the peak of
# live memory is what liveness says.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/profile_agrees.sh"
schema=$POPULUS_SOURCE_DIR/tests/golden/graph_profile.schema.json
python=
for candidate in /usr/bin/python3 python3; do
  "$candidate" -c 'import cbor2, jsonschema' 2>imports.err && python=$candidate && break
done
[ -n "$python" ] || { echo "python3-cbor2 and python3-jsonschema are not installed"; exit 77; }

for folder in "$POPULUS_SOURCE_DIR"/examples/*/; do
  example=$(basename "$folder")
  case $example in
    linked_executable) continue ;; # it compiles nothing
    cpp) continue ;;               # other programs, for profiles_cxx.sh
    models) continue ;;            # modules for pophlo
    matvec*) arguments="300 40" ;;
    mnist) arguments="--epochs 1" ;; # more epochs run the same programs
    *) arguments= ;;
  esac
  rm -rf compiled loaded archive.a
  # shellcheck disable=SC2086
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a","autoReport.outputGraphProfile":"true","autoReport.directory":"compiled"}' \
    "$POPULUS_BIN/$example" $arguments >out.txt 2>&1 || fail "$example exits $?: $(cat out.txt)"
  agree "$example"
  for format in json jsonPretty cbor; do
    mkdir -p loaded/$format
    POPLAR_ENGINE_OPTIONS="{\"autoReport.directory\":\"loaded/$format\",\"autoReport.outputGraphProfile\":\"true\",\"autoReport.profileFormat\":\"$format\"}" \
      quiet agreed.txt "$agrees" archive.a
  done
  cmp compiled/graph.json loaded/json/graph.json || fail "$example: the archive has another profile than the graph"
  { sed -n 's/^    Including Gaps: *\([0-9,]*\) B$/including_gaps \1/p' compiled/graph.txt
    sed -n 's/^      Total: *\([0-9,]*\) B$/used \1/p' compiled/graph.txt; } | tr -d , >summary.txt
  grep -v '^category' agree.txt | cmp - summary.txt || fail "$example: the summary says something else"
  "$python" "$POPULUS_SOURCE_DIR/tests/support/validate_profile.py" "$schema" compiled/graph.json \
    loaded/jsonPretty/graph.json loaded/cbor/graph.cbor || fail "$example: the profile is not as the schema says"
  cp compiled/graph.json "$example.json"
done

# Exchanges name what they move: variables of the graph, and buffers that the compiler made.
"$python" - <<'END' || fail "exchanges do not name what they move"
import json, sys
def exchange(example, kind, name, **wanted):
    of = json.load(open(example + ".json"))[kind]
    for key, value in wanted.items():
        got = of[key][of["names"].index(name)]
        if got != value:
            sys.exit(f"{example}, {name}: {key} is {got}, not {value}")
exchange("matvec_split", "exchanges", "mulCS/ExchangePre", sourceVariables=["inputVector"], destinationVariables=["<message:mulCS>"])
exchange("matvec_split", "exchanges", "reduceCS/ExchangePre", sourceVariables=["partials"], destinationVariables=["<message:reduceCS>"])
exchange("pipeline", "externalExchanges", "to the next IPU/GlobalPre/GlobalExchange", sourceVariables=["out"], destinationVariables=["in"])
exchange("pipeline", "hostExchanges", "next batch", category="Host", copiesFromHost=1, copiesToHost=0)
exchange("pipeline", "hostExchanges", "results", category="Host", copiesFromHost=0, copiesToHost=1)
exchange("remote_buffer", "hostExchanges", "fetch", category="RemoteBuffer", copiesFromHost=1, copiesToHost=0)
exchange("remote_buffer", "hostExchanges", "store", category="RemoteBuffer", copiesFromHost=0, copiesToHost=1)
END

# Graphs with what no example has. One is only compiled, because it does not fit.
quiet out.txt "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp
quiet out.txt "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/planned.c" -o planned.gp
for graph in "support/every_category" "support/busy_graph busy.gp ipu2 8" "support/busy_graph busy.gp ipu2 1" \
  "bench/plan overfull planned.gp"; do
  rm -f archive.a
  # shellcheck disable=SC2086
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a","debug.instrument":"true","debug.allowOutOfMemory":"true"}' \
    "$POPULUS_BUILD_DIR"/tests/$graph >out.txt 2>&1 || fail "$graph exits $?: $(cat out.txt)"
  agree "$graph"
done
sort -u present.txt | sed 's/^present //' >categories.txt
"$python" -c 'import json; print("\n".join(sorted(json.load(open("compiled/graph.json"))["memory"]["byCategory"])))' |
  LC_ALL=C sort >all.txt
LC_ALL=C sort categories.txt | cmp - all.txt || fail "no graph has bytes of $(LC_ALL=C sort categories.txt | comm -13 - all.txt)"

# popexec writes a graph profile too.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' "$POPULUS_BIN/suffix_sum" >out.txt 2>&1
"$POPULUS_BIN/popexec" --profile by_popexec archive.a >out.txt 2>&1 || fail "popexec --profile exits $?: $(cat out.txt)"
[ -s by_popexec/graph.json ] || fail "popexec --profile writes no graph.json"

# The comparison can fail: another stack size gives another profile.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' "$POPULUS_BIN/suffix_sum" >out.txt 2>&1
agree suffix_sum
cp agree.txt before.txt
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a","debug.supervisorStackSizeInBytes":"64"}' \
  "$POPULUS_BIN/suffix_sum" >out.txt 2>&1
agree suffix_sum
! cmp -s agree.txt before.txt || fail "a larger stack makes the same profile"
