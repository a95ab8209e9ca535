# For scripts that compile C++ host programs against the build folder: sets `compilers` and `compiler`, defines cxx and link.
compilers=
for compiler in g++ clang++-19; do
  # A library with gcc's sanitizers does not go with clang's.
  case $compiler$POPULUS_SANITIZE in clang*?s*) continue ;; esac
  command -v "$compiler" >/dev/null && compilers="$compilers $compiler"
done
compiler=${compilers##* } # for what one of them is enough for
[ -n "$compilers" ] || { echo "no C++ compiler"; exit 77; }
[ -e "$POPULUS_BUILD_DIR/lib/libpoplar.so" ] || { echo "no libpoplar in this build"; exit 77; }

include=
for folder in runtime runtime/cxx libarchive-ipu libcodelet popc; do include="$include -I$POPULUS_SOURCE_DIR/$folder/include"; done

# cxx <compiler> <arguments>...: compiles, with our headers; no warning is let through.
cxx()
{
  compiler=$1
  shift
  # shellcheck disable=SC2086 # words
  "$compiler" -Wall -Wextra -pedantic -Werror ${POPULUS_SANITIZE:+-fsanitize=$POPULUS_SANITIZE} $include "$@"
}

# link <compiler> <standard> <source> <program> <library>...: as users link, for static libraries and shared ones.
link()
{
  compiler=$1 standard=$2 source=$3 program=$4
  shift 4
  cxx "$compiler" -std="$standard" "$source" "-L$POPULUS_BUILD_DIR/lib" "-Wl,-rpath,$POPULUS_BUILD_DIR/lib" "$@" -o "$program"
}
