# For scripts that compare views of memory. Source it after check.sh.
agrees=$POPULUS_BUILD_DIR/tests/support/profile_agrees

# agree <what>: checks that archive.a and its profile agree.
agree()
{
  quiet agreed.txt "$agrees" archive.a
  grep -v '^present' agreed.txt >agree.txt
  grep '^present' agreed.txt >>present.txt
  size -A archive.a | awk '$1 == ".text" { sum += $2 } END { print "including_gaps", sum + 0 }' >text.txt
  grep '^including_gaps' agree.txt | cmp - text.txt || fail "$1: size says something else"
  quiet popsize.csv "$POPULUS_BIN/popsize" --csv archive.a
  awk -F, '$1 == "total" && $2 == "including gaps" { print "including_gaps", $3 }
           $1 == "total" && $2 == "used" { print "used", $3 }
           $1 == "category" { print "category", $2, $3 }' popsize.csv | grep -v 'shared by several' | sort >sizes.txt
  awk '$1 != "category" || $3 > 0' agree.txt | sort | cmp - sizes.txt || fail "$1: popsize says something else"
}
