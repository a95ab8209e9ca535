"""validate_execution.py SCHEMA MODE GRAPH.json EXECUTION.json PROFILE.pop TRACE.json: the execution profile has the mode
and is as the schema says, and the report has the same profiles; its steps are programs of the graph profile, and what is said of
each is what its tiles have taken; the trace has a track for each of them on which nothing overlaps."""
import json
import sys

import cbor2
import jsonschema

PHASES = ("StreamCopyBegin", "StreamCopyEnd")
NAMED = {"DoExchange": ("exchange", "exchanges"), "GlobalExchange": ("externalExchange", "externalExchanges"),
         "StreamCopy": ("hostExchange", "hostExchanges")}


def expect(what, got, wanted):
    close = isinstance(wanted, float) and abs(got - wanted) < 1e-9
    if got != wanted and not close:
        sys.exit(f"{what} is {got}, not {wanted}")


def check_balances(name, step, cycles, tiles):
    """Of a step whose tiles have taken so many cycles each."""
    active = [c for c in cycles if c]
    expect(name + ".cycles", step["cycles"], max(active))
    expect(name + ".activeTiles", step["activeTiles"], len(active))
    expect(name + ".tileBalance", step["tileBalance"], sum(active) / (max(active) * tiles))
    expect(name + ".activeTileBalance", step["activeTileBalance"], sum(active) / (max(active) * len(active)))


def check_data(name, step, table):
    number = step[NAMED[step["type"]][0]]
    sent, received = table["bytesSentByTile"][number], table["bytesReceivedByTile"][number]
    moved = [a + b for a, b in zip(sent, received)]
    total = sum(moved) if step["type"] == "StreamCopy" else sum(received)
    expect(name + ".totalData", step["totalData"], total)
    expect(name + ".dataBalance", step["dataBalance"], sum(moved) / (max(moved) * len(moved)))


def check_step(number, step, graph, profile):
    name = f"step {number}"
    tiles = graph["target"]["numTiles"] // graph["target"]["numReplicas"]
    if "program" in step:
        program = graph["programs"][step["program"]]
        expect(name + ".type", "StreamCopy" if step["type"] in PHASES else step["type"], program["type"])
        expect(name + ".name", step.get("name"), program.get("name"))
    if step["type"] in ("Sync", "SyncAns") or step["type"] in PHASES:
        return
    if not step["cyclesFrom"] + step["cycles"] <= step["cyclesTo"]:
        sys.exit(f"{name} has {step['cycles']} cycles from {step['cyclesFrom']} to {step['cyclesTo']}")
    if not 0 <= step.get("cyclesOverlapped", 0) <= step["cyclesTo"] - step["cyclesFrom"]:
        sys.exit(f"{name} overlaps {step['cyclesOverlapped']}")
    if step["type"] == "OnTileExecute":
        expect(name + ".computeSet", step["computeSet"], program["computeSet"])
        if "computeSetCyclesByTile" in profile:
            check_balances(name, step, profile["computeSetCyclesByTile"][step["computeSet"]], tiles)
        elif "computeSetCycles" in profile:
            expect(name + ".cycles", step["cycles"], profile["computeSetCycles"][step["computeSet"]])
        elif profile["profilerMode"] == "IPU_MODEL" and not profile["measuredVertexTypes"]:
            estimates = graph["computeSets"]["cycleEstimates"]["cyclesByTile"][step["computeSet"]]
            check_balances(name, step, estimates, tiles)
    elif NAMED[step["type"]][0] in step:
        field, table = NAMED[step["type"]]
        expect(name + "." + field, step[field], program["exchange"])
        check_data(name, step, graph[table])
        if field + "Cycles" in profile and step["type"] != "DoExchange":
            check_balances(name, step, profile[field + "Cycles"][step[field]], tiles)


COSTS = {"OnTileExecute": ("computeSet", "computeSets"), "DoExchange": ("exchange", "exchanges"),
         "GlobalExchange": ("externalExchange", "externalExchanges"), "StreamCopy": ("hostExchange", "hostExchanges")}


def check_costs(profile):
    """The cycles of tiles behind each step; runs are all steps, one after the other."""
    simulation = profile["simulation"]
    for number, step in enumerate(simulation["steps"]):
        name = f"step {number}"
        if step["type"] in ("StreamCopyEnd", "SyncAns"):
            continue
        if step["type"] in ("Sync", "StreamCopyBegin"):
            if step["cyclesFrom"] >= step["cyclesTo"]:
                sys.exit(f"{name} is a sync of no cycles")
            continue
        field, key = COSTS[step["type"]]
        if field not in step:
            continue
        cost = simulation["costs"][key][step[field]]
        expect(name + ": tiles", sum(cost["tiles"][1::2]), len(cost["cycles"]))
        expect(name + ": active tiles", len(cost["cycles"]), step["activeTiles"])
        expect(name + ": cycles", max(cost["cycles"], default=0), step["cycles"])
        if not cost["tiles"][::2] == sorted(set(cost["tiles"][::2])):
            sys.exit(f"{name}: tiles are in no order")
    expect("runs", len(simulation["runs"]), len(profile["runs"]))
    first = cycle = 0
    for run in simulation["runs"]:
        expect("firstStep", run["firstStep"], first)
        expect("cyclesFrom", run["cyclesFrom"], cycle)
        first += run["numSteps"]
        cycle = run["cyclesTo"]
    expect("steps of runs", first, len(simulation["steps"]))
    expect("end of the last run", cycle, simulation["cycles"])


def check_phases(steps):
    """A stream copy is between its beginning, which ends when its first tile begins, and its end, which ends with it."""
    for number, step in enumerate(steps):
        if step["type"] == "StreamCopyBegin":
            begin, mid, end = steps[number:number + 3]
            expect(f"step {number + 1}", mid["type"], "StreamCopy")
            expect(f"step {number + 2}", end["type"], "StreamCopyEnd")
            expect(f"programs of step {number}", [mid["program"], end["program"]], [begin["program"]] * 2)
            expect(f"step {number}.cyclesTo", begin["cyclesTo"], mid["cyclesFrom"])
            expect(f"step {number + 2}.cyclesTo", end["cyclesTo"], mid["cyclesTo"])
            if not mid["cyclesFrom"] <= end["cyclesFrom"] <= mid["cyclesTo"]:
                sys.exit(f"step {number + 2} begins in cycle {end['cyclesFrom']}")
    copies = [s["type"] for s in steps if s["type"] == "StreamCopy"]
    expect("beginnings of stream copies", len([s for s in steps if s["type"] == "StreamCopyBegin"]), len(copies))


def tiles_of(cost):
    return {tile for first, count in zip(cost["tiles"][::2], cost["tiles"][1::2]) for tile in range(first, first + count)}


def check_acknowledged(profile):
    """Who acknowledges syncs has no part in their exchanges, and nothing to do from the first to the last of them."""
    steps, costs = profile["simulation"]["steps"], profile["simulation"]["costs"]
    for number, step in enumerate(steps):
        if step["type"] != "SyncAns":
            continue
        name, waiting = f"step {number}", tiles_of(costs["syncAns"][step["syncAns"]])
        expect(name + ".activeTiles", step["activeTiles"], len(waiting))
        if step["syncs"] < 2:
            sys.exit(f"{name} acknowledges {step['syncs']} syncs")
        at = next(i for i in range(number, len(steps)) if steps[i]["type"] in ("DoExchange", "GlobalExchange"))
        zone, passed = steps[at]["type"], 0
        while passed < step["syncs"]:
            other = steps[at]
            if other["type"] == zone:
                passed += 1
            elif other["type"] not in ("Sync", "SyncAns", "OnTileExecute", "WriteUndef"):
                sys.exit(f"{name} passes a {other['type']}")
            if other["type"] in (zone, "OnTileExecute"):
                field, key = COSTS[other["type"]]
                if waiting & tiles_of(costs[key][other[field]]):
                    sys.exit(f"{name}: tiles of step {at} acknowledge it")
            at -= 1
        if not 0 < step["cycles"] <= step["cyclesTo"] - step["cyclesFrom"]:
            sys.exit(f"{name} has {step['cycles']} cycles from {step['cyclesFrom']} to {step['cyclesTo']}")
        sync = next(s for s in reversed(steps[:number]) if s["type"] == "Sync")
        if step["cyclesTo"] > sync["cyclesTo"] or step["cyclesFrom"] > steps[at]["cyclesTo"]:
            sys.exit(f"{name} is from {step['cyclesFrom']} to {step['cyclesTo']}")


def check_sums(profile):
    steps = profile["simulation"]["steps"]
    expect("programTrace", profile["programTrace"],
           [s["program"] for s in steps if "program" in s and s["type"] not in PHASES])
    check_phases(steps)
    ends = [s["cyclesTo"] for s in steps]
    if ends and max(ends) > profile["simulation"]["cycles"]:
        sys.exit("a step ends behind the simulation")
    totals = profile["simulation"]["tileCycles"]
    if totals.get("activeCompute", 0) > totals["compute"]:
        sys.exit("more active cycles than cycles")
    for tag, key in ("OnTileExecute", "compute"), ("DoExchange", "doExchange"), ("StreamCopy", "streamCopy"), \
            ("GlobalExchange", "globalExchange"):
        sums = [s["cycles"] * s["activeTileBalance"] * s["activeTiles"] for s in steps if s["type"] == tag]
        expect("tileCycles." + key, totals[key], round(sum(sums)))


def check_trace(trace, profile):
    named, tracks, events = set(), {}, 0
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            if event["name"] == "process_name":
                named.add(event["pid"])
            continue
        expect("ph", event["ph"], "X")
        if event["pid"] not in named:
            sys.exit(f"process {event['pid']} has no name")
        begin, end = event["ts"], event["ts"] + event["dur"]
        open_events = tracks.setdefault((event["pid"], event["tid"]), [])
        if event["dur"] < 0 or not isinstance(event["name"], str):
            sys.exit(f"event {event}")
        if event["pid"] < 1000:
            if open_events and begin < open_events[-1] - 1e-6 and event["cat"] not in ("block", "run"):
                sys.exit(f"event {event} begins before {open_events[-1]}")
            open_events.append(end)
        events += 1
    if not events:
        sys.exit("there are no events")
    steps = [s for s in profile["simulation"]["steps"] if s["type"] == "OnTileExecute"]
    tiles = [e for e in trace["traceEvents"]
             if e["ph"] == "X" and e["cat"] == "OnTileExecute" and e["tid"] > 0 and 0 < e["pid"] < 1000]
    expect("events of tiles", len(tiles), sum(s["activeTiles"] for s in steps))


def main():
    loaded = []
    for name in sys.argv[1:2] + sys.argv[3:]:
        with open(name, "rb") as file:
            loaded.append(cbor2.load(file) if name.endswith(".pop") else json.load(file))
    schema, graph, profile, report, trace = loaded
    try:
        jsonschema.validate(profile, schema, jsonschema.Draft7Validator)
    except jsonschema.ValidationError as error:
        worst = jsonschema.exceptions.best_match([error])
        sys.exit(f"{'/'.join(map(str, worst.absolute_path))}: {worst.message[:300]}")
    expect("profilerMode", profile["profilerMode"], sys.argv[2])
    if report["execution"] != profile or report["graph"] != graph:
        sys.exit("profile.pop says something else")
    if "simulation" not in profile:
        return
    for number, step in enumerate(profile["simulation"]["steps"]):
        check_step(number, step, graph, profile)
    check_sums(profile)
    check_costs(profile)
    check_acknowledged(profile)
    check_trace(trace, profile)


main()
