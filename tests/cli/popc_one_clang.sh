# popc loads clang once and forks it for each target. The results are the same as with a separate
# clang for each, even when clang fails or is ended.
set -eu
popc=$POPULUS_BIN/popc

fail() {
  echo "$1"
  exit 1
}

# Two tile targets and the host make three jobs.
cat >three.cpp <<'EOF'
#include <poplar/Vertex.hpp>
class Three : public poplar::Vertex {
public:
  poplar::Output<int> out;
  bool compute() { *out = 3; return true; }
};
EOF
"$popc" -MD -MF one.d --target ipu1,ipu2,cpu -DSOME=1 three.cpp -o one.gp

# A clang that popc was not built with is started for each job.
cat >clang <<'EOF'
#!/bin/sh
echo call >>calls.txt
exec clang-19 "$@"
EOF
chmod +x clang
POPC_CLANG=$PWD/clang "$popc" -MD -MF each.d --target ipu1,ipu2,cpu -DSOME=1 three.cpp -o each.gp
[ "$(grep -c '' calls.txt)" -ge 3 ] || fail "clang was started $(grep -c '' calls.txt) times"
cmp one.gp each.gp
sed 's/each\.gp/one.gp/' each.d | cmp - one.d

# The diagnostics of all jobs arrive, also those that differ.
cat >differ.cpp <<'EOF'
#ifdef __IPU__
#warning on the tile
#else
#warning on the host
#endif
EOF
"$popc" differ.cpp 2>err.txt
for place in tile host; do grep -q "differ.cpp:.*on the $place" err.txt || fail "no warning on the $place"; done

# Every job ends at the time limit, and when popc is killed.
cat >endless.cpp <<'EOF'
constexpr int count(int n)
{
  int sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) sum ^= j;
  return sum;
}
constexpr int forever = count(1 << 30);
EOF
left() { # brackets: grep must not find its own command line
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -qsa "$PWD/endless[.]cpp" /proc/[0-9]*/cmdline || return 0
    sleep 0.2
  done
  fail "clang runs on"
}
status=0
POPC_TIME_LIMIT=1 "$popc" -fconstexpr-steps=2147483647 "$PWD/endless.cpp" 2>err.txt || status=$?
[ $status -eq 4 ] && grep -q 'took longer than 1 s' err.txt || { cat err.txt; fail "status $status"; }
left
"$popc" -fconstexpr-steps=2147483647 "$PWD/endless.cpp" 2>err.txt &
sleep 0.5
kill -KILL $!
wait $! || true
left
