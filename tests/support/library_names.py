"""Which names of the libraries for tiles (popops, poplin, …) are in Populus' headers, and which the original libraries add.

library_names.py CXX INCLUDE PAGE            is what the page (runtime/LIBRARIES.md) says of the headers in INCLUDE so?
library_names.py CXX INCLUDE PAGE ORIGINAL   writes the page; ORIGINAL has the original libraries' headers

CXX is a clang++. A name is that of a function, class, enumeration or alias in a namespace; how many overloads it has is not
looked at. What is in a namespace detail or internal is nobody's business.
"""
import os
import re
import subprocess
import sys
import tempfile

LIBRARIES = ["poputil", "popops", "poplin", "popnn", "poprand", "popfloat", "popsparse"]
HEAD = "| namespace | in the box | the original adds |\n|---|---|---|\n"


def headers(include):
    for library in LIBRARIES:
        for folder, folders, files in os.walk(os.path.join(include, library)):
            folders[:] = sorted(set(folders) - {"detail"})
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".hpp"))


def names_of(cxx, include, others):
    """What a compiler finds in the headers: namespace -> names."""
    files = list(headers(include))
    namespaces = set()
    for path in files:
        with open(path, encoding="utf-8") as file:
            for found in re.findall(r"\bnamespace\s+([\w:]+)\s*\{", file.read()):
                namespaces.update(found.split("::"))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "all.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines('#include "%s"\n' % os.path.abspath(path) for path in files)
        paths = ["-I" + path for path in [include, *others]]
        command = [cxx, "-std=c++17", "-w", "-fsyntax-only", "-Xclang", "-ast-list", *paths, source]
        listed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result = {}
    for line in set(listed.splitlines()):
        *scope, name = line.split("::")
        if not scope or scope[0] not in LIBRARIES or not set(scope) <= namespaces:
            continue
        if name and line not in result and not {"detail", "internal"} & {*scope, name}:
            result.setdefault("::".join(scope), set()).add(name)
    for namespace in list(result):  # those are listed, too
        scope, _, name = namespace.rpartition("::")
        result.get(scope, set()).discard(name)
    return result


def row(namespace, ours, added):
    cells = (", ".join("`%s`" % name for name in sorted(names)) for names in ({namespace}, ours, added))
    return "| %s |\n" % " | ".join(cell.replace("|", "\\|") for cell in cells)


def rows_of(text):
    rows = {}
    for line in text.splitlines():
        cells = line.strip("|").split(" | ")
        namespace, ours, added = (re.findall("`([^`]+)`", cell.replace("\\|", "|")) for cell in cells)
        rows[namespace[0]] = (set(ours), set(added))
    return rows


def main(cxx, include, page, original=None):
    ours = names_of(cxx, include, [])
    with open(page, encoding="utf-8") as file:
        head, _, table = file.read().partition(HEAD)
    if original:
        theirs = names_of(cxx, original, [include])
        with open(page, "w", encoding="utf-8") as file:
            file.write(head + HEAD)
            for namespace in sorted({*ours, *theirs}):
                own = ours.get(namespace, set())
                if own or theirs.get(namespace):
                    file.write(row(namespace, own, theirs.get(namespace, set()) - own))
        return 0
    said, wrong = rows_of(table), []
    for namespace in sorted({*ours, *said}):
        own, (listed, added) = ours.get(namespace, set()), said.get(namespace, (set(), set()))
        wrong += ["%s::%s is in a header, and the page does not say so" % (namespace, name) for name in sorted(own - listed)]
        wrong += ["the page says that there is %s::%s" % (namespace, name) for name in sorted(listed - own)]
        wrong += ["the page says that the original adds %s::%s" % (namespace, name) for name in sorted(added & own)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
