# <poplar/Vertex.hpp> reads little of the C++ library, and still fits all of it.
set -eu
popc=$POPULUS_BIN/popc

# What poplibs' codelets use and do not include.
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

# The rows of a list are an input range, whether <iterator> comes before or behind.
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
    *out = static_cast<int>(std::distance(list.begin(), list.end()));
    return true;
  }
};
EOF
  "$popc" list.cpp
done

# Small codelets spend their time in headers: <iterator>'s part of the library alone is 100 files.
echo '#include <poplar/Vertex.hpp>' >small.cpp
read_files=$("$popc" -E small.cpp | grep -oE '^# 1 "/[^"]*"' | sort -u | wc -l)
[ "$read_files" -lt 75 ] || { echo "<poplar/Vertex.hpp> reads $read_files files"; exit 1; }
