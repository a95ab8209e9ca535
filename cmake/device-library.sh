#!/bin/sh
# device-library.sh <folder>: puts the C library for the tile into <folder>/lib and the C and C++ headers into
# <folder>/include.
#
# They come out of three Debian packages. libc++-19-dev is installed. picolibc-riscv64-unknown-elf and
# gcc-riscv64-unknown-elf need not be: of their 1.2 GB (every RISC-V variant, and a compiler) we want the 8 MB for
# rv32imf/ilp32f. So, whichever works first: copy from another build folder of this tree, take the files of the installed
# packages, take what was downloaded before (and kept below the user's folder of caches), or download the packages and
# unpack those files only. Root is not needed.
#
# Exit status: 0 done, 2 wrong command line, 4 the files cannot be had.
set -eu

if [ $# -ne 1 ]; then
  echo "usage: device-library.sh <folder>" >&2
  exit 2
fi

source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$out/unpack
packages="picolibc-riscv64-unknown-elf gcc-riscv64-unknown-elf"
headers=usr/lib/picolibc/riscv64-unknown-elf/include/release
libc=usr/lib/picolibc/riscv64-unknown-elf/lib/release/rv32imf/ilp32f/libc.a
libgcc='usr/lib/gcc/riscv64-unknown-elf/*/rv32imf/ilp32f/libgcc.a'
notices='usr/share/doc/*/copyright'

fail() {
  echo "device-library: $1" >&2
  exit 4
}

# Everything is made in $work and moved into place at the end: an interrupted run leaves nothing that looks complete.
rm -rf "$work"
mkdir -p "$work/new/include/c++" "$work/new/lib" "$work/new/copyright" "$work/root"
trap 'rm -rf "$work"' EXIT
trap 'exit 4' HUP INT TERM

strip_debug() { # <in> <out>
  llvm-objcopy-19 --strip-debug "$1" "$2" || fail "llvm-objcopy-19 does not work: install llvm-19"
}

# A tile has no heap: what calls malloc is to hear that, and not which part of malloc lacks a symbol.
drop_heap() { # <libc.a>
  heap=$(llvm-ar-19 t "$1" | grep -E '^(nano-malloc-|libc_picolib_picosbrk)') || fail "$1 has no malloc to leave out"
  # shellcheck disable=SC2086 # a list of words
  llvm-ar-19 d "$1" $heap
}

# take_from <root>: libraries and C headers out of a file system that has the packages' files.
take_from() {
  [ -f "$1/$libc" ] && [ -f "$1/$headers/math.h" ] || return 1
  # shellcheck disable=SC2086 # a pattern; the last version if there are several
  found=$(cd "$1" && ls $libgcc 2>/dev/null | tail -n 1)
  [ -n "$found" ] || return 1
  strip_debug "$1/$libc" "$work/new/lib/libc.a"
  drop_heap "$work/new/lib/libc.a"
  strip_debug "$1/$found" "$work/new/lib/libgcc.a"
  cp -R "$1/$headers/." "$work/new/include/"
  for package in $packages; do
    cp "$1/usr/share/doc/$package/copyright" "$work/new/copyright/$package" 2>/dev/null || true
  done
}

# copy_from <folder>: C headers and libraries only; ours and libc++'s are cheap to copy and may have changed.
copy_from() {
  mkdir -p "$work/new/include"
  while IFS= read -r file; do
    mkdir -p "$work/new/$(dirname "$file")"
    cp "$1/$file" "$work/new/$file" || return 1
  done <"$1/system.stamp"
}

copy_from_other_build() {
  for other in "$source"/build*/lib/populus/device; do
    [ -f "$other/system.stamp" ] && [ "$other" != "$out" ] || continue
    [ "$other/system.stamp" -nt "$source/cmake/device-library.sh" ] || continue
    copy_from "$other"
    return
  done
  return 1
}

# What a download gave, of this script as it is: another clone need not download 145 MB again.
kept=${XDG_CACHE_HOME:-${HOME:-$work}/.cache}/populus/device-library-$(cksum <"$0" | tr ' ' -)

take_kept() {
  [ -f "$kept/system.stamp" ] && [ -O "$kept" ] && copy_from "$kept"
}

keep() {
  { mkdir -p "${kept%/*}" && rm -rf "$kept.new" && cp -R "$work/new" "$kept.new" &&
    (cd "$kept.new" && find lib include copyright -type f | LC_ALL=C sort >"$work/kept.stamp") &&
    mv "$work/kept.stamp" "$kept.new/system.stamp" && rm -rf "$kept" && mv "$kept.new" "$kept"; } 2>/dev/null || true
}

fetch() {
  # shellcheck disable=SC2086 # a list of words
  (cd "$work" && apt-get -q download $packages) </dev/null
}

download() {
  command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
  echo "device-library: downloading $packages (145 MB)"
  if ! fetch >"$work/log" 2>&1; then
    # Images of containers come without the lists of packages.
    if [ "$(id -u)" -ne 0 ] || ! apt-get -q update >>"$work/log" 2>&1 || ! fetch >>"$work/log" 2>&1; then
      tail -n 20 "$work/log" >&2
      return 1
    fi
  fi
  for package in "$work"/*.deb; do
    # The patterns match in one of the packages each; tar calls a pattern without a match an error.
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/root" --wildcards \
      "./$headers" "./$libc" "./$libgcc" "./$notices" 2>/dev/null || true
  done
}

if ! copy_from_other_build && ! take_from "" && ! take_kept; then
  if ! download || ! take_from "$work/root"; then
    fail "the C library for the tile is not to be had: check the network and 'apt-get update', or install it:
  sudo apt-get install --no-install-recommends $packages"
  fi
  keep
fi

(cd "$work/new" && find lib include copyright -type f | LC_ALL=C sort) >"$work/system.stamp"

libcxx=$(llvm-config-19 --includedir 2>/dev/null)/c++/v1
[ -f "$libcxx/__config_site" ] || fail "the C++ library's headers are missing: install libc++-19-dev"
mkdir -p "$work/new/include/c++"
cp -RL "$libcxx" "$work/new/include/c++/v1"
cp /usr/share/doc/libc++-19-dev/copyright "$work/new/copyright/libc++-19-dev" 2>/dev/null || true
# Host business: a module map would make clang build modules; the experimental parts need compiled code.
rm -rf "$work/new/include/c++/v1/module.modulemap" "$work/new/include/c++/v1/libcxx.imp" \
  "$work/new/include/c++/v1/experimental" "$work/new/include/c++/v1/ext"
cp "$source/libcodelet/device/libcxx/__config_site" "$work/new/include/c++/v1/__config_site"
# libc++ knows no half; who asks for numeric_limits or std::sqrt gets half's too.
echo '#include <populus/half_limits.h>' >>"$work/new/include/c++/v1/limits"
echo '#include <populus/half_math.h>' >>"$work/new/include/c++/v1/cmath"

rm -rf "$out/include/c++"
mkdir -p "$out/include"
(cd "$work/new" && tar -c -f - .) | (cd "$out" && tar -x -f -)
mv "$work/system.stamp" "$out/system.stamp"
