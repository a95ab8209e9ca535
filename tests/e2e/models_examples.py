#!/usr/bin/env python3
"""What the modules of examples/models are to give, calculated without them: gradients by differences of the loss.

    models_examples.py write FOLDER    # inputs, as raw elements
    models_examples.py check FOLDER    # outputs that pophlo wrote; exit status 1 if one is wrong
"""
import math
import os
import struct
import sys

folder = sys.argv[2]


def wave(n, k, scale):
    """As the modules make their weights."""
    return [math.sin(i * k) * scale for i in range(n)]


def rows(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def product(a, b):
    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]


def softmax(row):
    e = [math.exp(v - max(row)) for v in row]
    return [v / sum(e) for v in e]


X = rows([math.cos(0.37 * i) for i in range(32)], 4)
CLASSES = [i * i % 3 for i in range(8)]
IMAGE = [[rows([math.sin(0.3 * i + 2 * n) for i in range(64)], 8)] for n in range(2)]
WORDS = rows([math.cos(0.83 * i) * 1.5 for i in range(48)], 8)


def mlp():
    weights = [wave(64, 0.7, 0.5), [0.1] * 16, wave(48, 1.3, 0.5), [-0.1] * 3]

    def loss(w1, b1, w2, b2):
        h = [[math.tanh(v + b) for v, b in zip(r, b1)] for r in product(X, rows(w1, 16))]
        z = [[v + b for v, b in zip(r, b2)] for r in product(h, rows(w2, 3))]
        return -sum(math.log(softmax(r)[c]) for r, c in zip(z, CLASSES)) / 8

    def difference(which, i, by=1e-5):
        at = [list(w) for w in weights]
        at[which][i] += by
        above = loss(*at)
        at[which][i] -= 2 * by
        return (above - loss(*at)) / (2 * by)

    new = [[v - 0.5 * difference(k, i) for i, v in enumerate(w)] for k, w in enumerate(weights)]
    return [[loss(*weights)]] + new


def convolution(image, kernel, features, filters, step, low, size):
    """Of planes; kernel: flat, 3 x 3 x features x filters."""
    n = len(image[0])
    out = []
    for o in range(filters):
        plane = [[0.0] * size for _ in range(size)]
        for y in range(size):
            for x in range(size):
                for v in range(3):
                    for u in range(3):
                        at_y, at_x = y * step + v - low, x * step + u - low
                        if 0 <= at_y < n and 0 <= at_x < n:
                            plane[y][x] += sum(image[f][at_y][at_x] * kernel[((v * 3 + u) * features + f) * filters + o]
                                               for f in range(features))
        out.append([[max(v, 0.0) for v in r] for r in plane])
    return out


def convolutional():
    out = []
    for image in IMAGE:
        planes = convolution(image, wave(36, 0.9, 0.5), 1, 4, 1, 1, 8)
        planes = [[[max(p[2 * y + v][2 * x + u] for v in (0, 1) for u in (0, 1)) for x in range(4)] for y in range(4)]
                  for p in planes]
        planes = convolution(planes, wave(288, 1.1, 0.4), 4, 8, 2, 0, 2)
        means = [sum(map(sum, p)) / 4 for p in planes]
        out += softmax(product([means], rows(wave(24, 0.6, 1.0), 3))[0])
    return [out]


def normed(x):
    out = []
    for r in x:
        mean = sum(r) / len(r)
        variance = sum((v - mean) ** 2 for v in r) / len(r)
        out.append([(v - mean) / math.sqrt(variance + 1e-5) for v in r])
    return out


def transformer():
    n = normed(WORDS)
    q, k, v = (product(n, rows(wave(64, f, 0.4), 8)) for f in (0.7, 1.1, 1.7))
    flat = [[] for _ in WORDS]
    for head in (0, 4):
        part = slice(head, head + 4)
        for i, row in enumerate(q):
            p = softmax([sum(a * b for a, b in zip(row[part], other[part])) / 2 for other in k])
            flat[i] += [sum(w * other[head + d] for w, other in zip(p, v)) for d in range(4)]
    middle = [[a + b for a, b in zip(r, s)] for r, s in zip(WORDS, product(flat, rows(wave(64, 2.3, 0.4), 8)))]
    a = product(normed(middle), rows(wave(128, 0.9, 0.3), 16))
    hidden = [[x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in r] for r in a]
    back = product(hidden, rows(wave(128, 1.9, 0.3), 8))
    return [[a + b for r, s in zip(middle, back) for a, b in zip(r, s)]]


def write(name, values):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(struct.pack(f"{len(values)}f", *values))


def check(model, expected):
    worst = 0.0
    for k, values in enumerate(expected):
        with open(os.path.join(folder, f"{model}.{k}"), "rb") as file:
            got = struct.unpack(f"{len(values)}f", file.read())
        for i, (a, b) in enumerate(zip(got, values)):
            if not abs(a - b) <= 2e-4 * (1 + abs(b)):
                sys.exit(f"{model}: out{k} has {a} at {i}, not {b}")
            worst = max(worst, abs(a - b))
    print(f"{model}: within {worst:.1e}")


if sys.argv[1] == "write":
    write("x", sum(X, []))
    write("y", [float(c == k) for c in CLASSES for k in range(3)])
    write("image", [v for image in IMAGE for r in image[0] for v in r])
    write("words", sum(WORDS, []))
else:
    check("mlp_step", mlp())
    check("convolutional", convolutional())
    check("transformer", transformer())
