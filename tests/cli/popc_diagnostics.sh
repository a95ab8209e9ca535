# popc prints clang's diagnostics to the byte, on the user's file (S01, S02). Mistakes that only
# popc detects have the same form (S08, S09, S10, S12).
# shellcheck disable=SC2086 # options in one variable are words
set -u
popc=$POPULUS_BIN/popc
# A link whose name has no blanks, whatever the folder's name is.
ln -s "$POPULUS_DATA_DIR/device/include" device
device=device
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# same_as_clang <flags> <source>: standard error and success are those of a direct call of clang.
same_as_clang() {
  "$popc" $1 "$2" -o out.gp 2>popc.txt
  ours=$?
  case $2 in
  *.cpp) language="-std=c++17 -isystem $device/c++/v1" ;;
  *) language=-std=gnu17 ;;
  esac
  clang-19 --target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -fsigned-char -fno-exceptions -O2 \
    $language -nostdlibinc -nostdinc++ -isystem "$device" $1 -c "$2" -o out.o 2>clang.txt
  [ $? = $ours ] || fail "$2 $1: exit status $ours"
  cmp -s popc.txt clang.txt || { fail "$2 $1: diagnostics differ"; diff popc.txt clang.txt; }
  [ -s clang.txt ] || fail "$2 $1: clang has nothing to say"
  [ $ours = 0 ] || [ ! -e out.gp ] || fail "$2: an output of a failed compilation"
  rm -f out.gp
}

# S01: errors
cat >error.cpp <<'END'
#include <poplar/Vertex.hpp>
struct V : poplar::Vertex {
  poplar::Output<float> out;
  bool compute() {
    *out = undeclared;
    return 1
  }
};
END
cat >error.c <<'END'
#include <populus/vertex.h>
typedef struct { INPUT(VECTOR(float)) in; OUTPUT(float) out; } V;
COMPUTE(V)
{
  vertex->in.data[0] = 1;
  *vertex->nothing = 2;
  return "text" + true * vertex;
}
END
printf '#include <poplar/Vertex.hpp>\nstruct V : poplar::Vertex {\n  bool compute() { return true; }' >open_brace.cpp
printf '#if 1\nint x; /* open' >open_comment.c
printf '#include "deep/er.h"\n' >included.c
mkdir deep
printf 'int f(void) { return nothing; }\n' >deep/er.h
printf '#error this is the reason\nint x = y;\n' >stop.c
printf 'int a\0b;\r\n\357\273\277 int \351;\n' >bytes.c
for source in error.cpp error.c open_brace.cpp open_comment.c included.c stop.c bytes.c; do
  same_as_clang '' $source
  same_as_clang '-Wall -Wextra -std=gnu++20' "$source"
done
same_as_clang -DUNDEFINED= included.c

# Warnings do not stop the output.
cat >warning.cpp <<'END'
#include <poplar/Vertex.hpp>
static int never_used(int a) { int unused; return a; }
struct V : poplar::Vertex {
  poplar::Output<float> out;
  bool compute() { double d = 1; float f; if (f = d) *out = f; return true; }
};
END
for flags in -Wall '-Wall -Wextra -pedantic' '-Wall -Werror' '-Weverything -Wno-c++98-compat'; do
  same_as_clang "$flags" warning.cpp
done
# S02: inclusion and templates without an end
echo '#include "itself.c"' >itself.c
echo 'template <int N> struct R { static constexpr int v = R<N + 1>::v; }; int x = R<0>::v;' >deep.cpp
same_as_clang '' itself.c
same_as_clang '' deep.cpp

# expect <file> <line:column> <message>: popc <file> ends with status 1 and prints this message.
expect() {
  "$popc" "$1" -o out.gp 2>popc.txt
  [ $? = 1 ] || fail "$1: exit status is not 1"
  grep -qF "$1:$2: error: $3" popc.txt || { fail "$1: does not say '$2: error: $3'"; cat popc.txt; }
  [ ! -e out.gp ] || fail "$1: an output of a failed compilation"
  rm -f out.gp
}

# In a source of the wrong language, the first error of our header says so.
printf '#include <populus/vertex.h>\n' >c_header.cpp
printf '#include <poplar/Vertex.hpp>\n' >cpp_header.c
"$popc" c_header.cpp 2>&1 | grep -m1 error: | grep -qF 'in C++ a vertex is a class' || fail 'the C header in C++'
"$popc" cpp_header.c 2>&1 | grep -m1 error: | grep -qF 'in C a vertex is a struct' || fail 'the C++ header in C'

# Headers of streams may be included. A stream that is used is an error.
headers='iostream istream ostream fstream sstream streambuf iomanip strstream syncstream regex codecvt'
for header in $headers; do echo "#include <$header>"; done >streams.cpp
cat >>streams.cpp <<'END'
#include <poplar/Vertex.hpp>
struct V : poplar::Vertex {
  poplar::Output<int> o;
  bool compute() {
    *o = 1;
#ifdef SAY
    std::cout << "one" << std::endl;
#endif
    return true;
  }
};
END
"$popc" -Wall -Werror streams.cpp -o streams.gp || fail 'streams that are only included'
"$popc" -DSAY streams.cpp -o out.gp 2>popc.txt && fail 'a stream on a tile'
grep -qF "streams.cpp:18:10: error: 'cout' is unavailable: a tile has no streams: printf" popc.txt ||
  { fail 'a stream is not refused where it is used'; cat popc.txt; }
[ "$(grep -c error: popc.txt)" = 1 ] || fail 'a stream gives more than an error'

# Sources without a vertex get a warning. A template that is never instantiated is no vertex.
cat >template.cpp <<'END'
#include <poplar/Vertex.hpp>
template <typename T> struct Copy : poplar::Vertex {
  poplar::Input<T> in;
  poplar::Output<T> out;
  bool compute() { *out = *in; return true; }
};
#ifdef INSTANTIATE
template struct Copy<float>;
#endif
END
printf 'int helper(void) { return 1; }\n' >helper.c
no_vertices() {
  "$popc" "$@" -o template.gp 2>popc.txt || fail "$*: refused"
  grep -q '^popc: warning: no vertices in the sources: .*template class Name<float>' popc.txt
}
no_vertices template.cpp helper.c || fail 'no vertices, and no warning'
for inputs in '-DINSTANTIATE template.cpp helper.c' '-w template.cpp' 'template.cpp streams.gp'; do
  no_vertices $inputs && fail "$inputs: a warning of no vertices"
done

# S08: compute() is missing or wrong
cat >compute.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct None : Vertex {
  Input<float> a;
};
struct Number : Vertex {
  int compute() { return 1; }
};
class Private : public Vertex {
  bool compute() { return true; }
};
struct Arguments : Vertex {
  bool compute(unsigned) { return true; }
};
struct Static : Vertex {
  static bool compute() { return true; }
};
END
expect compute.cpp 3:8 "vertex 'None' has no function compute()"
expect compute.cpp 7:7 "compute() of vertex 'Number' returns 'int': it must return bool or void"
expect compute.cpp 10:8 "compute() of vertex 'Private' is not public"
expect compute.cpp 13:8 "compute() of vertex 'Arguments' has a parameter: it must have none, unless the vertex derives \
from poplar::MultiVertex"
expect compute.cpp 16:15 "compute() of vertex 'Static' is static"
grep -q '^5 errors generated\.$' popc.txt || fail 'errors are not counted'
grep -qF '    7 |   int compute() { return 1; }
      |       ^' popc.txt || fail 'no line and caret'
[ "$(grep -c "'None' has no function" popc.txt)" = 1 ] || fail 'an error is shown twice'

# Colours and tabs are printed as clang prints them.
printf '#include <poplar/Vertex.hpp>\nstruct A : poplar::Vertex {\n\tA *a\t; bool compute();\n};\n' >ours.cpp
printf 'struct A {\n\n\tA *a\t; bool compute() { return nothing; }\n};\n' >clangs.cpp
escape=$(printf '\033')
for source in ours clangs; do
  "$popc" -fcolor-diagnostics $source.cpp -o out.gp 2>$source.txt
  sed "s/$source\.cpp:3:[0-9]*/FILE/; s/error: ${escape}\[0m${escape}\[1m.*$escape/error: ${escape}[0m${escape}[1mMESSAGE$escape/" \
    $source.txt | sed -n '1p; $p' >$source.form
done
cmp -s ours.form clangs.form || { fail 'other colours than clang'; cat -v ours.form clangs.form; }
grep -q "^    3 |         A \*a    ; bool compute();\$" ours.txt || { fail 'tabs'; cat -v ours.txt; }
grep -q "^      | $escape\[0;1;32m           ^\$" ours.txt || { fail 'caret behind tabs'; cat -v ours.txt; }

# For a builtin that does not exist, the error names the nearest one.
cat >builtin.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <ipu_builtins.h>
struct A : poplar::Vertex {
  poplar::Output<float> out;
  bool compute() {
    *out = __builtin_ipu_exq(1.0f);
    return true;
  }
};
END
expect builtin.cpp 6:12 "use of undeclared identifier '__builtin_ipu_exq'; did you mean '__builtin_ipu_exp'?"

# S08 again, where only the compiler knows the kind of the class
cat >kinds.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct NoNumber : MultiVertex {
  bool compute() { return true; }
};
struct Pointer : MultiVertex {
  bool compute(unsigned *worker) { return true; }
};
struct Numbered : SupervisorVertex {
  void compute(unsigned worker) {}
};
template <bool b> struct Nothing : SupervisorVertexIf<b> {
};
template struct Nothing<true>;
template <typename T> struct Result : Vertex {
  T compute() { return 1; }
};
template struct Result<bool>;
template struct Result<char>;
template <class Base> struct Based : Base {
  bool compute(unsigned) { return true; }
};
template struct Based<MultiVertex>;
template struct Based<Vertex>;
struct Two : Vertex, MultiVertex {
  bool compute() { return true; }
  bool compute(unsigned) { return true; }
};
template <class Base> struct Second : Base, SupervisorVertex {
  bool compute() { return true; }
};
template struct Second<Vertex>;
struct Mixin {};
template struct Second<Mixin>;
struct One : Vertex {};
struct Other : Vertex {};
struct Same : One, Other {
  bool compute() { return true; }
};
END
expect kinds.cpp 4:8 "compute() of MultiVertex 'NoNumber' must have one parameter, the worker's number, as in \
'compute(unsigned workerId)'"
expect kinds.cpp 7:8 "compute() of MultiVertex 'Pointer' must have one parameter"
expect kinds.cpp 10:8 "compute() of vertex 'Numbered' has parameters: it must have none"
expect kinds.cpp 14:17 "vertex 'Nothing<true>' has no function compute()"
expect kinds.cpp 16:5 "compute() of vertex 'Result<char>' returns 'T': it must return bool or void"
expect kinds.cpp 21:8 "compute() of vertex 'Based<poplar::Vertex>' has a parameter: it must have none"
expect kinds.cpp 25:8 "vertex 'Two' derives from two of poplar::Vertex, MultiVertex and SupervisorVertex: one of them \
says who runs it"
expect kinds.cpp 32:17 "vertex 'Second<poplar::Vertex>' derives from two of"
grep -q '^8 errors generated\.$' popc.txt || { fail 'errors are not counted'; cat popc.txt; }

# S09: fields that a vertex cannot have
cat >fields.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Point { int x, y; }; typedef float pair __attribute__((vector_size(8)));
struct V : Vertex {
  char *f;
  unsigned array[100];
  int &reference;
  Point point;
  double number;
  int bits : 3;
  Vector<Vector<Input<Vector<float>>>> deep;
  Input<Vector<char *>> pointers;
  union { int either; float or_this; };
  Output<Vector<pair, VectorLayout::SPAN, 8>> pairs;
  bool compute() { return true; }
};
struct Virtual : Vertex {
  virtual ~Virtual() {}
  bool compute() { return true; }
};
END
expect fields.cpp 5:9 "field 'V.f' has unsupported field type 'char *': a field is a number, a Vector, an Input, \
an Output or an InOut"
expect fields.cpp 6:12 "field 'V.array' has unsupported field type 'unsigned int[100]': constants in a row are a Vector"
expect fields.cpp 7:8 "field 'V.reference' has unsupported field type 'int &'"
expect fields.cpp 8:9 "field 'V.point' has unsupported field type 'Point'"
expect fields.cpp 9:10 "field 'V.number' has unsupported field type 'double': there are bool, half, float and"
expect fields.cpp 10:7 "field 'V.bits' has unsupported field type 'bit-field'"
expect fields.cpp 11:40 "field 'V.deep' has unsupported field type 'Vector<Vector<Input<Vector<float>>>>': most is a Vector<Input<"
expect fields.cpp 12:25 "field 'V.pointers' has unsupported field type 'Input<Vector<char *>>': there are bool, half, float and"
expect fields.cpp 13:3 "field 'V.(unnamed)' has unsupported field type"
expect fields.cpp 14:47 "field 'V.pairs' has unsupported field type 'Output<Vector<pair, VectorLayout::SPAN, 8>>': elements are scalars, whose"
expect fields.cpp 18:11 "vertex 'Virtual' has a virtual function"
# Classes of another namespace poplar are none of ours.
cat >namespaces.cpp <<'END'
#include <poplar/Vertex.hpp>
namespace mine {
namespace poplar { struct Vertex {}; template <class T> struct Input { T t; }; }
struct V : poplar::Vertex { double d; };
}
struct W : poplar::Vertex {
  mine::poplar::Input<int> in;
  bool compute() { return true; }
};
END
expect namespaces.cpp 7:28 "field 'W.in' has unsupported field type 'mine::poplar::Input<int>'"
grep -q '^1 error generated' popc.txt || { fail 'another Vertex'; cat popc.txt; }

# Graphs add vertices by their names.
cat >unnamed.cpp <<'END'
#include <poplar/Vertex.hpp>
struct : poplar::Vertex { poplar::Output<int> o; bool compute() { *o = 1; return true; } } object;
struct { struct Inner : poplar::Vertex { bool compute() { return true; } } inner; } outer;
typedef struct { struct Inner : poplar::Vertex { bool compute() { return true; } } inner; } Outer;
template <class T> struct Lambda : poplar::Vertex { bool compute() { return true; } };
auto lambda = [] {};
template struct Lambda<decltype(lambda)>;
END
expect unnamed.cpp 2:1 'a vertex must have a name, by which a graph adds it'
expect unnamed.cpp 3:17 'a vertex must have a name'
grep -q '^2 errors generated' popc.txt || fail 'a vertex whose argument has no name is refused'

# Initialisers of fields would have to be run. What is 0 is so without them.
cat >initial.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
constexpr int square(int x) { return x * x; }
#define FIELD(name, value) unsigned name = value;
#define FOUR(name) unsigned name = 4;
template <int n> struct Number { using type = unsigned; };
template <class T> struct Zero : Vertex {
  static constexpr T k = 4;
  T a = 0, b{}, c{0}, d = T(), e = T(0);
  unsigned f = square(0); decltype(sizeof(4)) g; Number<4>::type h; alignas(8) unsigned i; FIELD(j, 0)
  half l = 0; bool m = false; Vector<float> n{}; Input<float> p[4];
  bool compute() { return k; }
};
template struct Zero<float>;
struct Plain : Vertex {
  unsigned n = 4, square_of_2 = square(2);
  FIELD(macro, 4)
  FOUR(four)
  float minus{-0.0f}; enum { P } zero = P;
  bool compute() { return true; }
};
template <class T> struct Base : Vertex {
  T t = 4, of_unknown = T(sizeof(T));
};
struct Derived : Base<int> {
  bool compute() { return true; }
};
END
expect initial.cpp 16:12 "field 'Plain.n' has an initializer, but vertices are not constructed: the graph gives the value \
(setInitialValue), or it is 0; what is the same for all vertices is static constexpr"
expect initial.cpp 16:19 "field 'Plain.square_of_2' has an initializer"
expect initial.cpp 17:3 "field 'Plain.macro' has an initializer"
expect initial.cpp 18:3 "field 'Plain.four' has an initializer"
expect initial.cpp 19:9 "field 'Plain.minus' has an initializer"
expect initial.cpp 23:5 "field 'Derived.t' has an initializer"
expect initial.cpp 23:12 "field 'Derived.of_unknown' has an initializer"
grep -q '^7 errors generated' popc.txt || { fail 'an initializer that gives 0 is refused'; cat popc.txt; }
cat >virtual.cpp <<'END'
#include <poplar/Vertex.hpp>
struct A : virtual poplar::Vertex { poplar::Output<int> o; bool compute() { *o = 1; return true; } };
struct Mixin { float k; };
struct Between : virtual private Mixin {};
struct B : poplar::Vertex, Between { poplar::Output<int> o; bool compute() { *o = 1; return true; } };
END
expect virtual.cpp 2:20 "vertex 'A' has a virtual base class: vertex state can hold only fields"
expect virtual.cpp 4:34 "vertex 'B' has a virtual base class"
cat >constraints.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct [[poplar::constraint("elem(*a) != elem(*b)", "elem(*a) != elem(*missing)")]] Unknown : Vertex {
  Input<Vector<float>> a, b;
  bool compute() { return true; }
};
struct [[poplar::constraint("elem(*a) < elem(*b)")]] Wrong : Vertex {
  Input<Vector<float>> a, b;
  [[poplar::constraint("elem(*a) != elem(**b)")]] bool compute() { return true; }
};
END
expect constraints.cpp 3:18 "constraint 'elem(*a) != elem(*missing)' names 'missing': vertex 'Unknown' has no such field"
expect constraints.cpp 7:18 "constraint 'elem(*a) < elem(*b)' does not parse: at '< elem(*b)' there must be '!=' or '=='"
expect constraints.cpp 9:13 "constraint 'elem(*a) != elem(**b)': field 'b' has no rows"
cat >fields.c <<'END'
#include <populus/vertex.h>
typedef struct {
  INPUT(VECTOR(char *)) pointers;
  INPUT(double) number;
  INOUT(VECTOR(int, ONE_PTR, 12)) twelve;
  float row[4];
  STATE(float) value;
  STATE(VECTOR_OF(VECTOR(float))) rows;
  INPUT(float) none[0];
} V;
COMPUTE(V) { return vertex->number; }
END
expect fields.c 3:25 "field 'V.pointers' has unsupported field type"
expect fields.c 4:17 "field 'V.number' has unsupported field type"
expect fields.c 6:9 "field 'V.row' has unsupported field type 'float[4]': constants in a row are a Vector"
expect fields.c 7:16 "field 'V.value' has unsupported field type 'typeof(float *)': STATE is for a VECTOR"
expect fields.c 8:35 "field 'V.rows' has unsupported field type"
expect fields.c 9:16 "field 'V.none' has unsupported field type"
expect fields.c 5:35 "field 'V.twelve' has alignment 12, which is not a power of two"

printf '%s\n' '#include <populus/vertex.h>' 'typedef struct V V;' 'COMPUTE(V) { return true; }' >incomplete.c
expect incomplete.c 3:1 "vertex 'V' is a struct that is declared and not defined"
# Alignments may be any numbers of C.
printf '%s\n' '#include <populus/vertex.h>' '#define M 0x20' \
  'typedef struct { INPUT(VECTOR(int, SPAN, 16u)) a; INPUT(VECTOR_OF(VECTOR(int, SPAN, M, 1), SPAN, 8)) b; } V;' \
  'COMPUTE(V) { return true; }' >numbers.c
for standard in -std=c17 -std=c23; do
  "$popc" $standard --list-vertices --json numbers.c >popc.txt || fail "numbers.c $standard"
  grep -q '"align":16.*"align":32.*"table_align":8' popc.txt || { fail "numbers.c $standard: other alignments"; cat popc.txt; }
  sed -i 's/M, 1)/M, true)/' numbers.c
done

# S12: a constructor that would have to run at start
cat >global.cpp <<'END'
#include <poplar/Vertex.hpp>
struct G { G() { x = 3; } int x; };
extern int later;
G g;
int copy = later;
struct V : poplar::Vertex { poplar::Output<int> o; bool compute() { *o = g.x + copy; return true; } };
END
expect global.cpp 5:5 'declaration requires a global constructor'

# S10: functions that do not exist on a tile
cat >undefined.cpp <<'END'
#include <poplar/Vertex.hpp>
extern "C" int missing(int);
int not_called_by_a_vertex() { return missing(2); }
struct V : poplar::Vertex { poplar::Output<int> o; bool compute() { *o = missing(1); return true; } };
END
# Another file may define the function: files that are compiled separately are merged later.
"$popc" -Werror undefined.cpp -o undefined.gp 2>popc.txt || { fail 'a file by itself is refused'; cat popc.txt; }
grep -q 'warning: .*missing.*V.*undefined.cpp:4' popc.txt || { fail 'symbol and vertex are not named'; cat popc.txt; }
[ "$(grep -c warning: popc.txt)" = 1 ] || { fail 'more than one warning'; cat popc.txt; }
[ -z "$("$popc" -w undefined.cpp -o quiet.gp 2>&1)" ] || fail '-w: popc warns of an undefined function'
echo 'int missing(int x) { return x + 1; }' >defined.c
"$popc" defined.c -o defined.gp
[ -z "$("$popc" undefined.gp defined.gp -o merged.gp 2>&1)" ] || fail 'a warning when the definition is there'
sed -i 's/= missing(1)/= 1/' undefined.cpp
"$popc" undefined.cpp 2>popc.txt || { fail 'a function that no vertex calls stops popc'; cat popc.txt; }
cat >heap.cpp <<'END'
#include <poplar/Vertex.hpp>
struct V : poplar::Vertex { poplar::Output<int> o; bool compute() { *o = (int)(size_t) new int[*o]; return true; } };
END
"$popc" heap.cpp 2>popc.txt && fail 'the heap links'
grep -q '_Znaj.*heap.cpp:2' popc.txt || { fail 'operator new[] is not named'; cat popc.txt; }
cat >heap.c <<'END'
#include <populus/vertex.h>
#include <stdlib.h>
typedef struct { OUTPUT(unsigned) out; } V;
COMPUTE(V)
{
  unsigned *p = malloc(4 * *vertex->out);
  for (unsigned i = 0; i < *vertex->out; ++i) p[i] = i;
  *vertex->out = p[*vertex->out / 2];
  free(p);
  return true;
}
END
"$popc" -O2 heap.c 2>popc.txt && fail 'malloc links'
grep -q 'undefined symbol malloc, .*heap.c:3.*there is no heap on a tile' popc.txt || { fail 'malloc is not named'; cat popc.txt; }

# S08: one vertex name in two files
cp warning.cpp other.cpp
echo 'int more;' >>other.cpp
"$popc" -w warning.cpp other.cpp -o out.gp 2>popc.txt && fail 'two vertices of one name'
grep -q "'V'.*warning.cpp.*other.cpp" popc.txt || { fail 'both files are not named'; cat popc.txt; }
# A warning before it does not take the error's place, whatever it is about.
echo '#warning "error: no reason"' >>other.cpp
"$popc" warning.cpp other.cpp -o out.gp 2>popc.txt && fail 'two vertices of one name, and a warning'
grep -q "popc: error: vertex 'V' is defined twice" popc.txt || { fail 'only the warning is shown'; cat popc.txt; }
# Nor may one have the other's symbol: the wrong code would run.
symbols() {
  printf '#include <poplar/Vertex.hpp>\n%s\n' "$1"
}
body='poplar::Vertex { poplar::InOut<int> out; bool compute() { *out ='
symbols "namespace a { struct b : $body 1; return true; } }; }" >scoped.cpp
symbols "struct a__b : $body 2; return true; } };" >plain.cpp
sed 1d plain.cpp | cat scoped.cpp - >same.cpp
expect same.cpp 3:8 "the name of vertex 'a__b' makes the symbol '__runCodelet_a__b', as that of vertex 'a::b' (same.cpp:2) does"
"$popc" scoped.cpp plain.cpp -o out.gp 2>popc.txt && fail 'two vertices of one symbol'
grep -q "'a::b', in scoped.cpp .*'a__b', in plain.cpp .*'__runCodelet_a__b': rename one" popc.txt ||
  { fail 'the symbol of both is not named'; cat popc.txt; }

# A source that is compiled for each IPU warns once.
cat >each.cpp <<'END'
#include <poplar/Vertex.hpp>
#warning told once
struct V : poplar::Vertex {
  poplar::Output<int> o;
  bool compute() {
#ifdef __IPU__
    *o = __IPU_ARCH_VERSION__;
#endif
    return true;
  }
};
END
printf '#warning told once\nnop\n' >each.S
for source in each.cpp each.S; do
  "$popc" "$source" -o out.gp 2>popc.txt || fail "$source"
  [ "$(grep -c '#warning told' popc.txt)" = 1 ] || { fail "$source: a warning for each IPU"; cat popc.txt; }
done

[ $failures = 0 ]
