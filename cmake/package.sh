#!/bin/sh
# package.sh: builds the Debian packages into build-package/packages, and runs lintian on them if it
# is installed. Exit status 1 if lintian finds an error, 4 if tools are missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

sh cmake/setup.sh
for tool in dpkg-shlibdeps readelf objcopy; do
  command -v "$tool" >/dev/null || { say "no $tool: install dpkg-dev and binutils"; exit 4; }
done
build package
packages=build-package/packages
rm -rf "$packages"
umask 022
(cd build-package && cpack >package.log 2>&1) || { tail -n 30 build-package/package.log >&2; exit 1; }
rm -rf "$packages/_CPack_Packages"
ls "$packages"/*.deb "$packages"/*.ddeb
if ! command -v lintian >/dev/null; then
  say "no lintian: nobody has looked at them"
elif ! lintian --allow-root --fail-on error "$packages"/*.deb; then
  say "lintian finds errors"
  exit 1
fi
