# Examples compute the same results on all devices. Unknown devices, and codelets without code for
# the device, are refused.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

# Cycles are left out: the CPU counts none, and matvec_split plans for the tiles of the device.
on_all_devices()
{
  for device in ipu ipumodel cpu; do
    "$POPULUS_BIN/$1" --device $device ${2:+"$2"} ${3:+"$3"} ${4:+"$4"} >out.$device 2>err.$device || fail "$* on $device: $(cat err.$device)"
    sed 's/[0-9]* cycles$//; /^Program cycles: [1-9]/d; / cost/d' <out.$device >same.$device
    cmp same.ipu same.$device || fail "$*: other results on $device: $(diff same.ipu same.$device | head -5)"
    cmp err.ipu err.$device || fail "$*: prints other things on $device: $(diff err.ipu err.$device | head -5)"
  done
  [ -s same.ipu ] || fail "$* prints nothing"
}
on_all_devices variables
on_all_devices suffix_sum
on_all_devices matvec 40 50
on_all_devices matvec_split 100 70
on_all_devices control_flow 2 10 1e6
on_all_devices streams
on_all_devices event_trace
on_all_devices remote_buffer
on_all_devices pipeline
on_all_devices replicas
cp same.ipu loaded_for_each
on_all_devices replicas --one-graph
cmp loaded_for_each same.ipu || fail "replicas of a graph: other results: $(diff loaded_for_each same.ipu)"

refuses 2 "no device 'gpu'|ipu, ipumodel and cpu" "$POPULUS_BIN/suffix_sum" --device gpu
POPULUS_DEVICES='[]' refuses 1 'there are no devices' "$POPULUS_BIN/suffix_sum" --device ipu
# Codelets compiled for tiles only, and for the host only.
quiet out "$POPULUS_BIN/popc" --target ipu2 "$POPULUS_SOURCE_DIR/examples/suffix_sum/sum_codelets.c" -o tile.gp
refuses 1 "no code for target 'cpu'|--target cpu" "$POPULUS_BIN/suffix_sum" --device cpu tile.gp
quiet out "$POPULUS_BIN/popc" --target cpu "$POPULUS_SOURCE_DIR/examples/suffix_sum/sum_codelets.c" -o host.gp
quiet out "$POPULUS_BIN/suffix_sum" --device cpu host.gp
has out '^v2: \{7,6,4.5,2.5\}$'
