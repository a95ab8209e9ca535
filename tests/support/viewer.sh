# Sourced by what opens pages of popview in a browser: . "$POPULUS_SOURCE_DIR/tests/support/viewer.sh"

# viewer_tools: sets $chromium and $modules, the folder of the tests' npm packages, which come once for each lock file, into
# the build folder. Exits 77 where there is no browser, no node, or no package.
viewer_tools()
{
  viewer=$POPULUS_SOURCE_DIR/viewer
  [ -f "$POPULUS_DATA_DIR/viewer.js" ] || viewer_skip "the viewer was not built, as esbuild was not there"
  # shellcheck disable=SC2034 # for the script that sources this
  chromium=$(command -v chromium || command -v chromium-browser) || viewer_skip "no chromium"
  command -v node >/dev/null && command -v npm >/dev/null || viewer_skip "no nodejs or npm"
  modules=$POPULUS_BUILD_DIR/viewer/npm
  lock=$(cksum <"$viewer/package-lock.json")
  [ "$(cat "$modules/lock" 2>/dev/null)" != "$lock" ] || return 0
  rm -rf "$modules"
  mkdir -p "$modules"
  cp "$viewer/package.json" "$viewer/package-lock.json" "$viewer/.npmrc" "$modules/"
  (cd "$modules" && npm ci --ignore-scripts) >npm.txt 2>&1 || viewer_skip "npm ci cannot install the tests' packages: $(tail -n 3 npm.txt)"
  echo "$lock" >"$modules/lock"
}

viewer_skip()
{
  echo "skipped: $*"
  exit 77
}
