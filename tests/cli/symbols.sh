# A library exports all functions and tables of its public headers, and nothing else. Functions that
# our libraries use of each other have a symbol version of their own, and their headers are not
# installed. A program that defines functions with the names of our internal functions links with
# the library and works.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
lib=$POPULUS_BUILD_DIR/lib

# The names of functions and data that a file defines for the linker.
defined() # <file>
{
  case $1 in
  *.so) nm -D --defined-only "$1" ;;
  *) nm -g --defined-only "$1" ;;
  esac >nm.out 2>nm.err || fail "nm $1: $(cat nm.err)"
  # Version names are symbols too. They are left out.
  awk 'NF == 3 && $2 ~ /^[A-TV-Z]$/ && $2 != "A" { sub(/@.*/, "", $3); print $3 }' nm.out | sort -u
}

include=
for folder in libarchive-ipu libcodelet popc runtime; do include="$include -I$POPULUS_SOURCE_DIR/$folder/include"; done

# declared <folder> <option>...: the functions and data that the headers in a folder declare. Static
# functions are left out.
declared()
{
  headers=$POPULUS_SOURCE_DIR/$1/populus
  shift
  find "$headers" -name '*.h' | sort | sed 's/.*/#include "&"/' >public.c
  # shellcheck disable=SC2086 # words
  cc -std=c17 -D_GNU_SOURCE $include "$@" -fsyntax-only -aux-info declarations public.c || fail "the headers in $headers"
  {
    grep -F "/* $headers/" declarations |
      sed -n 's,^/\*[^*]*\*/ extern [^(]*[ *]\([a-z_0-9]*\) (.*,\1,p'
    find "$headers" -name '*.h' -exec cat {} + |
      sed -n 's/^extern .*[ *]\([a-z_0-9]*\)\(\[.*\]\)\{0,1\};.*/\1/p'
  } | sort -u
}

for pair in archive-ipu:libarchive-ipu codelet:libcodelet popc:popc populus:runtime; do
  name=${pair%%:*} folder=${pair#*:}
  file=$lib/lib$name.a
  [ -e "$file" ] || file=$lib/lib$name.so
  defined "$file" >all
  : >internal
  if [ -d "$POPULUS_SOURCE_DIR/$folder/internal" ]; then
    declared "$folder/internal" -I "$POPULUS_SOURCE_DIR/$folder/internal" >internal
    comm -13 all internal >absent
    [ -s internal ] && [ ! -s absent ] || fail "$file lacks what $folder/internal declares: $(tr '\n' ' ' <absent)"
  fi
  comm -23 all internal >shown
  declared "$folder/include" >public
  [ -s public ] || fail "no declarations found in the headers of $folder"
  comm -23 shown public >extra
  [ ! -s extra ] || fail "$file shows what no public header declares: $(tr '\n' ' ' <extra)"
  comm -13 shown public >absent
  [ ! -s absent ] || fail "$file lacks what its public headers declare: $(tr '\n' ' ' <absent)"
  case $file in
  *.so)
    has_soname=$(readelf -d "$file" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    [ "$has_soname" = "lib$name.so.0" ] || fail "$file is called $has_soname"
    if nm -D --defined-only "$file" | grep -v '@@POPULUS_\(0\|PRIVATE\)$\| A POPULUS_\(0\|PRIVATE\)$'; then
      fail "$file: symbols without a version"
    fi
    nm -D --defined-only "$file" | sed -n 's/.* \([a-z_0-9]*\)@@POPULUS_PRIVATE$/\1/p' | sort >private
    cmp private internal || fail "$file: other symbols are private than those of $folder/internal: $(diff private internal)"
    ;;
  esac
done

# Each module exports only the symbol that the library looks up.
for module in "$POPULUS_DATA_DIR"/populus-*.so; do
  [ "$(defined "$module" | wc -l)" -eq 1 ] || fail "$module shows $(defined "$module" | tr '\n' ' ')"
done

# A program that defines a function for every internal name of ours.
internals=$lib/libpopulus-internals.a
[ -e "$internals" ] || internals=${internals%.a}.so
defined "$internals" | grep -E '^[a-z][a-z_0-9]*$' | grep -v '^pop_\|^popc_compile$\|^popc_main$' >internal
for name in compile take; do grep -qx "$name" internal || echo $name >>internal; done
[ "$(wc -l <internal)" -gt 500 ] || fail "only $(wc -l <internal) names inside"
{
  echo '#include <stdlib.h>'
  sed 's/.*/int &(void); int &(void) { abort(); }/' internal
} >own.c
# shellcheck disable=SC2086 # words
cc -std=c17 -fno-builtin -w ${POPULUS_SANITIZE:+-fsanitize=$POPULUS_SANITIZE} $include \
  "-DEXAMPLE_CODELET_DIR=\"$POPULUS_BUILD_DIR/share/populus/examples\"" \
  "$POPULUS_SOURCE_DIR/examples/suffix_sum/suffix_sum.c" own.c "-L$lib" "-Wl,-rpath,$lib" -lpoplar -o own 2>cc.err ||
  fail "a program with functions like ours does not link: $(head -5 cc.err)"
quiet ours "$POPULUS_BIN/suffix_sum"
quiet theirs ./own
cmp ours theirs || fail "a program with functions like ours does other things: $(cat theirs)"
