# The same program gives the same bytes: a second time, in another folder, with another locale, time
# zone, umask, time and environment, and from source or from a .gp.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
here=$PWD

mkdir first "second folder"
cp "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" first
cp "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" "second folder"

# in_folder <folder> <variable=value>...: makes busy.gp and archive.a there.
in_folder()
{
  folder=$1
  shift
  (
    cd "$folder"
    env "$@" "$POPULUS_BIN/popc" -O2 busy.c -o busy.gp || fail "$folder $*: popc exits $?"
    env POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' "$@" "$busy_graph" busy.gp ipu2 8 >out.txt ||
      fail "$folder $*: busy_graph exits $?"
  ) 2>err.txt || { cat err.txt; exit 1; }
}

# same <what>: the files equal those of the first time.
same()
{
  cmp "$here/first.gp" "second folder/busy.gp" || fail "another .gp: $*"
  cmp "$here/first.a" "second folder/archive.a" || fail "another archive: $*"
  rm "second folder/busy.gp" "second folder/archive.a"
}

in_folder first A=a
mv first/busy.gp first.gp
mv first/archive.a first.a

in_folder "second folder" A=a
same "another folder"
in_folder "second folder" LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 TZ=Asia/Tokyo HOME=/nonexistent A=b LONG="$(seq 1 2000)"
same "another environment"
in_folder "second folder" POPLAR_LOG_LEVEL=TRACE POPLAR_LOG_DEST=log.txt \
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a","debug.maxCyclesPerRun":"1000000"}'
same "options that change no image"
(umask 077 && in_folder "second folder" A=a)
same "another umask"
touch -d '2001-02-03 04:05:06' "second folder/busy.c"
sleep 1.1 # a time stamp in seconds would differ
in_folder "second folder" A=a
same "another time"

# From source: the host program compiles to the same code as popc.
cd "second folder"
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' "$busy_graph" busy.c ipu2 8 >out.txt || fail "busy_graph busy.c exits $?"
cmp archive.a "$here/first.a" || fail "another archive: from source"
cd ..

# The files contain no path and no time.
for file in first.gp first.a; do
  ! grep -aqF "$here" $file || fail "$file holds the name of its folder"
  ! ar tv $file | grep -v ' Jan  1 \(00:00\|[0-9:]*\) 1970 ' || fail "$file holds a time"
done

# A change that affects the image changes the archive: the comparison can fail.
(cd "second folder" && POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a","debug.workerStackSizeInBytes":4096}' \
  "$busy_graph" busy.c ipu2 8 >out.txt)
! cmp -s first.a "second folder/archive.a" || fail "a larger stack makes the same archive"
