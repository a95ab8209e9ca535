# The progress line on a terminal: it appears when something takes longer than a second, and is
# removed again. It never appears in a file or a pipe, nor with --quiet.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

quiet out "$POPULUS_BUILD_DIR/tests/support/small_archive" small.a
cat >codelet.cpp <<'END'
#include <poplar/Vertex.hpp>
struct One : public poplar::Vertex { poplar::Output<int> out; bool compute() { *out = 1; return true; } };
END
sed 's/One/Two/' codelet.cpp >later.cpp

python3 - "$POPULUS_BIN" <<'END' || fail "see above"
import os, pty, re, select, signal, subprocess, sys, time

BIN = sys.argv[1]
os.environ['TERM'] = 'xterm'
for name in ('POPLAR_LOG_LEVEL', 'POPLIBS_LOG_LEVEL'):
    os.environ.pop(name, None)

def run(command, enough=None, limit=60, typed=None, delay=0):
    """What the command writes to its terminal, and its status; interrupted when `enough` is there, or after `limit` s."""
    master, slave = pty.openpty()
    source = subprocess.PIPE if typed is not None else subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=source, stdout=slave, stderr=slave)
    os.close(slave)
    seen, begin, interrupted = b'', time.time(), False
    while True:
        now = time.time() - begin
        if typed is not None and now >= delay:
            child.stdin.write(typed)
            child.stdin.close()
            typed = None
        if not interrupted and ((now > limit and listens(child)) or (enough and re.search(enough, seen))):
            child.send_signal(signal.SIGINT)
            interrupted = True
        if select.select([master], [], [], 0.05)[0]:
            try:
                part = os.read(master, 65536)
            except OSError: # no process has the terminal open
                part = b''
            if not part:
                break
            seen += part
        elif child.poll() is not None:
            break
    os.close(master)
    return seen, child.wait()

def listens(child):
    """Whether a SIGINT comes to the child's own handler: not yet where it has only begun, which takes long on a busy machine."""
    caught = re.search(rb'SigCgt:\s*([0-9a-f]+)', open(f'/proc/{child.pid}/status', 'rb').read())
    return caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1

def check(holds, what):
    if not holds:
        sys.exit(f'progress: {what!r}')

popexec = [BIN + '/popexec', '--run', 'scale', 'small.a', '--repeat']
long = popexec + ['1000000000']
seen, status = run(long, rb'\rrun [0-9]+ of 1000000000: [1-9][0-9]* cycles, [1-9][0-9]* s\x1b\[K')
check(b'run ' in seen and status == 130, seen)
check(re.search(rb'\x1b\[K\r\x1b\[Kpopexec: [^\r]*\r?\n$', seen), seen) # the line is removed, then the message comes
seen, status = run(long + ['--quiet'], limit=2)
check(seen.startswith(b'popexec: ') and status == 130 and b'\x1b' not in seen, seen)
begin = time.time()
seen, status = run(popexec + ['1']) # is done sooner, unless the machine is busy
check((seen == b'' or time.time() - begin >= 1) and status == 0, seen)
os.environ['TERM'] = 'dumb'
seen, status = run(long, limit=2)
check(b'\x1b' not in seen, seen)
os.environ['TERM'] = 'xterm'
os.environ['POPLAR_LOG_LEVEL'] = 'ERR' # log messages go to standard error
seen, status = run(long, limit=2)
check(b'\x1b' not in seen, seen)
del os.environ['POPLAR_LOG_LEVEL']

# No terminal.
child = subprocess.Popen(long, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
time.sleep(2)
while child.poll() is None and not listens(child):
    time.sleep(0.1)
child.send_signal(signal.SIGINT)
check(b'\x1b' not in child.communicate()[1], 'a pipe gets the line')

# popc waits for a source that comes late; warnings stand on lines of their own.
text = open('codelet.cpp', 'rb').read() + b'#warning here\n'
popc = [BIN + '/popc', '-x', 'c++', 'later.cpp', '-', '-o', 'late.gp']
seen, status = run(popc, typed=text, delay=2.5)
check(b'\rcompiling 2 of 2: -\x1b[K' in seen and status == 0, seen)
check(re.search(rb'\x1b\[K\r\x1b\[K[^\r\n]*warning', seen), seen)
odd = 'odd\x1b[31m\u009b\u00e9.cpp' # nobody's name controls the terminal
os.rename('later.cpp', odd)
open('slow', 'w').write('#!/bin/sh\n[ "$1" = -dumpversion ] || sleep 2\nexec clang-19 "$@"\n')
os.chmod('slow', 0o755)
os.environ['POPC_CLANG'] = os.getcwd() + '/slow'
seen, status = run([BIN + '/popc', odd, '-o', 'odd.gp'])
check('\rcompiling odd?[31m??\u00e9.cpp\x1b[K'.encode() in seen and status == 0, seen)
del os.environ['POPC_CLANG']
os.rename(odd, 'later.cpp')
seen, status = run(popc + ['--quiet'], typed=text, delay=2.5)
check(b'compiling' not in seen and status == 0, seen)
END
