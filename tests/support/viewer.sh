# Sourced by tests that open pages of popview in a browser: .
# "$POPULUS_SOURCE_DIR/tests/support/viewer.sh"

# viewer_tools: sets $chromium; $caches, the user's cache folder; and $modules, the folder of the
# tests' npm packages. The packages are installed into the caches once for each lock file, where the
# next clone finds them. Those not used for 30 days are removed. Exits with 77 if there is no
# browser, no node, or no package.
viewer_tools()
{
  viewer=$POPULUS_SOURCE_DIR/viewer
  [ -f "$POPULUS_DATA_DIR/viewer.js" ] || viewer_skip "the viewer was not built, as esbuild was not there"
  # shellcheck disable=SC2034 # for the script that sources this
  chromium=$(command -v chromium || command -v chromium-browser) || viewer_skip "no chromium"
  command -v node >/dev/null && command -v npm >/dev/null || viewer_skip "no nodejs or npm"
  modules=$POPULUS_BUILD_DIR/viewer/npm
  caches=${XDG_CACHE_HOME:-${HOME:-$POPULUS_BUILD_DIR}/.cache}/populus
  mkdir -p "$modules" "$caches"
  packages=$caches/npm-$(cat "$viewer/package.json" "$viewer/package-lock.json" | sha256sum | cut -c1-16)
  if [ -d "$packages" ]; then touch "$packages"; else viewer_install "$packages"; fi
  find "$caches" -maxdepth 1 \( -name 'npm-*' -o -name 'viewer-types-*' \) -mtime +30 -exec rm -rf {} +
  cp "$viewer/package.json" "$modules/"
  rm -rf "$modules/node_modules"
  ln -s "$packages/node_modules" "$modules/node_modules"
}

# viewer_install <folder>: installs it. The folder appears when it is complete, whoever
# else installs the same.
viewer_install()
{
  coming=$(mktemp -d "$1.XXXXXX")
  cp "$viewer/package.json" "$viewer/package-lock.json" "$viewer/.npmrc" "$coming/"
  if ! (cd "$coming" && npm ci --ignore-scripts) >npm.txt 2>&1; then
    rm -rf "$coming"
    viewer_skip "npm ci cannot install the tests' packages: $(tail -n 3 npm.txt)"
  fi
  mv -T "$coming" "$1" 2>/dev/null || rm -rf "$coming"
}

# Everything on which the type checker depends: the sources, their settings, the packages (including
# itself), and what runs it.
viewer_types_key()
{
  {
    (cd "$viewer" && find src tsconfig.json package.json package-lock.json -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
    node --version
  } | sha256sum | cut -c1-16
}

viewer_skip()
{
  echo "skipped: $*"
  exit 77
}
