# popview: a page that holds its report and requests nothing; what is no report is refused in a sentence.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popview=$POPULUS_BIN/popview
if [ ! -f "$POPULUS_DATA_DIR/viewer.js" ]; then
  refuses 4 "the viewer is not there|esbuild" "$popview" "$POPULUS_SOURCE_DIR" -o x.html
  echo "skipped: the viewer was not built, as esbuild was not there"
  exit 77
fi

# unpack <page>: the JSON in it, by another reader.
unpack()
{
  python3 -c '
import base64, json, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
text = re.search(r"<script type=\"application/octet-stream\" id=\"report\">([A-Za-z0-9+/=]*)</script>", page).group(1)
json.dump(json.loads(zlib.decompress(base64.b64decode(text, validate=True))), sys.stdout)' "$1" >unpacked.json
}
# same <key> <file>: the page's first report has what is in the file.
same()
{
  python3 -c '
import json, sys
if json.load(open("unpacked.json"))["reports"][0][sys.argv[1]] != json.load(open(sys.argv[2])): sys.exit(1)' "$1" "$2" ||
    fail "$1 of the page is not $2"
}

POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"report","debug.instrument":"true"}' \
  quiet out "$POPULUS_BIN/matvec_split" 100 40

# A folder: both profiles, variables, options. The same report makes the same page.
quiet out "$popview" report -o page.html
quiet out "$popview" --output again.html report
cmp -s page.html again.html || fail "two pages of one report differ"
unpack page.html
for key in graph execution vars debug; do same "$key" "report/$key.json"; done
has unpacked.json '"name": "profile.pop", "status": "read"'

# W01: nothing may be requested, and only the two pieces with the page's nonce run.
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
quiet out "$popview" report/archive.a -o page.html
unpack page.html
same graph report/graph.json

# Without profile.pop, the files beside it.
mkdir pieces
cp report/graph.json report/execution.json pieces/
quiet out "$popview" pieces -o page.html
unpack page.html
same execution report/execution.json
# One that is damaged does not keep the others from being shown, and is named.
head -c 1000 report/vars.json >pieces/vars.json
quiet out "$popview" pieces -o page.html
unpack page.html
has unpacked.json '"name": "vars.json", "status": "damaged, or no such file"'

# W02, W03: damaged or foreign, a sentence and no page.
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
refuses 1 "cannot open 'nowhere'|No such file" "$popview" nowhere -o no.html
printf '!<arch>\n' >empty.a
refuses 1 "empty.a" "$popview" empty.a -o no.html
[ ! -e no.html ] || fail "a page was written of what is no report"

refuses 2 "takes one report" "$popview"
refuses 2 "takes one report" "$popview" a b
refuses 2 "there is no option" "$popview" --frob report
refuses 2 "an argument is missing" "$popview" report -o
refuses 4 "nowhere/page.html" "$popview" report -o nowhere/page.html
POPULUS_DATA_DIR=$PWD/empty refuses 4 "the viewer is not there|esbuild" "$popview" report -o page.html
quiet out "$popview" --help
has out '^usage: popview'
quiet out "$popview" --version
has out '^popview, Populus version [0-9.]+$'
