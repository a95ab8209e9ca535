# popc --link makes an archive into a program that needs no other file, or into an object for a
# user's program.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popc=$POPULUS_BIN/popc
small_archive=$POPULUS_BUILD_DIR/tests/support/small_archive

quiet out "$small_archive" small.a
quiet list "$POPULUS_BIN/popexec" --list small.a
printf '\000\074\000\100\000\102\000\104\000\105\000\106' >in.bin
printf '\000\100\000\104\000\106\000\110\000\111\000\112' >doubled.bin

# doubles <program>: the program does what popexec does with the archive.
doubles()
{
  quiet out "$1" --write in=in.bin --run scale --read out=out.bin
  cmp out.bin doubled.bin || fail "$1: wrong results: $(od -tx2 out.bin)"
}

# A program: it works alone in another folder.
quiet out "$popc" --link small.a -o app
[ ! -s out ] || fail "popc --link prints: $(cat out)"
mkdir elsewhere
cp app elsewhere/another.name
mv small.a hidden.a
quiet list2 elsewhere/another.name --list
cmp list list2 || fail "another list: $(cat list2)"
doubles elsewhere/another.name
doubles ./app
env -u POPULUS_DATA_DIR ./app --write in=in.bin --run scale --read out=out.bin
cmp out.bin doubled.bin || fail "wrong results without POPULUS_DATA_DIR"
(PATH=$PWD/elsewhere:$PATH && quiet list2 another.name --list && cmp list list2) || fail "not when found in PATH"
mv hidden.a small.a
quiet out "$popc" --link small.a -o again
cmp app again || fail "made twice, it is another program"
quiet out "$popc" --link small.a # the default output: the name without its extension
doubles ./small

# The program's messages use its file name. It keeps popexec's command line, except that no archive
# may be given.
quiet help elsewhere/another.name --help
has help '^usage: another\.name \[options\]$' '--write HANDLE=FILE'
quiet version ./app --version
has version '^app, Populus version [0-9.]+$'
refuses 2 "app: the archive is in the program, there can be no 'small.a'|app --help" ./app --run scale small.a
refuses 2 "app: the archive has 2 programs: --run says which" ./app
refuses 1 "no handle 'im' to write; did you mean 'in'?" ./app --write im=in.bin --run scale
refuses 3 "device fault INVALID_ADDRESS at address 0x4 on tile 1" ./app --run break
readelf -SW app >sections 2>readelf.err
has sections ' \.populus\.archive +PROGBITS +0+ .* 4096$'
[ ! -s readelf.err ] || fail "readelf: $(cat readelf.err)"
if command -v eu-elflint >/dev/null && [ -z "${POPULUS_SANITIZE:-}" ]; then
  eu-elflint --gnu app >lint || fail "eu-elflint: $(cat lint)"
fi
objcopy -O binary --only-section=.populus.archive --set-section-flags .populus.archive=alloc app taken.a
cmp taken.a small.a || fail "objcopy gets another archive out of it"

# GNU strip keeps the archive. A program whose archive was removed says so.
cp app stripped
strip stripped
doubles ./stripped
cp app stripped
objcopy --remove-section=.populus.archive stripped
refuses 1 "stripped: the archive that popc --link has put into this program is not there any more|--keep-section=.populus.archive" \
  ./stripped --list
for other in llvm-strip-19 eu-strip; do
  command -v $other >/dev/null || continue
  cp app stripped
  $other stripped
  refuses 1 "is not there any more" ./stripped --list
done
if command -v llvm-strip-19 >/dev/null; then
  cp app stripped
  llvm-strip-19 --keep-section=.populus.archive stripped
  doubles ./stripped
fi
# A program that is cut short is refused.
size=$(wc -c <app)
start=$(($(readelf -SW app | sed -n 's/.*\.populus\.archive *PROGBITS *0* \([0-9a-f]*\) .*/0x\1/p')))
for bytes in $((size - 1)) $((start + 5000)) $((start + 3)); do
  head -c $bytes app >./cut
  chmod +x cut
  refuses 1 "cut" ./cut --list
done

# An object: it links into C and C++ programs, static or position-independent.
quiet out "$popc" --link -c small.a -o my-small.o
quiet out "$popc" --link -c small.a
cmp my-small.h small.h >/dev/null && fail "the symbol's name is not the output's"
cat >user.c <<'END'
#include "my-small.h"
#include <stdio.h>
int main(void) { return fwrite(pop_archive_my_small, 1, pop_archive_my_small_size, stdout) != pop_archive_my_small_size; }
END
cp user.c user.cpp
cc=${CC:-cc}
if command -v "$cc" >/dev/null; then
  for flags in '' '-no-pie' '-static' '-pie -fPIE -O2'; do
    # shellcheck disable=SC2086 # words
    quiet out "$cc" $flags -Wall -Wextra -Werror user.c my-small.o -o user -Wl,--fatal-warnings
    ./user | cmp - small.a || fail "$flags: another archive"
  done
  readelf -lW user >segments
  has segments 'GNU_STACK .* RW +'
  quiet out "$cc" -c user.c -o shared.o -fPIC
  quiet out "$cc" -shared shared.o my-small.o -o user.so -Wl,-z,text
fi
quiet out clang-19 -x c++ -fsyntax-only -Wall -Werror user.cpp
if command -v eu-elflint >/dev/null; then
  eu-elflint --gnu my-small.o >lint || fail "eu-elflint: $(cat lint)"
fi

# Inputs that cannot be linked.
refuses 1 "'in.bin' is|not an ar archive" "$popc" --link in.bin -o no
refuses 1 "no member 'metadata.elf'" "$popc" --link "$POPULUS_DATA_DIR/poplibs.gp" -o no
refuses 1 "none.a" "$popc" --link none.a -o no
head -c 9000 small.a >short.a
refuses 1 "short.a" "$popc" --link short.a -o no
refuses 1 "short.a" "$popc" --link -c short.a -o no.o
refuses 2 "--link takes one archive of tile images, and not 2 files" "$popc" --link small.a small.a -o no
refuses 2 "--link compiles nothing: '-O2' is of no use to it" "$popc" --link -O2 small.a -o no
refuses 2 "--link compiles nothing: '--target'" "$popc" --link --target=ipu2 small.a -o no
refuses 2 "'--link' and '-S' cannot be had in one call" "$popc" --link -S small.a -o no
refuses 2 "'-' is none" "$popc" --link small.a -o -
refuses 2 "the header would be 'no.h', too" "$popc" --link -c small.a -o no.h
refuses 2 "the output 'small.a' is the same file as the input" "$popc" --link small.a -o small.a
refuses 4 "cannot write 'no/such/app' into the folder 'no/such'" "$popc" --link small.a -o no/such/app
refuses 2 "did you mean '--link'?" "$popc" --lnk small.a -o no
for left in no no.o no.h; do
  [ ! -e $left ] || fail "$left is left behind"
done
# popexec is searched beside popc, or where the data folder says.
mkdir bin
cp "$POPULUS_BIN/popc" bin
refuses 4 "cannot find popexec, of which --link makes a copy" env POPULUS_DATA_DIR="$PWD" bin/popc --link small.a -o no
cp "$POPULUS_BIN/popc" bin/popexec # another program
refuses 4 "popexec" bin/popc --link small.a -o no

# An archive of another format is neither linked nor run.
cp small.a other.a
"$POPULUS_BUILD_DIR/tests/support/other_format" other.a || fail "cannot make an archive of another format"
words="'other.a(metadata.elf)': it has format |which reads format |compile the program again with this version, or run it with that one"
refuses 1 "$words" "$popc" --link other.a -o no
refuses 1 "$words" "$popc" --link -c other.a -o no.o
refuses 1 "$words" "$POPULUS_BIN/popexec" --list other.a
[ ! -e no ] && [ ! -e no.o ] || fail "an archive of another format is linked"

# Without popc's data folder the archive runs in the interpreter. A run that asks for the translator
# fails with a message that names what is missing.
POPULUS_DATA_DIR=/nonexistent elsewhere/another.name --write in=in.bin --run scale --read out=out.bin 2>err ||
  fail "without the data folder: $(cat err)"
cmp out.bin doubled.bin || fail "wrong results without the data folder"
refuses 4 "tile code cannot be translated: /nonexistent/populus-translator.so: cannot open shared object file" \
  env POPULUS_DATA_DIR=/nonexistent elsewhere/another.name --option target.tileEngine=translator --run scale

# -### shows the command and does not run it.
"$popc" '-###' --link small.a -o no 2>commands
has commands "popexec' '--list' '--' 'small.a'"
[ ! -e no ] || fail "-### links"
