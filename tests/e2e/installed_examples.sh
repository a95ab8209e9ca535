# Each example in C is a program of a user's: compiled with popc and cc against an installation, in another folder, as
# examples/README.md says, it prints what the build's own prints; with its codelets gone it says so.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

prefix=$PWD/prefix
case $prefix in *' '*) echo "pkg-config takes no blanks"; exit 77 ;; esac
quiet install.txt cmake --install "$POPULUS_BUILD_DIR" --prefix "$prefix"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name populus.pc)")
export PKG_CONFIG_PATH PATH="$prefix/bin:$PATH"
unset POPULUS_DATA_DIR
flags="$(pkg-config --cflags --libs populus) ${POPULUS_SANITIZE:+-fsanitize=$POPULUS_SANITIZE}"
flags="$flags -Wl,-rpath,$(dirname "$(find "$prefix" -name libpoplar.so)")"

# example <name>: compiles it here.
example()
{
  folder=$POPULUS_SOURCE_DIR/examples/$1
  objects=
  for codelets in "$folder"/*_codelets.*; do
    [ ! -e "$codelets" ] || quiet popc.txt popc -O2 "$codelets" -o "$(basename "${codelets%.*}").gp"
  done
  if [ "$1" = linked_executable ]; then
    quiet out env POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"square_roots.a"}' ./control_flow
    quiet popc.txt popc --link -c square_roots.a -o square_roots.o
    rm square_roots.a
    objects=square_roots.o
  fi
  # shellcheck disable=SC2086 # words
  cc -I. "$folder/$1.c" $objects -o "$1" $flags >cc.txt 2>&1 || fail "$1: $(cat cc.txt)"
}

# same <name> <arguments>...: prints what the build's program prints.
same()
{
  program=$1
  shift
  "$POPULUS_BIN/$program" "$@" >expected 2>&1 || fail "the build's $program $*: $(cat expected)"
  "./$program" "$@" >out 2>&1 || fail "$program $*: $(cat out)"
  cmp expected out || fail "$program $* prints other things: $(diff expected out | head -5)"
}

for name in variables suffix_sum matvec matvec_split control_flow streams remote_buffer event_trace pipeline replicas \
  cached_executable linked_executable; do
  example $name
done
same variables
same suffix_sum
same matvec 40 50
same matvec_split 100 70
same control_flow 2 10 1e6
same streams
same remote_buffer
same event_trace
same pipeline
same replicas
same replicas --one-graph
same linked_executable 2 3 4
quiet first ./cached_executable
quiet second ./cached_executable
has first '^sums: 1472 1471 ... 1$'
has second '^sums: 1472 1471 ... 1$'

# Mistakes: each is one sentence that names the thing, and exit status 1 or 2.
for name in streams pipeline remote_buffer replicas control_flow suffix_sum; do
  mkdir empty
  status=0
  (cd empty && "../$name" >../out 2>../err) || status=$?
  [ "$status" = 1 ] || fail "$name without codelets exits $status: $(cat err)"
  has err "^error: pop_graph_add_codelets: cannot read './[a-z_]*_codelets.gp': No such file or directory$"
  rmdir empty
done
refuses 2 "usage: linked_executable" ./linked_executable 2 three 4
refuses 2 "error: there is no device 'gpu'" ./pipeline --device gpu
refuses 2 "error: '--two' is not an argument" ./replicas --two
refuses 1 'there is no device with 4 IPUs|POPULUS_DEVICES' env POPULUS_DEVICES='[{"ipus":1}]' ./pipeline
# Without a folder to keep it in, it is compiled.
quiet third env POPLAR_LOG_LEVEL=WARN POPLAR_LOG_DEST=log.txt ./cached_executable cc.txt/cache
has third '^sums: 1472 1471 ... 1$'
has log.txt "the executable is not cached: cannot make the folder 'cc.txt/cache'"
