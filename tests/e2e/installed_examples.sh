# Each example in C is a user's program: its installed source, compiled with popc and cc against the
# installation in another folder, as examples/README.md says, prints what the build's program
# prints. Without its codelets it says so. Each tutorial is installed as a pair: the complete
# program, and the one to start with.
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

# example <name>: compiles the example in this folder.
example()
{
  folder=$prefix/share/doc/populus/examples/$1
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

# same <name> <arguments>...: the program prints what the build's program prints.
same()
{
  program=$1
  shift
  "$POPULUS_BIN/$program" "$@" >expected 2>&1 || fail "the build's $program $*: $(cat expected)"
  "./$program" "$@" >out 2>&1 || fail "$program $*: $(cat out)"
  cmp expected out || fail "$program $* prints other things: $(diff expected out | head -5)"
}

for name in variables suffix_sum matvec matvec_split control_flow streams remote_buffer event_trace pipeline replicas mnist \
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
same mnist --epochs 1
same linked_executable 2 3 4
quiet first ./cached_executable
quiet second ./cached_executable
has first '^sums: 1472 1471 ... 1$'
has second '^sums: 1472 1471 ... 1$'

# Mistakes get one message that names the file or option, and exit status 1 or 2.
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
refuses 2 "error: '--two' is not an argument" ./replicas --one-graph --two
# An unknown option is refused. It is not taken as a file or folder.
for name in variables suffix_sum streams remote_buffer pipeline mnist cached_executable; do
  refuses 2 "error: '--bogus' is not an argument; usage: ./$name " "./$name" --bogus
done
[ ! -e --bogus ] || fail "cached_executable made a folder --bogus"
for name in variables suffix_sum matvec matvec_split control_flow streams remote_buffer event_trace pipeline replicas mnist \
  cached_executable linked_executable; do
  quiet out "./$name" --help
  has out "^usage: ./$name "
  # What cannot be printed is no success.
  status=0
  "./$name" --help >/dev/full 2>err || status=$?
  [ $status = 4 ] || fail "$name --help to a full disk exits $status"
  case $name in
  matvec*) set -- 4 4 ;;
  mnist) continue ;;
  *) set -- ;;
  esac
  status=0
  "./$name" "$@" >/dev/full 2>err || status=$?
  [ $status = 4 ] || fail "$name to a full disk exits $status"
  has err '^error: (standard output cannot be written|cannot print tensor .*: No space left on device)$' # the engine sees it first
done
# Infinity has no root that Newton's method finds.
refuses 2 "'1e39' is no positive number" ./control_flow 2 1e39
refuses 2 'three positive numbers' ./linked_executable 2 inf 4
# NaN is not what the host calculates. A target is not ignored where the device has one.
printf '%s\n' '#include <populus/vertex.h>' 'typedef struct { INPUT(VECTOR(float)) a, b; OUTPUT(float) out; } DotProductVertex;' \
  'COMPUTE(DotProductVertex) { *vertex->out = __builtin_nanf(""); return true; }' >nan.c
status=0
./matvec --codelets nan.c 4 4 >out 2>&1 || status=$?
[ $status = 1 ] || fail "matvec with NaN exits $status: $(cat out)"
has out '^ERROR: output 0: expected=[0-9.]*, actual=-?nan$'
for device in ipu cpu; do
  refuses 2 "--device $device has its own target" ./matvec --device $device --target ipu1 4 4
done
[ ! -e --help ] || fail "an example made a folder --help"
refuses 1 'there is no device with 4 IPUs|POPULUS_DEVICES' env POPULUS_DEVICES='[{"ipus":1}]' ./pipeline
# If the cache folder cannot be made, the program compiles.
quiet third env POPLAR_LOG_LEVEL=WARN POPLAR_LOG_DEST=log.txt ./cached_executable cc.txt/cache
has third '^sums: 1472 1471 ... 1$'
has log.txt "the executable is not cached: cannot make the folder 'cc.txt/cache'"

# The tutorials: cxx_programs.sh and cxx_examples.sh compile the complete programs. The programs to
# start with are compiled here in one go. They run and do nothing yet.
command -v g++ >/dev/null || exit 0
cd "$prefix/share/doc/populus/examples/tutorials"
for pair in tut1_variables=variables tut2_operations=elementwise tut3_vertices=suffix_sum tut4_profiling=profiling \
  tut5_ml=regression tut6_matrix_vector=matvec tut7_matrix_vector_opt=matvec_split; do
  name=${pair%%=*} lesson=$POPULUS_SOURCE_DIR/examples/cpp/${pair#*=}.cpp
  sed 's,^\( *\)//> ,\1// ,; /^ *\/\/</d' "$lesson" | cmp - "$name/complete/${name%%_*}.cpp" || fail "$name/complete"
  grep -q '^ *// Exercise 1: ' "$name/start_here/${name%%_*}.cpp" || fail "$name/start_here has no exercise"
  ! grep -q '^ *//[<>]' "$name"/*/*.cpp || fail "$name has marks"
done
{
  sed -n '/Vertex\.hpp/d; /^#include </p' ./*/start_here/*.cpp | sort -u
  for file in ./*/start_here/*.cpp; do
    name=$(basename "$file" .cpp)
    tac "$file" | sed '0,/^}$/s//return 0; }/' | tac >"$prefix/$name.cpp" # only main returns 0 without a return statement
    printf 'namespace %s {\n#include "%s.cpp"\n}\n' "$name" "$name"
    echo "  if (!strcmp(argv[1], \"$name\")) return call($name::main, argc - 1, argv + 1);" >>"$prefix/calls"
  done
  echo '#include <cstring>
int call(int (*program)(), int, char **) { return program(); }
int call(int (*program)(int, char **), int argc, char **argv) { return program(argc, argv); }
int main(int argc, char **argv)
{'
  cat "$prefix/calls"
  echo '}'
} >"$prefix/starts.cpp"
cd "$OLDPWD"
ccache=$(command -v ccache) || ccache= # it caches compilations that do not link
sanitizers=${POPULUS_SANITIZE:+-fsanitize=$POPULUS_SANITIZE}
# shellcheck disable=SC2046,SC2086 # words
$ccache g++ -std=c++11 -Wall -Wextra $sanitizers -c "$prefix/starts.cpp" -o starts.o $(pkg-config --cflags poplar) >cc.txt 2>&1 &&
  g++ $sanitizers starts.o -o starts $(pkg-config --libs poplar) \
    "-Wl,-rpath,$(dirname "$(find "$prefix" -name libpoplar.so)")" >>cc.txt 2>&1 && [ ! -s cc.txt ] ||
  fail "start_here: $(cat cc.txt)"
unset POPULUS_STRICT_LOADS # these programs read variables that they do not write yet
# starts <tutorial and arguments, one word> <exit status> <line>...: the program prints these lines,
# among others.
starts()
{
  name=$1 expected=$2
  shift 2
  status=0
  # shellcheck disable=SC2086 # words
  ./starts $name >out 2>&1 || status=$?
  [ $status = "$expected" ] || fail "$name exits $status: $(cat out)"
  for line; do grep -qxF "$line" out || fail "$name does not say '$line': $(head -20 out)"; done
}
starts tut1 0 'Running program' 'Program complete'
starts tut2 0
starts tut3 0 'v2: {0,0,0,0}'
starts tut4 0 'On all tiles'
starts tut5 0 'epoch 10: 0 % right, loss 0'
starts tut6 1 'row 0: 0 instead of 570'
starts 'tut7 40 50' 0 'Worst cost seen: 0' 'Multiplication result OK'
