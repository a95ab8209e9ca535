# Mistakes of a user outside of a program: wrong files, places that cannot be written, wrong
# options. Each gets its exit status and a message that names the file or option. No file is left
# behind, and existing files stay as they were.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popc=$POPULUS_BIN/popc
multiply=$POPULUS_BIN/matvec_split
cp "$POPULUS_SOURCE_DIR/examples/matvec_split/matvec_split_codelets.c" codelets.c
"$popc" codelets.c -o codelets.gp

# with <options as JSON> <command>...
with()
{
  options=$1
  shift
  POPLAR_ENGINE_OPTIONS=$options "$@"
}

# unchanged <what>: the folder has the same files as before.
listing() { find . -mindepth 1 -maxdepth 1 ! -name 'refuses.*' ! -name 'listing*' ! -name 'quiet*' | sort; }
unchanged()
{
  listing | cmp - listing.txt || fail "$1: left behind: $(listing)"
}
mkdir folder
echo old >old.a
listing >listing.txt

# ---- codelets ----
refuses 1 "nowhere.gp|No such file" "$multiply" --codelets nowhere.gp 10 10
refuses 1 "'folder'" "$multiply" --codelets folder 10 10
printf '\377\330\377\340\0\020JFIF\0\001\001' >photo.gp
refuses 1 "'photo.gp'|JPEG" "$multiply" --codelets photo.gp 10 10
rm photo.gp
printf '!<thin>\n' >thin.gp
refuses 1 "'thin.gp'|thin" "$multiply" --codelets thin.gp 10 10
rm thin.gp

# G01: a .gp cut at many places is refused. The whole file works.
size=$(wc -c <codelets.gp)
for cut in 0 1 7 8 9 67 68 69 $((size / 4)) $((size / 2)) $((size - 1000)) $((size - 100)) $((size - 2)) $((size - 1)); do
  head -c "$cut" codelets.gp >cut.gp
  refuses 1 "cut.gp" "$multiply" --codelets cut.gp 10 10
done
rm cut.gp
quiet refuses.out "$multiply" --codelets codelets.gp 10 10
unchanged "codelets"

# The .gp lacks the vertex type that the program wants.
printf '#include <populus/vertex.h>\ntypedef struct { OUTPUT(int) out; } DotProductVertexes;\nCOMPUTE(DotProductVertexes) { *vertex->out = 1; return true; }\n' >other.c
refuses 1 "no vertex type 'DotProductVertex'|did you mean 'DotProductVertexes'" "$multiply" --codelets other.c 10 10
rm other.c

# For a source that does not compile, the message has clang's own errors, on the user's line.
printf '#include <populus/vertex.h>\ntypedef struct { OUTPUT(int) out; } Broken;\nCOMPUTE(Broken)\n{\n  *vertex->uot = 1;\n  return true;\n}\n' >broken.c
refuses 1 "broken.c:5:|error: no member named 'uot'|^" "$multiply" --codelets broken.c 10 10
refuses 1 "broken.c:5:|error: no member named 'uot'" "$popc" broken.c -o broken.gp
rm broken.c
unchanged "source"

# ---- the archive ----
refuses 4 "nowhere/archive.a|there is no folder" with '{"target.saveArchive":"nowhere/archive.a"}' "$multiply" 10 10
refuses 4 "old.a/archive.a|not a folder" with '{"target.saveArchive":"old.a/archive.a"}' "$multiply" 10 10
refuses 4 "folder|it is a folder" with '{"target.saveArchive":"folder"}' "$multiply" 10 10
refuses 4 "/dev/full|No space left on device" with '{"target.saveArchive":"/dev/full"}' "$multiply" 10 10
unchanged "archive"
[ -z "$(ls -A folder)" ] || fail "left in the folder: $(ls -A folder)"

# A limit on file sizes acts like a full disk. The old archive stays.
(
  ulimit -f 200
  trap '' XFSZ
  refuses 4 "old.a|File too large" with '{"target.saveArchive":"old.a"}' "$multiply" 10 10
) || exit 1
[ "$(cat old.a)" = old ] || fail "a failed save changed the old archive"
unchanged "file size limit"

# A real full disk and a read-only folder, where the test may make them.
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
  trap 'umount small' EXIT
  refuses 4 "small/archive.a|No space left on device" with '{"target.saveArchive":"small/archive.a"}' "$multiply" 10 10
  [ -z "$(ls -A small)" ] || fail "left on the full disk: $(ls -A small)"
  mount -o remount,ro small
  refuses 4 "small/archive.a|Read-only file system" with '{"target.saveArchive":"small/archive.a"}' "$multiply" 10 10
  umount small
  trap - EXIT
else
  echo "not checked: a full disk (needs to mount a tmpfs)"
fi
rmdir small 2>/dev/null || true
if [ "$(id -u)" -ne 0 ]; then
  chmod 555 folder
  refuses 4 "folder/archive.a|Permission denied" with '{"target.saveArchive":"folder/archive.a"}' "$multiply" 10 10
  chmod 755 folder
fi
unchanged "full disk"

# A13: the process is killed while it saves. The archive is the old one or the new one.
with '{"target.saveArchive":"new.a"}' "$multiply" 200 50 >/dev/null
for delay in 0.02 0.05 0.08 0.11 0.15 0.2; do
  cp old.a target.a
  with '{"target.saveArchive":"target.a"}' timeout -s KILL $delay "$multiply" 200 50 >/dev/null 2>&1 || true
  cmp -s target.a old.a || cmp -s target.a new.a || fail "killed after $delay s: target.a is neither the old nor the new archive"
done
with '{"target.saveArchive":"target.a"}' "$multiply" 200 50 >/dev/null # removes what the killed processes left
rm target.a new.a
unchanged "killed processes"

# ---- options ----
refuses 2 "POPLAR_ENGINE_OPTIONS: it is not JSON|at byte" with 'target.saveArchive=a.a' "$multiply" 10 10
refuses 2 "did you mean 'target.saveArchive'" with '{"target.savearchive":"a.a"}' "$multiply" 10 10
unchanged "options"
