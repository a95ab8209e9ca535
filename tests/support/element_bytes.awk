# Of a memory summary: bytes that hold elements (variables and messages of exchanges, all copies), each byte of a tile once.
/By Data Type:/ { inside = 1 }
/Vertex Data/ { exit }
inside && /^        Overlapped/ { shared = 1 }
inside && ((!shared && (/ Variables:/ || /Message Buffers:/)) || /Total After Overlapping:/) {
  gsub(/,/, "")
  bytes += $(NF - 1)
}
END { print bytes }
