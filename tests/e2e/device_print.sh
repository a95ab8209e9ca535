# What codelets print reaches the print stream line by line, with tile, worker and vertex, even if a
# line is printed in parts. Wrong addresses and control characters do no harm. A flood is cut off
# (V15). A failed assertion is printed and is a fault.
set -eu

cat >print.cpp <<'END'
#include <cassert>
#include <poplar/Vertex.hpp>
#include <print.h>

namespace n {
template <typename T> class Say : public poplar::Vertex {
public:
  poplar::InOut<int> out;
  bool compute()
  {
    long long big = -1234567890123;
    printf("%d %5.2f|%-6s|%s %c %x %lld %g\n", -7, 3.14159, "ab", "x\x1b[31m", 'z', 255u, big, (double)T(1.5f));
    printf("part one, ");
    puts("part two");
    *out = printf("%s %08.3e %+d %#x %5u|%-5u|%.2s|%%|%hhd\n", "q", 12345.678, 5, 255, 42u, 42u, "abc", 300);
    printf("%-8p|%8p|%p|", (const void *)64, (const void *)64, (const void *)0x12345);
    printf("%s|%s", (const char *)4, (const char *)nullptr);
    printf("\nC1 \x9b" "31m \xc2\x9b" "31m, no UTF-8 \xff\xe2\x82, UTF-8 \xe2\x82\xac\n");
    return true;
  }
};
template class Say<half>;
}

class Flood : public poplar::Vertex {
public:
  poplar::InOut<int> out;
  void compute()
  {
    for (int i = 0; i < 500; ++i) printf("%200d\n", i);
  }
};

class Long : public poplar::Vertex {
public:
  poplar::InOut<int> out;
  void compute()
  {
    static char text[501];
    for (int i = 0; i < 500; ++i) text[i] = '0' + i % 10;
    printf("%.400s %.*s %.300d\n", text, 499, text, 7);
  }
};

class Wrong : public poplar::Vertex {
public:
  poplar::InOut<int> out;
  void compute()
  {
    printf("unfinished");
    assert(*out == 3);
  }
};
END
"$POPULUS_BIN/popc" print.cpp -o print.gp
run=$POPULUS_BUILD_DIR/tests/support/run_vertex

expect() { # <vertex> <exit status>: standard error is in the file `is`, standard output in `out`
  status=0
  "$run" print.gp "$1" >out 2>is || status=$?
  [ "$status" = "$2" ] || { echo "$1: exit status $status, not $2" >&2; cat is >&2; exit 1; }
}

# Strings have a limit of their own; the digits of numbers have a smaller one.
expect Long 0
awk 'NR == 1 && (length($6) != 400 || length($7) != 499 || length($8) != 256 || $8 !~ /^0*7$/) { exit 1 }' is || { cat is >&2; exit 1; }

expect 'n::Say<half>' 0
cat >wanted <<'END'
[tile 1 worker 0 n::Say<half>] -7  3.14|ab    |x\x1b[31m z ff -1234567890123 1.5
[tile 1 worker 0 n::Say<half>] part one, part two
[tile 1 worker 0 n::Say<half>] q 1.235e+04 +5 0xff    42|42   |ab|%|44
[tile 1 worker 0 n::Say<half>] 0x40    |    0x40|0x12345|<no string at 0x4>|(null)
[tile 1 worker 0 n::Say<half>] C1 \x9b31m \xc2\x9b31m, no UTF-8 \xff\xe2\x82, UTF-8 €
END
diff wanted is
grep -qx 'out = 40' out

expect Flood 0
grep -qx 'codelets printed [1-9][0-9]* bytes more, which were dropped: a run prints up to 65536' is
[ "$(wc -c <is)" -lt 90000 ] || { echo "a flood of $(wc -c <is) bytes" >&2; exit 1; }
grep -q '^\[tile 1 worker 0 Flood\] *0$' is

expect Wrong 3
grep -q "^\[tile 1 worker 0 Wrong\] unfinishedprint.cpp:.*: assertion '\*out == 3' failed$" is
grep -q 'device fault TRAP (value 1) on tile 1, worker 0, in vertex Wrong' is
