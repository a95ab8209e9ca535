#!/bin/sh
# quickstart.sh: from a fresh clone to a program that has run on the software IPU.
# Installs what is missing, builds into build/, runs the main job, leaves its files in build/quickstart/.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

main_job() {
  mkdir -p "$root/build/quickstart"
  cd "$root/build/quickstart"
}

sh cmake/setup.sh
say "building into build/ (a few minutes the first time)"
build release
main_job
