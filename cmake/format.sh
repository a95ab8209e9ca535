#!/bin/sh
# format.sh [--fix]: checks the C and C++ files that git knows against .clang-format, or formats them.
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

# Codelets and C++ headers too; golden files are what they are.
# shellcheck disable=SC2086 # one or two words
git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' '*.hpp' ':!tests/golden' |
  xargs -0 -r clang-format-19 $mode --
