"""What scripts that write modules of StableHLO share: the types' numbers, tensors of them, and the text of a module that
checks itself. Everything is calculated here, in Python's numbers."""
import itertools
import math
import random
import struct

INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "ui8": 8, "ui16": 16, "ui32": 32, "ui64": 64}
FLOATS = ("f16", "bf16", "f32", "f64")


def is_float(t):
    return t in FLOATS


def rounded(t, x):
    """x as the type has it."""
    if t == "i1":
        return bool(x)
    if t in INTS:
        bits = INTS[t]
        x &= (1 << bits) - 1
        return x - (1 << bits) if t[0] == "i" and x >> (bits - 1) else x
    if math.isnan(x) or math.isinf(x) or t == "f64":
        return x
    if t == "bf16":
        bits = bits_of("f32", rounded("f32", x))
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]
    try:
        code = "<e" if t == "f16" else "<f"
        return struct.unpack(code, struct.pack(code, x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bits_of(t, x):
    if t in INTS:
        return x & ((1 << INTS[t]) - 1)
    if t == "bf16":
        return struct.unpack("<I", struct.pack("<f", x))[0] >> 16
    return int.from_bytes(struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[t], x), "little")


def width(t):
    return INTS.get(t) or {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i1": 1}[t]


def from_bits(t, b):
    if t in INTS:
        return rounded(t, b)
    if t == "bf16":
        return struct.unpack("<f", struct.pack("<I", b << 16))[0]
    code, size = {"f16": ("<e", 2), "f32": ("<f", 4), "f64": ("<d", 8)}[t]
    return struct.unpack(code, b.to_bytes(size, "little"))[0]


class Tensor:
    """Elements in row-major order."""

    def __init__(self, t, shape, data):
        self.t, self.shape, self.data = t, tuple(shape), list(data)

    def at(self, index):
        n = 0
        for i, size in zip(index, self.shape):
            n = n * size + i
        return self.data[n]

    def type(self):
        return "tensor<" + "".join(f"{d}x" for d in self.shape) + self.t + ">"

    def literal(self):
        def element(x):
            if self.t == "i1":
                return "true" if x else "false"
            if self.t in INTS:
                return str(x)
            if math.isnan(x) or math.isinf(x):
                return f"0x{bits_of(self.t, x):0{width(self.t) // 4}X}"
            return f"{x:.17e}"

        def nest(shape, data):
            if not shape:
                return element(data[0])
            step = len(data) // shape[0] if shape[0] else 0
            return "[" + ", ".join(nest(shape[1:], data[i * step:(i + 1) * step]) for i in range(shape[0])) + "]"

        if 0 in self.shape:
            return f"dense<> : {self.type()}"
        return f"dense<{nest(self.shape, self.data)}> : {self.type()}"


def indices(shape):
    return itertools.product(*[range(d) for d in shape])


def make(t, shape, function):
    return Tensor(t, shape, [function(i) for i in indices(shape)])


def scalar_type(t):
    return f"tensor<{t}>"


class Writer:
    """One function, and the random choices that make it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.number = [], 0

    def name(self):
        self.number += 1
        return f"%v{self.number}"

    def constant(self, tensor):
        name = self.name()
        form = self.random.randrange(2)
        if form:
            self.lines.append(f'{name} = "stablehlo.constant"() {{value = {tensor.literal()}}} : () -> {tensor.type()}')
        else:
            self.lines.append(f"{name} = stablehlo.constant {tensor.literal()}")
        return name

    def ints(self, values):
        """An attribute of integers, in its new form or its old one."""
        values = list(values)
        if self.random.randrange(2) or not values:
            return "array<i64" + (": " if values else "") + ", ".join(map(str, values)) + ">"
        return f"dense<[{', '.join(map(str, values))}]> : tensor<{len(values)}xi64>"

    def generic(self, op, operands, attributes, types, results, region=None):
        """Operands: names. Returns the results' names."""
        name, where = self.name(), ""
        if attributes:
            text = ", ".join(attributes)
            where = f" {{{text}}}"
            if self.random.randrange(2):
                where = f" <{{{text}}}>"
        body = f" ({region})" if region else ""
        line = f'"stablehlo.{op}"({", ".join(operands)})'
        line += where + body if where.startswith(" <") else body + where
        line += f" : ({', '.join(types)}) -> "
        line += results[0] if len(results) == 1 else f"({', '.join(results)})"
        if len(results) == 1:
            self.lines.append(f"{name} = {line}")
            return [name]
        self.lines.append(f"{name}:{len(results)} = {line}")
        return [f"{name}#{i}" for i in range(len(results))]

    def expect(self, name, tensor, exact=True):
        if is_float(tensor.t) and not exact:
            self.lines.append(f"check.expect_almost_eq_const {name}, {tensor.literal()}")
        else:
            self.lines.append(f"check.expect_eq_const {name}, {tensor.literal()}")

    def apply(self, op, inputs, attributes, results, exact=True, region=None):
        names = [self.constant(x) for x in inputs]
        out = self.generic(op, names, attributes, [x.type() for x in inputs], [x.type() for x in results], region)
        for n, x in zip(out, results):
            self.expect(n, x, exact)

    def pretty(self, op, inputs, result, exact=True, how="same"):
        names = [self.constant(x) for x in inputs]
        name = self.name()
        types = result.type() if how == "same" else f"({', '.join(x.type() for x in inputs)}) -> {result.type()}"
        self.lines.append(f"{name} = stablehlo.{op.replace('@', ', '.join(names))} : {types}")
        self.expect(name, result, exact)

    # ---- what is drawn ----

    def shape(self, rank=None, least=1, most=4):
        if rank is None:
            rank = self.random.choice((0, 1, 1, 2, 2, 3, 4))
        return tuple(self.random.randint(least, most) for _ in range(rank))

    def element(self, t, small=False):
        r = self.random
        if t == "i1":
            return r.randrange(2) == 1
        if t in INTS:
            if small:
                return r.randint(-5 if t[0] == "i" else 0, 5)
            bits = r.choice((3, INTS[t] // 2, INTS[t]))
            return rounded(t, r.getrandbits(bits) - (1 << (bits - 1) if t[0] == "i" else 0))
        if small:
            return float(r.randint(-4, 4))
        return rounded(t, r.choice((r.uniform(-4, 4), r.gauss(0, 1), float(r.randint(-3, 3)), 0.5)))

    def tensor(self, t, shape, small=False):
        return make(t, shape, lambda _: self.element(t, small))
