# split_events.py <trace> <folder>: each message of a length-delimited file into <folder>/<number>.pb.
import sys

data = open(sys.argv[1], "rb").read()
at = number = 0
while at < len(data):
    length = shift = 0
    while True:
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if at + length > len(data):
        sys.exit(f"message {number} of {length} bytes is cut")
    open(f"{sys.argv[2]}/{number}.pb", "wb").write(data[at : at + length])
    at += length
    number += 1
