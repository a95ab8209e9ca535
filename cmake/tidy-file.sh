#!/bin/sh
# tidy-file.sh <build folder> <file>: clang-tidy over one file, for tidy.sh, with the command of the
# build folder's compile_commands.json. A C++ file that is not there is compiled with our headers
# alone. If there are no findings, the list of files that were read is left in the build folder's
# tidy.read/, as a make rule, for tidy-known.py, which remembers clean files.
set -eu

build=$1
file=$2
cd "$(dirname "$0")/.."
root=$PWD
log=$(mktemp)
trap 'rm -f "$log" "$log.d"' EXIT

# The command of the data base, without its output. A file may be there twice: once is enough.
command=$(sed -n '/^ *"command": /h; /^ *"file": /{G;p;}' "$build/compile_commands.json" |
  grep -F -A 1 "\"file\": \"$file\"" | sed -n '2{s/^ *"command": "\(.*\)",*$/\1/;s/\\\(.\)/\1/g;p;}')
case $file:$command in
*.cpp:)
  set -- -x c++ -std=c++17 -Wall -Wextra
  for folder in runtime/cxx runtime libarchive-ipu libcodelet popc; do set -- "$@" "-I$root/$folder/include"; done
  ;;
*:)
  echo "tidy: $build/compile_commands.json does not name $file" >&2
  exit 1
  ;;
*)
  # Quoted for a shell, as the build tool runs it.
  eval "set -- $command"
  shift # the compiler
  count=$#
  while [ "$count" -gt 0 ]; do
    case $1 in
    -o) shift; count=$((count - 1)) ;;
    -c | "$file") ;;
    *) set -- "$@" "$1" ;;
    esac
    shift
    count=$((count - 1))
  done
  ;;
esac

# Criterion's assertions expand to so many branches that the analyser spends its budget on them: ten
# seconds a file, and it gives up before the end of a test. The header that replaces Criterion under
# ThreadSanitizer has one branch for each. The flags are gcc's. The analyser gives up a function
# with very many paths after the number of states of its own shallow mode, a third of that of the
# deep mode: most of the time went into a few such functions.
set -- -isystem "$root/tests/tsan" "$@" -Wno-unknown-warning-option -Xclang -analyzer-config -Xclang max-nodes=75000

if ! clang-tidy-19 --quiet --config-file=.clang-tidy "$file" -- "$@" "-Wp,-MD,$log.d" >"$log" 2>&1; then
  grep -v 'warnings\{0,1\} generated\|^Suppressed\|^Use -header-filter' "$log" >&2
  exit 1
fi
mv "$log.d" "$build/tidy.read/$(printf '%s' "$file" | cksum | cut -d' ' -f1)"
