# Reports of engines and their files, read through the documented C++ interface (pva). The program
# is compiled as users compile it.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

for compiler in $compilers; do :; done # the last one
link "$compiler" c++14 "$POPULUS_SOURCE_DIR/tests/cxx/reports.cpp" report_checks -lpoplar -lpva
with_comma ./report_checks >out 2>&1 || fail "reports ($compiler): $(cat out)"
for file in reports/*.json; do
  python3 -c 'import json, sys; json.load(sys.stdin)' <"$file" 2>err || fail "$file: $(tail -1 err)"
done

# A program that only reads a report.
cat >reader.cpp <<'END'
#include <pva/pva.hpp>
int main()
{
  auto report = pva::openReport("./reports/profile.pop");
  std::cout << "compute sets: " << report.compilation().graph().numComputeSets()
            << "\ntiles: " << report.compilation().target().numTiles() << "\nversion: "
            << report.poplarVersion().string() << "\n";
  return EXIT_SUCCESS;
}
END
link "$compiler" c++11 reader.cpp reader -lpva
./reader >out 2>&1 || fail "reader: $(cat out)"
has out '^compute sets: 1$' '^tiles: 128$' '^version: [0-9]+\.[0-9]+\.[0-9]+$'
