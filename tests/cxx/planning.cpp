// What libraries use for planning: the solver, figures of targets, limits and layouts of fields,
// known constants, debug information of calls, and the helpers of their tests.
#include "small_graph.hpp"

#include <fstream>
#include <gccs/Algorithm.hpp>
#include <gccs/StructHelper.hpp>
#include <gccs/popsolver/Model.hpp>
#include <optional>
#include <poplar/HalfFloat.hpp>
#include <poplar/MetadataCreation.hpp>
#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/TypeConversion.hpp>
#include <poplar_test/Util.hpp>
#include <sstream>
#include <typeinfo>
#include <unordered_map>

using namespace poplar;
using namespace poplar::program;
using gccs::popsolver::DataType;

namespace
{

const char codelets[] = R"(
#include <poplar/Vertex.hpp>
using namespace poplar;

struct Fields : Vertex {
  Input<Vector<float, VectorLayout::SHORT_SPAN>> few;
  Vector<Input<Vector<float>>> rows;
  Input<VectorList<float, VectorListLayout::DELTANELEMENTS>> list;
  Input<Vector<unsigned char, VectorLayout::ONE_PTR>> flags;
  const unsigned short small;
  Output<float> out;
  bool compute()
  {
    *out = few[0];
    return true;
  }
};

struct Sums : Vertex {
  Vector<Input<Vector<float>>> rows;
  Input<VectorList<unsigned short, VectorListLayout::DELTANELEMENTS>> list;
  Output<Vector<float>> out;
  bool compute()
  {
    for (unsigned i = 0; i < rows.size(); ++i) {
      out[i] = 0;
      for (unsigned j = 0; j < rows[i].size(); ++j) out[i] += rows[i][j];
    }
    return true;
  }
};

struct Counts : Vertex {
  Input<Vector<unsigned, VectorLayout::ONE_PTR>> counts;
  Output<unsigned> out;
  bool compute()
  {
    *out = counts[0] + counts[1];
    return true;
  }
};

struct Take : Vertex {
  Input<float> in;
  Output<float> out;
  bool compute()
  {
    *out = *in;
    return true;
  }
};
)";

// ---- small functions ----

void whole_numbers()
{
  CHECK(gccs::ceildiv(7u, 2) == 4 && gccs::ceildiv(8, 2) == 4 && gccs::ceildiv(0, 2) == 0);
  CHECK(gccs::ceildiv0(7, 0) == 0 && gccs::ceildiv0(7, 2) == 4);
  CHECK(gccs::floordiv(7, 2) == 3);
  CHECK(gccs::alignNext(9, 8) == 16 && gccs::alignNext(8, 8) == 8);
  CHECK(gccs::alignPrev(9, 8) == 8 && gccs::alignPrev(7, 8) == 0);
  CHECK(gccs::ceilLog2(1) == 0 && gccs::ceilLog2(8) == 3 && gccs::ceilLog2(9) == 4);
  CHECK(gccs::nthTriangular(4) == 10);
  const auto p = gccs::balancedPartition(11u, 4u);
  CHECK(p.first == 3 && p.second == 1); // three parts of 3 and one of 2
}

struct Pair {
  int a;
  std::string b;
};

void structs_by_their_members()
{
  constexpr auto helper = gccs::makeStructHelper(&Pair::a, &Pair::b);
  CHECK(helper.lt({1, "z"}, {2, "a"}) && helper.lt({1, "a"}, {1, "b"}));
  CHECK(!helper.lt({1, "a"}, {1, "a"}) && !helper.lt({2, "a"}, {1, "z"}));
  CHECK(helper.eq({1, "a"}, {1, "a"}) && !helper.eq({1, "a"}, {1, "b"}));
}

// ---- the solver ----

void plans()
{
  gccs::popsolver::Model m;
  const auto x = m.addVariable(1, 64), y = m.addVariable(1, 64);
  m.lessOrEqual(DataType{1000}, m.product({x, y}));
  const auto grain = m.call<unsigned>(
      {x}, [](const std::vector<unsigned> &v) { return DataType{v[0] % 16 == 0 ? 0 : 1}; });
  const auto s = m.minimize({grain, m.sum({x, y})});
  CHECK(s.validSolution());
  CHECK(s[x].getAs<unsigned>() == 32 && s[y] == DataType{32});
  CHECK(s[gccs::popsolver::Variable()] == DataType{0}); // a variable that the planner did not set
  CHECK(s.constraintsEvaluated().call > 0 && s.constraintsEvaluated().other > 0);
  m.equal(x, DataType{7});
  CHECK(!m.minimize(y).validSolution());
}

void plans_without_empty_parts()
{
  // 10 elements in up to 8 parts: with 6, 7 or 8 parts, one would be empty.
  for (unsigned places = 1; places <= 8; ++places) {
    gccs::popsolver::Model m;
    const auto split = m.addVariable(1, 8);
    const auto part = m.ceildivConstrainDivisor(m.addConstant(10), split);
    m.equal(split, DataType{places});
    const auto s = m.minimize(part);
    CHECK(s.validSolution() == (places <= 5));
    if (s.validSolution()) CHECK(*s[part] == (10 + places - 1) / places);
  }
}

void plans_of_equal_parts()
{
  for (unsigned parts = 1; parts <= 16; ++parts) {
    gccs::popsolver::Model m;
    const auto rows = m.addVariable(12, 12), split = m.addVariable(1, 16);
    m.factorOf(rows, split);
    m.factorOf(DataType{24}, split);
    m.equal(split, DataType{parts});
    CHECK(m.minimize(split).validSolution() == (12 % parts == 0));
  }
}

void plans_of_truths_and_groups()
{
  gccs::popsolver::Model m;
  const auto a = m.addVariable(0, 1), b = m.addVariable(0, 1);
  const auto first = m.addPriorityGroup();
  m.setPriorityGroup(b, first);
  m.prioritiseOver(first, m.getDefaultPriorityGroup());
  m.equal(m.booleanOr(a, b), DataType{1});
  m.equal(m.booleanNot(m.booleanAnd(a, b)), DataType{1});
  const auto s = m.minimize(m.zero());
  CHECK(s.validSolution() && *s[b] == 0 && *s[a] == 1);
}

// Each variable that is chosen becomes 0, and so the other one of its pair 1.
void plans_of_groups_in_a_chain()
{
  gccs::popsolver::Model m;
  const auto y = m.addVariable(0, 1), x = m.addVariable(0, 1);
  const auto low = m.addVariable(0, 1), usual = m.addVariable(0, 1);
  const auto first = m.addPriorityGroup(), second = m.addPriorityGroup(),
             last = m.addPriorityGroup();
  m.setPriorityGroup(x, second);
  m.setPriorityGroup(x, first); // instead
  m.setPriorityGroup(y, second);
  m.setPriorityGroup(low, last);
  m.prioritiseOver(first, second);
  m.prioritiseOver(second, m.getDefaultPriorityGroup());
  m.prioritiseOver(m.getDefaultPriorityGroup(), last);
  m.equal(m.sum({x, y}), DataType{1});
  m.equal(m.sum({low, usual}), DataType{1});
  const auto s = m.minimize(m.zero());
  CHECK(s.validSolution() && *s[x] == 0 && *s[y] == 1 && *s[usual] == 0 && *s[low] == 1);
}

void what_a_function_throws_comes_out()
{
  gccs::popsolver::Model m;
  const auto x = m.addVariable(1, 3);
  const auto y = m.call<unsigned>(
      {x}, [](const std::vector<unsigned> &) -> DataType { throw poplar_error("no plan"); });
  CHECK_THROWS(poplar_error, "no plan", m.minimize(y));
}

void what_has_no_value_is_no_solution()
{
  gccs::popsolver::Model m;
  const auto x = m.addVariable(1, 20);
  const auto y = m.call<unsigned>({x}, [](const std::vector<unsigned> &v) {
    return v[0] % 7 == 0 ? std::optional<DataType>(v[0]) : std::nullopt;
  });
  CHECK(*m.minimize(y)[x] == 7);
  m.less(DataType{14}, x);
  CHECK(!m.minimize(y).validSolution());
}

void numbers_that_cannot_be_counted()
{
  static_assert(DataType() == DataType{0.75} && DataType{6.9f} == DataType{6}, "");
  CHECK(DataType{-1.0} == DataType{0} && DataType{1e300} == DataType::max());
  CHECK(DataType{3}.getAs<double>() == 3 && DataType::max().getAs<double>() == 0x1p64);
  CHECK(DataType::max().getAs<DataType>() == DataType::max() && DataType{5}.getAs<bool>());
  CHECK(DataType::max() + DataType{1} == DataType::max());
  CHECK(DataType::max() * DataType{2} == DataType::max());
  CHECK(DataType::max().getAs<unsigned>() == ~0u);
}

// ---- targets and types ----

void figures_of_targets()
{
  const Target ipu2 = Target::createIPUTarget(1, "ipu2"), ipu1 = Target::createIPUTarget(1, "ipu1");
  CHECK(ipu2.getVectorWidth(FLOAT) == 2 && ipu2.getHalfVectorWidth() == 4);
  CHECK(ipu2.getDataPathWidth() == 64 && ipu2.getRptCountMax() == 0xffff);
  CHECK(ipu2.getNumConvUnits(HALF, HALF) == 16 && ipu2.getNumConvUnits(FLOAT, HALF) == 0);
  CHECK(ipu2.getWeightsPerConvUnit(HALF) == 16 && ipu2.getWeightsPerConvUnit(FLOAT) == 8);
  CHECK((ipu1 < ipu2) != (ipu2 < ipu1) && !(ipu2 < ipu2));
  CHECK(!(Target::createIPUTarget(1, 8, "ipu2") == ipu2));
}

void types_are_keys()
{
  std::unordered_map<Type, int> sizes{{FLOAT, 4}, {HALF, 2}};
  CHECK(sizes.at(HALF) == 2);
  CHECK(LONG == INT && equivalent_device_type<unsigned long>().value == UNSIGNED_LONG);
}

// Some programs define their own output of formats.
std::ostream &operator<<(std::ostream &os, const QuarterMetadata::Format &format)
{
  return os << (format == QuarterMetadata::Format::F143 ? "4, 3" : "5, 2");
}
void formats_printed()
{
  std::ostringstream os;
  os << QuarterMetadata::Format::F152 << "; " << QuarterMetadata(QuarterMetadata::Format::F143, 2);
  CHECK(os.str() == "5, 2; {F143, scale 2}");
}
void conversions()
{
  std::vector<float> values{0.5F, -3, 1e9F}, back(3);
  std::vector<char> device(6);
  convertToDeviceType(HALF, values, device.data());
  convertFromDeviceType(HALF, device.data(), gccs::ArrayRef(back));
  CHECK(back[0] == 0.5F && back[1] == -3 && std::isinf(back[2]));
  // Nearer to the next half than to 1, but not once it is a float.
  const std::vector<double> between{1 + std::ldexp(1., -11) + std::ldexp(1., -40)};
  convertToDeviceType(HALF, between, device.data());
  convertFromDeviceType(HALF, device.data(), gccs::ArrayRef(back.data(), 1));
  CHECK(back[0] > 1);
  const QuarterMetadata metadata(QuarterMetadata::Format::F152, 1);
  convertToDeviceType(QUARTER, metadata, gccs::ArrayRef(values), device.data());
  convertFromDeviceType(QUARTER, metadata, device.data(), gccs::ArrayRef(back));
  CHECK(back[0] == 0.5F && back[1] == -3 && std::isnan(back[2]));
  CHECK(metadata.getBinary() == 1 && QuarterMetadata().getBinary() == 0x80);
  CHECK_THROWS(poplar_error, "-32 to 31", QuarterMetadata(QuarterMetadata::Format::F143, 32));
}

// ---- graphs ----

void limits_of_fields()
{
  SmallGraph f(codelets);
  CHECK(f.graph.getMaxFieldDim("Fields", "few", 0) == 4095);
  CHECK(f.graph.getMaxFieldDim("Fields", "list", 0) == 65535);
  CHECK(f.graph.getMaxFieldDim("Fields", "list", 1) == 8191);
  CHECK(f.graph.getMaxVertexFieldValue("Fields", "small") == 65535);
  CHECK_THROWS(index_error, "there is no dimension 1", f.graph.getMaxFieldDim("Fields", "few", 1));
  CHECK_THROWS(unknown_field, "'fewer'", f.graph.getMaxFieldDim("Fields", "fewer", 0));
  CHECK_THROWS(unknown_vertex_type, "Fieldz", f.graph.getMaxFieldDim("Fieldz", "few", 0));
}

void estimators_see_layouts_and_constants()
{
  SmallGraph f(codelets);
  ComputeSet set = f.graph.addComputeSet("set");
  Tensor t = f.graph.addVariable(FLOAT, {4}, VariableMappingMethod::LINEAR, "t");
  Tensor flags = f.graph.addConstant<unsigned char>(UNSIGNED_CHAR, {2}, {1, 7});
  f.graph.setTileMapping(flags, 0);
  VertexRef v = f.graph.addVertex(set, "Fields",
                                  {{"few", t},
                                   {"rows", t.reshape({2, 2})},
                                   {"list", t.reshape({2, 2})},
                                   {"flags", flags},
                                   {"out", t[0]}});
  f.graph.setInitialValue(v["small"], 5);
  const VertexIntrospector vertex(f.graph.c(), v.c());
  CHECK(vertex.getFieldInfo("few").getProfilerVectorLayout(0) == layout::Vector::ShortSpan);
  CHECK(vertex.getFieldInfo("rows").getProfilerVectorLayout(1) == layout::Vector::Span);
  CHECK(vertex.getFieldInfo("flags").getProfilerVectorLayout(0) == layout::Vector::OnePtr);
  CHECK(vertex.getFieldInfo("list").getProfilerVectorListLayout() ==
        layout::VectorList::DeltaNElements);
  const auto values =
      vertex.getFieldInfo("flags").getInitialValues<unsigned char>(f.graph.getTarget());
  CHECK((values == std::vector<unsigned char>{1, 7}));
  CHECK(vertex.getFieldInfo("small").getInitialValue<unsigned>(f.graph.getTarget()) == 5);
  CHECK_THROWS(type_error, "what may change",
               vertex.getFieldInfo("few").getInitialValues<float>(f.graph.getTarget()));
}

void estimators_see_rows_of_constants()
{
  SmallGraph f(codelets);
  ComputeSet set = f.graph.addComputeSet("set");
  Tensor t = f.graph.addVariable(FLOAT, {6}, VariableMappingMethod::LINEAR, "t");
  VertexRef v = f.graph.addVertex(set, "Sums", {{"rows", t.reshape({2, 3})}, {"out", t}});
  f.graph.setFieldSize(v["list"], 3);
  const unsigned short first[] = {1, 2, 3}, last[] = {65535};
  f.graph.connect(v["list"][0], f.graph.addConstant(UNSIGNED_SHORT, {3}, first, "first"));
  f.graph.connect(v["list"][2], f.graph.addConstant(UNSIGNED_SHORT, {1}, last, "last"));
  const VertexIntrospector vertex(f.graph.c(), v.c());
  const FieldData list = vertex.getFieldInfo("list"), out = vertex.getFieldInfo("out");
  const auto values = list.getInitialValues<std::vector<unsigned>>(f.graph.getTarget());
  CHECK((values == std::vector<std::vector<unsigned>>{{1, 2, 3}, {}, {65535}}));
  CHECK_THROWS(
      type_error, "what may change",
      vertex.getFieldInfo("rows").getInitialValues<std::vector<float>>(f.graph.getTarget()));
  CHECK(list.getSizeAtIndex(1) == 0 && list[2].size() == 1);
  CHECK(out.getSizeAtIndex(5) == 1);
  CHECK_THROWS(index_error, "there is no row 3", list.getSizeAtIndex(3));
  CHECK_THROWS(index_error, "there is no element 6", out.getSizeAtIndex(6));
}

// A library counts in 16 bits for the chip's assembly, and the portable codelet has a field of 32
// bits.
void counts_of_fewer_bits()
{
  SmallGraph f(codelets);
  ComputeSet set = f.graph.addComputeSet("set");
  const unsigned short numbers[] = {65535, 7, 3};
  Tensor counts = f.graph.addConstant(UNSIGNED_SHORT, {3}, numbers, "counts");
  Tensor out = f.graph.addVariable(UNSIGNED_INT, {}, VariableMappingMethod::LINEAR, "out");
  VertexRef v = f.graph.addVertex(set, "Counts", {{"out", out}});
  f.graph.setTileMapping(v, 0);
  f.graph.setTileMapping(counts, 0);
  f.graph.connect(v["counts"], counts.slice(0, 2));
  const VertexIntrospector vertex(f.graph.c(), v.c());
  CHECK((vertex.getFieldInfo("counts").getInitialValues<unsigned>(f.graph.getTarget()) ==
         std::vector<unsigned>{65535, 7}));
  CHECK(result<unsigned>(f, Execute(set), out)[0] == 65542);
  Tensor changing = f.graph.addVariable(UNSIGNED_SHORT, {2}, VariableMappingMethod::LINEAR, "t");
  CHECK_THROWS(graph_connection_error, "unsigned short", f.graph.connect(v["counts"], changing));
  CHECK_THROWS(graph_connection_error, "short",
               f.graph.connect(v["counts"], f.graph.addConstant(SHORT, {2}, 1)));
}

void rows_again()
{
  SmallGraph f(codelets);
  ComputeSet set = f.graph.addComputeSet("set");
  Tensor t = f.graph.addVariable(FLOAT, {6}, "t"), out = f.graph.addVariable(FLOAT, {2}, "out");
  f.graph.setTileMapping(t, 0);
  f.graph.setTileMapping(out, 0);
  VertexRef v = f.graph.addVertex(set, "Sums", {{"out", out}});
  f.graph.setTileMapping(v, 0);
  f.graph.setFieldSize(v["list"], 0);
  f.graph.setFieldSize(v["rows"], 2);
  f.graph.connect(v["rows"], t.reshape({2, 3})); // two rows
  f.graph.connect(v["rows"][1], t.slice(0, 2));  // row 1 again
  f.graph.createHostWrite("t", t);
  f.graph.createHostRead("out", out);
  Engine engine(f.graph, Execute(set));
  engine.load(f.device);
  const std::vector<float> values{1, 2, 4, 8, 16, 32};
  std::vector<float> sums(2);
  engine.writeTensor("t", ArrayRef<float>(values));
  engine.run();
  engine.readTensor<float>("out", sums);
  CHECK((sums == std::vector<float>{7, 3}));
}

// The number of rows may be set after the rows are connected, or follow from the rows.
void rows_before_their_number()
{
  SmallGraph f(codelets);
  ComputeSet set = f.graph.addComputeSet("set");
  Tensor t = f.graph.addVariable(FLOAT, {6}, "t"), out = f.graph.addVariable(FLOAT, {6}, "out");
  f.graph.setTileMapping(t, 0);
  f.graph.setTileMapping(out, 0);
  const VertexRef v[2] = {f.graph.addVertex(set, "Sums", {{"out", out.slice(0, 3)}}),
                          f.graph.addVertex(set, "Sums", {{"out", out.slice(3, 6)}})};
  for (std::size_t row : {1, 0, 2})
    for (int i = 0; i < 2; ++i) f.graph.connect(v[i]["rows"][row], t.slice(row, row + 2 + i));
  f.graph.setFieldSize(v[1]["rows"], 3);
  for (int i = 0; i < 2; ++i) {
    f.graph.setFieldSize(v[i]["list"], 0);
    f.graph.setTileMapping(v[i], 0);
  }
  CHECK_THROWS(graph_connection_error, "there is no row 3",
               f.graph.connect(v[1]["rows"][3], t.slice(0, 1)));
  f.graph.createHostWrite("t", t);
  f.graph.createHostRead("out", out);
  Engine engine(f.graph, Execute(set));
  engine.load(f.device);
  const std::vector<float> values{1, 2, 4, 8, 16, 32};
  std::vector<float> sums(6);
  engine.writeTensor("t", ArrayRef<float>(values));
  engine.run();
  engine.readTensor("out", sums.data(), sums.data() + 6);
  CHECK((sums == std::vector<float>{3, 6, 12, 7, 14, 28}));
}

// Libraries slice all operands by the same regions.
void slices_of_one_element()
{
  SmallGraph f(codelets);
  const Tensor one = f.graph.addVariable(FLOAT, {1}), two = f.graph.addVariable(FLOAT, {2});
  const std::vector<Interval> regions{{0, 9}, {9, 12}};
  const auto parts = one.slices(regions);
  CHECK(parts[0] == one && parts[1].numElements() == 0);
  CHECK(one.slices(std::vector<std::vector<Interval>>{regions})[0].numElements() == 1);
  CHECK_THROWS(index_error, "elements [0, 9)", two.slices(regions));
}

void values_of_constants()
{
  SmallGraph f(codelets);
  int value = 0;
  CHECK(f.graph.addConstant(HALF, {1}, 2.5F).getConstantValue(&value) && value == 2);
  CHECK(f.graph.addConstant(INT, {3}, 7)[1].getConstantValue(&value) && value == 7);
  CHECK(!f.graph.addConstant(INT, {3}, 7).getConstantValue(&value));
  CHECK(!f.graph.addVariable(INT, {}).getConstantValue(&value));
  const long numbers[] = {1, -2};
  Tensor c = f.graph.addConstant(INT, {2}, static_cast<const void *>(numbers),
                                 TypeTraits::make<long>(), false);
  CHECK(c[1].getConstantValue(&value) && value == -2);
  const IeeeHalf halves[] = {1, 2};
  CHECK_THROWS(type_error, "with 2 bytes that is no integer",
               f.graph.addConstant(HALF, {2}, static_cast<const void *>(halves),
                                   TypeTraits::make<IeeeHalf>()));
}

void regions_with_aliases()
{
  SmallGraph f(codelets);
  Tensor v = f.graph.addVariable(FLOAT, {10});
  Tensor t = concat(v, v.slice(3, 7));
  std::vector<std::size_t> aliases;
  const auto lists = f.graph.getSortedContiguousRegions(t, {{0, 14}}, false, &aliases);
  CHECK(lists.size() == 1 && lists[0].size() == 4);
  CHECK((aliases == std::vector<std::size_t>{0, 3, 3, 7}));
  CHECK(lists[0][2] == Interval(10, 14));
  CHECK((v.getVarRegions() == v.reshape({2, 5}).getVarRegions()));
}

void values_again_and_back()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(FLOAT, {3}, "t"), none = t.slice(1, 1);
  f.graph.setTileMapping(t, 0);
  std::ostringstream said;
  t.outputRegions(said);
  said << ArrayRef<int>({1, 2}) << ArrayRef<float>();
  CHECK(said.str() == t.getDebugStr() + "[1,2][]");
  TensorRearranger r = f.graph.getSimplifyingRearranger(none);
  CHECK(r.valid() && r.rearrange(none).numElements() == 0 && !TensorRearranger().valid());
  CHECK(r.undoRearrangement(none).numElements() == 0);

  ComputeSet set = f.graph.addComputeSet("set");
  VertexRef v = f.graph.addVertex(set, "Take", {{"in", t[0]}, {"out", t[2]}});
  f.graph.setTileMapping(v, 0);
  f.graph.connect(v["in"], t[1]);
  f.graph.createHostWrite("t", t);
  f.graph.createHostRead("t", t);
  CHECK_THROWS(poplar_error, "there is a host read handle 't' already",
               f.graph.createHostRead("t", t));
  Engine engine(f.graph, Execute(set));
  engine.load(f.device);
  const std::vector<float> values{1, 2, 3};
  std::vector<float> back(3);
  engine.writeTensor("t", ArrayRef<float>(values));
  engine.run();
  engine.readTensor("t", back.data(), back.data() + 3);
  CHECK((back == std::vector<float>{1, 2, 2}));
}

// ---- debug information of operations ----

struct Operation : DebugInfo {
  explicit Operation(const DebugContext &context) : DebugInfo(context, "test") {}
};

std::string contents(const char *path)
{
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void operations_say_what_they_are()
{
  DebugInfo::initializeStreamer("debug.json", DebugSerializationFormat::JSON);
  CHECK_THROWS(poplar_error, "another file is open", DebugInfo::initializeStreamer("again.json"));
  DebugId outer = 0;
  {
    Operation op(DebugContext("net"));
    outer = op.getId();
    CHECK(op.setValue("api", "matMul") && !op.setValue("api", "again"));
    ProfileValue::Map args;
    args.emplace("n", ProfileValue(3));
    CHECK(op.setValue("args", args));
    Operation inner(DebugContext(op, "part"));
    CHECK(inner.getId() != outer);
  }
  DebugInfo::closeStreamer();
  {
    Operation unheard(DebugContext("later"));
  }
  const std::string text = contents("debug.json");
  CHECK(text.find("{\"contexts\":[") == 0);
  CHECK(text.find("\"api\":\"matMul\"") != std::string::npos);
  CHECK(text.find("\"args\":{\"n\":3}") != std::string::npos);
  CHECK(text.find("\"name\":\"net/part\"") != std::string::npos);
  CHECK(text.find("\"parentId\":" + std::to_string(outer)) != std::string::npos);
  CHECK(text.find("later") == std::string::npos);
  std::stringstream streamed;
  streamed << DebugContext("a name") << DebugNameAndId("b");
  CHECK(streamed.str() == "a nameb");
}

// ---- helpers for tests ----

void streams_of_tests()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(HALF, {4}, VariableMappingMethod::LINEAR, "t");
  Sequence upload, download;
  std::vector<std::pair<std::string, poplar_test::HostMemory>> map;
  auto memory = poplar_test::allocateHostMemoryForTensor(t, "t", f.graph, upload, download, map);
  CHECK(map.size() == 2 && map[0].second.size() == 8);
  std::size_t bytes = 0;
  CHECK(poplar_test::allocateHostMemoryForTensor(f.graph.getTarget(), t, 2, bytes) && bytes == 16);
  std::vector<double> values{1, 2.5, -3, 0}, back(4);
  poplar_test::copy(f.graph.getTarget(), values, HALF, memory.get());
  Engine engine(f.graph, {upload, download});
  engine.load(f.device);
  poplar_test::attachStreams(engine, map);
  engine.run(0);
  std::fill(memory.get(), memory.get() + 8, 0);
  engine.run(1);
  poplar_test::copy(f.graph.getTarget(), HALF, memory.get(), back);
  CHECK(back == values);
}

// Quarters go to the device and back together with their metadata, which may change there.
void quarters_of_tests()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(QUARTER, {4}, VariableMappingMethod::LINEAR, "t");
  Sequence upload, download;
  poplar_test::StreamMap map;
  auto memory = poplar_test::allocateHostMemoryForTensor(t, "t", f.graph, upload, download, map);
  std::vector<double> values{1.25, 24, -0.0625, 0}, back(4);
  const QuarterMetadata sent(QuarterMetadata::Format::F143, -2);
  poplar_test::copy(f.graph.getTarget(), values, QUARTER, sent, memory.get());
  Engine engine(f.graph, {upload, download});
  engine.load(f.device);
  poplar_test::attachStreams(engine, map);
  engine.run(0);
  std::fill(memory.get(), memory.get() + 5, '\0');
  engine.run(1);
  QuarterMetadata got(QuarterMetadata::Format::F152, 0);
  poplar_test::copy(f.graph.getTarget(), QUARTER, got, memory.get(), back);
  CHECK(got == sent && back == values);
}

void simulators_and_links()
{
  const Target target = Target::createIPUTarget(2, 4, "ipu2");
  const Device device = Device::createSimulatorDevice(target);
  CHECK(device.getTarget().getNumTiles() == 8);
  CHECK(device.getTarget().getTargetType() == TargetType::IPU_MODEL);
  IPUModel model;
  model.numIPUs = 2;
  model.globalSyncCycles = 777;
  model.globalExchangeConstraints.emplace_back(8 * 10 * model.tileClockFrequency,
                                               std::vector<GlobalExchangeFlow>{{0, 1}});
  const Device slow = model.createDevice();
  CHECK(slow.getTarget().getGlobalSyncCycles() == 777);
  CHECK(slow.getTarget().c().global_bytes_per_cycle == 10);
}

} // namespace

int main()
{
  whole_numbers();
  structs_by_their_members();
  plans();
  plans_without_empty_parts();
  plans_of_equal_parts();
  plans_of_truths_and_groups();
  plans_of_groups_in_a_chain();
  what_a_function_throws_comes_out();
  what_has_no_value_is_no_solution();
  numbers_that_cannot_be_counted();
  figures_of_targets();
  types_are_keys();
  formats_printed();
  conversions();
  limits_of_fields();
  estimators_see_layouts_and_constants();
  estimators_see_rows_of_constants();
  counts_of_fewer_bits();
  rows_again();
  rows_before_their_number();
  slices_of_one_element();
  values_of_constants();
  regions_with_aliases();
  values_again_and_back();
  operations_say_what_they_are();
  streams_of_tests();
  quarters_of_tests();
  simulators_and_links();
  return failures != 0;
}
