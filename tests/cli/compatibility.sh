# runtime/COMPATIBILITY.md names every public member of the classes in cxx/include/poplar. Members
# that work stand under "works", members that are declared but missing stand under "missing". It
# names no member that the headers lack.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }

python3 "$POPULUS_SOURCE_DIR/tests/support/interface_members.py" "$POPULUS_SOURCE_DIR/runtime" >out ||
  fail "$(cat out)"
# The script that reads the headers must find something. A page that forgets a member is detected.
mkdir -p runtime/cxx/include
cp -r "$POPULUS_SOURCE_DIR/runtime/cxx/include/poplar" runtime/cxx/include/
sed 's/`addHostFunction`, //' "$POPULUS_SOURCE_DIR/runtime/COMPATIBILITY.md" >runtime/COMPATIBILITY.md
if python3 "$POPULUS_SOURCE_DIR/tests/support/interface_members.py" runtime >out; then fail "a gap is not seen"; fi
has out '^Graph::addHostFunction works, and the page does not say so$'
sed 's/`addFunctionBuffer`, //; s/`addHostFunction`, /&`addFunctionBuffer`, /' \
  "$POPULUS_SOURCE_DIR/runtime/COMPATIBILITY.md" >runtime/COMPATIBILITY.md
if python3 "$POPULUS_SOURCE_DIR/tests/support/interface_members.py" runtime >out; then fail "a lie is not seen"; fi
has out '^Graph::addFunctionBuffer is missing, and the page does not say so$' \
  '^the page says that Graph::addFunctionBuffer works: it is not in the header$'

# runtime/LIBRARIES.md names what the headers of the libraries declare, as a compiler reads them.
compiler=clang++-19
command -v $compiler >/dev/null || { echo "no $compiler"; exit 77; }
CPATH=
for folder in runtime libarchive-ipu libcodelet; do CPATH=$CPATH:$POPULUS_SOURCE_DIR/$folder/include; done
export CPATH="${CPATH#:}"
# names <page>: checks the page against the headers, and writes the differences to out.
names() { python3 "$POPULUS_SOURCE_DIR/tests/support/library_names.py" $compiler "$POPULUS_SOURCE_DIR/runtime/cxx/include" "$1" >out; }
names "$POPULUS_SOURCE_DIR/runtime/LIBRARIES.md" || fail "$(cat out)"
sed 's/`scaledAddTo`, //; s/`sequenceSlice`/&, `scatter`/' "$POPULUS_SOURCE_DIR/runtime/LIBRARIES.md" >names.md
if names names.md; then fail "a gap is not seen"; fi
printf '%s\n' 'popops::scaledAddTo is in a header, and the page does not say so' \
  'the page says that the original adds popops::scatter' | cmp - out || fail "$(cat out)"
