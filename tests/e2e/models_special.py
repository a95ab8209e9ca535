#!/usr/bin/env python3
"""Writes a module of StableHLO with operations on numbers at the edges of their types, and what they are to give: zeros of
both signs, infinities, NaN, denormal numbers, the largest and the smallest; numbers of all magnitudes; division by zero,
shifts by more than there is. Calculated here, with Python's numbers, which have a double's precision or any.

    models_special.py SEED      # to standard output
"""
import cmath
import itertools
import math
import sys

from models_text import FLOATS, INTS, Tensor, Writer, bits_of, from_bits, is_float, rounded, width

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}  # bits of exponent and fraction


def edges(t):
    """Numbers of the type that code forgets."""
    if t in INTS:
        bits = INTS[t]
        low, high = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if t[0] == "i" else (0, (1 << bits) - 1)
        return [0, 1, 2, 7, low, low + 1, high - 1, high] + ([-1, -2, -7] if t[0] == "i" else [])
    exponent, fraction = FORMATS[t]
    largest = from_bits(t, ((1 << exponent) - 1 << fraction) - 1)
    normal, denormal = from_bits(t, 1 << fraction), from_bits(t, 1)
    positive = [0.0, 0.5, 1.0, 1.5, 2.5, math.inf, largest, normal, denormal, from_bits(t, (1 << fraction) - 1)]
    return positive + [-x for x in positive] + [math.nan]


def any_size(w, t, count, least=-14, most=14):
    """Numbers with exponents from `least` to `most`."""
    r = w.random
    return [rounded(t, r.choice((1, -1)) * math.ldexp(r.uniform(1, 2), r.randint(least, most))) for _ in range(count)]


def finite(function):
    """What rounds to an integer leaves infinities and NaN, and the sign of a zero."""
    return lambda x: x if math.isinf(x) or math.isnan(x) else math.copysign(float(function(x)), x)


def away_from_zero(x):
    return math.floor(abs(x)) + (abs(x) - math.floor(abs(x)) >= 0.5)


def root(x):
    return math.nan if x < 0 else math.sqrt(x)


UNARY = (("abs", abs), ("negate", lambda x: -x), ("floor", finite(math.floor)), ("ceil", finite(math.ceil)),
         ("round_nearest_even", finite(round)), ("round_nearest_afz", finite(away_from_zero)),
         ("sign", lambda x: x if x == 0 or x != x else math.copysign(1.0, x)), ("sqrt", root))


def unary(w):
    for t in FLOATS:
        values = edges(t) + any_size(w, t, 12) + any_size(w, t, 24, 0, 14 if t == "f16" else 52)
        for op, f in UNARY:
            w.apply(op, [Tensor(t, [len(values)], values)], [], [Tensor(t, [len(values)], [rounded(t, f(x)) for x in values])])


def pairs(w, t):
    """Two tensors: edges with edges, in part."""
    chosen = w.random.sample(list(itertools.product(edges(t), repeat=2)), 60)
    more = [] if t in INTS else list(zip(any_size(w, t, 20, -6, 6), any_size(w, t, 20, -6, 6)))
    a, b = zip(*(chosen + more))
    return Tensor(t, [len(a)], a), Tensor(t, [len(b)], b)


def divide(a, b):
    if b:
        return a / b
    return math.nan if a == 0 or math.isnan(a) or math.isnan(b) else math.copysign(math.inf, a) * math.copysign(1, b)


def remainder(a, b):
    return math.nan if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0 else math.fmod(a, b)


def either(function):
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else function(a, b)


BINARY = (("add", lambda a, b: a + b), ("subtract", lambda a, b: a - b), ("multiply", lambda a, b: a * b),
          ("divide", divide), ("remainder", remainder), ("maximum", either(max)), ("minimum", either(min)))


def binary(w):
    for t in FLOATS:
        a, b = pairs(w, t)
        for op, f in BINARY:
            w.apply(op, [a, b], [], [Tensor(t, a.shape, [rounded(t, f(x, y)) for x, y in zip(a.data, b.data)])])


def quotient(a, b):
    """The specification leaves division by zero open; XLA's answer is -1, and the remainder the dividend."""
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def integers(w):
    for t, bits in INTS.items():
        a, b = pairs(w, t)
        inside = lambda n: 0 <= n < bits
        signed = lambda x: rounded("i" + str(bits), x)
        for op, f in (("divide", quotient), ("remainder", lambda x, y: x - y * quotient(x, y) if y else x),
                      ("shift_left", lambda x, y: x << y if inside(y) else 0),
                      ("shift_right_logical", lambda x, y: bits_of(t, x) >> y if inside(y) else 0),
                      ("shift_right_arithmetic", lambda x, y: signed(x) >> (y if inside(y) else bits - 1))):
            w.apply(op, [a, b], [], [Tensor(t, a.shape, [rounded(t, f(x, y)) for x, y in zip(a.data, b.data)])])


def place(t, x):
    """In the total order of a type's numbers."""
    bits, sign = bits_of(t, x), 1 << (width(t) - 1)
    return -(bits - sign) - 1 if bits & sign else bits


DIRECTIONS = (("EQ", lambda a, b: a == b), ("NE", lambda a, b: a != b), ("LT", lambda a, b: a < b),
              ("LE", lambda a, b: a <= b), ("GT", lambda a, b: a > b), ("GE", lambda a, b: a >= b))


def compare(w):
    for t in FLOATS:
        a, b = pairs(w, t)
        for (d, f), total in itertools.product(DIRECTIONS, (False, True)):
            key = (lambda x: place(t, x)) if total else lambda x: x
            attributes = [f"comparison_direction = #stablehlo<comparison_direction {d}>",
                          f"compare_type = #stablehlo<comparison_type {'TOTALORDER' if total else 'FLOAT'}>"]
            w.apply("compare", [a, b], attributes,
                    [Tensor("i1", a.shape, [f(key(x), key(y)) for x, y in zip(a.data, b.data)])])
        w.apply("is_finite", [a], [], [Tensor("i1", a.shape, [math.isfinite(x) for x in a.data])])


def reduced(t, x, exponent, fraction):
    """By the bits of the type: rounded to the fraction, then cut to the exponent."""
    has_exponent, has_fraction = FORMATS[t]
    if math.isinf(x) or math.isnan(x):
        return x
    bits, sign = bits_of(t, abs(x)), math.copysign(1, x)
    if fraction < has_fraction:
        unit = 1 << (has_fraction - fraction)
        below, bits = bits % unit, bits - bits % unit
        if below > unit // 2 or below == unit // 2 and bits & unit:
            bits += unit
    if exponent < has_exponent:
        own, bias = (1 << (has_exponent - 1)) - 1, (1 << (exponent - 1)) - 1
        if bits >> has_fraction > own + bias:
            return sign * math.inf
        if bits >> has_fraction <= own - bias:
            return sign * 0.0
    return sign * from_bits(t, bits)


def reduce_precision(w):
    for t in FLOATS:
        values = edges(t) + any_size(w, t, 30)
        for exponent, fraction in ((5, 10), (8, 7), (4, 3), (2, 1)):
            w.apply("reduce_precision", [Tensor(t, [len(values)], values)],
                    [f"exponent_bits = {exponent} : i32", f"mantissa_bits = {fraction} : i32"],
                    [Tensor(t, [len(values)], [reduced(t, x, exponent, fraction) for x in values])])


def convert(w):
    def to(t, source, values):
        w.apply("convert", [Tensor(source, [len(values)], values)], [],
                [Tensor(t, [len(values)], [rounded(t, int(x) if t in INTS else float(x)) for x in values])])

    for source in FLOATS:
        for t in FLOATS:
            to(t, source, edges(source) + any_size(w, source, 20))
        for t in INTS:
            low, high = min(edges(t)), max(edges(t))
            values = any_size(w, source, 30, -3, 14 if source == "f16" else INTS[t])
            to(t, source, [0.0, -0.0] + [x for x in values if low <= int(x) <= high])
    for source in INTS:
        for t in tuple(INTS) + FLOATS:
            # Integers that a double does not hold exactly would be rounded twice here.
            to(t, source, [x for x in edges(source) if t in INTS or t == "f64" or float(x) == x])


def of_complex(w, operation, numbers, results):
    """The operation gives these results, within three units in the last place."""
    shape = [len(numbers)]
    complex_type = f"tensor<{len(numbers)}xcomplex<f32>>"
    named = [w.constant(Tensor("f32", shape, part)) for part in zip(*((x.real, x.imag) for x in numbers))]
    float_type = Tensor("f32", shape, []).type()
    number, = w.generic("complex", named, [], [float_type] * 2, [complex_type])
    result, = w.generic(operation, [number], [], [complex_type], [complex_type])
    for op, part in (("real", [x.real for x in results]), ("imag", [x.imag for x in results])):
        wanted = w.constant(Tensor("f32", shape, [rounded("f32", x) for x in part]))
        got, = w.generic(op, [result], [], [complex_type], [float_type])
        w.lines.append(f"check.expect_close {got}, {wanted}, max_ulp_difference = 3 : {float_type}, {float_type}")


def complex_roots(w):
    """Parts of all magnitudes and signs: the size of a number may overflow, or lose bits, where its root does not."""
    r, largest, denormal = w.random, from_bits("f32", 0x7F7FFFFF), from_bits("f32", 1)
    parts = [0.0, 1.0, 3e38, largest, 1e-38, denormal, 3 * denormal, math.inf]
    numbers = [complex(a, b) for a, b in itertools.product(parts + [-x for x in parts], repeat=2)]
    for low, high in ((-149, 127), (120, 127), (-149, -120)):
        for _ in range(60):
            near = r.randint(low, high)  # parts of one magnitude, and of two
            a, b = (r.choice((1, -1)) * math.ldexp(r.uniform(1, 1.99), r.choice((near, r.randint(low, high)))) for _ in "ab")
            numbers.append(complex(rounded("f32", a), rounded("f32", b)))
    of_complex(w, "sqrt", numbers, [cmath.sqrt(x) for x in numbers])


def complex_large(w):
    """An exponential, or the size of a number, overflows where the result does not."""
    far = [s * x for s in (1, -1) for x in (82.0, 88.5, 89.25, 95.0, 120.0)]
    near = [0.0, 0.5, -2.0, 3.0, 2.0 ** -60]
    upwards = [complex(a, b) for a, b in itertools.product(near, far)]
    aside = [complex(b, a) for a, b in itertools.product(near, far)]
    parts = [rounded("f32", s * x) for s in (1, -1) for x in (3e38, 2.5e38, 1.0)]
    large = [complex(a, b) for a, b in itertools.product(parts, repeat=2)]
    for op, numbers, f in (("sine", upwards, cmath.sin), ("cosine", upwards, cmath.cos), ("exponential", aside, cmath.exp),
                           ("exponential_minus_one", [x for x in aside if x.real > 0], lambda x: cmath.exp(x) - 1),
                           ("logistic", [x for x in aside if x.real < -40], lambda x: 1 / (1 + cmath.exp(-x))),
                           ("log", large, cmath.log), ("log_plus_one", large, lambda x: cmath.log(1 + x) if x != -1 else 0j),
                           ("sign", large, lambda x: x / abs(x))):
        of_complex(w, op, numbers, [f(x) for x in numbers])


def main():
    w = Writer(int(sys.argv[1]))
    for kind in (unary, binary, integers, compare, reduce_precision, convert, complex_roots, complex_large):
        kind(w)
    body = "\n".join("    " + line for line in w.lines)
    print(f"module @special {{\n  func.func public @main() {{\n{body}\n    return\n  }}\n}}")


main()
