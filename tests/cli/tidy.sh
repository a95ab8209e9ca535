# cmake/tidy.sh finds bugs planted in a unit test, in a header that it includes, and in a C++
# header. It does not check a file again that has not changed since it was clean.
# shellcheck disable=SC2086 # options in one variable are words
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

command -v clang-tidy-19 >/dev/null || { echo "no clang-tidy-19"; exit 77; }
[ -z "$POPULUS_SANITIZE" ] || { echo "nothing of this build is used: the release build runs it"; exit 77; }

mkdir build include
cat >compile_commands.json <<END
[
{
  "directory": "$PWD",
  "command": "/usr/bin/cc \"-DNAME=\\\\\"a name\\\\\"\" -I$PWD/include -Wall -Wpedantic -Werror -std=c17 -o planted.o -c $PWD/planted.c",
  "file": "$PWD/planted.c",
  "output": "planted.o"
}
]
END
mv compile_commands.json build
POPULUS_TIDY_BUILD=$PWD/build POPULUS_TIDY_CACHE=$PWD/cache
export POPULUS_TIDY_BUILD POPULUS_TIDY_CACHE
tidy="sh $POPULUS_SOURCE_DIR/cmake/tidy.sh"

header() # <what size() returns if there is nothing>
{
  cat >include/size.h <<END
static inline int size(const int *first)
{
  if (!first) return $1;
  return *first;
}
END
}

# planted <what is done with the memory at the end>: the assertions have messages or not, as in the
# tests.
planted()
{
  cat >planted.c <<END
#include <criterion/criterion.h>
#include <size.h>
#include <stdlib.h>
#include <string.h>

Test(planted, frees_what_it_takes)
{
  int *values = calloc(2, sizeof *values);
  cr_assert_not_null(values);
  for (int i = 0; i < 2; i++) cr_assert_eq(values[i], 0, "value %d is %d", i, values[i]);
  cr_assert_str_eq(NAME, "a name");
  cr_assert_eq(size(values), 0);
  cr_assert_eq(size(NULL), 1);
  $1
}
END
}

header 1
planted ''
refuses 1 'planted.c:12|leak of memory|clang-analyzer-unix.Malloc' $tidy "$PWD/planted.c"
planted 'free(values); cr_assert_eq(values[0], 0);'
refuses 1 'planted.c:14|after it is freed' $tidy "$PWD/planted.c"
planted 'cr_assert_eq(sizeof(sizeof(int)), sizeof(size_t)); free(values);'
refuses 1 'planted.c:14|bugprone-sizeof-expression' $tidy "$PWD/planted.c"
header '*first'
planted 'free(values);'
refuses 1 'size.h:3|Dereference of null' $tidy "$PWD/planted.c"

# A clean result is kept: the second call only asks clang-tidy for its version.
header 1
$tidy "$PWD/planted.c" || fail "a clean file is not"
mkdir bin
cat >bin/clang-tidy-19 <<END
#!/bin/sh
[ "\$*" = --version ] || { echo "looked at again" >&2; exit 1; }
exec $(command -v clang-tidy-19) --version
END
chmod +x bin/clang-tidy-19
with_kept() { PATH=$PWD/bin:$PATH $tidy "$PWD/planted.c"; }
with_kept || fail "a file that has not changed is looked at again"
header 2
refuses 1 'looked at again' with_kept
header 1
touch -d '1 hour ago' planted.c include/size.h
with_kept || fail "a file that is as it was is looked at again"
# A header that a kept file includes newly is checked from then on too.
echo '#include "more.h"' >>include/size.h
echo 'static inline int more(void) { return 1; }' >include/more.h
$tidy "$PWD/planted.c" || fail "a clean file is not"
echo 'static inline int again(void) { return 2; }' >>include/more.h
refuses 1 'looked at again' with_kept

# A C++ header.
cat >include/size.hpp <<'END'
#include <string>
#include <utility>
inline std::string::size_type size(std::string text)
{
  std::string other = std::move(text);
  return text.size() + other.size();
}
END
refuses 1 'size.hpp:6|bugprone-use-after-move' $tidy "$PWD/include/size.hpp"

# A file that the build does not know is an error.
refuses 1 "does not name $PWD/other.c" $tidy "$PWD/other.c"
