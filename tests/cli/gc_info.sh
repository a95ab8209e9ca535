# gc-info prints the list of devices in the documented format, and the attributes of one device.
# Wrong calls get a message that names the mistake.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
gc_info=$POPULUS_BIN/gc-info

# shellcheck disable=SC2089,SC2090 # the quotes are JSON's
POPULUS_DEVICES='[{"target":"ipu1","ipus":4},{"name":"small","tilesPerIPU":16,"ipus":2}]'
# shellcheck disable=SC2090
export POPULUS_DEVICES
quiet list "$gc_info" --list-devices
cmp list /dev/fd/3 3<<'END' || fail "list: $(cat list)"
Graphcore device listing:
Partition: ipu1 [active]
-+- Id: [0], target: [Software], IPU-M host: [localhost], IPU#: [0]
-+- Id: [1], target: [Software], IPU-M host: [localhost], IPU#: [1]
-+- Id: [2], target: [Software], IPU-M host: [localhost], IPU#: [2]
-+- Id: [3], target: [Software], IPU-M host: [localhost], IPU#: [3]
-+- Id: [4], target: [Multi IPU]
 |--- Id: [0], DNC Id: [0], IPU-M host: [localhost], IPU#: [0]
 |--- Id: [1], DNC Id: [1], IPU-M host: [localhost], IPU#: [1]
-+- Id: [5], target: [Multi IPU]
 |--- Id: [2], DNC Id: [0], IPU-M host: [localhost], IPU#: [2]
 |--- Id: [3], DNC Id: [1], IPU-M host: [localhost], IPU#: [3]
-+- Id: [6], target: [Multi IPU]
 |--- Id: [0], DNC Id: [0], IPU-M host: [localhost], IPU#: [0]
 |--- Id: [1], DNC Id: [1], IPU-M host: [localhost], IPU#: [1]
 |--- Id: [2], DNC Id: [2], IPU-M host: [localhost], IPU#: [2]
 |--- Id: [3], DNC Id: [3], IPU-M host: [localhost], IPU#: [3]
Partition: small [active]
-+- Id: [7], target: [Software], IPU-M host: [localhost], IPU#: [0]
-+- Id: [8], target: [Software], IPU-M host: [localhost], IPU#: [1]
-+- Id: [9], target: [Multi IPU]
 |--- Id: [7], DNC Id: [0], IPU-M host: [localhost], IPU#: [0]
 |--- Id: [8], DNC Id: [1], IPU-M host: [localhost], IPU#: [1]
END
quiet list "$gc_info" -q -l
[ "$(tr '\n' ' ' <list)" = '0 1 2 3 4 5 6 7 8 9 ' ] || fail "ids: $(cat list)"
refuses 2 'is about --list-devices' "$gc_info" --quiet -d 9 -i
refuses 2 'either --quiet or --json' "$gc_info" -l --quiet --json
refuses 2 'either --quiet or --json' "$gc_info" -l --json -q
quiet out "$gc_info" -d 9 -i
has out '^Device Info:$' '^  id: 9$' '^  target: Multi IPU$' '^  clock: 1325MHz$' '^  ipu architecture: ipu2$' \
  '^  num ipus: 2$' '^  partition id: small$' '^  remote buffers supported: 1$' '^  tiles per ipu: 16$'
! grep -q user out || fail "somebody uses it: $(cat out)"
quiet out "$gc_info" --device-id 6 --ipu-count
has out '^4$'
quiet out "$gc_info" -d 0 --ipu-arch
has out '^ipu1$'
quiet out "$gc_info" -d 0 --tile-clock-speed
has out '^1600MHz$'

refuses 1 'there is no device 10: there are 10' "$gc_info" -d 10 -i
refuses 2 'takes the id of a device' "$gc_info" -d first -i
refuses 2 'takes the id of a device' "$gc_info" -d -1 -i
refuses 2 'takes the id of a device' "$gc_info" -d 99999999999999999999 -i
refuses 2 'needs --device-id' "$gc_info" --ipu-arch
refuses 2 'about all devices' "$gc_info" -l -d 0
refuses 2 'one command at a time' "$gc_info" -l -i
refuses 2 'a command is missing' "$gc_info"
refuses 2 'no arguments' "$gc_info" -l x
refuses 2 'unrecognized option|--help' "$gc_info" --list-tiles
POPULUS_DEVICES='[{"ipus":4},{"tiles":1}]' refuses 2 'entry 1|no key '"'"'tiles'"'"'|tilesPerIPU' "$gc_info" -l
POPULUS_DEVICES=nowhere.json refuses 1 'nowhere.json|neither JSON' "$gc_info" -l
if [ -w /dev/full ]; then
  status=0
  "$gc_info" -l >/dev/full 2>err || status=$?
  [ "$status" -eq 4 ] || fail "a full disk: $status"
fi
quiet out "$gc_info" --help
has out '^Usage: gc-info ' '--list-devices'
unset POPULUS_DEVICES
quiet list "$gc_info" -l
[ "$(grep -c '^-+-' list)" -eq 127 ] || fail "not 127 devices"

# JSON, on one line or indented, shows the same devices and the same attributes as the text.
quiet json "$gc_info" -l --json
[ "$(wc -l <json)" -eq 1 ] || fail "not on one line: $(head -3 json)"
quiet pretty "$gc_info" --pretty -l
[ "$(wc -l <pretty)" -gt 127 ] || fail "not for people"
quiet info "$gc_info" -d 3 -i
quiet info.json "$gc_info" -d 3 -i --json --pretty
python3 - <<'END' || fail "$(head -c 300 json)"
import json

devices = json.load(open("json"))
assert devices == json.load(open("pretty")) and len(devices) == 127
assert [d["id"] for d in devices] == list(range(127)) and devices[3]["ipus"] == [3] and len(devices[126]["ipus"]) == 64
said = dict(line.strip().split(": ", 1) for line in open("info") if ": " in line)
assert json.load(open("info.json")) == said, said
END
refuses 2 'about --list-devices and --device-info' "$gc_info" -d 0 --ipu-count --json
