# popview writes a page that contains its report and requests nothing. An input that is no report is
# refused with a message.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popview=$POPULUS_BIN/popview
if [ ! -f "$POPULUS_DATA_DIR/viewer.js" ]; then
  refuses 4 "the viewer is not there|esbuild" "$popview" "$POPULUS_SOURCE_DIR" -o x.html
  echo "skipped: the viewer was not built, as esbuild was not there"
  exit 77
fi

# unpack <page>: the JSON in the page, read by an independent reader.
unpack()
{
  python3 -c '
import base64, json, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
text = "".join(re.findall(r"<script type=\"application/octet-stream\"[^>]*>([A-Za-z0-9+/=]*)</script>", page))
json.dump(json.loads(zlib.decompress(base64.b64decode(text, validate=True))), sys.stdout)' "$1" >unpacked.json
}
# same <key> <file>: the page's first report equals the file.
same()
{
  python3 -c '
import json, sys
if json.load(open("unpacked.json"))["reports"][0][sys.argv[1]] != json.load(open(sys.argv[2])): sys.exit(1)' "$1" "$2" ||
    fail "$1 of the page is not $2"
}

POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"report","debug.instrument":"true"}' \
  quiet out "$POPULUS_BIN/matvec_split" 100 40

# A folder: both profiles, variables, options. The same report gives the same page.
quiet out "$popview" report -o page.html
quiet out "$popview" --output again.html report
cmp -s page.html again.html || fail "two pages of one report differ"
unpack page.html
for key in graph execution vars debug; do same "$key" "report/$key.json"; done
has unpacked.json '"name": "profile.pop", "status": "read"'

# The report has the name that was given. The page does not reveal the folders of this machine.
has unpacked.json '"reports": \[{"name": "report"'
quiet out "$popview" "$PWD/report" -o page.html
unpack page.html
has unpacked.json "\"reports\": \[{\"name\": \"$(basename "$PWD")/report\""
quiet out "$popview" report -o page.html

# A program that is asked for the page only writes the page and the reports in it.
POPLAR_ENGINE_OPTIONS='{"autoReport.outputViewer":"true","autoReport.directory":"alone","debug.instrument":"true"}' \
  quiet out "$POPULUS_BIN/matvec_split" 100 40
unpack alone/report.html
for key in graph execution vars debug; do same "$key" "alone/$key.json"; done
[ ! -e alone/archive.a ] || fail "the page's reports have an archive"
POPLAR_ENGINE_OPTIONS='{"autoReport.outputViewer":"true","autoReport.outputExecutionProfile":"false","autoReport.directory":"graph"}' \
  quiet out "$POPULUS_BIN/matvec_split" 100 40
[ -e graph/report.html ] && [ ! -e graph/execution.json ] || fail "outputViewer without the execution profile: $(ls graph)"

# W01: the page may request nothing, and only the two scripts with the page's nonce run.
has page.html "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-[0-9a-f]{32}'"
! grep -Eq '(src|href)="?https?:' page.html || fail "the page names something outside"
[ "$(grep -c '<script' page.html)" -eq 2 ] || fail "the page has other scripts"
[ "$(wc -c <"$POPULUS_DATA_DIR/viewer.js")" -lt 400000 ] || fail "the viewer has more than 400 kB"

# profile.pop alone, the graph profile alone, an archive alone.
quiet out "$popview" report/profile.pop -o page.html
unpack page.html
same graph report/graph.json
same execution report/execution.json
quiet out "$popview" report/graph.json -o page.html
unpack page.html
same graph report/graph.json
quiet out "$popview" report/execution.json -o page.html
unpack page.html
same execution report/execution.json
for other in vars debug; do
  refuses 1 "report/$other.json|neither a graph profile" "$popview" "report/$other.json" -o no.html
done
quiet out "$popview" report/archive.a -o page.html
unpack page.html
same graph report/graph.json

# Without profile.pop, popview takes the other files of the folder.
mkdir pieces
cp report/graph.json report/execution.json pieces/
quiet out "$popview" pieces -o page.html
unpack page.html
same execution report/execution.json
# A damaged file is named, and the others are shown.
head -c 1000 report/vars.json >pieces/vars.json
quiet out "$popview" pieces -o page.html
unpack page.html
has unpacked.json '"name": "vars.json", "status": "damaged, or no such file"'
head -c 1000 report/profile.pop >pieces/profile.pop
quiet out "$popview" pieces -o page.html
unpack page.html
same graph report/graph.json
has unpacked.json '"name": "profile.pop", "status": "damaged, or no such file"'

# W02: a damaged or foreign input gets a message and no page.
for size in 0 1 100 5000; do
  head -c "$size" report/profile.pop >"cut$size.pop"
  refuses 1 "cut$size.pop" "$popview" "cut$size.pop" -o no.html
done
for n in 1 2 3 4 5 6 7 8; do
  head -c $((n * 900)) report/profile.pop >"$n.pop"
  printf '\377\377\377\377\377\377' >>"$n.pop"
  tail -c +$((n * 900 + 6)) report/profile.pop >>"$n.pop"
  status=0
  "$popview" "$n.pop" -o "$n.html" >out 2>err || status=$?
  [ "$status" -le 1 ] || fail "damage at byte $((n * 900)) exits $status: $(cat err)"
done
echo '{"graph": [1, 2' >broken.json
refuses 1 "broken.json|line 2|no JSON" "$popview" broken.json -o no.html
echo '[1]' >list.json
refuses 1 "list.json|no object" "$popview" list.json -o no.html
mkdir empty
refuses 1 "no report in 'empty'|autoReport" "$popview" empty -o no.html
mkdir broken
cp broken.json broken/graph.json
refuses 1 "broken/graph.json|line 2|no JSON" "$popview" broken -o no.html
refuses 1 "cannot open 'nowhere'|No such file" "$popview" nowhere -o no.html
printf '!<arch>\n' >empty.a
refuses 1 "empty.a" "$popview" empty.a -o no.html
[ ! -e no.html ] || fail "a page was written of what is no report"

# Two reports in one page.
quiet out "$popview" report report/graph.json -o both.html
unpack both.html
[ "$(python3 -c 'import json; print(len(json.load(open("unpacked.json"))["reports"]))')" -eq 2 ] || fail "there are not two reports in the page"

# Differences: none between a report and itself. A longer program has grown. popview says so, and
# its exit status tells it.
POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"longer","debug.instrument":"true"}' \
  quiet out "$POPULUS_BIN/matvec_split" 100 400
quiet same.txt "$popview" diff --fail-above 0% --each report report
! grep -q grown same.txt || fail "a report has grown against itself"
quiet out "$popview" diff report longer
has out '^ +[0-9]+ +[0-9]+ +\+[0-9]+ +\+[0-9.]+%  Cycles$' 'OnTileExecute .*mulCS|OnTileExecute mulCS'
differs() # <exit status> <arguments>...
{
  wanted=$1
  shift
  status=0
  "$popview" diff "$@" >out 2>err || status=$?
  [ "$status" -eq "$wanted" ] || fail "popview diff $* exits $status, not $wanted: $(cat out err)"
}
differs 3 --fail-above 5% report longer
has out 'Cycles  <-- grown$'
differs 0 --fail-above 5% longer report
differs 0 --fail-above 100000% report longer
differs 3 --fail-above 5 --format json --each report longer
python3 -c '
import json, sys
d = json.load(open("out"))
a, b = (json.load(open(f"{name}/execution.json"))["simulation"] for name in ("report", "longer"))
cycles = next(t for t in d["totals"] if t["name"] == "cycles")
sums = [sum(s["cycles"] for s in x["steps"] if s["type"] == "OnTileExecute" and s["name"] == "mulCS") for x in (a, b)]
step = next(t for t in d["cyclesByName"] if t["name"] == "OnTileExecute mulCS")
memory = [max(json.load(open(f"{name}/graph.json"))["memory"]["byTile"]["totalIncludingGaps"]) for name in ("report", "longer")]
fullest = next(t for t in d["totals"] if t["name"] == "memory.fullestTile")
assert d["grown"] is True and d["failAbove"] == 0.05
assert [cycles["before"], cycles["after"]] == [a["cycles"], b["cycles"]] and cycles["grown"] is True
assert [step["before"], step["after"]] == sums and step["difference"] == sums[1] - sums[0]
assert [fullest["before"], fullest["after"]] == memory' || fail "popview diff --format json says something else than the profiles"
# Waiting for syncs that were acknowledged is no step, as in the page.
python3 -c '
import json
waits = json.load(open("report/execution.json"))
waits["simulation"]["steps"].append({"type": "SyncAns", "syncAns": 0, "syncs": 2, "activeTiles": 1, "cycles": 500, "cyclesFrom": 0, "cyclesTo": 500})
json.dump(waits, open("waits.json", "w"))' || fail 'no report with a SyncAns'
differs 0 --fail-above 0% --each report/execution.json waits.json
! grep -q SyncAns out || fail "a sync is a step: $(cat out)"
# A value that one report lacks does not count as unchanged.
refuses 1 "report/graph.json|no execution trace" "$popview" diff --fail-above 5% report/graph.json report
quiet out "$popview" diff report/graph.json report
echo '{"profilerMode":"NONE"}' >nothing.json
python3 -c '
import json
graph = json.load(open("report/graph.json"))
del graph["memory"]["liveness"]
json.dump(graph, open("no_peak.json", "w"))' || fail 'no report without a peak'
refuses 1 "'no_peak.json' does not say 'Peak of what is live' and 'report/graph.json' does" \
  "$popview" diff --fail-above 5% no_peak.json report/graph.json
quiet out "$popview" diff no_peak.json report/graph.json
python3 -c '
import json
graph = json.load(open("report/graph.json"))
categories = graph["memory"]["byCategory"]
categories["odd\x1b[31m\x9b"] = categories["controlCode"]
json.dump(graph, open("odd.json", "w"))' || fail 'no report with an odd name'
quiet out "$popview" diff odd.json report/graph.json
has out '  odd.x1b.31m.xc2.x9b$'
refuses 1 "nothing.json|in common" "$popview" diff report nothing.json
python3 -c '
import json
graph = json.load(open("report/graph.json"))
graph["memory"]["byCategory"].update({"category%d" % i: {"total": [i]} for i in range(250000)})
json.dump(graph, open("many.json", "w"))' || fail 'no report of many categories'
quiet out timeout 60 "$popview" diff many.json report/graph.json # each is found at once
rm many.json
# C06: the page is not the report, by whatever name.
cp report/profile.pop own.pop
ln own.pop second.pop
for output in own.pop second.pop; do
  refuses 2 "the page '$output' would be the report" "$popview" own.pop -o $output
done
cmp report/profile.pop own.pop || fail "popview has overwritten its report"
cp report/graph.json own.json
refuses 2 "the page 'report/graph.json' would be the report, or a file of it" "$popview" report -o report/graph.json
refuses 2 "the page 'report/profile.pop' would be" "$popview" own.pop report -o report/profile.pop
cmp report/graph.json own.json || fail "popview has overwritten a file of its report"
quiet out "$popview" report -o report/report.html
rm report/report.html
# C04, C08: nothing waits for a pipe, or serves at an address that nobody was told.
mkfifo pipe
refuses 1 "'pipe': it is a pipe" timeout 20 "$popview" pipe -o no.html
status=0
timeout 20 "$popview" --serve report >&- 2>err || status=$?
[ $status -eq 4 ] || fail "--serve without standard output exits $status"
refuses 2 "takes a percentage" "$popview" diff --fail-above much report longer
quiet line "$popview" diff --json report longer
quiet pretty "$popview" diff --pretty report longer
quiet formatted "$popview" diff --format json report longer
[ "$(wc -l <line)" = 1 ] && cmp pretty formatted || fail 'popview diff --json, --pretty'
python3 -c 'import json
assert json.load(open("line")) == json.load(open("pretty"))' || fail 'popview diff --json and --pretty differ'
refuses 2 "takes text or json" "$popview" diff --format xml report longer
refuses 2 "two reports" "$popview" diff report
refuses 2 "--each" "$popview" diff --each report longer

# A program writes its page itself, if asked to. If the viewer was not built, it says so.
POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"own","autoReport.outputViewer":"true","debug.instrument":"true"}' \
  quiet out "$POPULUS_BIN/matvec_split" 100 40
unpack own/report.html
for key in graph execution; do same "$key" "own/$key.json"; done
mkdir data
ln -s "$POPULUS_DATA_DIR"/* data/
rm data/viewer.js
POPULUS_DATA_DIR=$PWD/data POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"without","autoReport.outputViewer":"true"}' \
  refuses 4 "the viewer is not there|esbuild" "$POPULUS_BIN/matvec_split" 100 40
[ -f without/graph.json ] && [ ! -e without/report.html ] || fail "without a viewer there is: $(ls without)"

# The demonstration runs, and leaves only the page.
mkdir tmp
# Engine options, as an example of the manual exports them, are for other programs.
TMPDIR=$PWD/tmp POPLAR_ENGINE_OPTIONS='{"autoReport.directory":"mine","autoReport.profileFormat":"cbor"}' \
  quiet out "$popview" --demo -o demo.html
[ ! -e mine ] || fail "--demo writes its report to the folder of another program: $(ls mine)"
[ -z "$(ls tmp)" ] || fail "--demo leaves $(ls tmp)"
unpack demo.html
has unpacked.json '"name": "popview/demo"'
python3 -c '
import json
r = json.load(open("unpacked.json"))["reports"][0]
types = {s["type"] for s in r["execution"]["simulation"]["steps"]}
assert types >= {"OnTileExecute", "DoExchange", "GlobalExchange", "Sync", "StreamCopyBegin", "StreamCopy", "StreamCopyEnd"}, types
assert r["execution"]["programTraceComplete"] and r["execution"]["lightweightProfile"]["tiles"]' || fail "the demonstration's report lacks something"

# A server on this machine: it answers only with the token and only under its own name. Its stamp
# changes when a report is written again.
"$popview" --serve report >address 2>err &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  [ ! -s address ] || break
  sleep 0.2
done
has address '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$'
python3 - "$(cat address)" <<'EOF' || fail "--serve: $(cat err)"
import json, os, socket, sys, urllib.request, urllib.error
url = sys.argv[1]
def get(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers
status, page, headers = get(url)
assert status == 200 and "connect-src 'self'" in page and 'data-reports="reports.json"' in page, page[:2000]
assert headers["Cache-Control"] == "no-store"
status, text, _ = get(url + "reports.json")
reports = json.loads(text)
assert status == 200 and reports["reports"][0]["execution"] == json.load(open("report/execution.json"))
stamp = get(url + "stamp")[1]
assert get(url + "stamp")[1] == stamp
os.utime("report/execution.json", (1, 1))
assert get(url + "stamp")[1] != stamp
root = url.split("/")
assert get("/".join(root[:3]) + "/")[0] == 404
assert get("/".join(root[:3]) + "/" + "0" * 32 + "/reports.json")[0] == 404
assert get(url + "../../etc/passwd")[0] == 404
assert get(url, Host="example.org")[0] == 403
try:
    urllib.request.urlopen(urllib.request.Request(url, data=b"x", method="POST"), timeout=30)
    assert False
except urllib.error.HTTPError as error:
    assert error.code == 405
os.rename("report", "away")
status, text, _ = get(url + "reports.json")
assert status == 503 and "cannot open 'report'" in text, (status, text[:1000])
os.rename("away", "report")
assert get(url + "reports.json")[0] == 200
# Nobody else is listened to.
port = int(root[2].split(":")[1])
other = [a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET) if not a[4][0].startswith("127.")]
for address in other[:1]:
    try:
        socket.create_connection((address, port), timeout=2).close()
        assert False, "it listens on " + address
    except OSError:
        pass
EOF
kill "$server"
wait "$server" || fail "--serve exits $? when it is ended"
trap - EXIT
refuses 1 "nowhere" "$popview" --serve nowhere
refuses 2 "--serve writes no file" "$popview" --serve report -o page.html
refuses 2 "--demo takes no report" "$popview" --demo report

refuses 2 "takes one report" "$popview"
refuses 2 "takes one report" "$popview" a b c
refuses 2 "--fail-above takes a percentage, as in 5%, not '%'" "$popview" diff --fail-above % report report
refuses 2 "there is no option '--frob'" "$popview" --frob report
refuses 2 "there is no option '-f'" "$popview" -fq report
refuses 2 "an argument is missing" "$popview" report -o
refuses 4 "nowhere/page.html" "$popview" report -o nowhere/page.html
POPULUS_DATA_DIR=$PWD/empty refuses 4 "the viewer is not there|esbuild" "$popview" report -o page.html
quiet out "$popview" --help
has out '^usage: popview'
quiet out "$popview" --version
has out '^popview, Populus version [0-9.]+$'
