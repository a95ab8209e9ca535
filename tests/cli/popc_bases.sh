# Fields of base classes get the offsets of the C++ ABI on tile and host: base classes that depend
# on template parameters, several levels of them, private bases and specializations. Template
# arguments in vertex names are printed as clang prints them.
set -eu
popc=$POPULUS_BIN/popc

fail() {
  echo "FAIL: $1"
  exit 1
}

cat >bases.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;

template <class T> struct Base : Vertex { Input<T> x; };
template <class T> class Own : public Base<T> {
public:
  Output<T> y;
  bool compute() { *y = *this->x; return true; }
};
template class Own<float>;

template <class T> struct L0 : Vertex { char flag; };
template <class T, class U> struct L1 : L0<T> { Input<Vector<U>> in; short s; };
template <class T> struct L2 : L1<T, T> { char c; Output<T> out; };
template <class T> struct Deep : L2<T> { bool b; bool compute() { *this->out = this->in[0]; return this->flag; } };
template struct Deep<short>;
struct Last : Deep<int> { bool compute() { return true; } InOut<int> last; };

template <class T> struct Mixin { T extra; };
template <class T> struct Mixed : Vertex, Mixin<T> { Input<T> x; bool compute() { return true; } };
template struct Mixed<char>;

class Hides : public Vertex { protected: Input<int> hidden; private: char c; public: bool compute() { return c; } };
template <class T> struct Tail : Hides { T own; };
template <class T> struct Reuses : Tail<T> { bool compute() { return *this->hidden; } char more; };
template struct Reuses<char>;

template <class T> struct Special : Vertex { T s; };
template <> struct Special<int> : Hides { Output<int> special; };
template <class T> struct OfSpecial : Special<T> { T z; bool compute() { return true; } };
template struct OfSpecial<int>;
template struct OfSpecial<float>;
template <class T> class Private : Base<T> { public: Output<T> y; bool compute() { return true; } };
template class Private<half>;
END
cat >expected.txt <<'END'
Own<float> x 0,0 y 4,8
Deep<short> flag 0,0 in 4,8 s 12,24 c 14,26 out 16,32 b 20,40
Last flag 0,0 in 4,8 s 12,24 c 14,26 out 16,32 b 20,40 last 24,48
Mixed<char> extra 0,0 x 4,8
Hides hidden 0,0 c 4,8
Reuses<char> hidden 0,0 c 4,8 own 5,9 more 6,10
Special<int> hidden 0,0 c 4,8 special 8,16
OfSpecial<int> hidden 0,0 c 4,8 special 8,16 z 12,24
OfSpecial<float> s 0,0 z 4,4
Private<half> x 0,0 y 4,8
END
# One line for each vertex: its fields with their offsets, on tile and host.
fields() {
  "$popc" bases.cpp --target="$1" --list-vertices |
    awk '/^[^ ]/ { name = $1; sub(/:$/, "", name) } /^    [^ ]/ && $1 != "name" { print name, $1, $(NF - 1) }'
}
fields ipu2 >tile.txt
fields cpu >host.txt
paste -d' ' tile.txt host.txt | awk '$1 != last { if (NR > 1) print line; line = last = $1 }
  $1 != $4 || $2 != $5 { print "tile and host differ: " $0; exit }
  { line = line " " $2 " " $3 "," $6 } END { print line }' >found.txt
diff expected.txt found.txt || fail 'other fields'

# The vertex runs: the graph compiler writes the inherited field where the code reads it.
cat >run.cpp <<'END'
#include <poplar/Vertex.hpp>
template <class T> struct Holder : poplar::Vertex { short before; poplar::InOut<T> out; };
template <class T, T add> struct Adds : Holder<T> { char behind; bool compute() { *this->out += add; return true; } };
template struct Adds<int, 42>;
END
out=$("$POPULUS_BUILD_DIR/tests/support/run_vertex" run.cpp 'Adds<int,42>')
[ "$out" = 'out = 42' ] || fail "the vertex with an inherited field: $out"

# A base class with fields that popc cannot name is refused. Its fields are not left out silently.
cat >unseen.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <type_traits>
struct WithField : poplar::Vertex { poplar::Input<int> x; bool compute() { return true; } };
template <bool b> struct Chosen : std::conditional_t<b, WithField, poplar::Vertex> { char c; bool compute() { return true; } };
template struct Chosen<false>;
template struct Chosen<true>;
END
! "$popc" unseen.cpp -o out.gp 2>err.txt || fail 'an unseen base with fields'
grep -qF "unseen.cpp:6:17: error: vertex 'Chosen<true>' has fields of a base class that popc cannot name" err.txt || fail "$(cat err.txt)"
grep -q '^1 error generated' err.txt || fail 'Chosen<false> is refused'
# … also where named bases lie in front of them, and in a base of the vertex
cat >behind.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <type_traits>
struct Empty {};
struct WithField { poplar::Input<int> x; };
struct Named : poplar::Vertex { poplar::Input<int> y; char c; };
template <bool b> struct Chosen : Named, std::conditional_t<b, WithField, Empty> { poplar::Output<int> o; bool compute() { return true; } };
template <bool b> struct Tail : Named, std::conditional_t<b, WithField, Empty> { bool compute() { return true; } };
template <bool b> struct Middle : Chosen<b> { float z; };
template struct Chosen<false>;
template struct Chosen<true>;
template struct Tail<false>;
template struct Tail<true>;
template struct Middle<false>;
template struct Middle<true>;
END
! "$popc" behind.cpp -o out.gp 2>err.txt || fail 'unseen bases behind others'
for name in '10:17: error: vertex .Chosen<true>' '12:17: error: vertex .Tail<true>' 'error: vertex .Middle<true>'; do
  grep -q "^behind.cpp:.*$name. has fields of a base class that popc cannot name" err.txt || fail "$(cat err.txt)"
done
grep -q '^3 errors generated' err.txt || fail "one without such fields is refused: $(cat err.txt)"

# So is one whose fields popc would place wrongly, as the compiler cannot check them.
cat >twice.cpp <<'END'
#include <poplar/Vertex.hpp>
struct Tag {};
struct Tagged : Tag { char c; };
struct Char { char a; };
struct Float { float f; };
struct Fine : poplar::Vertex, private Tagged { bool compute() { return c; } };
struct Twice : poplar::Vertex, Tag, private Tagged { bool compute() { return c; } };
#pragma pack(1)
struct Packed : poplar::Vertex, Char, private Float { bool compute() { return f; } };
END
! "$popc" -w twice.cpp -o out.gp 2>err.txt || fail 'an empty base class twice'
grep -qF "twice.cpp:7:8: error: vertex 'Twice' inherits fields that are not public" err.txt || fail "$(cat err.txt)"
grep -qF "twice.cpp:9:8: error: vertex 'Packed' inherits fields that are not public" err.txt || fail "$(cat err.txt)"
grep -q '^2 errors generated' err.txt || fail 'Fine is refused'

cat >names.cpp <<'END'
#include <poplar/Vertex.hpp>
namespace n { enum class E : short { A, B = -2 }; enum Plain { PA = 7 }; }
template <char c, bool b, int i, signed char s, unsigned char u> struct Numbers : poplar::Vertex { bool compute() { return b; } };
template struct Numbers<'a', true, -5, -3, 200>;
template struct Numbers<'\n', false, 2147483647, 'x', '\''>;
template struct Numbers<'"', false, 0, '\\', 0>;
template <n::E e, n::Plain p, char16_t w, long long l, unsigned long long m> struct Others : poplar::Vertex { bool compute() { return true; } };
template struct Others<n::E::B, n::PA, u'w', -1, ~0ull>;
template struct Others<(n::E)5, (n::Plain)3, u'\x1234', 1, 1>;
END
"$popc" --target=ipu2 names.cpp -o names.gp
cat >expected.txt <<'END'
Numbers<'a',true,-5,'\xfd','\xc8'>
Numbers<'\n',false,2147483647,'x','\''>
Numbers<'"',false,0,'\\','\x00'>
Others<n::E::B,n::PA,u'w',-1,18446744073709551615>
Others<(n::E)5,(n::Plain)3,u'\u1234',1,1>
END
"$popc" --list-vertices names.gp | sed -n 's/: worker, names.*//p' >found.txt
diff expected.txt found.txt || fail 'other names'

# Template arguments that only their author can write, and members of unnamed namespaces. The entry
# calls the specialization that was instantiated, and no other: sizeof(n) tells.
cat >arguments.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
namespace { struct Seven { static constexpr int of = 7; }; enum class Mode { A, B }; }
template <class Op, Mode m> struct Hidden : Vertex { InOut<int> out; bool compute() { *out = Op::of + int(m); return true; } };
template struct Hidden<Seven, Mode::B>;
enum class E : short { A, B };
template <auto n> struct Auto : Vertex { InOut<int> out; bool compute() { *out = 10 * int(sizeof(n)) + int(n); return true; } };
template struct Auto<true>;
template struct Auto<E::B>;
template struct Auto<3>;
template struct Auto<4ull>;
template struct Auto<(unsigned char)5>;
template struct Auto<(signed char)3>;
namespace n {
enum class Op { ADD, MUL };
template <Op... ops> struct Pack : Vertex { InOut<int> out; bool compute() { *out = sizeof...(ops); return true; } };
template struct Pack<Op::ADD, Op::MUL>;
inline int twice(int x) { return 2 * x; }
template <class T> struct Base : Vertex { InOut<T> out; };
template <int (*f)(int), class T> struct Calls : Base<T> { bool compute() { *this->out = f(21); return true; } };
template struct Calls<twice, int>;
}
END
"$popc" arguments.cpp -o arguments.gp
runs() {
  found=$("$POPULUS_BUILD_DIR/tests/support/run_vertex" arguments.gp "$1") || fail "$1"
  [ "$found" = "out = $2" ] || fail "$1: $found instead of $2"
}
runs 'Hidden<Seven,Mode::B>' 8
runs 'Auto<true>' 11
runs 'Auto<E::B>' 21
runs 'Auto<3>' 43
runs 'Auto<4>' 84
runs "Auto<'\\x05'>" 15
runs "Auto<'\\x03'>" 13
runs 'n::Pack<Op::ADD,Op::MUL>' 2
runs 'n::Calls<twice,int>' 42
echo 'template struct Auto<3u>;' >>arguments.cpp
! "$popc" arguments.cpp -o arguments.gp 2>err.txt || fail 'two vertices Auto<3>'
[ "$(grep -c error: err.txt)" = 1 ] && grep -q "arguments.cpp:23:17: error: vertex 'Auto<3>' has the name of another one (arguments.cpp:10)" err.txt || fail "$(cat err.txt)"

# Names outside ASCII have symbols of their own, in C++ and in C.
for name in 加算 減算; do
  echo "#include <poplar/Vertex.hpp>
struct $name : poplar::Vertex { poplar::InOut<int> out; bool compute() { *out = $([ $name = 加算 ] && echo 1 || echo 2); return true; } };" >$name.cpp
done
printf '%s\n' '#include <populus/vertex.h>' 'typedef struct { INOUT(int) out; } Größe;' \
  'COMPUTE(Größe) { *vertex->out = 3; return true; }' >unicode.c
"$popc" 加算.cpp 減算.cpp unicode.c -o arguments.gp
runs 加算 1
runs 減算 2
runs Größe 3
cat >constrained.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct [[poplar::constraint("elem(*größe) != elem(*b$)")]] V : Vertex { Input<Vector<float>> größe, b$; bool compute() { return true; } };
END
"$popc" --list-vertices --json constrained.cpp | grep -q 'elem(\*größe) != elem(\*b\$)' || fail 'a constraint on a field of such a name'

# A class in a class is a vertex if generated code can name it.
cat >inner.cpp <<'END'
#include <poplar/Vertex.hpp>
namespace n {
class Outer {
  struct Hidden : poplar::Vertex { poplar::InOut<int> out; bool compute() { *out = 1; return true; } };
public:
  struct Inner : poplar::Vertex { poplar::InOut<int> out; bool compute() { *out = 5; return true; } };
};
}
END
"$popc" inner.cpp -o arguments.gp
runs n::Outer::Inner 5
"$popc" --list-vertices arguments.gp | grep -c worker | grep -qx 1 || fail 'a private class is a vertex'

# A template that derives from itself.
cat >chain.cpp <<'END'
#include <poplar/Vertex.hpp>
template <int N> struct Left;
template <int N> struct Right : Left<N - 1> { int f() { return N * Left<N - 1>::f(); } };
template <int N> struct Left : Right<N - 1>, poplar::Vertex { int f() { return N + Right<N - 1>::f(); } };
template <> struct Right<1> { int f() { return 1; } };
template <int N> struct Sum : Sum<N - 1> { int f() { return N + Sum<N - 1>::f(); } };
template <> struct Sum<0> { int f() { return 0; } };
template <int N> struct Chain : poplar::Vertex, Sum<N> { poplar::InOut<int> out; bool compute() { *out = this->f(); return true; } };
template struct Chain<4>;
template <int N> struct Turns : Left<N> { poplar::InOut<int> out; bool compute() { *out = this->f(); return true; } };
template struct Turns<2>;
END
"$popc" chain.cpp -o arguments.gp
runs 'Chain<4>' 10
runs 'Turns<2>' 3

# Only the source that instantiates a template has its vertex, whatever was declared before.
cat >extern.hpp <<'END'
#include <poplar/Vertex.hpp>
template <class T> struct There : poplar::Vertex { poplar::InOut<T> out; bool compute() { *out = 6; return true; } };
extern template struct There<int>;
END
printf '%s\n' '#include "extern.hpp"' 'template struct There<int>;' >there.cpp
printf '%s\n' '#include "extern.hpp"' 'struct Here : There<int> { bool compute() { return There<int>::compute(); } };' >here.cpp
"$popc" there.cpp here.cpp -o arguments.gp
runs 'There<int>' 6
runs Here 6

# An explicit specialization has its own constraints. Vertices, and their bases, may be in headers that
# are included as those of the system.
mkdir -p system
cat >system/theirs.hpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Theirs : Vertex { Input<Vector<float>> a, b; };
template <class T> struct [[poplar::constraint("elem(*a) != elem(*b)")]] Two : Theirs { bool compute() { return true; } };
template <> struct [[poplar::constraint("elem(*c) != elem(*d)")]] Two<int> : Vertex {
  Input<Vector<float>> c, d;
  bool compute() { return true; }
};
END
printf '%s\n' '#include <theirs.hpp>' 'template struct Two<float>;' 'struct Ours : Theirs { bool compute() { return true; } };' >ours.cpp
"$popc" -isystem system ours.cpp --target=ipu2 -o ours.gp
"$popc" --list-vertices --json ours.gp | grep -oE '"constraints":[^]]*]|"name":"(Two|Ours)[^"]*"' >found.txt
cat >expected.txt <<'END'
"constraints":["elem(*c) != elem(*d)"]
"name":"Two<int>"
"constraints":["elem(*a) != elem(*b)"]
"name":"Two<float>"
"name":"Ours"
END
sort expected.txt >a && sort found.txt >b && diff a b || fail 'constraints, or vertices of a system header'
