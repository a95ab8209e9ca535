#!/bin/sh
# fidelity.sh <file>: our cycles beside published ones (fidelity.c;
# fidelity/codelets.cpp: programs of ours that do the same work; fidelity/rows: the
# source of each figure, and what explains the difference).
#
# fidelity_geomean, fidelity_worst: the geometric mean of ours over published, and the
# ratio furthest from 1 in either direction, of programs that their authors measured on
# chips. Every third row is held back: nothing is tuned to it. These rows are in the
# table and in fidelity_held_geomean and fidelity_held_worst.
#
# fidelity_aside_geomean, fidelity_aside_worst: rows of the kind aside. All of them are
# held back, and were written after costs had been chosen. They had been seen when
# joined operations and repeats were chosen. So rows of the kind new were written after
# that: fidelity_new_geomean, fidelity_new_worst.
#
# fidelity_library_geomean: library operations against their authors' formulae for the chip,
# which nobody measured here. fidelity_pairs_alike: how many of the pairs in that file have the
# same faster member here.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

output=$1
rows=$POPULUS_SOURCE_DIR/tests/bench/fidelity/rows
"$POPULUS_BIN/popc" -O3 "$POPULUS_SOURCE_DIR/tests/bench/fidelity/codelets.cpp" -o codelets.gp
"$POPULUS_BUILD_DIR/tests/bench/fidelity" codelets.gp >figures
cut -d'|' -f1 "$rows" | sed '/^[#>]/d; s/ *$//' >named
cut -d' ' -f1 figures | cmp - named || { echo "fidelity: rows that are measured and rows of $rows differ" >&2; exit 1; }

awk -F'|' '
  function trim(text) { gsub(/^ +| +$/, "", text); return text }
  FILENAME == ARGV[1] { if (!/^[#>]/) { name = trim($1); source[name] = trim($2); why[name] = trim($3) } next }
  FNR == 1 { printf "%-16s %10s %10s %6s  %s\n", "row", "published", "ours", "ratio", "ours in parts; why (source)" }
  {
    split($0, at, " ")
    parts = ""
    split("compute copies exchange sync host", names, " ")
    for (i = 1; i <= 5; i++) if (at[4 + i]) parts = parts sprintf("%s %d, ", names[i], at[4 + i])
    sub(/, $/, "", parts)
    printf "%-16s %10d %10d %6.2f%s %s; %s (%s)\n", at[1], at[3], at[4], at[4] / at[3],
      FNR % 3 && at[2] != "aside" && at[2] != "new" ? " " : "*", parts, why[at[1]], source[at[1]]
  }
  END { print "* held back" }' "$rows" figures

# summary <kind> <held: 0 or 1, or any>: geometric mean and worst ratio
summary() {
  awk -v kind="$1" -v held="$2" '
    $2 == kind && (held == "any" || (NR % 3 == 0) == held) {
      ratio = $4 / $3; sum += log(ratio); count++
      far = ratio < 1 ? 1 / ratio : ratio
      if (far > worst) { worst = far; at = ratio }
    }
    END { print exp(sum / count), at }' figures
}
take() { # a word of what follows
  echo "$2" | cut -d' ' -f"$1"
}
open=$(summary program 0)
held=$(summary program 1)
number fidelity_geomean "$(take 1 "$open")" ratio
number fidelity_worst "$(take 2 "$open")" ratio
number fidelity_held_geomean "$(take 1 "$held")" ratio
number fidelity_held_worst "$(take 2 "$held")" ratio
aside=$(summary aside any)
number fidelity_aside_geomean "$(take 1 "$aside")" ratio
number fidelity_aside_worst "$(take 2 "$aside")" ratio
new=$(summary new any)
number fidelity_new_geomean "$(take 1 "$new")" ratio
number fidelity_new_worst "$(take 2 "$new")" ratio
number fidelity_library_geomean "$(take 1 "$(summary estimate any)")" ratio
awk '
  FILENAME == ARGV[1] { ours[$1] = $4; next }
  /^>/ {
    ratio = ours[$2] / ours[$3]
    alike += (ratio > 1)
    printf "%s is published as slower than %s: here %.2f times its cycles%s\n", $2, $3, ratio, (ratio > 1 ? "" : ", NOT ALIKE") > "/dev/stderr"
  }
  END { print alike }' figures "$rows" >alike
number fidelity_pairs_alike "$(cat alike)" pairs
while read -r name _ published ours _; do
  number "fidelity_$name" "$ours" cycles published "$published"
done <figures
