"""coverage.py ROOT BUILD: what gcov knows of the sources below ROOT, by folder; then files with less than 95 % of lines."""

import collections
import json
import os
import subprocess
import sys

WANTED = 95.0
FOLDERS = ("libarchive-ipu", "libcodelet", "popc", "runtime")


def notes(build):
    """Every object with its counters; one that no test ran has none, and counts as not run."""
    for folder, _, files in os.walk(build):
        for name in files:
            if name.endswith(".gcno"):
                yield os.path.join(folder, name)


def read(build, root):
    """Of each source: the times that each line and each branch ran, added up over the programs that hold it."""
    lines = collections.defaultdict(collections.Counter)
    branches = collections.defaultdict(collections.Counter)
    for note in notes(build):
        out = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--branch-probabilities", note], capture_output=True, check=False
        ).stdout
        for text in out.splitlines():
            for entry in json.loads(text)["files"]:
                path = os.path.relpath(os.path.join(build, entry["file"]), root)
                # The build folder may hold objects of sources that are no more.
                if not path.startswith(FOLDERS) or not os.path.exists(os.path.join(root, path)):
                    continue
                for line in entry["lines"]:
                    number = line["line_number"]
                    lines[path][number] += line["count"]
                    for i, branch in enumerate(line["branches"]):
                        branches[path][number, i] += branch["count"]
    return lines, branches


def share(counts):
    return sum(1 for count in counts if count), len(counts)


def print_rows(title, rows):
    print(f"{title:40} {'lines':>16} {'branches':>18}")
    for name, (ran, all_lines), (taken, all_branches) in rows:
        print(
            f"{name:40} {100 * ran / max(all_lines, 1):6.1f} % of {all_lines:5}"
            f" {100 * taken / max(all_branches, 1):7.1f} % of {all_branches:5}"
        )


def main():
    root, build = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    lines, branches = read(build, root)
    by_folder = collections.defaultdict(lambda: ([], []))
    files = []
    for path in sorted(lines):
        folder = by_folder[os.path.dirname(path)]
        folder[0].extend(lines[path].values())
        folder[1].extend(branches[path].values())
        files.append((path, share(lines[path].values()), share(branches[path].values())))
    print_rows("folder", [(f, share(a), share(b)) for f, (a, b) in sorted(by_folder.items())])
    low = [f for f in files if 100 * f[1][0] < WANTED * f[1][1]]
    print()
    print_rows(f"files below {WANTED:.0f} % of lines", low)


if __name__ == "__main__":
    main()
