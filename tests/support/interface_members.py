"""interface_members.py RUNTIME: compares the tables of COMPATIBILITY.md with the public members of the classes in
cxx/include/poplar, which clang-format has put at the beginning of a line each. Exits with 1 after saying what differs."""

import os
import re
import sys

# What is there for our own headers, or goes without saying.
UNNAMED = {"c", "getNode", "getState", "rethrowFromEstimators", "build", "take", "get"}


def members(path):
    """By class of a header: the names of its public member functions, and those that are declared missing."""
    classes, name, public = {}, None, False
    for line in open(path, encoding="utf-8"):
        head = re.match(r"(?:template .*)?(class|struct) (?:__attribute__\S+ )?(\w+)", line)
        if head and not line.rstrip().endswith(";"):
            name, public = head.group(2), head.group(1) == "struct"
            classes.setdefault(name, (set(), set()))
        elif line.startswith("}"):
            name = None
        elif line.startswith(("public:", "private:")):
            public = line.startswith("public:")
        elif name and public:
            missing = re.match(r"  POPLAR_(?!MISSING)\w+\((\w+)\)|  POPLAR_MISSING_(?:MEMBER|STATIC|FIELD)\((\w+),", line)
            function = re.match(r"  (?![ }/#:])(?:[^(=]*?[ *&])?(\w+)\(", line)
            gone = missing and (missing.group(1) or missing.group(2))
            if gone and gone != "name":  # that is the parameter of such a macro
                classes[name][1].add(gone)
            elif function and "operator" not in line and function.group(1) not in UNNAMED | {name} and not function.group(1).startswith(("POPLAR_", "POPULUS_")):
                classes[name][0].add(function.group(1))
    return classes


def tables(path):
    """By class and header: the names in the columns `works` and `missing`."""
    for line in open(path, encoding="utf-8"):
        row = re.match(r"\| `(\w+)` \(`(\w+\.hpp)`\) \|(.*)\|(.*)\|(.*)\|$", line)
        if row:
            works, missing = (set(re.findall(r"`(\w+)`", row.group(i))) for i in (3, 5))
            yield row.group(1), row.group(2), works, missing


def main(runtime):
    wrong, told = [], set()
    for name, header, works, missing in tables(os.path.join(runtime, "COMPATIBILITY.md")):
        path = os.path.join(runtime, "cxx", "include", "poplar", header)
        there, gone = members(path).get(name, (set(), set()))
        text = open(path, encoding="utf-8").read()
        told.add((header, name))
        wrong += [f"{name}::{m} works, and the page does not say so" for m in sorted(there - works)]
        wrong += [f"{name}::{m} is missing, and the page does not say so" for m in sorted(gone - missing)]
        wrong += [f"the page says that {name}::{m} is missing: the header does not" for m in sorted(missing - gone)]
        for m in sorted(works - there):
            if m in gone or not re.search(rf"\b{m}\b", text):
                wrong.append(f"the page says that {name}::{m} works: it is not in the header")
    if not told:
        wrong.append("the page has no table of classes")
    for header in sorted(os.listdir(os.path.join(runtime, "cxx", "include", "poplar"))):
        if not header.endswith(".hpp") or header == "Program.hpp" or header == "exceptions.hpp":
            continue  # programs have no members, exceptions one
        page = open(os.path.join(runtime, "COMPATIBILITY.md"), encoding="utf-8").read()
        for name, (there, _) in members(os.path.join(runtime, "cxx", "include", "poplar", header)).items():
            ours = name in ("ConnectedCallback", "ConnectedFunction", "EngineState", "ExecutableState", "Progress", "Estimators")
            if there and not ours and (header, name) not in told and f"`{name}`" not in page:
                wrong.append(f"class {name} of {header} is not on the page")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
