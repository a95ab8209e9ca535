"""validate_profile.py SCHEMA PROFILE.json PROFILE.cbor...: the first profile is as the schema says, and all are the same value.

Beyond the schema: every table has as many rows and columns as there are things that it is about."""
import json
import sys

import cbor2
import jsonschema


def lengths(profile):
    """Rows and columns of every table, as they should be: (what, table, rows, columns)."""
    target = profile["target"]
    tiles = target["numTiles"] // target["numReplicas"]
    sets = len(profile["computeSets"]["names"])
    types = len(profile["vertexTypes"]["names"])
    for kind in "exchanges", "externalExchanges", "hostExchanges":
        table = profile[kind]
        for key in table.keys() - {"names"}:
            if key.endswith("ByTile"):
                yield kind + "." + key, table[key], len(table["names"]), tiles
            elif len(table[key]) != len(table["names"]):
                sys.exit(f"{kind}.{key} has {len(table[key])} entries for {len(table['names'])} exchanges")
    for view, rows in ("byComputeSet", sets), ("byVertexType", types):
        for key, table in profile["memory"][view].items():
            yield view + "." + key, table, rows, tiles
    memory = profile["memory"]
    yield "byTile", list(memory["byTile"].values()), 10, tiles
    yield "byCategory", [c["total"] for c in memory["byCategory"].values()], 25, tiles
    yield "sync delays", [target["relativeSyncDelayByTile"]], 1, target["tilesPerIPU"]
    yield "sizes", [profile["vertexTypes"]["sizes"]], 1, types


def thin(value):
    """The same for a schema that says nothing of lengths: rows of numbers have each of them once. jsonschema looks at every
    number by itself, and there is one for each tile."""
    if isinstance(value, dict):
        return {key: thin(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if all(type(item) in (int, float) for item in value):
        return list({(type(item), item): item for item in value}.values())
    return [thin(item) for item in value]


def check(name, profile):
    for what, table, rows, columns in lengths(profile):
        if len(table) != rows or any(len(row) != columns for row in table):
            sys.exit(f"{name}: {what} is not {rows} x {columns}")
    numbers = {"numComputeSets": len(profile["computeSets"]["names"])}
    for key, number in numbers.items():
        if profile["graph"][key] != number:
            sys.exit(f"{name}: {key} is {profile['graph'][key]}, not {number}")
    target = profile["target"]
    if target["totalMemory"] != target["bytesPerIPU"] * target["numIPUs"]:
        sys.exit(f"{name}: totalMemory is not that of all IPUs")
    for number, program in enumerate(profile["programs"]):
        if any(child <= number or child >= len(profile["programs"]) for child in program.get("children", [])):
            sys.exit(f"{name}: program {number} has a child that is not behind it")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    first = None
    for name in sys.argv[2:]:
        with open(name, "rb") as file:
            profile = cbor2.load(file) if name.endswith(".cbor") else json.load(file)
        if first is not None and profile != first:
            sys.exit(f"{name} is not what {sys.argv[2]} is")
        if first is not None:
            continue
        try:
            jsonschema.validate(thin(profile), schema, jsonschema.Draft7Validator)
        except jsonschema.ValidationError as error:
            sys.exit(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
        check(name, profile)
        first = profile


main()
