# Sourced by the scripts of documents: a command line of the document is run as it is printed there, by a shell in which
# compilers find Populus as they find an installation.
#
#   section TITLE       says where we are, for who reads the log
#   line 'COMMAND'      runs it: standard output to out, standard error to err; it has to end well
#   sample FILE LINE…   the file is these lines, as the document prints them
#   in_order FILE RE…   lines that match, one after the other, with others between them
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
CPATH=
for folder in runtime runtime/cxx libarchive-ipu libcodelet popc; do CPATH=$CPATH${CPATH:+:}$POPULUS_SOURCE_DIR/$folder/include; done
LIBRARY_PATH=$POPULUS_BUILD_DIR/lib LD_LIBRARY_PATH=$POPULUS_BUILD_DIR/lib
export CPATH LIBRARY_PATH LD_LIBRARY_PATH

section()
{
  echo "$*"
}

# With the sanitizers a compiler's command line is another one anyway: there it is two, and ccache, where it is, knows the first.
# apart <standard> <source> <libraries, -o and the program>...: prints them.
apart()
{
  flags="$1 -fsanitize=$POPULUS_SANITIZE" source=$2
  shift 2
  echo "env -u CPATH $ccache g++ $flags $include -c $source -o $source.o && g++ $flags $source.o $lld $*"
}

line()
{
  command=$1
  # shellcheck disable=SC2086 # words
  case $POPULUS_SANITIZE:$command in ?*:g++*) command=$(apart ${command#g++}) ;; esac
  sh -c "$command" >out 2>err || fail "$1 exits $?: $(head -20 err)"
}

sample()
{
  sample_file=$1
  shift
  printf '%s\n' "$@" >expected
  cmp -s expected "$sample_file" || fail "$command prints: $(cat "$sample_file")"
}

in_order()
{
  order_file=$1
  shift
  printf '%s\n' "$@" >expressions
  awk 'NR == FNR { expression[++count] = $0; next }
    { if (at < count && $0 ~ expression[at + 1]) ++at }
    END { if (at < count) { print expression[at + 1]; exit 1 } }' expressions "$order_file" >missed ||
    fail "$command: not in its place: '$(cat missed)' in $PWD/$order_file"
}
