# popsize: its numbers add up to those of size -A, also for an archive without metadata or symbols.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popsize=$POPULUS_BIN/popsize

POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"a.a"}' quiet out "$POPULUS_BIN/matvec_split" 300 40
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"b.a"}' quiet out "$POPULUS_BIN/matvec_split" 300 44

# sum <kind> <file of CSV>: the bytes of all rows of a kind; bytes <kind> <name> <file>: the bytes
# of one row
sum()
{
  awk -F, -v kind="$1" '$1 == kind { sum += $3 } END { print sum + 0 }' "$2"
}
bytes()
{
  awk -F, -v kind="$1" -v name="$2" '$1 == kind && $2 == name { print $3 }' "$3"
}
text_bytes()
{
  size -A "$1" | awk '$1 == ".text" { sum += $2 } END { print sum }'
}

# adds_up <archive>: checks the archive, and leaves its rows in all.csv.
adds_up()
{
  quiet all.csv "$popsize" --csv "$1"
  has all.csv '^kind,name,bytes,count,most,note$'
  whole=$(text_bytes "$1")
  [ "$(bytes total 'including gaps' all.csv)" = "$whole" ] || fail "$1: size -A says $whole: $(head -3 all.csv)"
  used=$(bytes total used all.csv)
  [ $((used + $(bytes total system all.csv) + $(bytes total gaps all.csv))) = "$whole" ] || fail "$1: $(head -5 all.csv)"
  [ "$(sum region all.csv)" = "$used" ] || fail "$1: regions are $(sum region all.csv) bytes of $used"
  [ "$(sum category all.csv)" = "$used" ] || fail "$1: categories are $(sum category all.csv) bytes of $used"
  [ "$(sum tile all.csv)" = "$whole" ] || fail "$1: tiles are $(sum tile all.csv) bytes of $whole"
}
adds_up a.a
cp all.csv complete.csv
[ "$(bytes variable matrix all.csv)" = 48000 ] || fail "the matrix has $(bytes variable matrix all.csv) bytes"
has all.csv '^vertexType,DotProductVertex,[0-9]+,[0-9]+,20,$' '^code,__runCodelet_DotProductVertex,[0-9]+,[0-9]+,[0-9]+,vertexCode$'
vertices=$(awk -F, '$1 == "vertexType" && $2 == "ReduceVertex" { print $4 }' all.csv)
[ "$vertices" = 300 ] || fail "$vertices ReduceVertex instead of 300"
tiles=$(grep -c '^tile,' all.csv)
[ "$tiles" = 1472 ] || fail "$tiles tiles"

# With the images alone popsize prints the same numbers, except for what has no symbol. After strip,
# only the names are missing.
cp a.a images.a
ar d images.a metadata.elf
adds_up images.a
for row in category,variable category,controlCode category,internalExchangeCode total,used variable,matrix; do
  [ "$(grep "^$row," all.csv)" = "$(grep "^$row," complete.csv)" ] || fail "from symbols: $(grep "^$row," all.csv)"
done
quiet out "$popsize" images.a
has out '^no metadata that this version reads: categories are those of symbols'
cp a.a stripped.a
llvm-strip-19 stripped.a >strip.txt 2>&1 || fail "strip: $(cat strip.txt)"
adds_up stripped.a
for kind in total region category tile; do
  grep "^$kind," complete.csv | cut -d, -f1-3 >wanted
  grep "^$kind," all.csv | cut -d, -f1-3 | sort >found
  sort wanted | cmp - found || fail "stripped, another $kind"
done
grep -q '^variable,' all.csv && fail "a stripped archive has variables"
quiet out "$popsize" stripped.a
has out '^no symbols: neither variables, vertices nor code are known$'
# Images of another archive are detected.
cp a.a mixed.a
ar x b.a tile-00000.elf
ar r mixed.a tile-00000.elf
refuses 1 "'mixed.a': the image of tile 0 has|bytes, but the metadata are for|from another archive" "$popsize" mixed.a

# Blocks of programs have symbols in the control code, which stays one category.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"blocks.a","profiler.programs.filter":"."}' quiet out "$POPULUS_BIN/matvec_split" 300 40
adds_up blocks.a
grep '^category,controlCode,' all.csv >wanted
ar d blocks.a metadata.elf
adds_up blocks.a
grep '^category,controlCode,' all.csv | cmp - wanted || fail "from symbols: $(grep '^category,' all.csv)"

# Variables with the same name are one row: it counts tiles, and what a tile has of all of them. A
# variable may be named like the state of a vertex.
quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" alike.a like-names
quiet alike "$popsize" --csv alike.a
has alike '^variable,twin,36,2,32,variable$' '^variable,vertex\.weights\.0,28,1,28,variable$'
! grep -q '^vertexType,weights,' alike || fail "a variable is a vertex: $(cat alike)"

# Sections by category add up too.
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"sections.a","target.archiveSections":"byCategory"}' \
  quiet out "$POPULUS_BIN/matvec_split" 300 40
quiet all.csv "$popsize" --csv sections.a
cmp all.csv complete.csv || fail "with sections by category it says something else"
messages=$(size -A sections.a | awk '$1 == ".control" { sum += $2 } END { print sum }')
[ "$messages" = "$(bytes category controlCode all.csv)" ] || fail ".control has $messages bytes"

# Text output: bars, a histogram, the ten largest.
quiet out "$popsize" a.a
has out '^a\.a: 1472 tiles of ipu2$' '^Categories:$' ' 100\.0%     1472 .* including gaps  *#+$' '^Tiles by size:$' \
  '^  … and [0-9]+ more: --top 0 shows all$' '  matrix .* variable$'
quiet out "$popsize" --top 0 a.a
! grep -q ' more: ' out || fail "--top 0 leaves something out"
quiet out "$popsize" --sort name --csv a.a
grep '^variable,' out | cut -d, -f2 >names
LC_ALL=C sort -c names || fail "not sorted by name: $(cat names)"
quiet out "$popsize" --sort count --csv a.a
grep '^variable,' out | cut -d, -f4 >counts
sort -nrc counts || fail "not sorted by count: $(cat counts)"
grep '^variable,' complete.csv | cut -d, -f3 | sort -nrc || fail "not sorted by size"

# One tile: its memory from the base to the end.
quiet tile.csv "$popsize" --tile 7 --csv a.a
[ "$(sum tile tile.csv)" = "$(size -A a.a | awk '/tile-00007/ { t = 1 } t && $1 == ".text" { print $2; exit }')" ] || fail "tile 7"
quiet out "$popsize" --tile 7 a.a
has out '^a\.a: 1 tile of ipu2$' '^  0x4c000 +8192  \(system\)$' '  matrix  variable float\[300,40\]$'
refuses 1 "'a.a' has no tile 1472" "$popsize" --tile 1472 a.a

# Engine options are for programs: their reports are not written again, and no mistake is hidden.
mkdir reports
POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"reports","debug.traceFile":"reports/trace","no":"1"}' \
  quiet out "$popsize" --csv a.a
cmp out complete.csv || fail "engine options change what popsize says"
[ -z "$(ls reports)" ] || fail "popsize writes reports: $(ls reports)"
refuses 2 "POPULUS_TILE_ENGINE: option 'target.tileEngine' cannot be 'x'" env POPULUS_TILE_ENGINE=x "$popsize" a.a

# Differences between two archives.
quiet out "$popsize" --diff a.a a.a --csv
[ "$(cut -d, -f5 out | sort -u | tr '\n' ' ')" = '0 difference ' ] || fail "the same archive differs: $(cat out)"
quiet out "$popsize" --diff a.a b.a --csv
has out '^kind,name,before,after,difference$' '^variable,matrix,48000,52800,4800$'
! grep -q ',outputVector,' out || fail "outputVector has not changed"
quiet out "$popsize" --diff a.a b.a
has out '^a\.a -> b\.a$' ' 48000 +52800 +\+4800 .* \+10\.00%  matrix$'
quiet out "$popsize" --diff b.a a.a
has out ' 52800 +48000 +-4800 .* -9\.09%  matrix$'
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"c.a"}' quiet out "$POPULUS_BIN/suffix_sum"
quiet out "$popsize" --diff a.a c.a --top 0
has out ' gone  matrix$' ' new  v1$'
! grep -q ' more: ' out || fail "--top 0 leaves something out"
! grep -q ' tiles of ' out || fail "targets do not differ"
quiet out "$popsize" --diff c.a a.a
has out '^ +0 +[1-9][0-9]* +\+[1-9][0-9]* +new  gaps$' # which is no share of nothing
quiet out "$popsize" --diff a.a c.a --top 2
has out '^  … and [0-9]+ more: --top 0 shows all$'
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"d.a"}' quiet out "$POPULUS_BUILD_DIR/tests/support/busy_graph" \
  "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" ipu1 3
quiet out "$popsize" --diff a.a d.a
has out '^a\.a -> d\.a$' '^1472 tiles of ipu2 -> 3 tiles of ipu1$'
[ "$(sed -n '/^Categories:/,/^$/p' out | grep -c '%\|new\|gone')" -gt 10 ] || fail "categories are left out: $(cat out)"
quiet out "$popsize" --json --diff a.a d.a
has out '^\{.*"after":\{"archive":"d\.a","target":"ipu1","numTiles":3\},'
quiet pretty "$popsize" --pretty --diff a.a d.a
[ "$(wc -l <out)" -eq 1 ] && [ "$(wc -l <pretty)" -gt 100 ] || fail "not on one line, or not for people"

# In narrow terminals bars are shorter, so that no row is longer because of them.
COLUMNS=80 quiet out "$popsize" a.a
has out '  including gaps               #{6}$'
COLUMNS=40 quiet out "$popsize" a.a
! grep -q '#' out || fail "bars in 40 columns"

if command -v python3 >/dev/null; then
  for arguments in 'a.a' '--tile 3 a.a' '--diff a.a b.a' 'stripped.a'; do
    # shellcheck disable=SC2086 # words
    quiet out.json "$popsize" --json $arguments
    python3 -m json.tool out.json >pretty || fail "$arguments: no JSON"
  done
  python3 - <<'END' || fail "the JSON says something else than the CSV"
import csv, json, subprocess, os
popsize = os.environ['POPULUS_BIN'] + '/popsize'
data = json.loads(subprocess.check_output([popsize, '--json', 'a.a']))
rows = [row for row in csv.DictReader(open('complete.csv'))]
lists = {'total': 'totals', 'region': 'regions', 'category': 'categories', 'vertexType': 'vertexTypes', 'code': 'code',
         'variable': 'variables', 'tile': 'tiles'}
for kind, name in lists.items():
    wanted = [(r['name'], int(r['bytes'])) for r in rows if r['kind'] == kind]
    assert [(r['name'], r['bytes']) for r in data[name]] == wanted, kind
assert data['numTiles'] == 1472 and data['metadata'] is True and data['target'] == 'ipu2'
END
fi

# The command line, wrong archives, an output that cannot be written.
refuses 2 "popsize takes one archive, not 0|usage: popsize" "$popsize"
refuses 2 "--diff takes two archives, not 1" "$popsize" --diff a.a
refuses 2 "--sort takes size, name or count, not 'age'" "$popsize" --sort age a.a
refuses 2 "--tile takes a number, not 'x'" "$popsize" --tile x a.a
refuses 2 "--csv and --json cannot be had" "$popsize" --csv --json a.a
refuses 2 "--csv and --json cannot be had" "$popsize" --pretty --csv a.a
refuses 2 "there is no option '--jsn'" "$popsize" --jsn a.a
refuses 2 "there is no option '-j'" "$popsize" a.a -jq
refuses 1 "none.a" "$popsize" none.a
refuses 1 "has no tile images" "$popsize" "$POPULUS_DATA_DIR/poplibs.gp"
head -c 30000 a.a >cut.a
refuses 1 "'cut.a'" "$popsize" cut.a
if [ -c /dev/full ]; then
  status=0
  "$popsize" a.a >/dev/full 2>full.err || status=$?
  [ $status = 4 ] || fail "a full disk makes exit status $status"
fi
quiet help "$popsize" --help
sed 's/\\-/-/g' "$POPULUS_SOURCE_DIR/runtime/tools/popsize.1" >manual
grep -o '^ .*--[a-z]*' help | grep -o -- '--[a-z]*' | while read -r option; do
  grep -Fq -- "$option" manual || fail "the manual says nothing of $option"
done

# Names in an archive come from anybody. Control characters and line ends in them are escaped.
quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" odd.a odd-name
quiet odd "$popsize" --top 0 odd.a
has odd 'odd.x1b.31m.x0aname' && ! grep -q "$(printf '\033')" odd || fail "$(cat odd)"
quiet odd "$popsize" --csv odd.a
has odd '^variable,"?odd.x1b.31m' && ! grep -q "$(printf '\033')" odd || fail "$(cat odd)"
named=$(printf 'odd\033[31m\302\233.a')
cp odd.a "$named"
for command in "--top 1" "--diff odd.a"; do
  # shellcheck disable=SC2086 # an option and its value
  quiet odd "$popsize" $command "$named"
  has odd 'odd.x1b.31m.xc2.x9b.a' && ! grep -q "$(printf '\033')" odd || fail "$(cat odd)"
done
quiet odd "$popsize" --tile 0 odd.a
has odd 'odd.x1b.31m.x0aname' && ! grep -q "$(printf '\033')" odd || fail "$(cat odd)"
