# The page of popview in a real browser: every row of viewer/CHECKLIST.md that has a test there. One browser for all. Pages are
# opened from file://, and a request for anything else fails the test (W04).
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
viewer=$POPULUS_SOURCE_DIR/viewer

skip()
{
  echo "skipped: $*"
  exit 77
}
[ -z "$POPULUS_SANITIZE" ] || skip "the page is that of the release build"
[ -f "$POPULUS_DATA_DIR/viewer.js" ] || skip "the viewer was not built, as esbuild was not there"
chromium=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
command -v node >/dev/null && command -v npm >/dev/null || skip "no nodejs or npm"

# What the tests need of npm comes once for each lock file, into the build folder.
modules=$POPULUS_BUILD_DIR/viewer/npm
lock=$(cksum <"$viewer/package-lock.json")
if [ "$(cat "$modules/lock" 2>/dev/null)" != "$lock" ]; then
  rm -rf "$modules"
  mkdir -p "$modules"
  cp "$viewer/package.json" "$viewer/package-lock.json" "$viewer/.npmrc" "$modules/"
  (cd "$modules" && npm ci --ignore-scripts) >npm.txt 2>&1 || skip "npm ci cannot install the tests' packages: $(tail -n 3 npm.txt)"
  echo "$lock" >"$modules/lock"
fi

# Types, strictly.
ln -sfn "$viewer/src" "$modules/src"
cp "$viewer/tsconfig.json" "$modules/"
(cd "$modules" && node node_modules/typescript/bin/tsc -p . --preserveSymlinks) >types.txt 2>&1 || fail "types: $(head -20 types.txt)"

POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"real","autoReport.outputArchive":"false",
  "debug.instrument":"true","debug.computeInstrumentationLevel":"vertex"}' quiet out "$POPULUS_BIN/matvec_split" 1000 300
node "$viewer/test/run.mjs" "$modules" "$chromium" "$POPULUS_BIN/popview" real >tests.txt 2>&1 || fail "$(cat tests.txt)"
tail -n 1 tests.txt
# What the checklist names for a row that is done is a test that has passed, or a test's file.
grep '^| ☑' "$viewer/CHECKLIST.md" | sed -n 's/^| ☑ | \([A-Z][0-9]*\) .* | [MSC] | [^`]*`\([^`]*\)`.*/\1 \2/p' >done.txt
[ "$(wc -l <done.txt)" -eq "$(grep -c '^| ☑' "$viewer/CHECKLIST.md")" ] || fail "a row of the checklist is ticked and names no test"
while read -r row named; do
  [ -f "$POPULUS_SOURCE_DIR/$named" ] || grep -Fq "ok   $named" tests.txt || fail "row $row names '$named', which is no test that has passed"
done <done.txt
