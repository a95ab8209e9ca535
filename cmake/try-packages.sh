#!/bin/sh
# try-packages.sh: installs the packages of package.sh in a bare Debian 12 and follows the README's
# tour there, in C and C++, as a user who has nothing else. Needs mmdebstrap and root. Exit status 1
# if something fails, 4 if tools or packages are missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/common.sh"

packages=$root/build-package/packages
command -v mmdebstrap >/dev/null || { say "no mmdebstrap: install it"; exit 4; }
[ "$(id -u)" = 0 ] || { say "a bare system is made by root"; exit 4; }
ls "$packages"/*.deb >/dev/null 2>&1 || { say "no packages: sh cmake/package.sh makes them"; exit 4; }

bare=$(mktemp -d)
leave() {
  umount "$bare/system/proc" "$bare/system/dev" 2>/dev/null || :
  rm -rf --one-file-system "$bare"
}
trap leave EXIT INT TERM

say "a bare Debian 12"
mmdebstrap --quiet --variant=minbase --mode=root bookworm "$bare/system"
mkdir "$bare/system/packages"
cp "$packages"/*.deb "$bare/system/packages"
# Settings here that lead to the package archive are used there, too.
for file in /etc/apt/apt.conf.d/*proxy*; do
  [ ! -e "$file" ] || cp "$file" "$bare/system/etc/apt/apt.conf.d/"
done
mount --bind /dev "$bare/system/dev"
mount -t proc proc "$bare/system/proc"

cat >"$bare/system/install.sh" <<'EOF'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends /packages/*.deb
apt-get install -y -qq --no-install-recommends gcc g++ libc6-dev pkg-config binutils
EOF
cat >"$bare/system/tour.sh" <<'EOF'
set -eux
cp -r /usr/share/doc/populus-doc/examples /tmp/examples
cd /tmp/examples
popc -O3 suffix_sum/sum_codelets.c -o sum.gp
ar t sum.gp
cc -std=c17 -D_GNU_SOURCE -I. suffix_sum/suffix_sum.c -o suffix.bin $(pkg-config --cflags --libs populus)
./suffix.bin sum.gp | grep -qx 'v2: {7,6,4.5,2.5}'
popc -O3 matvec_split/matvec_split_codelets.c -o matvec.gp
cc -std=c17 -D_GNU_SOURCE -I. matvec_split/matvec_split.c -o matvec.bin $(pkg-config --cflags --libs populus)
export POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a","autoReport.all":"true","autoReport.directory":"report"}'
./matvec.bin --codelets matvec.gp 1000 100 | grep 'Multiplication result OK'
unset POPLAR_ENGINE_OPTIONS
[ "$(size -A archive.a | grep -c '^\.text ')" = 1472 ]
popexec --list archive.a
popsize archive.a | head -n 5
popview report -o report.html
cd tutorials/tut1_variables/complete
g++ -std=c++17 tut1.cpp -lpoplar -o tut1
./tut1
EOF
say "the packages"
chroot "$bare/system" sh /install.sh >"$bare/install.log" 2>&1 || { tail -n 20 "$bare/install.log"; exit 1; }
if grep 'is not an ELF file' "$bare/install.log"; then
  say "ldconfig complains of what is installed"
  exit 1
fi
say "the tour"
chroot "$bare/system" sh /tour.sh >"$bare/tour.log" 2>&1 || { tail -n 20 "$bare/tour.log"; exit 1; }
say "removing them"
chroot "$bare/system" dpkg --purge libpopulus-dev populus-doc popc libpopulus0 >"$bare/purge.log" 2>&1 ||
  { tail -n 20 "$bare/purge.log"; exit 1; }
left=$(chroot "$bare/system" find / -xdev -iname '*populus*' -not -path '/tmp/*' -not -path '/packages*' -not -path '/root/.cache/*' -not -path '/var/cache/*')
[ -z "$left" ] || { say "these are left behind: $left"; exit 1; }
say "all of it works in a bare system"
