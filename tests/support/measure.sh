# Sourced by tests/bench/*.sh: . "$POPULUS_SOURCE_DIR/tests/support/measure.sh"; numbers go
# to the file $output.

# seconds <command>...: prints the wall time of a command
seconds() {
  from=$(date +%s.%N)
  "$@" >/dev/null
  date +%s.%N | awk -v from="$from" '{ print $1 - from }'
}

# median <file>: of its numbers, one in each line
median() {
  sort -g "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# number <name> <value> <unit> [<rival> <rival's value>]: the ratio is ours to the rival's
number() {
  # shellcheck disable=SC2154 # the script sets output
  if [ $# -eq 3 ]; then
    printf '{"name": "%s", "value": %.3f, "unit": "%s"}\n' "$1" "$2" "$3"
  else
    printf '{"name": "%s", "value": %.3f, "unit": "%s", "rival": "%s", "rival_value": %.3f, "ratio": %.3f}\n' \
      "$1" "$2" "$3" "$4" "$5" "$(awk -v a="$2" -v b="$5" 'BEGIN { print a / b }')"
  fi >>"$output"
}
