# The tile linker, checked in two ways. lld links the same objects to the same addresses, and every
# byte must be equal. Then the linked bytes run under qemu-riscv32. The comparison leaves out what
# clang reads through a table of addresses (errno; weak symbols of medany code), because a tile has
# no such table: see libarchive-ipu/relocate.c. lld merges and folds in another way, so images with
# --fold run under qemu only.
set -eu

# A link whose name has no blanks, whatever the folder's name is.
ln -s "$POPULUS_DATA_DIR/device" device-data
device="device-data"
link_tool=$POPULUS_BUILD_DIR/tests/support/link_tool
base=0x50000
flags="--target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -fno-pic -ffunction-sections -fdata-sections
  -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-math-errno -ffp-contract=off -nostdinc++ -nostdlibinc -g -Wall
  -Wextra -Werror -Wno-unused-command-line-argument -isystem $device/include/c++/v1 -isystem $device/include"

for library in device c gcc; do
  mkdir "$library"
  (cd "$library" && llvm-ar-19 x "../$device/lib/lib$library.a")
done

# Both C++ sources have this COMDAT function and its static variable.
cat >shared.h <<'EOF'
inline int count_calls()
{
  static int calls = 40;
  return ++calls;
}
EOF

cat >codelets.cpp <<'EOF'
#include "shared.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

struct Shape {
  virtual int sides() const = 0;
};
struct Triangle : Shape {
  int sides() const override { return 3; }
};
struct Square : Shape {
  int sides() const override { return 4; }
};
extern const Triangle triangle{};
extern const Square square{};
static const Shape *const shapes[] = {&triangle, &square};

extern "C" {
int other_counts();
extern int tentative;
thread_local int per_thread = 1234;
static thread_local int zero_per_thread[4];
const char *names[] = {"zero", "one", "two", "three"};

__attribute__((noinline)) int chooses(int n, int *out)
{
  switch (n) { // a jump table
  case 0: *out += 7; return 3;
  case 1: *out ^= 99; return n * 5;
  case 2: *out -= 12; return -8;
  case 3: *out *= 3; return *out + 1;
  case 4: *out = 0; return 77;
  case 5: *out <<= 3; return 15;
  case 6: *out /= 7; return 21;
  default: return -1;
  }
}

int plain()
{
  volatile float two = 2;
  volatile double third = 1.0 / 3;
  volatile long long big = 1000000007000000009;
  static float values[64];
  for (int i = 0; i < 64; ++i) values[i] = std::sin((float)(i * 37 % 64));
  std::sort(values, values + 64);
  if (!std::is_sorted(values, values + 64)) return 1;
  if (std::abs(std::cbrt(two) - 1.259921f) > 1e-6f || std::sqrt(two) != 1.41421354f) return 2;
  if (big / -1000003 != -999997007008 || big % 1000003 != 978985) return 3;
  if (third * 3 != 1 || (float)std::pow(third, 2.0) != 0.11111111f) return 4;
  int state = 100, sum = 0;
  for (int i = 0; i < 8; ++i) sum += chooses(i, &state);
  if (sum != 101 || state != 0) return 5;
  volatile int which = 1;
  if (shapes[which]->sides() != 4 || std::strcmp(names[which + 2], "three") != 0) return 6;
  if (count_calls() != 41 || other_counts() != 42) return 7;
  per_thread += ++zero_per_thread[which];
  if (per_thread != 1235 || &per_thread == zero_per_thread) return 8;
  if (tentative != 0) return 9;
  return 0;
}
}
EOF

cat >other.cpp <<'EOF'
#include "shared.h"
#include <cerrno>
#include <cstdlib>
extern "C" {
extern thread_local int per_thread;
extern int missing_variable __attribute__((weak));
int missing_function() __attribute__((weak));
int plain();

int other_counts() { return count_calls(); }

int all()
{
  int failed = plain();
  if (failed) return failed;
  errno = 0;
  if (std::strtol("99999999999999", nullptr, 10) != 0x7fffffff || errno != ERANGE) return 20;
  if (per_thread != 1235) return 21;
  if (&missing_variable != nullptr) return 22;
  if (missing_function && missing_function() != 0) return 23;
  return 0;
}
}
EOF

echo 'int tentative;' >common.c

compile() { # <source> <option>...
  source=$1
  shift
  # shellcheck disable=SC2086 # words
  clang-19 $flags "$@" -c "$source" -o "${source%.*}.o"
}

linked() { # <output> <roots> [--fold]
  # shellcheck disable=SC2086 # words
  "$link_tool" ${3-} $base "$1" "$2" codelets.o other.o common.o --library device/* c/* gcc/* >"$1.txt"
}

compare_with_lld() {
  linked plain plain
  ld.lld-19 -m elf32lriscv --no-relax -O0 --gc-sections -e plain -T plain.ld codelets.o other.o common.o \
    --start-lib device/* c/* gcc/* --end-lib -o plain.elf
  # Anything that lld kept beyond our sections would follow them, or have no place in the script.
  llvm-objcopy-19 -O binary plain.elf lld.bin
  cmp -n "$(wc -c <lld.bin)" lld.bin plain.bin
  tail -c +"$(($(wc -c <lld.bin) + 1))" plain.bin | tr -d '\0' >rest
  [ ! -s rest ] || { echo "lld leaves out bytes that are not zero"; exit 1; }
  # The same functions have the same addresses and sizes.
  awk '$1 == "code" && $3 > 0 { print $2, $3, $4 }' plain.txt | sort >ours.txt
  llvm-readelf-19 -sW plain.elf | awk '$4 == "FUNC" { print "0x" $2, $3, $8 }' | sed 's/0x0*/0x/' | sort >lld.txt
  [ -s lld.txt ]
  comm -13 ours.txt lld.txt >missing
  [ ! -s missing ] || { echo "functions of lld's that we do not name:"; cat missing; exit 1; }
}

# Debug sections have the same bytes and addresses. The compared program needs all functions,
# because lld gives a removed function no length, and we give it its own. (Without optimization, a
# copy of a COMDAT function is removed.)
compare_debug_sections() {
  linked all all
  ld.lld-19 -m elf32lriscv --no-relax -O0 --gc-sections -e all -T all.ld codelets.o other.o common.o \
    --start-lib device/* c/* gcc/* --end-lib -o all.elf
  llvm-readelf-19 -SW all.dbg | sed -n 's/.* \(\.debug_[a-z_]*\) .*/\1/p' >debug_sections
  [ "$(wc -l <debug_sections)" -ge 6 ]
  while read -r section; do
    for file in all.dbg all.elf; do
      llvm-objcopy-19 --dump-section="$section=$file.section" "$file" discarded
    done
    cmp all.dbg.section all.elf.section || { echo "section $section differs from lld's"; exit 1; }
  done <debug_sections
}

run_under_qemu() { # [--fold]
  linked all all "$@"
  address() { awk -v kind="$1" -v name="$2" '$1 == kind && $4 == name { print $2 }' all.txt; }
  cat >image.S <<EOF
  .globl _start
  .section .image, "awx"
  .incbin "all.bin"
  .text
_start:
  la sp, stack_end
  li tp, $(address group tls)
  li t0, $(address code all)
  jalr t0
  li a7, 93 # exit
  ecall
  .bss
  .zero 65536
stack_end:
EOF
  clang-19 --target=riscv32-unknown-elf -march=rv32imf -mabi=ilp32f -c image.S -o image.o
  ld.lld-19 -m elf32lriscv --section-start=.image=$base image.o -o image
  status=0
  qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true ./image || status=$?
  [ "$status" -eq 0 ] || { echo "check $status failed"; exit 1; }
}

command -v qemu-riscv32 >/dev/null || { echo "no qemu-riscv32"; exit 77; }
compile common.c -mno-relax -fcommon
for model in medlow medany; do
  for optimisation in -O0 -O2 -Os; do
    echo "$model $optimisation"
    compile codelets.cpp -mno-relax -mcmodel=$model $optimisation
    compile other.cpp -mno-relax -mcmodel=$model $optimisation
    compare_with_lld
    case $model$optimisation in medlow-O2 | medlow-Os) compare_debug_sections ;; esac # in the other cases, lld has a table of addresses
    run_under_qemu
    whole=$(wc -c <all.bin)
    run_under_qemu --fold
    [ "$(wc -c <all.bin)" -lt "$whole" ] || { echo "nothing is merged or folded"; exit 1; }
  done
done

# Code with hints for relaxation, alignment included, works although the linker does not follow
# them.
echo relax
compile codelets.cpp -mrelax -mcmodel=medany -O2 -falign-functions=32 -falign-loops=32
compile other.cpp -mrelax -mcmodel=medany -O2
llvm-readelf-19 -r codelets.o | grep -q R_RISCV_ALIGN
run_under_qemu
