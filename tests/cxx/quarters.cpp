// Quarters: formats and scales as tensors of a graph, in codelets, in casts and on the host.
#include "small_graph.hpp"

#include <cmath>
#include <cstring>
#include <poplar/CSRFunctions.hpp>
#include <poplar/MetadataCreation.hpp>
#include <poplar/TypeConversion.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <poputil/Util.hpp>

using namespace poplar;
using namespace poplar::program;
using Format = QuarterMetadata::Format;

namespace
{

const char codelets[] = R"(
#include <poplar/Vertex.hpp>
#include <poplar/QuarterFloat.hpp>
using namespace poplar;

struct Decode : Vertex {
  Input<Vector<quarter>> in;
  Output<Vector<float>> out;
  bool compute()
  {
    for (unsigned i = 0; i < in.size(); ++i) out[i] = toFloat(in[i], unpackMetadata(in.getMetadata()));
    return true;
  }
};

struct DecodeOne : Vertex {
  Input<quarter> in;
  Output<float> out;
  bool compute()
  {
    *out = toFloat(*in, unpackMetadata(in.getMetadata()));
    return true;
  }
};

template <typename Rows> static bool decodeRows(const Rows &in, float *out)
{
  for (unsigned i = 0; i < in.size(); ++i)
    for (unsigned j = 0; j < in[i].size(); ++j) *out++ = toFloat(in[i][j], unpackMetadata(in.getMetadata()));
  return true;
}
struct DecodeRows : Vertex {
  Vector<Input<Vector<quarter>>> in;
  Output<Vector<float>> out;
  bool compute() { return decodeRows(in, &out[0]); }
};
struct DecodeList : Vertex {
  Input<VectorList<quarter, VectorListLayout::DELTAN>> in;
  Output<Vector<float>> out;
  bool compute() { return decodeRows(in, &out[0]); }
};

struct Encode : Vertex {
  Input<Vector<float>> in;
  Vector<Output<Vector<quarter, VectorLayout::SHORT_SPAN>>> out;
  bool compute()
  {
    unsigned next = 0;
    for (auto &row : out)
      for (auto &q : row) q = toQuarter(in[next++], unpackMetadata(out.getMetadata()));
    return true;
  }
};
)";

struct Quarters : SmallGraph {
  Sequence program;
  Quarters() : SmallGraph(codelets) { popops::addCodelets(graph); }

  Tensor mapped(Tensor t, unsigned tile = 0)
  {
    graph.setTileMapping(t, tile);
    return t;
  }
  Tensor spread(Tensor t)
  {
    for (std::size_t i = 0; i < t.numElements(); ++i)
      graph.setTileMapping(t.flatten()[i], static_cast<unsigned>(i * 4 / t.numElements()));
    return t;
  }
  VertexRef vertex(const char *type, unsigned tile = 3)
  {
    ComputeSet set = graph.addComputeSet(type);
    VertexRef v = graph.addVertex(set, type);
    graph.setTileMapping(v, tile);
    program.add(Execute(set));
    return v;
  }
  // The values that a codelet decodes from the rows.
  template <typename Field>
  std::vector<float> decoded(const char *type, const Field &quarters, std::size_t count)
  {
    Tensor out = mapped(graph.addVariable(FLOAT, {count}), 3);
    VertexRef v = vertex(type);
    graph.connect(v["in"], quarters);
    graph.connect(v["out"], out);
    return result<float>(*this, program, out);
  }
};

std::vector<unsigned char> codes()
{
  std::vector<unsigned char> all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<unsigned char>(i);
  return all;
}

bool same(const std::vector<float> &a, const std::vector<float> &b)
{
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  return a.size() == b.size();
}

const QuarterMetadata all[] = {{Format::F143, 0}, {Format::F143, -32}, {Format::F143, 31},
                               {Format::F152, 0}, {Format::F152, 5},   {Format::F152, -7}};

// One program for all metadata, which the host writes. The host converts by the published tables
// (unit-libarchive-ipu-quarter).
void casts_from_quarters()
{
  Quarters f;
  Tensor in = f.spread(f.graph.addVariable(QUARTER, {256}, "in"));
  Tensor floats = popops::cast(f.graph, in, FLOAT, f.program);
  f.graph.createHostWrite("in", in);
  f.graph.createHostRead("in", in);
  f.graph.createHostRead("floats", floats);
  Engine engine(f.graph, f.program);
  engine.load(f.device);
  const std::vector<unsigned char> written = codes();
  for (const QuarterMetadata &metadata : all) {
    std::vector<float> expected(256), got(256);
    convertFromDeviceType(QUARTER, metadata, written.data(), gccs::ArrayRef(expected));
    engine.writeTensor("in", metadata, written.data(), written.data() + 256);
    engine.run();
    engine.readTensor("floats", got.data(), got.data() + 256);
    CHECK(same(got, expected));
    QuarterMetadata found;
    std::vector<unsigned char> back(256);
    engine.readTensor("in", found, back.data(), back.data() + 256);
    CHECK(found == metadata && back == written);
  }
}

void casts_to_quarters(bool nanOnOverflow)
{
  Quarters f;
  const std::vector<float> values = {0,   -0.0f,  1,      -3,  1.0625f,  1.1875f,
                                     300, -1e30f, 1e-20f, NAN, 0x1p-33f, -7.5f};
  const std::size_t n = values.size();
  if (nanOnOverflow)
    setFloatingPointBehaviour(f.graph, f.program,
                              FloatingPointBehaviour(false, false, false, false, true));
  Tensor in = f.spread(f.graph.addConstant<float>(FLOAT, {n}, values.data()));
  for (const QuarterMetadata &metadata : all) {
    const std::string name = std::to_string(metadata.getBinary());
    Tensor with = createVariableMetadataTensor(f.graph, metadata.getFormat(), metadata.getScale());
    f.graph.createHostRead(name, popops::cast(f.graph, in, QUARTER, with, f.program));
  }
  Engine engine(f.graph, f.program);
  engine.load(f.device);
  engine.run();
  for (const QuarterMetadata &metadata : all) {
    std::vector<unsigned char> expected(n), got(n);
    QuarterMetadata found;
    convertToDeviceType(QUARTER, metadata, gccs::ArrayRef(values), expected.data(), nanOnOverflow);
    engine.readTensor(std::to_string(metadata.getBinary()), found, got.data(), got.data() + n);
    CHECK(found == metadata && got == expected);
  }
}

void casts_of_other_types()
{
  Quarters f;
  const QuarterMetadata metadata(Format::F143, -1);
  const std::vector<int> numbers = {0, 1, -2, 7, 100};
  Tensor ints = f.spread(f.graph.addConstant<int>(INT, {5}, numbers.data()));
  Tensor with = createConstantMetadataTensor(f.graph, Format::F143, -1);
  Tensor quarters = popops::cast(f.graph, ints, QUARTER, with, f.program);
  // A cast between quarters keeps the number if the other format has it, also in rows.
  Tensor other = f.spread(
      f.graph.addVariable(QUARTER, createConstantMetadataTensor(f.graph, Format::F152, 3), {7}));
  popops::castWithOutput(f.graph, quarters, concat(other.slice(0, 2), other.slice(4, 7)),
                         f.program);
  Tensor halves =
      popops::cast(f.graph, concat(other.slice(0, 2), other.slice(4, 7)), HALF, f.program);
  Tensor back = popops::cast(f.graph, halves, INT, f.program);
  CHECK((result<int>(f, f.program, back) == std::vector<int>{0, 1, -2, 7, 96}));
  CHECK_THROWS(tensor_metadata_error, "metadata for elements of type float",
               popops::cast(f.graph, ints, FLOAT, with, f.program));
}

// Numbers next to the middle of two quarters, by less than a float can say.
void doubles_are_rounded_once()
{
  const double middle = 1.0625, little = 1e-12;
  const std::vector<double> numbers = {middle - little,  middle,          middle + little,
                                       -middle - little, little - middle, 248 - little,
                                       1e-300,           -1e300,          1 + little};
  const std::vector<float> expected = {1, 1, 1.125f, -1.125f, -1, 240, 0, NAN, 1};
  const std::size_t n = numbers.size();
  std::vector<unsigned char> quarters(n);
  std::vector<float> back(n);
  convertToDeviceType(QUARTER, QuarterMetadata(), gccs::ArrayRef(numbers), quarters.data());
  convertFromDeviceType(QUARTER, QuarterMetadata(), quarters.data(), gccs::ArrayRef(back));
  CHECK(same(back, expected));
  Quarters f;
  Tensor t = f.mapped(f.graph.addConstant<double>(QUARTER, {n}, numbers.data()));
  CHECK(same(result<float>(f, f.program, popops::cast(f.graph, t, FLOAT, f.program)), expected));
}

void casts_of_numbers()
{
  namespace pe = popops::expr;
  Quarters f;
  const auto value = [&](const pe::Expr &expression) {
    Tensor t = popops::map(f.graph, pe::Cast(expression, FLOAT), {}, f.program);
    return result<float>(f, f.program, t)[0];
  };
  const auto as_quarter = [](float x) { return pe::Cast(pe::Const(x), QUARTER); };
  Tensor t = popops::map(f.graph, as_quarter(-1.5f), {}, f.program);
  CHECK(t.elementType() == QUARTER);
  CHECK(result<float>(f, f.program, popops::cast(f.graph, t, FLOAT, f.program))[0] == -1.5f);
  CHECK(value(as_quarter(1e10f)) == 240);
  CHECK(value(as_quarter(2.3f)) == 2.25f);
}

void codelets_see_them()
{
  const std::vector<float> numbers = {0.5f, -3, 8, 0, 1.25f, -7, 20, 40};
  for (const QuarterMetadata &metadata :
       {QuarterMetadata(Format::F143, -2), QuarterMetadata(Format::F152, 1)})
    for (bool constant : {true, false}) {
      Quarters f;
      Tensor with =
          constant
              ? createConstantMetadataTensor(f.graph, metadata.getFormat(), metadata.getScale())
              : createVariableMetadataTensor(f.graph, metadata.getFormat(), metadata.getScale());
      Tensor in = f.mapped(f.graph.addConstant<float>(FLOAT, {8}, numbers.data()));
      Tensor quarters = f.spread(f.graph.addVariable(QUARTER, with, {2, 4}));
      VertexRef v = f.vertex("Encode", 1);
      f.graph.connect(v["in"], in);
      f.graph.connect(v["out"], quarters);
      CHECK(quarters.hasMetadata() && quarters.getMetadata().elementType() == QUARTER_METADATA);
      CHECK(f.decoded("Decode", quarters.flatten(), 8) == numbers);
      CHECK(f.decoded("DecodeRows", quarters, 8) == numbers);
      CHECK(f.decoded("DecodeList", quarters, 8) == numbers);
      CHECK(f.decoded("DecodeOne", quarters[0][2], 1) == std::vector<float>{8});
    }
}

void programs_change_them()
{
  Quarters f;
  const std::vector<unsigned char> code = {0x40, 0xc0, 0x48};
  Tensor quarters = f.spread(f.graph.addVariable(QUARTER, {3}, "quarters"));
  f.graph.setInitialValue(quarters.reinterpret(UNSIGNED_CHAR), code);
  CHECK(f.decoded("Decode", quarters, 3) == (std::vector<float>{1, -1, 2})); // the default metadata
  f.program.add(
      Copy(createConstantMetadataTensor(f.graph, Format::F152, 4), quarters.getMetadata()));
  CHECK(f.decoded("Decode", quarters, 3) == (std::vector<float>{16, -16, 64}));
  // A scale that the program computes.
  Tensor scale = f.mapped(f.graph.addVariable(SIGNED_CHAR, {}, "scale"), 2);
  f.graph.setInitialValue(scale, -3);
  Tensor packed = createVariableMetadataTensor(f.graph, Format::F143, scale, f.program);
  f.program.add(Copy(packed, quarters.getMetadata()));
  CHECK(f.decoded("Decode", quarters, 3) == (std::vector<float>{0.125f, -0.125f, 0.25f}));
  // Metadata tensors are read as metadata.
  f.graph.createHostRead("packed", packed);
  f.graph.createHostRead("own", quarters.getMetadata());
  Engine engine(f.graph, f.program);
  engine.load(f.device);
  engine.run();
  std::vector<QuarterMetadata> read(2);
  engine.readTensor("packed", &read[0], &read[0] + 1);
  engine.readTensor("own", &read[1], &read[1] + 1);
  CHECK(read[0] == QuarterMetadata(Format::F143, -3) && read[1] == read[0] && sizeof read[0] == 1);
  // A clone has metadata of its own.
  CHECK(!f.graph.clone(quarters).getMetadata().intersectsWith(quarters.getMetadata()));
}

// Copies and duplicates have the values of the original. Constant metadata stay.
void copies()
{
  Quarters f;
  Tensor with = createConstantMetadataTensor(f.graph, Format::F152, -4);
  const float values[] = {0.75f, -6};
  Tensor t = f.mapped(f.graph.addConstant(QUARTER, with, {2}, values));
  Tensor copy = f.mapped(f.graph.addVariable(QUARTER, {2}, "copy"));
  f.program.add(Copy(t, copy));
  Tensor again = poputil::duplicate(f.graph, copy, f.program);
  Tensor fixed = f.mapped(f.graph.addVariable(
      QUARTER, createConstantMetadataTensor(f.graph, Format::F152, -3), {2}, "fixed"));
  f.program.add(Copy(t, fixed));
  CHECK(f.decoded("Decode", again, 2) == (std::vector<float>{0.75f, -6}));
  CHECK(f.decoded("Decode", copy, 2) == (std::vector<float>{0.75f, -6}));
  CHECK(f.decoded("Decode", fixed, 2) == (std::vector<float>{1.5f, -12}));
}

void constants()
{
  Quarters f;
  Tensor with = createConstantMetadataTensor(f.graph, Format::F152, -4);
  const float values[] = {0.75f, -6};
  Tensor t = f.mapped(f.graph.addConstant(QUARTER, with, {2}, values));
  float first = 0;
  CHECK(t[0].getConstantValue(&first) && first == 0.75f);
  CHECK(f.decoded("Decode", t, 2) == (std::vector<float>{0.75f, -6}));
  Tensor alike = f.mapped(f.graph.addConstant(QUARTER, with, {2, 2}, 1.5f));
  CHECK(f.decoded("DecodeRows", alike, 4) == std::vector<float>(4, 1.5f));
  Tensor any = createVariableMetadataTensor(f.graph, Format::F143, 0);
  CHECK_THROWS(tensor_metadata_error, "whose metadata are no constant",
               f.graph.addConstant(QUARTER, any, {1}, 1));
  Tensor padding = f.mapped(f.graph.addConstant(QUARTER, any, {2}, 0));
  CHECK(f.decoded("Decode", padding, 2) == (std::vector<float>{0, 0}));
}

void of_other_types()
{
  Quarters f;
  const std::vector<std::size_t> shape = {2, 3};
  CHECK(f.graph.addVariable(FLOAT, {}, shape, {"no metadata"}).shape() == shape);
  CHECK(f.graph.addVariable(FLOAT, {}, shape, VariableMappingMethod::LINEAR).shape() == shape);
  CHECK(f.graph.addConstant<float>(FLOAT, {}, shape, 1.5f).shape() == shape);
  CHECK(f.graph.addConstant(FLOAT, Tensor(), {2, 3}, 1).shape() == shape);
  const float half = 0.5f;
  CHECK(f.graph.addConstant(FLOAT, {}, half, "a number").rank() == 0);
  CHECK(f.graph.addVariable(FLOAT, {}, "a scalar").rank() == 0);
  Tensor with = createConstantMetadataTensor(f.graph, Format::F143, 1);
  CHECK(f.graph.clone(FLOAT, with, f.graph.addVariable(HALF, {3})).elementType() == FLOAT);
  CHECK(!f.graph.addVariable(FLOAT, {1}).getMetadata().valid() &&
        !f.graph.addVariable(FLOAT, {1}).hasMetadata());
  CHECK(!f.graph.addVariable(QUARTER, {0}).hasMetadata());
  CHECK(QUARTER.requiresMetadata() && !FLOAT.requiresMetadata());
}

void mistakes()
{
  Quarters f;
  Tensor a = f.mapped(f.graph.addVariable(QUARTER, {2}, "a"));
  Tensor b = f.mapped(f.graph.addVariable(
      QUARTER, createConstantMetadataTensor(f.graph, Format::F143, 1), {2}, "b"));
  CHECK_THROWS(poplar_error, "has elements of 'a' and of 'b', whose metadata are not the same",
               concat(a, b).getMetadata());
  CHECK_THROWS(type_error, "tensor {2} of 'x' cannot be metadata",
               f.graph.addVariable(QUARTER, f.graph.addVariable(FLOAT, {2}, "x"), {2}));
  ComputeSet set = f.graph.addComputeSet("set");
  VertexRef v = f.graph.addVertex(set, "DecodeRows");
  CHECK_THROWS(graph_connection_error, "its rows have different metadata",
               f.graph.connect(v["in"], std::vector<Tensor>{a, b}));
}

// The codes of concatenated quarters can be read and written, but not their values.
void handles_of_joined_ones()
{
  Quarters f;
  Tensor t = f.mapped(concat(f.graph.addVariable(QUARTER, {1}), f.graph.addVariable(QUARTER, {2})));
  f.graph.createHostWrite("t", t);
  f.graph.createHostRead("t", t);
  Engine engine(f.graph, Sequence());
  engine.load(f.device);
  QuarterMetadata found;
  char bytes[3] = {1, 2, 3}, back[3];
  engine.writeTensor("t", bytes, bytes + 3);
  engine.readTensor("t", back, back + 3);
  CHECK(!std::memcmp(bytes, back, 3));
  CHECK_THROWS(tensor_metadata_error, "is not of quarters that have one",
               engine.readTensor("t", found, back, back + 3));
}

void handles_that_there_are_not()
{
  Quarters f;
  Engine engine(f.graph, Sequence());
  engine.load(f.device);
  const char byte = 0;
  CHECK_THROWS(tensor_io_state_error, "there is no",
               engine.writeTensor("t", QuarterMetadata(), &byte, &byte + 1));
  unsigned char code = 0;
  CHECK_THROWS(tensor_metadata_error, "only known with its metadata",
               convertToDeviceType(QUARTER, std::vector<float>{1}, &code));
}

void handles_of_constants()
{
  Quarters f;
  Tensor t = f.mapped(
      f.graph.addVariable(QUARTER, createConstantMetadataTensor(f.graph, Format::F152, 2), {3}));
  f.graph.createHostWrite("t", t);
  f.graph.createHostRead("t", t);
  f.graph.createHostRead("floats", f.mapped(f.graph.addVariable(FLOAT, {1})));
  Engine engine(f.graph, Sequence());
  engine.load(f.device);
  QuarterMetadata found;
  const QuarterMetadata right(Format::F152, 2);
  char bytes[3] = {1, 2, 3}, back[3];
  engine.writeTensor("t", right, bytes, bytes + 3);
  engine.readTensor("t", found, back, back + 3);
  CHECK(found == right && !std::memcmp(bytes, back, 3));
  CHECK_THROWS(tensor_metadata_error, "a constant of the graph",
               engine.writeTensor("t", QuarterMetadata(), bytes, bytes + 3));
  float x;
  CHECK_THROWS(tensor_metadata_error, "'floats' is not of quarters",
               engine.readTensor("floats", found, &x, &x + 1));
}

} // namespace

int main()
{
  casts_from_quarters();
  casts_to_quarters(false);
  casts_to_quarters(true);
  casts_of_other_types();
  casts_of_numbers();
  doubles_are_rounded_once();
  codelets_see_them();
  programs_change_them();
  copies();
  constants();
  of_other_types();
  mistakes();
  handles_of_joined_ones();
  handles_of_constants();
  handles_that_there_are_not();
  return failures != 0;
}
