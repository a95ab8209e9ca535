# <poplar/Vertex.hpp> includes little of the C++ library, and works together with all of it.
set -eu
popc=$POPULUS_BIN/popc

# Names that poplibs' codelets use without an include.
cat >unasked.cpp <<'EOF'
#include <poplar/Vertex.hpp>
#include "poplar/TileConstants.hpp"
class Swap : public poplar::Vertex {
public:
  poplar::InOut<poplar::Vector<int>> x;
  bool compute()
  {
    static_assert(std::is_unsigned<unsigned>::value, "");
    std::swap(x[0], x[1]);
    return true;
  }
};
EOF
"$popc" unasked.cpp

# Names of the C library that codelets use without an include, alone and together with the headers
# that declare them.
for headers in '<poplar/Vertex.hpp>' '<poplar/Vertex.hpp> <cstring> <cstddef> <cstdint> <string.h>' '<cstddef> <cstdint> <string.h> <poplar/Vertex.hpp>'; do
  for header in $headers; do echo "#include $header"; done >names.cpp
  cat >>names.cpp <<'EOF'
static_assert(INT8_MIN == -128 && UINT_LEAST16_MAX == 65535 && INT32_MAX == 2147483647 && INT64_MIN == ~INT64_C(0x7fffffffffffffff), "");
static_assert(UINT64_C(1) << 63 == UINT64_MAX / 2 + 1 && INTMAX_MIN < 0 && SIZE_MAX == UINTPTR_MAX && UINT32_C(1) << 31 > 0, "");
static_assert(sizeof(std::uint_fast8_t) <= sizeof(std::uintmax_t) && sizeof(int_least32_t) == 4 && offsetof(quarter_metadata, fmt) == 0, "");
class Names : public poplar::Vertex {
public:
  poplar::InOut<poplar::Vector<char>> x;
  bool compute()
  {
    std::size_t size = x.size();
    std::memset(&x[0], 1, size);
    memcpy(&x[0], &x[size / 2], size / 2);
    std::nullptr_t none = nullptr;
    return memcmp(&x[0], &x[1], 1) == 0 && none == nullptr && std::strlen(&x[0]) < size;
  }
};
EOF
  "$popc" -Wall -Werror names.cpp
done

# The rows of a list are an input range, with <iterator> included before or after the codelet
# header.
for order in '<iterator> <poplar/Vertex.hpp>' '<poplar/Vertex.hpp> <iterator>'; do
  for header in $order; do echo "#include $header"; done >list.cpp
  cat >>list.cpp <<'EOF'
using namespace poplar;
class Rows : public Vertex {
public:
  Input<VectorList<float, VectorListLayout::DELTAN>> list;
  Output<int> out;
  bool compute()
  {
    using Iterator = decltype(list.begin());
    static_assert(std::is_same<std::iterator_traits<Iterator>::iterator_category, std::input_iterator_tag>::value, "");
#if __cplusplus >= 202002L
    static_assert(std::input_iterator<Iterator> && std::sentinel_for<Iterator, Iterator>);
#endif
    *out = static_cast<int>(std::distance(list.begin(), list.end()));
    for (Iterator row = list.begin(); row != list.end(); row++) *out += static_cast<int>(row->size());
    return true;
  }
};
EOF
  "$popc" list.cpp
  "$popc" --target ipu2 -std=c++20 list.cpp
done

# The number of files that the header reads is limited: small codelets spend most of their compile
# time in headers.
echo '#include <poplar/Vertex.hpp>' >small.cpp
read_files=$("$popc" -E small.cpp | grep -oE '^# 1 "/[^"]*"' | sort -u | wc -l)
[ "$read_files" -lt 30 ] || { echo "<poplar/Vertex.hpp> reads $read_files files"; exit 1; }

# Macros of one letter, and others whose names parameters of templates could have, on the command
# line and in front of all headers. The C library's headers have parameters of small letters.
small='a b c d e f g h i j k l m n o p q r s t u v w x y z'
capital='A B C D E F G H I J K L M N O P Q R S T U V W X Y Z ALIGN ALIGNMENT BYTES CONDITION INTERLEAVED'
cat >letters.cpp <<'EOF'
#include <poplar/Vertex.hpp>
class Letters : public poplar::Vertex {
public:
  poplar::Vector<poplar::Input<poplar::Vector<half, poplar::VectorLayout::SPAN, 8>>> rows;
  poplar::Input<poplar::VectorList<float>> list;
  poplar::InOut<half> out;
  bool compute()
  {
    *out = out * list[0][0] + rows[0][1];
    return true;
  }
};
EOF
set --
for name in $small $capital; do set -- "$@" "-D$name=4"; done
"$popc" "$@" letters.cpp
# macros <names>: the lines that define them.
macros() {
  for name in $1; do echo "#define $name 4"; done
}
headers=$POPULUS_SOURCE_DIR/libcodelet/device/include
cxx=$(cd "$headers" && ls -d ./*.hpp poplar/* ipu[_dv]* ipu-thread-sync/* arch/* print.h | sed 's|^\./||')
c='populus/vertex.h populus/workers.h ipudef.h ipu_builtins.h arch/gc_tile_defines.h ctype.h
  poplar/StackSizeDefs.hpp poplar/TileConstants.hpp poplar/AvailableVTypes.h'
# includes <headers>: the lines that include them.
includes() {
  for header in $1; do echo "#include <$header>"; done
}
{ includes "stdio.h stdlib.h" && macros "$small $capital" && includes "$cxx"; } >our_headers.cpp
{ macros "$capital" && includes "math.h cmath limits iostream $cxx"; } >all_headers.cpp
{ includes stdio.h && macros "$small $capital" && includes "$c"; } >our_headers.c
{ macros "$capital" && includes "math.h $c"; } >all_headers.c
for source in our_headers.cpp all_headers.cpp our_headers.c all_headers.c; do
  "$popc" -w -fsyntax-only "$source"
done
