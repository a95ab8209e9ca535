# The folders of the runtime (runtime/README.md): an include against the arrows of the design does not
# compile.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

# The README of a folder names all of its C files, or patterns of names such as `read_*.c`.
for readme in "$POPULUS_SOURCE_DIR"/runtime/*/README.md "$POPULUS_SOURCE_DIR"/popc/README.md "$POPULUS_SOURCE_DIR"/lib*/README.md; do
  patterns=$(grep -o '`[a-z0-9_*-]*\.c`' "$readme" | tr -d '`')
  for file in "${readme%/*}"/*.c; do
    [ -e "$file" ] || continue
    named=
    set -f
    for pattern in $patterns; do
      # shellcheck disable=SC2254 # it is a pattern
      case ${file##*/} in $pattern) named=yes ;; esac
    done
    set +f
    [ "$named" ] || fail "$readme does not name ${file##*/}"
  done
done

# compiles <folder> <header>: compiles with the include path that the build gives the folder
compiles()
{
  echo "#include \"$2\"" >include.c
  cc -fsyntax-only -D_GNU_SOURCE -I "$POPULUS_BUILD_DIR/runtime/views/$1" -I "$POPULUS_SOURCE_DIR/runtime/include" \
    -I "$POPULUS_SOURCE_DIR/libarchive-ipu/include" -I "$POPULUS_SOURCE_DIR/libarchive-ipu/internal" \
    -I "$POPULUS_SOURCE_DIR/libcodelet/include" include.c 2>err
}

while read -r folder header; do
  compiles "$folder" "$header" || fail "$folder may use $header: $(cat err)"
done <<'END'
graph base/log.h
compiler graph/graph.h
compiler isa/isa.h
compiler-lower compiler/compilation.h
compiler-image compiler/emit/emit.h
machine isa/instructions.h
machine executable/tile_memory.h
engine executable/executable.h
driver compiler/compilation.h
END

while read -r folder header; do
  if compiles "$folder" "$header"; then fail "$folder sees $header"; fi
  has err "$header: No such file or directory|'$header' file not found"
done <<'END'
base graph/graph.h
isa machine/state.h
graph compiler/compilation.h
graph engine/engine_private.h
machine graph/graph.h
machine compiler/compilation.h
machine executable/executable.h
executable graph/graph.h
executable machine/machine.h
compiler engine/engine_private.h
compiler machine/machine.h
compiler-check compiler/lower/lowering.h
compiler-lower compiler/emit/emit.h
compiler-exchange compiler/lower/lowering.h
compiler-allocate compiler/emit/emit.h
compiler-emit compiler/exchange/timeline.h
compiler-link compiler/emit/blocks.h
compiler-describe compiler/allocate/allocate.h
engine compiler/compilation.h
engine machine/state.h
profile engine/engine_private.h
END
