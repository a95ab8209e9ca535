# The lessons of examples/cpp that cxx_programs.sh does not test: each is compiled as users compile
# it, and prints what it should.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

for name in matvec prefetch saved_executable regression profiling; do
  example $name $name
done
[ "$(./matvec)" = '30 rows are right; the last is -5230' ] || fail "matvec"

./prefetch >out || fail "prefetch"
has out '^sums: 15 … 15$' '^[0-5] batches were ready, [0-5] were waited for, 5 were taken$'

[ "$(./saved_executable --save smooth.bin)" = saved ] || fail "saved_executable --save"
[ "$(./saved_executable --load smooth.bin)" = '0 0 0 1 6 15 20 15 6 1 0 0 ' ] || fail "saved_executable --load"
printf nothing >smooth.bin
if ./saved_executable --load smooth.bin 2>err; then fail "what is no executable was loaded"; fi
has err '^error: '

./regression >out || fail "regression"
[ "$(wc -l <out)" = 10 ] || fail "regression: $(cat out)"
has out '^epoch 10: 9[0-9] % right, loss 0\.2'

# A product on all tiles takes fewer cycles, and less memory on its fullest tile, than one with both
# matrices on one tile.
./profiling >spread || fail "profiling"
./profiling --one-tile >one || fail "profiling --one-tile"
has spread '^Largest tile: [0-9]* bytes$' '^Cycles: [0-9]*$' 'Tiles per IPU: *64$' 'OnTileExecute .*: product$'
for what in Cycles 'Largest tile'; do
  [ "$(sed -n "s/^$what: \([0-9]*\).*/\1/p" spread)" -lt "$(sed -n "s/^$what: \([0-9]*\).*/\1/p" one)" ] ||
    fail "profiling: $what: $(grep "^$what" spread one)"
done
