# POPULUS_DUMP prints the compilation as text after the passes that it names. An unknown name is an
# error.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

# lacks <file> <words>...
lacks()
{
  lacks_file=$1
  shift
  for words; do
    ! grep -F -- "$words" "$lacks_file" || fail "$lacks_file has '$words' already"
  done
}

dump()
{
  POPULUS_DUMP=$1 "$POPULUS_BIN/matvec" 8 4 >"$2.out" 2>"$2"
}

dump lower,exchange,allocate text || fail "$(cat text.out)"
[ "$(grep -c '^---- after' text)" = 3 ] || fail "there are other passes than asked for: $(grep '^----' text)"
# Passes add information: a message is lowered, then gets its instructions, and its blocks get
# addresses.
sed '/^---- after exchange/,$d' text >lower
sed '1,/^---- after exchange/d; /^---- after allocate/,$d' text >exchange
sed '1,/^---- after allocate/d' text >allocate
has lower '^variable [0-9]* ' '^  elements 0 to [0-9]* on tile [0-9]* at b[0-9]*\+0$' '^program 0 ' '^step [0-9]* execute ' \
  '^compute set 0 ' '^  message 0: [0-9]* words of tile ' '^block b[0-9]* tile '
lacks lower '    send b' 'live from' ', at 0x' 'position'
has exchange '^    send b[0-9]*\+[0-9]*, [0-9]* words$' '^    receive from tile [0-9]*, '
lacks exchange 'live from' ', at 0x'
has allocate '^position 0 program 0$' 'live from position [0-9]* to [0-9]*, at 0x' '^block .* controlCode: .* code' \
  '^tile 0 code group 0, stacks of [0-9]* bytes, ends at 0x'

dump lower,exchange,allocate again
cmp text again || fail "two dumps of one program differ"
POPULUS_DUMP='' "$POPULUS_BIN/matvec" 8 4 >out 2>err
[ ! -s err ] || fail "nothing was asked for, and there is: $(cat err)"
if dump lower,alocate err; then fail "there is no pass of that name"; fi
cat err err.out >both
has both "POPULUS_DUMP: there is no pass 'alocate'; the passes are check, place, lower, .*, allocate, account"
