"""validate_trace.py TRACE.json...: trace events as Perfetto's trace processor and chrome://tracing take them without losing one. By the
format's description ("Trace Event Format": complete events of a thread are nested or apart), and as Perfetto reads numbers: times
are microseconds, cut to whole nanoseconds one by one, so that what touches in cycles may overlap there."""
import json
import sys

MOST = 2 ** 63 / 1000


def nanoseconds(event, key):
    value = event.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < MOST:
        sys.exit(f"{key} is {value!r} in {event}")
    return value * 1000 if isinstance(value, int) else int(value * 1000.0)


def check_nesting(track, events):
    """As a stack of open events, in the order of their beginnings; of those that begin together, in that of the file."""
    opened = []
    for begin, end, name in sorted(events, key=lambda e: e[0]):
        while opened and (opened[-1][1] < begin or opened[-1][1] == begin and (opened[-1][0] < begin or begin < end)):
            opened.pop()
        for other in opened:
            if begin < other[1] < end:
                sys.exit(f"process {track[0]}, thread {track[1]}: '{name}' from {begin} to {end} ns overlaps '{other[2]}' from {other[0]} to {other[1]} ns")
        opened.append((begin, end, name))


def check(trace):
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        sys.exit("there is no list of events")
    tracks, processes, threads = {}, set(), set()
    for event in trace["traceEvents"]:
        track = event.get("pid"), event.get("tid")
        if not all(isinstance(n, int) and 0 <= n < 2 ** 32 for n in track) or not isinstance(event.get("name"), str):
            sys.exit(f"no process, thread or name in {event}")
        if event["ph"] == "M":
            if not isinstance(event["args"].get("name"), str):
                sys.exit(f"no name in {event}")
            (processes if event["name"] == "process_name" else threads).add(track[0] if event["name"] == "process_name" else track)
        elif event["ph"] == "X":
            begin = nanoseconds(event, "ts")
            tracks.setdefault(track, []).append((begin, begin + nanoseconds(event, "dur"), event["name"]))
        else:
            sys.exit(f"no event of a kind that we write: {event}")
    for track, events in tracks.items():
        if track[0] not in processes or track not in threads:
            sys.exit(f"process {track[0]}, thread {track[1]} has no name")
        check_nesting(track, events)
    return sum(map(len, tracks.values()))


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        if not check(json.load(file)):
            sys.exit(f"{path}: there are no events")
