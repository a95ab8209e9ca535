"""tidy-known.py ask|keep <build folder> <cache folder> <started>: which files clang-tidy has found clean before; for tidy.sh.

ask reads names of files and prints those that have to be looked at. keep remembers the files that were looked at since <started>
(seconds) and are clean: of each, tidy-file.sh leaves in the build folder's tidy.read/ what was read, as make has it.

A file is known by its text, the compiler's command, the checks and the version of clang-tidy; under that, the cache has the names
of what it included, and is asked a second time with the text of all of these. So nothing is preprocessed to learn that nothing
has changed. Who changes what is included changes one of these texts. Files below the clone are named without it.
"""
import hashlib
import json
import os
import re
import subprocess
import sys

do, build, cache, started = sys.argv[1:]
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
texts = {}


def digest(path):
    """Of a file's text without the clone's name, in which C++ headers are included; None if there is no such file."""
    if path not in texts:
        try:
            with open(path, "rb") as file:
                texts[path] = hashlib.sha256(file.read().replace(root.encode() + b"/", b"")).hexdigest()
        except OSError:
            texts[path] = None
    return texts[path]


def combined(*parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
    commands = {entry["file"]: entry["command"] for entry in reversed(json.load(file))}
version = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, text=True, check=True).stdout
rules = combined(version, *(digest(f"{root}/{name}") for name in (".clang-tidy", "cmake/tidy-file.sh")))


def list_of(path):
    """Where the cache has the names of what this file includes."""
    command = commands.get(path, "").replace(root + "/", "")
    return f"{cache}/{combined(rules, path.replace(root + '/', ''), command, digest(path) or '')}.read"


def mark_of(path, names):
    """What the cache has if the file, including these, is clean; None if one of them is gone."""
    digests = [digest(os.path.join(root, name)) for name in names]
    return None if None in digests else f"{cache}/{combined(list_of(path), *names, *digests)}"


def known(path):
    try:
        with open(list_of(path), encoding="utf-8") as file:
            mark = mark_of(path, file.read().splitlines())
    except FileNotFoundError:
        return False
    if mark is None or not os.path.exists(mark):
        return False
    os.utime(list_of(path))
    os.utime(mark)
    return True


def keep(rule):
    """rule: what a file depends on, as make has it: `file.o: file.c header.h …`."""
    names = [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", rule.split(":", 1)[1].replace("\\\n", " "))]
    path, names = names[0], sorted({os.path.abspath(name).replace(root + "/", "") for name in names})
    # What was written meanwhile may not be what was read.
    if any(os.path.getmtime(os.path.join(root, name)) >= float(started) for name in names):
        return
    os.makedirs(cache, exist_ok=True)
    with open(list_of(path), "w", encoding="utf-8") as file:
        file.write("\n".join(names))
    with open(mark_of(path, names), "w", encoding="utf-8"):
        pass


if do == "ask":
    for line in sys.stdin:
        if not known(line.rstrip("\n")):
            print(line, end="")
else:
    for name in os.listdir(f"{build}/tidy.read"):
        with open(f"{build}/tidy.read/{name}", encoding="utf-8") as file:
            keep(file.read())
