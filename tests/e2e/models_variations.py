#!/usr/bin/env python3
"""Writes modules of StableHLO with operations of random types, shapes and attributes, and what they are to give:
calculated here, by the specification's words, in Python's numbers.

    models_variations.py SEED COUNT     # one module, of COUNT operations of each kind, to standard output
"""
import itertools
import math
import sys

from models_text import FLOATS, INTS, Tensor, Writer, bits_of, from_bits, indices, is_float, make, rounded, scalar_type


# ---- element by element ----

def c_divide(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def int_binary(t, op, a, b):
    bits = INTS[t]
    if op == "divide":
        if b == 0:
            return -1
        return c_divide(a, b)
    if op == "remainder":
        return a if b == 0 else a - b * c_divide(a, b)
    ub = b & ((1 << bits) - 1)
    if op == "shift_left":
        return a << b if ub < bits else 0
    if op == "shift_right_logical":
        return (a & ((1 << bits) - 1)) >> b if ub < bits else 0
    if op == "shift_right_arithmetic":
        signed = rounded("i" + str(bits), a)
        return signed >> min(ub, bits - 1)
    if op == "power":
        if b >= 0:
            return pow(a, b, 1 << bits)
        return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
    return {"add": a + b, "subtract": a - b, "multiply": a * b, "maximum": max(a, b), "minimum": min(a, b),
            "and": a & b, "or": a | b, "xor": a ^ b}[op]


def binary_ints(w):
    t = w.random.choice(list(INTS))
    op = w.random.choice(("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                          "shift_left", "shift_right_logical", "shift_right_arithmetic", "power"))
    shape = w.shape()
    a, b = w.tensor(t, shape), w.tensor(t, shape, small=op.startswith("shift") or op == "power")
    if op in ("divide", "remainder"):
        b.data = [x or 3 for x in b.data]
        least = -(1 << (INTS[t] - 1))
        b.data = [3 if x == least and y == -1 else y for x, y in zip(a.data, b.data)]
    if op == "power":
        b.data = [abs(x) for x in b.data]
    if op.startswith("shift"):
        b.data = [w.random.randint(0, INTS[t] + 1) for _ in b.data]
    out = Tensor(t, shape, [rounded(t, int_binary(t, op, x, y)) for x, y in zip(a.data, b.data)])
    w.pretty(f"{op} @", [a, b], out)


def binary_floats(w):
    t = w.random.choice(FLOATS)
    op = w.random.choice(("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "atan2"))
    shape = w.shape()
    a, b = w.tensor(t, shape), w.tensor(t, shape)
    if op in ("divide", "remainder"):
        b.data = [x if abs(x) > 0.25 else 0.75 for x in b.data]
    if op == "power":
        a.data = [abs(x) + 0.5 for x in a.data]
        a.data = [rounded(t, x) for x in a.data]
    f = {"add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
         "divide": lambda x, y: x / y, "remainder": math.fmod, "maximum": max, "minimum": min, "power": math.pow,
         "atan2": math.atan2}[op]
    out = Tensor(t, shape, [rounded(t, f(x, y)) for x, y in zip(a.data, b.data)])
    if op == "power" and t in ("f16", "bf16"):
        return
    w.apply(op, [a, b], [], [out], exact=op not in ("power", "atan2"))


def unary(w):
    t = w.random.choice(("i1",) + tuple(INTS) + FLOATS)
    shape = w.shape()
    a = w.tensor(t, shape)
    if t == "i1":
        w.pretty("not @", [a], Tensor(t, shape, [not x for x in a.data]))
        return
    if t in INTS:
        bits, mask = INTS[t], (1 << INTS[t]) - 1
        op, f = w.random.choice((
            ("negate", lambda x: -x), ("not", lambda x: ~x), ("popcnt", lambda x: bin(x & mask).count("1")),
            ("count_leading_zeros", lambda x: bits - (x & mask).bit_length()),
            ("abs", abs), ("sign", lambda x: (x > 0) - (x < 0))))
        if op in ("abs", "sign") and t[0] == "u":
            op, f = "not", lambda x: ~x
        w.pretty(f"{op} @", [a], Tensor(t, shape, [rounded(t, f(x)) for x in a.data]))
        return
    exact = (("negate", lambda x: -x), ("abs", abs), ("floor", math.floor), ("ceil", math.ceil),
             ("round_nearest_even", round), ("sign", lambda x: x and math.copysign(1, x)),
             ("round_nearest_afz", lambda x: math.copysign(math.floor(abs(x) + 0.5), x)),)
    close = (("sine", math.sin), ("cosine", math.cos), ("tanh", math.tanh), ("exponential", math.exp),
             ("exponential_minus_one", math.expm1), ("logistic", lambda x: 1 / (1 + math.exp(-x))),
             ("log", lambda x: math.log(abs(x) + 1)), ("sqrt", lambda x: math.sqrt(abs(x) + 1)),
             ("rsqrt", lambda x: 1 / math.sqrt(abs(x) + 1)), ("cbrt", lambda x: (abs(x) + 1) ** (1 / 3)),
             ("log_plus_one", lambda x: math.log1p(abs(x) + 1)))
    if w.random.randrange(2) or t in ("f16", "bf16"):
        op, f = w.random.choice(exact)
        zero = lambda y, x: y or math.copysign(0, x if op != "negate" and op != "abs" else 1)
        w.apply(op, [a], [], [Tensor(t, shape, [zero(rounded(t, float(f(x))), x) for x in a.data])])
        return
    op, f = w.random.choice(close)
    if op in ("log", "sqrt", "rsqrt", "cbrt", "log_plus_one"):
        a.data = [rounded(t, abs(x) + 1) for x in a.data]
        g = f
        f = lambda x: g(x - 1)
    w.pretty(f"{op} @", [a], Tensor(t, shape, [rounded(t, f(x)) for x in a.data]), exact=False)


def compare(w):
    t = w.random.choice(("i1",) + tuple(INTS) + FLOATS)
    shape = w.shape()
    a, b = w.tensor(t, shape, True), w.tensor(t, shape, True)
    if is_float(t) and a.data:
        a.data[0] = math.nan
    d = w.random.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
    f = {"EQ": lambda x, y: x == y, "NE": lambda x, y: x != y, "LT": lambda x, y: x < y, "LE": lambda x, y: x <= y,
         "GT": lambda x, y: x > y, "GE": lambda x, y: x >= y}[d]
    out = Tensor("i1", shape, [f(x, y) for x, y in zip(a.data, b.data)])
    kind = "FLOAT" if is_float(t) else "SIGNED" if t[0] == "i" and t != "i1" else "UNSIGNED"
    if w.random.randrange(2):
        w.pretty(f"compare {d}, @{w.random.choice(('', ', ' + kind))}", [a, b], out, how="types")
    else:
        attributes = [f"comparison_direction = #stablehlo<comparison_direction {d}>"]
        if w.random.randrange(2):
            attributes.append(f"compare_type = #stablehlo<comparison_type {kind}>")
        w.apply("compare", [a, b], attributes, [out])


def convert(w):
    types = ("i1",) + tuple(INTS) + FLOATS
    a, b = w.random.choice(types), w.random.choice(types)
    shape = w.shape()
    x = w.tensor(a, shape, small=True)
    if is_float(a) and b not in INTS and b != "i1":
        x = w.tensor(a, shape)
    if b in INTS and b[0] == "u":
        x.data = [abs(v) if is_float(a) else v for v in x.data]
    if b == "i1":
        f = lambda v: v != 0
    elif b in INTS:
        f = lambda v: rounded(b, int(v))
    else:
        f = lambda v: rounded(b, float(v))
    w.pretty("convert @", [x], Tensor(b, shape, [f(v) for v in x.data]), how="types")


def select(w):
    t = w.random.choice(("i1",) + tuple(INTS) + FLOATS)
    shape = w.shape()
    p = w.tensor("i1", shape if w.random.randrange(2) else ())
    a, b = w.tensor(t, shape), w.tensor(t, shape)
    one = p.data if p.shape == shape else p.data * len(a.data)
    out = Tensor(t, shape, [x if c else y for c, x, y in zip(one, a.data, b.data)])
    w.pretty("select @", [p, a, b], out, how="types")


def clamp(w):
    t = w.random.choice(tuple(INTS) + FLOATS)
    shape = w.shape()
    low, high = (w.tensor(t, shape if w.random.randrange(2) else (), small=True) for _ in range(2))
    a = w.tensor(t, shape)
    each = lambda x: x.data if x.shape == shape else x.data * len(a.data)
    out = Tensor(t, shape, [min(max(x, l), h) for l, x, h in zip(each(low), a.data, each(high))])
    w.pretty("clamp @", [low, a, high], out, how="types")


def bitcast(w):
    same = {8: ("i8", "ui8"), 16: ("i16", "ui16", "f16", "bf16"), 32: ("i32", "ui32", "f32"), 64: ("i64", "ui64", "f64")}
    bits = w.random.choice(list(same))
    a, b = w.random.choice(same[bits]), w.random.choice(same[bits])
    shape = w.shape()
    x = w.tensor(a, shape)
    out = Tensor(b, shape, [from_bits(b, bits_of(a, v)) for v in x.data])
    if any(is_float(b) and v != v for v in out.data):
        return
    w.pretty("bitcast_convert @", [x], out, how="types")
    parts = w.random.choice([k for k in same if k <= bits])
    b, n = w.random.choice(same[parts]), bits // parts
    if n == 1 or is_float(b):
        return
    data = [from_bits(b, bits_of(a, v) >> (parts * k) & ((1 << parts) - 1)) for v in x.data for k in range(n)]
    wide = Tensor(b, shape + (n,), data)
    w.pretty("bitcast_convert @", [x], wide, how="types")
    w.pretty("bitcast_convert @", [wide], x, how="types")


# ---- elements from elsewhere ----

def any_type(w):
    return w.random.choice(("i1",) + tuple(INTS) + FLOATS)


def broadcast(w):
    t, shape = any_type(w), w.shape(w.random.randint(1, 4))
    dims = sorted(w.random.sample(range(len(shape)), w.random.randint(0, len(shape))))
    if w.random.randrange(2):
        w.random.shuffle(dims)
    x = w.tensor(t, [w.random.choice((1, shape[d])) for d in dims])
    out = make(t, shape, lambda i: x.at([i[d] if n > 1 else 0 for d, n in zip(dims, x.shape)]))
    if w.random.randrange(2):
        w.pretty(f"broadcast_in_dim @, dims = {dims}", [x], out, how="types")
    else:
        w.apply("broadcast_in_dim", [x], [f"broadcast_dimensions = {w.ints(dims)}"], [out])


def transpose(w):
    t, shape = any_type(w), w.shape()
    p = list(range(len(shape)))
    w.random.shuffle(p)
    x = w.tensor(t, shape)
    back = lambda i: [i[p.index(d)] for d in range(len(p))]
    w.pretty(f"transpose @, dims = {p}", [x], make(t, [shape[d] for d in p], lambda i: x.at(back(i))), how="types")


def reverse(w):
    t, shape = any_type(w), w.shape(w.random.randint(1, 4))
    dims = w.random.sample(range(len(shape)), w.random.randint(0, len(shape)))
    x = w.tensor(t, shape)
    out = make(t, shape, lambda i: x.at([shape[d] - 1 - v if d in dims else v for d, v in enumerate(i)]))
    w.apply("reverse", [x], [f"dimensions = {w.ints(dims)}"], [out])


def slices(w):
    t, shape = any_type(w), w.shape(w.random.randint(1, 4), most=6)
    low = [w.random.randint(0, d) for d in shape]
    high = [w.random.randint(l, d) for l, d in zip(low, shape)]
    step = [w.random.randint(1, 3) for _ in shape]
    x = w.tensor(t, shape)
    size = [-(-(h - l) // s) for l, h, s in zip(low, high, step)]
    out = make(t, size, lambda i: x.at([l + v * s for v, l, s in zip(i, low, step)]))
    if w.random.randrange(2):
        text = ", ".join(f"{l}:{h}" + (f":{s}" if s > 1 else "") for l, h, s in zip(low, high, step))
        w.pretty(f"slice @ [{text}]", [x], out, how="types")
    else:
        w.apply("slice", [x], [f"start_indices = {w.ints(low)}", f"limit_indices = {w.ints(high)}",
                               f"strides = {w.ints(step)}"], [out])


def pad(w):
    t, shape = any_type(w), w.shape(w.random.randint(1, 3), least=0)
    inside = [w.random.randint(0, 2) for _ in shape]
    full = [max(d + (d - 1) * s, 0) for d, s in zip(shape, inside)]
    low = [w.random.randint(-min(f, 2), 3) for f in full]
    high = [w.random.randint(max(-2, -(f + l)), 3) for f, l in zip(full, low)]
    x, value = w.tensor(t, shape), w.tensor(t, ())

    def pick(i):
        at = [v - l for v, l in zip(i, low)]
        if all(0 <= a < f and a % (s + 1) == 0 for a, f, s in zip(at, full, inside)):
            return x.at([a // (s + 1) for a, s in zip(at, inside)])
        return value.data[0]

    out = make(t, [f + l + h for f, l, h in zip(full, low, high)], pick)
    if w.random.randrange(2):
        w.pretty(f"pad @, low = {low}, high = {high}, interior = {inside}", [x, value], out, how="types")
    else:
        w.apply("pad", [x, value], [f"edge_padding_low = {w.ints(low)}", f"edge_padding_high = {w.ints(high)}",
                                    f"interior_padding = {w.ints(inside)}"], [out])


def concatenate(w):
    t, shape = any_type(w), list(w.shape(w.random.randint(1, 4)))
    d = w.random.randrange(len(shape))
    parts = []
    for _ in range(w.random.randint(1, 4)):
        shape[d] = w.random.randint(0, 3)
        parts.append(w.tensor(t, shape))
    rows = [(p, k) for p in parts for k in range(p.shape[d])]
    shape[d] = len(rows)
    out = make(t, shape, lambda i: rows[i[d]][0].at(i[:d] + (rows[i[d]][1],) + i[d + 1:]))
    w.pretty(f"concatenate @, dim = {d}", parts, out, how="types")


def iota(w):
    t, shape = w.random.choice(tuple(INTS) + FLOATS), w.shape(w.random.randint(1, 4))
    d = w.random.randrange(len(shape))
    out = make(t, shape, lambda i: rounded(t, i[d] if t in INTS else float(i[d])))
    name = w.name()
    w.lines.append(f"{name} = stablehlo.iota dim = {d} : {out.type()}")
    w.expect(name, out)


def dynamic_slices(w):
    t, of = any_type(w), w.random.choice(("i32", "i64", "ui32", "i8", "ui8", "ui64", "i16", "ui16"))
    shape = w.shape(w.random.randint(1, 3), most=5)
    size = [w.random.randint(1, d) for d in shape]
    start = [Tensor(of, (), [rounded(of, w.random.randint(-2 if of[0] == "i" else 0, 6))]) for _ in shape]
    x = w.tensor(t, shape)
    begin = [min(max(s.data[0], 0), d - n) for s, d, n in zip(start, shape, size)]
    out = make(t, size, lambda i: x.at([a + b for a, b in zip(i, begin)]))
    if w.random.randrange(2):
        w.pretty(f"dynamic_slice @, sizes = {size}", [x] + start, out, how="types")
    else:
        w.apply("dynamic_slice", [x] + start, [f"slice_sizes = {w.ints(size)}"], [out])
    u = w.tensor(t, size)
    at = lambda i: [a - b for a, b in zip(i, begin)]
    into = make(t, shape, lambda i: u.at(at(i)) if all(0 <= a < n for a, n in zip(at(i), size)) else x.at(i))
    w.pretty("dynamic_update_slice @", [x, u] + start, into, how="types")


def gather_numbers(w, rank):
    """Dimension numbers of a gather from a tensor, as a dictionary; and those of a scatter are the same by other names."""
    r = w.random
    dims = list(range(rank))
    r.shuffle(dims)
    batch = sorted(dims[:r.choice((0, 0, 1, 2))])
    order = r.sample(range(len(batch)), len(batch))  # where the indices have each of them
    rest = [d for d in range(rank) if d not in batch]
    collapsed = sorted(r.sample(rest, r.randint(0, len(rest))))
    mapped = r.sample(rest, r.randint(0, len(rest)))
    return batch, order, collapsed, mapped


def gather(w):
    t, of = any_type(w), w.random.choice(("i32", "i64", "ui32", "ui8", "i16"))
    shape = w.shape(w.random.randint(1, 4), least=2, most=4)
    batch, order, collapsed, mapped = gather_numbers(w, len(shape))
    extra = w.shape(w.random.randint(0, 2))
    batch_shape = [shape[batch[order.index(k)]] for k in range(len(batch))]
    outer = batch_shape + list(extra)
    vector = w.random.randint(0, len(outer))
    if len(mapped) == 1 and w.random.randrange(2):
        vector = len(outer)
        start_shape = outer
    else:
        start_shape = outer[:vector] + [len(mapped)] + outer[vector:]
    start = make(of, start_shape, lambda _: rounded(of, w.random.randint(-1 if of[0] == "i" else 0, 4)))
    indices_batch = [d + (d >= vector) for d in order]
    size = [1 if d in collapsed or d in batch else w.random.randint(1, n) for d, n in enumerate(shape)]
    window = [d for d in range(len(shape)) if d not in collapsed and d not in batch]
    rank = len(outer) + len(window)
    offset = sorted(w.random.sample(range(rank), len(window)))
    x = w.tensor(t, shape)

    def pick(i):
        g = [v for d, v in enumerate(i) if d not in offset]
        o = [i[d] for d in offset]
        index = [0] * len(shape)
        for k, d in enumerate(mapped):
            s = start.at(g if len(start_shape) == len(outer) else g[:vector] + [k] + g[vector:])
            index[d] = min(max(s, 0), shape[d] - size[d])
        for k, d in enumerate(batch):
            index[d] = g[order[k]]
        for k, d in enumerate(window):
            index[d] += o[k]
        return x.at(index)

    out_shape, g, o = [], 0, 0
    for d in range(rank):
        if d in offset:
            out_shape.append(size[window[o]])
            o += 1
        else:
            out_shape.append(outer[g])
            g += 1
    numbers = []
    for name, value in (("offset_dims", offset), ("collapsed_slice_dims", collapsed), ("operand_batching_dims", batch),
                        ("start_indices_batching_dims", indices_batch), ("start_index_map", mapped)):
        if value:
            numbers.append(f"{name} = {value}")
    numbers.append(f"index_vector_dim = {vector}")
    attributes = [f"dimension_numbers = #stablehlo.gather<{', '.join(numbers)}>", f"slice_sizes = {w.ints(size)}"]
    if w.random.randrange(2):
        attributes.append("indices_are_sorted = false")
    w.apply("gather", [x, start], attributes, [make(t, out_shape, pick)])


def region(t, body, arguments=2, last="i1"):
    names = ", ".join(f"%a{k}: {scalar_type(t)}" for k in range(arguments))
    result = body[1]
    return f"{{ ^bb0({names}): {body[0]} stablehlo.return %r : {scalar_type(result)} }}"


def combiner(w, t):
    """The text of a region's operation, and what it does."""
    if t == "i1":
        op = w.random.choice(("and", "or", "xor"))
    elif t in INTS:
        op = w.random.choice(("add", "multiply", "maximum", "minimum"))
    else:
        op = w.random.choice(("add", "maximum", "minimum"))
    text = f"%r = stablehlo.{op} %a0, %a1 : {scalar_type(t)}"
    f = {"add": lambda a, b: a + b, "multiply": lambda a, b: a * b, "maximum": max, "minimum": min,
         "and": lambda a, b: a and b, "or": lambda a, b: a or b, "xor": lambda a, b: a != b}[op]
    return op, (text, t), lambda a, b: rounded(t, f(a, b))


def scatter(w):
    t, of = any_type(w), w.random.choice(("i32", "i64", "ui32", "i16"))
    shape = w.shape(w.random.randint(1, 3), least=2, most=4)
    batch, order, inserted, mapped = gather_numbers(w, len(shape))
    batch_shape = [shape[batch[order.index(k)]] for k in range(len(batch))]
    outer = batch_shape + list(w.shape(w.random.randint(0, 2), most=3))
    vector = w.random.randint(0, len(outer))
    start_shape = outer[:vector] + [len(mapped)] + outer[vector:]
    start = make(of, start_shape, lambda _: rounded(of, w.random.randint(-1 if of[0] == "i" else 0, 4)))
    indices_batch = [d + (d >= vector) for d in order]
    window = [d for d in range(len(shape)) if d not in inserted and d not in batch]
    size = [w.random.randint(1, shape[d]) for d in window]
    rank = len(outer) + len(window)
    window_dims = sorted(w.random.sample(range(rank), len(window)))
    up_shape, g, o = [], 0, 0
    for d in range(rank):
        if d in window_dims:
            up_shape.append(size[o])
            o += 1
        else:
            up_shape.append(outer[g])
            g += 1
    x, updates = w.tensor(t, shape, small=True), w.tensor(t, up_shape, small=True)
    _, body, f = combiner(w, t)
    out = dict(zip(indices(shape), x.data))
    for i in indices(up_shape):
        g = [v for d, v in enumerate(i) if d not in window_dims]
        index = [0] * len(shape)
        for k, d in enumerate(mapped):
            index[d] = start.at(g[:vector] + [k] + g[vector:])
        for k, d in enumerate(batch):
            index[d] = g[order[k]]
        for k, d in enumerate(window):
            index[d] += i[window_dims[k]]
        if tuple(index) in out:
            out[tuple(index)] = f(out[tuple(index)], updates.at(i))
    numbers = []
    for name, value in (("update_window_dims", window_dims), ("inserted_window_dims", inserted),
                        ("input_batching_dims", batch), ("scatter_indices_batching_dims", indices_batch),
                        ("scatter_dims_to_operand_dims", mapped)):
        if value:
            numbers.append(f"{name} = {value}")
    numbers.append(f"index_vector_dim = {vector}")
    attributes = [f"scatter_dimension_numbers = #stablehlo.scatter<{', '.join(numbers)}>"]
    if w.random.randrange(2):
        attributes += ["indices_are_sorted = false", "unique_indices = false"]
    w.apply("scatter", [x, start, updates], attributes, [Tensor(t, shape, out.values())], region=region(t, body))


# ---- many elements ----

def reduce(w):
    t, shape = any_type(w), w.shape(w.random.randint(1, 4))
    dims = sorted(w.random.sample(range(len(shape)), w.random.randint(1, len(shape))))
    x, first = w.tensor(t, shape, small=True), w.tensor(t, (), small=True)
    op, body, f = combiner(w, t)
    kept = [d for d in range(len(shape)) if d not in dims]
    out = {}
    for i, v in zip(indices(shape), x.data):
        key = tuple(i[d] for d in kept)
        out[key] = f(out.get(key, first.data[0]), v)
    out = make(t, [shape[d] for d in kept], lambda i: out[i])
    if w.random.randrange(2):
        w.apply("reduce", [x, first], [f"dimensions = {w.ints(dims)}"], [out], region=region(t, body))
        return
    names = [w.constant(x), w.constant(first)]
    name = w.name()
    w.lines.append(f"{name} = stablehlo.reduce({names[0]} init: {names[1]}) applies stablehlo.{op} across dimensions = "
                   f"{dims} : ({x.type()}, {first.type()}) -> {out.type()}")
    w.expect(name, out)


def argmax(w):
    """A reduce of two values with a comparison."""
    t, shape = w.random.choice(tuple(INTS) + FLOATS), w.shape(2)
    x = w.tensor(t, shape, small=True)
    at = make("i32", shape, lambda i: i[1])
    best = [max(range(shape[1]), key=lambda k: (x.at((i, k)), -k)) for i in range(shape[0])]
    names = [w.constant(v) for v in (x, at, Tensor(t, (), [rounded(t, -9 if t in INTS and t[0] == "i" else 0)
                                                           if t in INTS else -9.0]), Tensor("i32", (), [99]))]
    s, n = scalar_type(t), "tensor<i32>"
    name = w.name()
    w.lines.append(f"""{name}:2 = stablehlo.reduce({names[0]} init: {names[2]}), ({names[1]} init: {names[3]}) across dimensions = [1] : ({x.type()}, {at.type()}, {s}, {n}) -> (tensor<{shape[0]}x{t}>, tensor<{shape[0]}xi32>)
    reducer(%a0: {s}, %b0: {s}) (%a1: {n}, %b1: {n}) {{
      %g = stablehlo.compare GT, %a0, %b0 : ({s}, {s}) -> tensor<i1>
      %e = stablehlo.compare EQ, %a0, %b0 : ({s}, {s}) -> tensor<i1>
      %l = stablehlo.compare LT, %a1, %b1 : ({n}, {n}) -> tensor<i1>
      %f = stablehlo.and %e, %l : tensor<i1>
      %k = stablehlo.or %g, %f : tensor<i1>
      %v = stablehlo.select %k, %a0, %b0 : tensor<i1>, {s}
      %w = stablehlo.select %k, %a1, %b1 : tensor<i1>, {n}
      stablehlo.return %v, %w : {s}, {n}
    }}""")
    w.expect(f"{name}#0", Tensor(t, shape[:1], [x.at((i, b)) for i, b in enumerate(best)]))
    w.expect(f"{name}#1", Tensor("i32", shape[:1], [b if t[0] != "u" or x.at((i, b)) else b for i, b in enumerate(best)]))


def window_of(w, rank, plain=False):
    r = w.random
    window = [r.randint(1, 3) for _ in range(rank)]
    stride = [r.randint(1, 2) for _ in range(rank)]
    base = [1 if plain else r.randint(1, 2) for _ in range(rank)]
    dilation = [1 if plain else r.randint(1, 2) for _ in range(rank)]
    padding = [(r.randint(0, 2), r.randint(0, 2)) for _ in range(rank)]
    return window, stride, base, dilation, padding


def pad_text(w, padding):
    return "dense<[" + ", ".join(f"[{a}, {b}]" for a, b in padding) + f"]> : tensor<{len(padding)}x2xi64>"


def out_sizes(shape, window, stride, base, dilation, padding):
    sizes = []
    for n, k, s, b, d, (lo, hi) in zip(shape, window, stride, base, dilation, padding):
        full, reach = (n - 1) * b + 1 + lo + hi if n else lo + hi, (k - 1) * d + 1
        sizes.append(max((full - reach) // s + 1, 0) if full >= reach else 0)
    return sizes


def reduce_window(w):
    t, shape = any_type(w), w.shape(w.random.randint(1, 3), least=2, most=5)
    window, stride, base, dilation, padding = window_of(w, len(shape))
    x, first = w.tensor(t, shape, small=True), w.tensor(t, (), small=True)
    _, body, f = combiner(w, t)

    def pick(i):
        value = first.data[0]
        for k in indices(window):
            at = [a * s + b * d - p[0] for a, s, b, d, p in zip(i, stride, k, dilation, padding)]
            inside = all(0 <= a <= (n - 1) * b and a % b == 0 for a, n, b in zip(at, shape, base))
            value = f(value, x.at([a // b for a, b in zip(at, base)]) if inside else first.data[0])
        return value

    out = make(t, out_sizes(shape, window, stride, base, dilation, padding), pick)
    w.apply("reduce_window", [x, first],
            [f"window_dimensions = {w.ints(window)}", f"window_strides = {w.ints(stride)}",
             f"base_dilations = {w.ints(base)}", f"window_dilations = {w.ints(dilation)}",
             f"padding = {pad_text(w, padding)}"], [out], region=region(t, body))


def select_and_scatter(w):
    t, shape = w.random.choice(tuple(INTS) + FLOATS), w.shape(w.random.randint(1, 3), least=2, most=5)
    window, stride, base, dilation, padding = window_of(w, len(shape), plain=True)
    padding = [(min(a, k - 1), min(b, k - 1)) for (a, b), k in zip(padding, window)]
    size = out_sizes(shape, window, stride, base, dilation, padding)
    x, source, first = w.tensor(t, shape, small=True), w.tensor(t, size, small=True), w.tensor(t, (), small=True)
    out = {i: first.data[0] for i in indices(shape)}
    for i in indices(size):
        best = None
        for k in indices(window):
            at = tuple(a * s + b - p[0] for a, s, b, p in zip(i, stride, k, padding))
            if at in out and (best is None or not x.at(best) >= x.at(at)):
                best = at
        if best is None:
            return
        out[best] = rounded(t, out[best] + source.at(i))
    s = scalar_type(t)
    regions = (f"{{ ^bb0(%a0: {s}, %a1: {s}): %r = stablehlo.compare GE, %a0, %a1 : ({s}, {s}) -> tensor<i1> "
               f"stablehlo.return %r : tensor<i1> }}, " + region(t, (f"%r = stablehlo.add %a0, %a1 : {s}", t)))
    w.apply("select_and_scatter", [x, source, first],
            [f"window_dimensions = {w.ints(window)}", f"window_strides = {w.ints(stride)}",
             f"padding = {pad_text(w, padding)}"], [Tensor(t, shape, out.values())], region=regions)


def sort(w):
    t, shape = w.random.choice(tuple(INTS) + FLOATS), w.shape(w.random.randint(1, 3), most=6)
    d = w.random.randrange(len(shape))
    x, y = w.tensor(t, shape, small=True), make("i32", shape, lambda i: i[d])
    down = w.random.randrange(2)
    rows = {}
    for i in indices(shape):
        rows.setdefault(i[:d] + i[d + 1:], []).append((x.at(i), y.at(i)))
    for row in rows.values():
        row.sort(key=lambda e: -e[0] if down else e[0])
    pick = lambda n: lambda i: rows[i[:d] + i[d + 1:]][i[d]][n]
    s = scalar_type(t)
    body = (f"{{ ^bb0(%a0: {s}, %a1: {s}, %a2: tensor<i32>, %a3: tensor<i32>): %r = stablehlo.compare "
            f"{'GT' if down else 'LT'}, %a0, %a1 : ({s}, {s}) -> tensor<i1> stablehlo.return %r : tensor<i1> }}")
    w.apply("sort", [x, y], [f"dimension = {d if w.random.randrange(2) else d - len(shape)} : i64", "is_stable = true"],
            [make(t, shape, pick(0)), make("i32", shape, pick(1))], region=body)


def dot_general(w):
    t = w.random.choice(tuple(INTS) + ("f32", "f64", "bf16", "f16"))
    r = w.random
    batch, contract, left, right = (w.shape(r.randint(0, n), most=3) for n in (1, 2, 2, 2))
    kinds = [("b", k, n) for k, n in enumerate(batch)] + [("c", k, n) for k, n in enumerate(contract)]
    ldims, rdims = kinds + [("f", k, n) for k, n in enumerate(left)], kinds + [("f", k, n) for k, n in enumerate(right)]
    r.shuffle(ldims)
    r.shuffle(rdims)
    a, b = w.tensor(t, [n for _, _, n in ldims], small=True), w.tensor(t, [n for _, _, n in rdims], small=True)
    where = lambda dims, kind, many: [[i for i, e in enumerate(dims) if e[:2] == (kind, k)][0] for k in range(many)]

    def pick(i):
        bi, li, ri = i[:len(batch)], i[len(batch):len(batch) + len(left)], i[len(batch) + len(left):]
        total = 0
        for c in indices(contract):
            value = {"b": bi, "c": c}
            la = [dict(value, f=li)[k][n] for k, n, _ in ldims]
            ra = [dict(value, f=ri)[k][n] for k, n, _ in rdims]
            total += a.at(la) * b.at(ra)
        return rounded(t, total)

    # Free dimensions follow the order of the operands, so their numbers do too.
    lfree, rfree = [e for e in ldims if e[0] == "f"], [e for e in rdims if e[0] == "f"]
    lorder, rorder = [k for _, k, _ in lfree], [k for _, k, _ in rfree]
    inner = pick

    def pick(i):
        n = len(batch)
        li, ri = i[n:n + len(left)], i[n + len(left):]
        return inner(i[:n] + tuple(li[lorder.index(k)] for k in range(len(left))) +
                     tuple(ri[rorder.index(k)] for k in range(len(right))))

    out = make(t, batch + tuple(n for _, _, n in lfree) + tuple(n for _, _, n in rfree), pick)
    lb, rb = where(ldims, "b", len(batch)), where(rdims, "b", len(batch))
    lc, rc = where(ldims, "c", len(contract)), where(rdims, "c", len(contract))
    if r.randrange(2):
        text = (f"batching_dims = {lb} x {rb}, " if lb else "") + f"contracting_dims = {lc} x {rc}"
        precision = r.choice(("", ", precision = [DEFAULT, DEFAULT]", ", precision = [HIGHEST, HIGHEST]"))
        w.pretty(f"dot_general @, {text}{precision}", [a, b], out, how="types")
        return
    numbers = ([f"lhs_batching_dimensions = {lb}", f"rhs_batching_dimensions = {rb}"] if lb else []) + (
        [f"lhs_contracting_dimensions = {lc}", f"rhs_contracting_dimensions = {rc}"] if lc else [])
    w.apply("dot_general", [a, b], [f"dot_dimension_numbers = #stablehlo.dot<{', '.join(numbers)}>",
                                    "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]"],
            [out])


def large_convolution(w):
    """Of which no tile has a whole operand: a product of matrices."""
    for _ in range(20):
        if convolution(w, large=True):
            return


def convolution(w, large=False):
    t, r = w.random.choice(("f32", "f32", "f16") if large else tuple(INTS) + ("f32", "f64", "bf16")), w.random
    rank = 2 if large else r.choice((1, 2, 2, 3))
    groups, batch_groups = r.choice(((1, 1), (1, 1), (2, 1), (1, 2)))
    window, stride, base, dilation, padding = window_of(w, rank)
    space = [r.randint(2, 5) for _ in range(rank)]
    batch, features, filters = batch_groups * r.randint(1, 2), groups * r.randint(1, 2), groups * batch_groups * r.randint(1, 2)
    if large:
        space = [r.randint(4, 9) for _ in range(rank)]
        features = groups * (8200 // (math.prod(space) * batch * groups) + 1)
    flip = [r.randrange(2) for _ in range(rank)]
    sizes = out_sizes(space, window, stride, base, dilation, padding)
    if 0 in sizes or large and math.prod(sizes) * batch * filters * features > 20000:
        return False

    def order(first, second, dims):
        roles = [first, second] + list(range(rank))
        r.shuffle(roles)
        return roles, [{first: dims[0], second: dims[1]}.get(role, dims[2 + role] if isinstance(role, int) else 0)
                       for role in roles]

    li, lshape = order("b", "f", [batch, features] + space)
    ki, kshape = order("i", "o", [features // groups, filters] + window)
    oi, oshape = order("b", "f", [batch // batch_groups, filters] + sizes)
    a, k = w.tensor(t, lshape, small=True), w.tensor(t, kshape, small=True)

    def pick(i):
        o = dict(zip(oi, i))
        group = o["f"] // (filters // groups)
        batch_group = o["f"] // (filters // batch_groups)
        total = 0
        for c in range(features // groups):
            for n in indices(window):
                at = [o[d] * stride[d] + n[d] * dilation[d] - padding[d][0] for d in range(rank)]
                if any(v % base[d] or not 0 <= v // base[d] < space[d] for d, v in enumerate(at)):
                    continue
                x = dict(enumerate(v // base[d] for d, v in enumerate(at)))
                x.update(b=o["b"] + batch_group * (batch // batch_groups), f=c + group * (features // groups))
                f = dict(enumerate(window[d] - 1 - v if flip[d] else v for d, v in enumerate(n)))
                f.update(i=c, o=o["f"])
                total += a.at([x[role] for role in li]) * k.at([f[role] for role in ki])
        return rounded(t, total)

    out = make(t, oshape, pick)
    show = lambda roles: "[" + ", ".join(map(str, roles)) + "]"
    numbers = f"{show(li)}x{show(ki)}->{show(oi)}"
    names = [w.constant(a), w.constant(k)]
    name = w.name()
    if r.randrange(2):
        flips = ", reverse = [" + ", ".join("true" if v else "false" for v in flip) + "]" if any(flip) else ""
        pads = ", ".join(f"[{p}, {q}]" for p, q in padding)
        w.lines.append(
            f"{name} = stablehlo.convolution({', '.join(names)}) dim_numbers = {numbers}, window = {{stride = {stride}, "
            f"pad = [{pads}], lhs_dilate = {base}, rhs_dilate = {dilation}{flips}}} {{batch_group_count = {batch_groups} : i64, "
            f"feature_group_count = {groups} : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}} "
            f": ({a.type()}, {k.type()}) -> {out.type()}")
    else:
        flips = "array<i1: " + ", ".join("true" if v else "false" for v in flip) + ">"
        w.lines.append(
            f'{name} = "stablehlo.convolution"({", ".join(names)}) <{{dimension_numbers = #stablehlo.conv<{numbers}>, '
            f"window_strides = {w.ints(stride)}, padding = {pad_text(w, padding)}, lhs_dilation = {w.ints(base)}, "
            f"rhs_dilation = {w.ints(dilation)}, window_reversal = {flips}, batch_group_count = {batch_groups} : i64, "
            f"feature_group_count = {groups} : i64}}> : ({a.type()}, {k.type()}) -> {out.type()}")
    w.expect(name, out)
    return True


def flow(w):
    """A loop that sums, inside a branch, with values from outside."""
    t, shape = w.random.choice(tuple(INTS) + ("f32",)), w.shape()
    x, turns = w.tensor(t, shape, small=True), w.random.randint(0, 5)
    n = w.random.choice(("i32", "i64", "ui32"))
    which = w.random.randint(-1, 3)
    names = [w.constant(v) for v in (x, Tensor(n, (), [turns]), Tensor(n, (), [0]), Tensor(n, (), [1]),
                                     Tensor("i32", (), [which]))]
    name, s, c = w.name(), x.type(), f"tensor<{n}>"
    w.lines.append(f"""{name}:2 = stablehlo.while(%i = {names[2]}, %s = {names[0]}) : {c}, {s}
      cond {{
        %p = stablehlo.compare LT, %i, {names[1]} : ({c}, {c}) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %j = stablehlo.add %i, {names[3]} : {c}
        %o = stablehlo.add %s, {names[0]} : {s}
        stablehlo.return %j, %o : {c}, {s}
      }}""")
    total = Tensor(t, shape, [rounded(t, v * (turns + 1)) for v in x.data])
    w.expect(f"{name}#1", total)
    case = w.name()
    w.lines.append(f"""{case} = "stablehlo.case"({names[4]}) ({{
        stablehlo.return {name}#1 : {s}
      }}, {{
        %n = stablehlo.negate {name}#1 : {s}
        stablehlo.return %n : {s}
      }}, {{
        %z = stablehlo.subtract {name}#1, {names[0]} : {s}
        stablehlo.return %z : {s}
      }}) : (tensor<i32>) -> {s}""")
    branch = which if 0 <= which <= 2 else 2
    f = (lambda v, u: v, lambda v, u: -v, lambda v, u: v - u)[branch]
    w.expect(case, Tensor(t, shape, [rounded(t, f(v, u)) for v, u in zip(total.data, x.data)]))


def top_k(w):
    t, shape = w.random.choice(tuple(INTS) + FLOATS), w.shape(w.random.randint(1, 3), most=6)
    k, largest = w.random.randint(1, shape[-1]), w.random.random() < 0.5
    x = w.tensor(t, shape, small=True)
    best = {i: sorted(range(shape[-1]), key=lambda n: (-x.at(i + (n,)) if largest else x.at(i + (n,)), n))[:k] for i in indices(shape[:-1])}
    size = shape[:-1] + (k,)
    name, a = w.name(), w.constant(x)
    values, where = make(t, size, lambda i: x.at(i[:-1] + (best[i[:-1]][i[-1]],))), make("i32", size, lambda i: best[i[:-1]][i[-1]])
    if largest:
        w.lines.append(f"{name}:2 = chlo.top_k({a}, k = {k}) : {x.type()} -> ({values.type()}, {where.type()})")
    else:
        w.lines.append(f"{name}:2 = stablehlo.custom_call @mhlo.topk({a}) {{mhlo.attributes = {{k = {k} : i64, largest = false}}}} : ({x.type()}) -> ({values.type()}, {where.type()})")
    w.expect(f"{name}#0", values)
    w.expect(f"{name}#1", where)


KINDS = (binary_ints, binary_floats, unary, compare, convert, select, clamp, bitcast, broadcast, transpose, reverse, slices,
         pad, concatenate, iota, dynamic_slices, gather, scatter, reduce, argmax, reduce_window, select_and_scatter, sort,
         dot_general, convolution, flow, top_k, large_convolution)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    w = Writer(seed)
    kinds = [k for k in KINDS if len(sys.argv) < 4 or k.__name__ in sys.argv[3:]]
    print(f"// {' '.join(sys.argv[1:])}")
    print("module @variations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {")
    print("  func.func public @main() {")
    for kind in kinds:
        for _ in range(count):
            kind(w)
    for line in w.lines:
        print("    " + line)
    print("    return\n  }\n}")


if __name__ == "__main__":
    main()
