#!/bin/sh
# run.sh [topic]: measures one topic or all, prints a table, and merges the numbers into build/bench.json.
#
# A topic is a script tests/bench/<topic>.sh. It is run in a fresh folder with the environment that the script tests have
# (POPULUS_BIN, POPULUS_SOURCE_DIR, POPULUS_BUILD_DIR, POPULUS_DATA_DIR) and one argument: the file that it appends its
# numbers to, one JSON object on each line:
#
#   {"name": "link_write_s", "value": 1.52, "unit": "s"}
#   {"name": "interpreter_mips", "value": 210, "unit": "MIPS", "rival": "qemu-riscv32", "rival_value": 480, "ratio": 0.44}
#
# build/bench.json is a list of all of them, each with its topic; a topic's new numbers replace its old ones.
# Exit status: 0 done, 1 a topic failed (the others are still measured), 2 there is no such topic.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

topics() {
  for script in "$here"/*.sh; do
    topic=$(basename "$script" .sh)
    [ "$topic" = run ] || echo "$topic"
  done
}

if [ $# -gt 1 ] || { [ $# -eq 1 ] && ! topics | grep -qxF -e "$1"; }; then
  {
    [ $# -gt 1 ] || echo "bench: there is no topic '$1'"
    echo "usage: sh tests/bench/run.sh [topic], where topic is one of:"
    topics | sed 's/^/  /'
  } >&2
  exit 2
fi

. "$root/cmake/common.sh"
me=bench
sh cmake/setup.sh
build release

POPULUS_BIN=$root/build/bin
POPULUS_SOURCE_DIR=$root
POPULUS_BUILD_DIR=$root/build
POPULUS_DATA_DIR=$root/build/lib/populus
export POPULUS_BIN POPULUS_SOURCE_DIR POPULUS_BUILD_DIR POPULUS_DATA_DIR

all=$root/build/bench.json
work=$root/build/bench
mkdir -p "$work"

# check_numbers <topic> <file>: the objects of a topic, with its name put in; complains about what is none.
check_numbers() {
  awk -v topic="$1" '
    /^[ \t]*$/ { next }
    !/^[ \t]*\{.*"name": *".*"value": *-?[0-9].*"unit": *".*\}[ \t]*$/ {
      print "bench: " topic ": no number: " $0 > "/dev/stderr"
      bad = 1
      next
    }
    { sub(/\}[ \t]*$/, ", \"topic\": \"" topic "\"}"); sub(/^[ \t]*/, ""); print; count++ }
    END { if (!count) print "bench: " topic ": no numbers" > "/dev/stderr"; exit bad || !count }' "$2"
}

# merge <topic> <file>: into bench.json, in the order of first appearance, one object on each line.
merge() {
  touch "$all"
  awk -v topic="$1" '
    function add(line) { lines[++count] = line }
    /^[][]?$/ { next }
    FILENAME == ARGV[1] && index($0, "\"topic\": \"" topic "\"}") { next }
    { sub(/,$/, ""); add($0) }
    END {
      print "["
      for (i = 1; i <= count; i++) print lines[i] (i < count ? "," : "")
      print "]"
    }' "$all" "$2" >"$all.new"
  mv "$all.new" "$all"
}

# table <file>: the objects, one row each, columns aligned.
table() {
  awk '
    function get(key,   text) {
      if (!match($0, "\"" key "\": *(\"[^\"]*\"|[-+0-9.eE]+)")) return ""
      text = substr($0, RSTART, RLENGTH)
      sub(/^"[^"]*": */, "", text)
      gsub(/"/, "", text)
      return text
    }
    function cell(column, text) {
      table[row, column] = text
      if (length(text) > width[column]) width[column] = length(text)
    }
    BEGIN { columns = split("name value unit rival rival_value ratio", keys, " ") ; row = 0
      for (c = 1; c <= columns; c++) cell(c, keys[c]) }
    /^\{/ { row++; for (c = 1; c <= columns; c++) cell(c, get(keys[c])) }
    END {
      for (r = 0; r <= row; r++) {
        line = ""
        for (c = 1; c <= columns; c++) {
          left = keys[c] == "name" || keys[c] == "unit" || keys[c] == "rival"
          line = line sprintf(left ? "%-*s  " : "%*s  ", width[c], table[r, c])
        }
        sub(/ +$/, "", line)
        print line
      }
    }' "$1"
}

failed=
: >"$work/numbers"
for topic in $(if [ $# -eq 1 ]; then echo "$1"; else topics; fi); do
  say "$topic"
  rm -rf "${work:?}/$topic" "$work/raw" "$work/checked"
  mkdir -p "$work/$topic"
  : >"$work/raw"
  if (cd "$work/$topic" && sh "$here/$topic.sh" "$work/raw") &&
    check_numbers "$topic" "$work/raw" >"$work/checked"; then
    merge "$topic" "$work/checked"
    cat "$work/checked" >>"$work/numbers"
  else
    echo "bench: $topic failed" >&2
    failed="$failed $topic"
  fi
done

[ ! -s "$work/numbers" ] || { echo; table "$work/numbers"; }
if [ -n "$failed" ]; then
  echo "bench: failed:$failed" >&2
  exit 1
fi
