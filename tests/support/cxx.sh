# For scripts that compile C++ host programs against the build folder. Sets `compilers` and
# `compiler`, defines cxx and link. `compiler` is for tests that need only one. In the release build
# it is clang++, which takes half of g++'s time without optimisation; with sanitizers it is g++. So
# the two builds together use both.
compilers=
for compiler in g++ clang++-19; do
  # A library with gcc's sanitizers does not go with clang's.
  case $compiler$POPULUS_SANITIZE in clang*?s*) continue ;; esac
  command -v "$compiler" >/dev/null && compilers="$compilers $compiler"
done
compiler=${compilers##* }
[ -n "$compilers" ] || { echo "no C++ compiler"; exit 77; }
[ -e "$POPULUS_BUILD_DIR/lib/libpoplar.so" ] || { echo "no libpoplar in this build"; exit 77; }

ccache=$(command -v ccache) || ccache=
include=
for folder in runtime runtime/cxx libarchive-ipu libcodelet popc; do include="$include -I$POPULUS_SOURCE_DIR/$folder/include"; done

# Checks of each access to a member for NULL and alignment double the compile time. The address
# sanitizer finds those that matter.
# The address sanitizer's checks are calls, which take a fifth off the compile time.
sanitize=
if [ -n "$POPULUS_SANITIZE" ]; then
  sanitize="-fsanitize=$POPULUS_SANITIZE -fno-sanitize=null,alignment,object-size,vptr"
  sanitize="$sanitize --param asan-instrumentation-with-call-threshold=0"
fi

# cxx <compiler> <arguments>...: compiles, with our headers; no warning is let through.
cxx()
{
  cxx_compiler=$1
  shift
  # shellcheck disable=SC2086 # words
  $ccache "$cxx_compiler" -Wall -Wextra -pedantic -Werror $sanitize $include "$@"
}

# With the sanitizers GNU ld takes half a second for a program.
lld=
[ -z "$POPULUS_SANITIZE" ] || ! folder=$(llvm-config-19 --bindir) || lld="-fuse-ld=lld -B$folder"

# link <compiler> <standard> <source> <program> <library>...: links as users do, for static
# libraries and shared ones. Compiling and linking are separate steps, so that ccache, if installed,
# can use another script's compilation.
link()
{
  link_compiler=$1 standard=$2 source=$3 program=$4
  shift 4
  cxx "$link_compiler" -std="$standard" -c "$source" -o "$program.o" || return
  # shellcheck disable=SC2086 # words or nothing
  cxx "$link_compiler" "$program.o" $lld "-L$POPULUS_BUILD_DIR/lib" "-Wl,-rpath,$POPULUS_BUILD_DIR/lib" "$@" -o "$program"
}

# by_each <standard> <source>: compiles one of tests/cxx with all compilers at once, as compiling
# takes the most time, and runs it.
by_each()
{
  pids=
  for each in $compilers; do
    link "$each" "$1" "$POPULUS_SOURCE_DIR/tests/cxx/$2.cpp" "$2-$each" -lpoplar &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || fail "$2 is not compiled"; done
  for each in $compilers; do
    "./$2-$each" >out 2>&1 || fail "$2 ($each): $(cat out)"
  done
}

# example <name> <program>: of examples/cpp, always in the same standard.
example()
{
  in=c++11
  case $1 in
  suffix_sum | regression) in=c++20 ;;
  prefetch) in=c++14 ;;
  matvec_split | saved_executable) in=c++17 ;;
  esac
  link "$compiler" $in "$POPULUS_SOURCE_DIR/examples/cpp/$1.cpp" "$2" -lpopnn -lpoplin -lpopops -lpoputil -lpoplar || fail "$1 is not compiled"
}

# with_comma <command>...: in a locale with a decimal comma, for programs that call setlocale. (localedef fails, because
# of warnings. If there is none, the locale is C.)
with_comma()
{
  mkdir -p locales
  printf '%s\n' LC_NUMERIC 'decimal_point ","' 'thousands_sep ""' 'grouping -1' 'END LC_NUMERIC' >comma.source
  localedef -c -i ./comma.source -f ANSI_X3.4-1968 ./locales/comma >/dev/null 2>&1 || :
  env -u LC_ALL "LOCPATH=$PWD/locales" LANG=C LC_NUMERIC=comma "$@"
}
