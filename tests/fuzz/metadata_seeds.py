"""metadata_seeds.py POPHLO: makes the seeds of the fuzz target metadata anew, in the present format of archives. Of another one all
would be refused at their first field, which unit-executable-seeds notices."""
import os
import struct
import subprocess
import sys
import tempfile

MODULE = """
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> (tensor<4xf32>, !stablehlo.token) {
  %s:2 = "stablehlo.infeed"(%t) {infeed_config = ""} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %y = stablehlo.multiply %x, %s#0 : tensor<4xf32>
  %o = "stablehlo.outfeed"(%y, %s#1) {outfeed_config = ""} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %y, %o : tensor<4xf32>, !stablehlo.token
}
"""
# What stands behind a key, as CBOR has it, and what stands there then; NUMBER: a number that needs four bytes more.
NUMBER = b"\x1a\xff\xff\xff\xff"
WRONG = {
    "chips-without-number": ("num_ipus", NUMBER),
    "tiles-without-number": ("tiles_per_ipu", NUMBER),
    "digests-past-the-end": ("digests", b"\x5a\x7f\xff\xff\xff"),
    "format-of-tomorrow": ("format", b"\x02"),
    "key-without-value": ("stacks", b"\xff"),
    "programs-of-unknown-number": ("programs", b"\x9f"),
    "programs-without-number": ("programs", b"\x9b" + b"\xff" * 8),
    "streams-past-the-end": ("streams", b"\x99\x7f\xff"),
    "tensors-in-a-map": ("tensors", b"\xbf"),
}
FIELDS = {"flags": 8, "offset": 16, "size": 20, "align": 32}  # of a section's header
SHOFF, SHNUM, SHSTRNDX = 32, 48, 50


def metadata_of(pophlo):
    with tempfile.TemporaryDirectory() as folder:
        module, archive = os.path.join(folder, "m.mlir"), os.path.join(folder, "m.a")
        with open(module, "w") as file:
            file.write(MODULE)
        subprocess.run([pophlo, module, "--tiles=2", "-o", archive], check=True)
        subprocess.run(["ar", "x", archive, "metadata.elf"], cwd=folder, check=True)
        with open(os.path.join(folder, "metadata.elf"), "rb") as file:
            return file.read()


def patched(data, at, new):
    return data[:at] + new + data[at + len(new):]


def behind(cbor, key):
    """The first place behind the key that is not a longer key's end."""
    text = bytes([0x60 + len(key)]) + key.encode()
    return cbor.index(text) + len(text)


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "metadata")
    elf = metadata_of(sys.argv[1])
    header = struct.unpack_from("<I", elf, SHOFF)[0] + 40  # the notes are section 1
    offset, size = struct.unpack_from("<II", elf, header + FIELDS["offset"])
    cbor = elf[elf.index(b"fformat") - 2:offset + size]
    seeds = {"sound.elf": elf, "sound.cbor": cbor, "cut.elf": elf[:len(elf) * 3 // 4], "cut.cbor": cbor[:len(cbor) * 3 // 4]}
    for name, (key, new) in WRONG.items():
        seeds[name + ".cbor"] = patched(cbor, behind(cbor, key), new)
    for name, at, new in (
        ("class-of-64-bits", 4, b"\x02"),
        ("more-sections-than-there-are", SHNUM, b"\xff\xff"),
        ("names-are-notes", SHSTRNDX, b"\x01"),
        ("section-headers-over-the-header", SHOFF, bytes(4)),
        ("section-headers-past-32-bits", SHOFF, b"\xf0\xff\xff\xff"),
        ("notes-aligned-to-8", header + FIELDS["align"], b"\x08"),
        ("notes-compressed", header + FIELDS["flags"] + 1, b"\x08"),
        ("notes-cut", header + FIELDS["size"], b"\x28\x00\x00\x00"),
        ("notes-larger-than-the-file", header + FIELDS["size"], b"\xf0\xff\xff\xff"),
        ("notes-of-no-size", header + FIELDS["size"], bytes(4)),
        ("notes-over-the-header", header + FIELDS["offset"], bytes(4)),
    ):
        seeds[name + ".elf"] = patched(elf, at, new)
    for name, data in seeds.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


main()
