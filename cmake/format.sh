#!/bin/sh
# format.sh [--fix]: checks our C and C++ files against .clang-format, or formats them.
set -eu

cd "$(dirname "$0")/.."
case ${1-} in
'') mode='--dry-run -Werror' ;;
--fix) mode=-i ;;
*)
  echo "usage: format.sh [--fix]" >&2
  exit 2
  ;;
esac

# Golden files are not formatted.
# shellcheck disable=SC2086 # one or two words
find libarchive-ipu libcodelet popc runtime examples tests -path tests/golden -prune -o \
  -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -r -n 50 -P "$(nproc)" clang-format-19 $mode --
