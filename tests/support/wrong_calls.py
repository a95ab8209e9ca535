"""wrong_calls.py INCLUDE OUTPUT: a C program that calls every function of the public headers in INCLUDE/populus with what is not
there: handles that are NULL, zero or of something that was freed, those of a freed graph with a good one, and then NULL for
each pointer in turn while the handles are good. Each call is made in a process of its own. A call must come back. If it has lost what it works on, its error, or
the graph's, must name it. A function that is added to a header is called by the next run."""

import glob
import os
import re
import sys

OBJECTS = {"pop_graph": "graph", "pop_engine": "engine", "pop_executable": "executable", "pop_device": "device",
           "pop_device_manager": "manager", "pop_event_trace": "trace", "pop_trace_events": "events",
           "pop_model": "model", "pop_solver": "solver"}
HANDLES = {"pop_tensor": "tensor", "pop_vertex": "vertex", "pop_compute_set": "compute_set", "pop_program": "program",
           "pop_function": "function", "pop_stream": "stream", "pop_remote_buffer": "remote_buffer",
           "pop_host_function": "host_function"}
# A name, and as many characters as counts say.
TEXT = r'"x\0\0"'
# A call without an error, which says what is wrong otherwise or has nothing to say.
SILENT = re.compile(r"pop_graph_(error|take_error|free|release)$|pop_tensor_valid$|_free$|_program_end$")


def functions(include):
    for header in sorted(glob.glob(os.path.join(include, "populus", "*.h"))):
        text = re.sub(r"/\*.*?\*/", " ", open(header, encoding="utf-8").read(), flags=re.S)
        text = re.sub(r"\\\n", " ", text)
        text = re.sub(r"^\s*#.*?$", " ", text, flags=re.M)
        text = re.sub(r'extern "C" \{', " ", text)
        for m in re.finditer(r"(?:^|[;}])\s*((?:[A-Za-z_]\w*[\s*]+)+?)(pop_\w+)\s*\(", text):
            end, depth = m.end(), 1
            while depth:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            result = " ".join(m.group(1).replace("POP_MUST_CHECK", "").split())
            if "typedef" in result or "inline" in result or not re.match(r"\s*;|\s*POP_", text[end:]):
                continue
            yield os.path.basename(header), result, m.group(2), split(text[m.end():end - 1])


def split(arguments):
    parts, depth = [""], 0
    for c in " ".join(arguments.split()):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip() not in ("", "void")]


def value(argument, state, null):
    """What is given for an argument: `state` is nothing, counted (nothing, and numbers), freed, stale (handles of a freed
    graph, objects that live) or good."""
    if "(*" in argument or "pop_perf_estimator" in argument or "pop_solver_function" in argument:
        return "NULL"
    m = re.match(r"(?:const )?(\w+) (\**(?:const \**)?)(\w+)(\[\w*\])?$", argument)
    if not m:
        sys.exit("wrong_calls.py: what is '" + argument + "'?")
    kind, stars = m.group(1), m.group(2).count("*") + bool(m.group(4))
    if kind in OBJECTS and stars == 1:
        return "NULL" if null or state in ("nothing", "counted") else f"{'good' if state == 'stale' else state}.{OBJECTS[kind]}"
    if stars:
        if null or state in ("nothing", "counted"):
            return "NULL"
        if kind == "char" and "const" in argument:
            return TEXT if stars == 1 else f"(const char *const[]){{{', '.join(4 * [TEXT])}}}"
        return "sink" if kind == "FILE" else "(void *)room"
    if kind in HANDLES:
        return f"({kind}){{0}}" if state in ("nothing", "counted") else f"{'freed' if state == 'stale' else state}.{HANDLES[kind]}"
    if kind in ("size_t", "uint32_t", "uint64_t", "int64_t", "int", "unsigned", "double", "float", "bool") or \
            kind in ENUMS:
        return "0" if state == "nothing" else "true" if kind == "bool" else f"({kind})3"
    return f"({kind}){{0}}"


ENUMS = set()


def main(include):
    for header in glob.glob(os.path.join(include, "populus", "*.h")) + glob.glob(
            os.path.join(include, "..", "..", "*", "include", "populus", "*.h")):
        ENUMS.update(re.findall(r"typedef enum (\w+)", open(header, encoding="utf-8").read()))
    print('#include "support/wrong_calls.h"\n')
    calls, headers = [], set()
    for header, result, name, arguments in functions(include):
        headers.add(header)
        mine = [a for a in arguments if re.match(r"(?:const )?(%s) \*\w+$" % "|".join(OBJECTS), a) or
                a.split(" ")[0] in HANDLES]
        pointers = [i for i, a in enumerate(arguments) if "*" in a]
        variants = [(s, None) for s in ("nothing", "counted", "freed", "stale")]
        variants += [("good", i) for i in pointers] + [("good", None)] * bool(pointers)
        for state, null in variants:
            given = ", ".join(value(a, state, null == i) for i, a in enumerate(arguments))
            number = len(calls)
            error = result == "pop_error *" and not SILENT.search(name)
            # Questions about null tensors have answers.
            question = header == "tensor.h" and result not in ("pop_tensor", "void") or name == "pop_tensor_dump"
            names = state not in ("stale", "good") and bool(mine) and not SILENT.search(name) and \
                (state == "freed" or not question)
            print(f"static void call_{number}(void)\n{{")
            if error:
                print(f"  got_error({name}({given}));")
            else:
                print(f"  {'' if result == 'void' else '(void)'}{name}({given});")
            print("}\n")
            expects = "NOTHING" if not names else "AN_ERROR" if error else \
                "GRAPH_ERROR" if any("graph" in a or a.split(" ")[0] in HANDLES for a in mine) else "NOTHING"
            calls.append((number, name, state + ("" if null is None else f", argument {null} is NULL"), expects))
    print("const wrong_call wrong_calls[] = {")
    for number, name, what, expects in calls:
        print(f'    {{call_{number}, "{name}", "{what}", {expects}}},')
    print("};\nconst size_t num_wrong_calls = sizeof wrong_calls / sizeof *wrong_calls;")
    if len(headers) < 15 or len(calls) < 1000:
        sys.exit(f"wrong_calls.py: only {len(calls)} calls of {len(headers)} headers")


sys.stdout = open(sys.argv[2], "w", encoding="utf-8")
main(sys.argv[1])
