# Between fork and exec a child of popc only makes system calls. Another thread of the host does not
# exist in the child, but it may have held a lock of the allocator or of a sanitizer. (A model's
# sources were once compiled on several threads, and one compilation in thousands hung before it
# began.)
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

object=$(find "$POPULUS_BUILD_DIR/popc" -name child.c.o | head -n 1)
[ "$object" ] || fail "there is no object of popc/child.c in $POPULUS_BUILD_DIR/popc"
nm -u "$object" | awk '{ print $2 }' | grep -v '^__asan_\|^__ubsan_\|^_GLOBAL_OFFSET_TABLE_$' | sort >called
sort >allowed <<'EOF'
__errno_location
_exit
close_range
dup2
execve
fcntl
getppid
lseek
popc_limit
prctl
sigemptyset
signal
sigprocmask
write
EOF
comm -23 called allowed >others
[ ! -s others ] || fail "popc/child.c calls, between fork and exec: $(tr '\n' ' ' <others)"
[ "$(comm -12 called allowed | grep -c -x 'execve\|dup2')" = 2 ] || fail "these are not the calls of a child: $(cat called)"
