# popexec with replicas: files serve all replicas or one. It makes no difference whether each
# replica is loaded separately or all are in one graph.
# shellcheck disable=SC2086 # options in one variable are words
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popexec=$POPULUS_BIN/popexec

# bytes <file> <octal>...: writes a file of these bytes.
bytes()
{
  file=$1
  shift
  # shellcheck disable=SC2059 # an escape is made
  for byte; do printf "\\$byte"; done >"$file"
}

# is <file> <octal>...: the file has these bytes.
is()
{
  file=$1
  shift
  found=$(od -An -v -to1 "$file" | tr '\n' ' ' | sed 's/^ *//; s/ *$//; s/  */ /g')
  [ "$found" = "$*" ] || fail "$kind: $file is $found, not $*"
}

for kind in replicas replicated-graph; do
  quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" small.a $kind
  quiet list "$popexec" --list small.a
  has list '^write in: half\[3,2,3\], of 3 replicas, 36 bytes$' '^read count: char\[3,4\], of 3 replicas, 12 bytes$' \
    '^stream in numbers: char\[4\], for each of 3 replicas, 4 bytes a copy$' \
    '^stream out counts: char\[4\], from each of 3 replicas, 4 bytes a copy$' \
    '^stream in same: char\[4\], the same for 3 replicas, 4 bytes a copy$' \
    '^remote buffer rows: char\[2,4\], in each of 3 replicas, 4 bytes a row$'
  if [ $kind = replicas ]; then has list '^replicas: 3, each on such a target$'; fi

  # Files for the streams, which every run needs.
  bytes same.bin 011 012 013 014
  bytes numbers.bin 001 002 003 004 021 022 023 024 041 042 043 044
  run()
  {
    quiet out "$popexec" --in same=same.bin --in numbers=numbers.bin --out counts=counts.bin "$@" small.a
  }

  # Handles: one file with the data of all replicas, one that all replicas get, one for a single
  # replica.
  bytes all.bin 001 002 003 004 005 006 007 010 011 012 013 014
  bytes one.bin 101 102 103 104
  run -w n=all.bin --run scale -r count=count.bin
  is count.bin 002 003 004 005 006 007 010 011 012 013 014 015
  run -w n=one.bin --run scale -r count=count.bin
  is count.bin 102 103 104 105 102 103 104 105 102 103 104 105
  run -w n=all.bin -w n@1=one.bin --run scale -r count=count.bin -r count@1=second.bin -r count@2=third.npy
  is count.bin 002 003 004 005 102 103 104 105 012 013 014 015
  is second.bin 102 103 104 105
  head -1 third.npy | grep -aq "'shape': (4,)" || fail "header: $(od -c third.npy)"
  run -w n=all.bin --run scale -r count=count.npy
  head -1 count.npy | grep -aq "'shape': (3, 4)" || fail "header: $(od -c count.npy)"
  run -w n=count.npy --run scale -r count=count.bin
  is count.bin 003 004 005 006 007 010 011 012 013 014 015 016
  run -w n=third.npy --run scale -r count=count.bin
  is count.bin 013 014 015 016 013 014 015 016 013 014 015 016

  # Streams: three copies. In each, the data of the replicas follow one another.
  run --run stream
  is counts.bin 002 003 004 005 022 023 024 025 042 043 044 045 \
    002 003 004 005 022 023 024 025 042 043 044 045 002 003 004 005 022 023 024 025 042 043 044 045
  bytes two.bin 051 052 053 054 061 062 063 064
  quiet out "$popexec" --run stream --in same=same.bin --in numbers@0=one.bin --in numbers@1=two.bin --in numbers@2=one.bin \
    --out counts@0=c0.bin --out counts@1=c1.npy --out counts@2=c2.bin small.a
  is c0.bin 102 103 104 105 102 103 104 105 102 103 104 105
  cmp c0.bin c2.bin || fail "replica 2 differs"
  head -1 c1.npy | grep -aq "'shape': (3, 4)" || fail "header: $(od -c c1.npy)"
  tail -c 12 c1.npy >c1.bin
  is c1.bin 052 053 054 055 062 063 064 065 052 053 054 055

  # A broadcast stream, and remote buffers: 2 rows in each of 3 replicas.
  bytes rows.bin 111 112 113 114 115 116 117 120
  run --run keep -w rows=rows.bin -w rows@2=two.bin -r rows=kept.bin -r rows@1=kept1.npy
  is kept.bin 011 012 013 014 115 116 117 120 011 012 013 014 115 116 117 120 011 012 013 014 061 062 063 064
  head -1 kept1.npy | grep -aq "'shape': (2, 4)" || fail "header: $(od -c kept1.npy)"
  run --run scale -w rows=kept.bin -r rows=again.bin
  cmp kept.bin again.bin || fail "the rows of all replicas come back as others"

  # Names and sizes that do not fit.
  streams='--in same=same.bin --in numbers=numbers.bin --out counts=counts.bin'
  refuses 1 "there is no 'n@3': 'n' is there for 3 replicas, from 0 on" "$popexec" $streams --run scale -w n@3=one.bin small.a
  refuses 1 "there is no 'count@99999999999'" "$popexec" $streams --run scale -r count@99999999999=x.bin small.a
  refuses 1 "no handle 'm@1' to write" "$popexec" $streams --run scale -w m@1=one.bin small.a
  refuses 1 "no handle 'n@' to write; did you mean 'n'?" "$popexec" $streams --run scale -w n@=one.bin small.a
  refuses 1 "it has 8 bytes of elements, but handle 'n' is char[3,4], or char[4] for each of 3 replicas: 12" \
    "$popexec" $streams --run scale -w n=two.bin small.a
  refuses 1 "it has 8 bytes of elements, but handle 'n@1' is char[4]: 4" "$popexec" $streams --run scale -w n@1=two.bin small.a
  refuses 1 "shape [2,4], but handle 'n' is char[3,4], or char[4] for each of 3 replicas" \
    "$popexec" $streams --run scale -w n=kept1.npy small.a
  refuses 1 "it has 4 bytes of elements, but stream 'numbers' is char[3,4]: a multiple of 12" \
    "$popexec" --run scale --in same=same.bin --in numbers=one.bin --out counts=counts.bin small.a
  refuses 2 "stream 'numbers' needs a file for replica 1, too: --in numbers@1=FILE" \
    "$popexec" --run scale --in same=same.bin --in numbers@0=one.bin --in numbers@2=one.bin --out counts=counts.bin small.a
  refuses 2 "stream 'counts' has a file already; 'counts@1' is one more" "$popexec" --run scale $streams --out counts@1=x.bin small.a
  refuses 1 "there is no 'same@1': 'same' is there for 1 replica" \
    "$popexec" --run scale --in same@1=same.bin --in numbers=numbers.bin --out counts=counts.bin small.a
done

# An archive's code may copy to one replica's stream only: here the windows of replicas 1 and 2 are
# changed to those of replica 0.
"$POPULUS_BUILD_DIR/tests/support/other_format" small.a windows 23 4 3 windows 28 5 3 || fail "other windows than expected"
refuses 1 "stream 'counts' has brought 36 bytes of replica 0 and 0 of replica 1|--out counts@1=FILE" \
  "$popexec" --in same=same.bin --in numbers=numbers.bin --out counts=counts.bin --run stream small.a
