# Sourced by script tests: . "$POPULUS_SOURCE_DIR/tests/support/check.sh"

fail()
{
  echo "FAILED: $*" >&2
  exit 1
}

# quiet <file> <command>...: exit status 0, nothing on standard error; standard output goes to the file.
quiet()
{
  quiet_output=$1
  shift
  "$@" >"$quiet_output" 2>quiet.err || fail "$* exits $?: $(head -5 quiet.err)"
  [ ! -s quiet.err ] || fail "$* complains: $(head -5 quiet.err)"
}

# has <file> <extended regular expression>...: each matches a line.
has()
{
  has_file=$1
  shift
  for pattern; do
    grep -Eq -- "$pattern" "$has_file" || { head -40 "$has_file" >&2; fail "$has_file has no line '$pattern'"; }
  done
}

# refuses <exit status> <words that the message must hold, separated by |> <command>...: the command fails with the status,
# and standard error says so in whole words: no stack dump, no complaint of a sanitizer.
refuses()
{
  refuses_status=$1 refuses_words=$2
  shift 2
  status=0
  "$@" >refuses.out 2>refuses.err || status=$?
  [ "$status" -eq "$refuses_status" ] || fail "$* exits $status, not $refuses_status: $(head -20 refuses.err)"
  ! grep -Eq 'Sanitizer|runtime error:|Stack dump' refuses.err || fail "$*: $(head -20 refuses.err)"
  while [ -n "$refuses_words" ]; do
    word=${refuses_words%%|*}
    case $refuses_words in *\|*) refuses_words=${refuses_words#*|} ;; *) refuses_words= ;; esac
    grep -Fq -- "$word" refuses.err || fail "$*: no '$word' in: $(head -20 refuses.err)"
  done
}
