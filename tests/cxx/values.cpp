// Errors, types, targets, formats, and tensors that are made from others.
#include "small_graph.hpp"

#include <poplar/CSRFunctions.hpp>
#include <poplar/HalfFloat.hpp>
#include <poplar/version.hpp>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char codelets[] = R"(
#include <poplar/Vertex.hpp>
using namespace poplar;

struct Halves : Vertex {
  Output<Vector<float>> out;
  half one;
  Vector<half> more;
  bool negative;
  bool compute()
  {
    out[0] = negative ? half(-one) : one;
    out[1] = more[0];
    out[2] = more[1];
    return true;
  }
};
)";

template <typename Exception> void expect_exception(pop_error_code code)
{
  CHECK_THROWS(Exception, "the sentence", detail::check(pop_error_new(code, "the sentence")));
  CHECK_THROWS(Exception, "", [code] {
    try {
      detail::check(pop_error_new(code, "again"));
    } catch (const poplar_error &) { // the base of all errors
      throw;
    }
  }());
}

void errors_of_the_c_interface()
{
  unsigned seen = 0;
#define EXPECT_CODE(id, name, status)                                                              \
  switch (id) {                                                                                    \
  case POP_ERROR_INVALID_ARGUMENT:                                                                 \
  case POP_ERROR_USAGE:                                                                            \
    expect_exception<poplar_error>(id);                                                            \
    break;                                                                                         \
    ONE(POP_ERROR_INDEX, index_error)                                                              \
    ONE(POP_ERROR_TYPE, type_error)                                                                \
    ONE(POP_ERROR_TENSOR, tensor_creation_error)                                                   \
    ONE(POP_ERROR_INVALID_TILE_MAPPING, invalid_tile_mapping)                                      \
    ONE(POP_ERROR_UNKNOWN_VERTEX_TYPE, unknown_vertex_type)                                        \
    ONE(POP_ERROR_UNKNOWN_FIELD, unknown_field)                                                    \
    ONE(POP_ERROR_GRAPH_CONNECTION, graph_connection_error)                                        \
    ONE(POP_ERROR_GRAPH_CYCLE, graph_cycle_error)                                                  \
    ONE(POP_ERROR_CONTROL_PROGRAM, control_program_error)                                          \
    ONE(POP_ERROR_GRAPH_MEMORY, graph_memory_allocation_error)                                     \
    ONE(POP_ERROR_CODELET_COMPILE, graph_program_compilation_error)                                \
    ONE(POP_ERROR_LINK, link_error)                                                                \
    ONE(POP_ERROR_FILE_LOAD, file_load_error)                                                      \
    ONE(POP_ERROR_STREAM_CONNECTION, stream_connection_error)                                      \
    ONE(POP_ERROR_UNKNOWN_HANDLE, tensor_io_state_error)                                           \
    ONE(POP_ERROR_INVALID_OPTION, invalid_option)                                                  \
    ONE(POP_ERROR_RUNTIME, application_runtime_error)                                              \
    ONE(POP_ERROR_SYSTEM, system_runtime_error)                                                    \
    ONE(POP_ERROR_MEMORY, memory_allocation_error)                                                 \
    ONE(POP_ERROR_INTERNAL, internal_error)                                                        \
  }                                                                                                \
  ++seen;
#define ONE(id, exception)                                                                         \
  case id:                                                                                         \
    expect_exception<exception>(id);                                                               \
    break;
  POP_ERROR_CODES(EXPECT_CODE)
  CHECK(seen == 22);
  try {
    throw recoverable_runtime_error(RecoveryAction::LINK_RESET, "what");
  } catch (const runtime_error &e) {
    const auto *system = dynamic_cast<const system_runtime_error *>(&e);
    CHECK(system && std::string(e.what()) == "what");
    CHECK(dynamic_cast<const recoverable_runtime_error &>(e).getRecoveryAction() ==
          RecoveryAction::LINK_RESET);
  }
  CHECK(link_error("what", "undefined symbol").output == "undefined symbol");
}

void tensors_of_others()
{
  SmallGraph f(codelets);
  Tensor a = f.graph.addVariable(INT, {2, 3}, VariableMappingMethod::LINEAR, "a");
  Tensor many = f.graph.cloneN(FLOAT, a, 4, "copies");
  CHECK((many.shape() == std::vector<std::size_t>{4, 2, 3}) && many.elementType() == FLOAT);
  CHECK(!many.containsAliases() && f.graph.getTileMapping(many)[0].size() == 4);
  // A tile's elements are contiguous, clone after clone.
  Tensor spread = f.graph.addVariable(INT, {2, 3}, "spread");
  f.graph.setTileMapping(spread.slice(0, 1, 1), 0);
  f.graph.setTileMapping(spread.slice(1, 3, 1), f.graph.getTarget().getNumTiles() - 1);
  const auto by_region = [&](TensorCloneMethod method) {
    return f.graph.cloneN(HALF, spread.transpose(), 3, {}, method,
                          TensorCloneDuplicationMethod::DUPLICATE_BY_TILE_CONTIGUOUS_REGION);
  };
  Tensor parts = by_region(TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES),
         gathered = by_region(TensorCloneMethod::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES);
  CHECK((parts.shape() == std::vector<std::size_t>{3, 3, 2}) && parts.elementType() == HALF);
  CHECK(!parts.containsAliases());
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(f.graph.getTileMapping(parts[i]) == f.graph.getTileMapping(spread.transpose()));
  for (std::size_t i = 0; i < 3; ++i) { // two elements of a row of `spread`, in clone i
    VariableInterval first = parts[i][1][0].getVarRegions()[0];
    CHECK(first.interval == Interval(2 * i, 2 * i + 1));
    CHECK((parts[i][2][0].getVarRegions()[0] ==
           VariableInterval{first.var, Interval(2 * i + 1, 2 * i + 2)}));
    // With the gathering method, all four elements of the tile are in the order of `spread`.
    VariableRef var = gathered[i][1][0].getVarRegions()[0].var;
    const std::size_t places[2][2] = {{0, 2}, {1, 3}};
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t column = 0; column < 2; ++column)
        CHECK((gathered[i][row + 1][column].getVarRegions()[0] ==
               VariableInterval{
                   var, Interval(4 * i + places[row][column], 4 * i + places[row][column] + 1)}));
  }
  CHECK_THROWS(poplar_error, "an element twice",
               f.graph.cloneN(INT, a.expand({0}).broadcast(2, 0), 2, {},
                              TensorCloneMethod::CREATE_NEW_ORDER,
                              TensorCloneDuplicationMethod::DUPLICATE_BY_TILE_CONTIGUOUS_REGION));

  CHECK(f.graph.findUnbroadcastTensor(a.expand({1}).broadcast(5, 1).broadcast(2, 0)) ==
        a.expand({1}));
  CHECK(f.graph.findUnbroadcastTensor(a) == a);
  CHECK(f.graph.findUnbroadcastTensor(a.flatten().broadcast(3, 0)) == a.flatten());

  Tensor b = f.graph.addVariable(INT, {3, 2}, VariableMappingMethod::LINEAR, "b");
  Tensor turned = a.transpose(), other = b;
  f.graph.reorderToSimplify(&turned, {&other});
  CHECK(turned == a.flatten() && other == b.transpose().flatten());
  TensorRearranger rearranger = f.graph.getSimplifyingRearranger(a.transpose());
  CHECK(rearranger.valid() && rearranger.undoRearrangement(turned) == a.transpose().flatten());
  CHECK_THROWS(tensor_creation_error, "6 elements", rearranger.rearrange(a[0]));

  auto columns = a.slices({2u, 0u}, 1);
  CHECK(columns.size() == 2 && columns[0] == a.slice(2, 3, 1) && columns[1] == a.slice(0, 1, 1));
  VariableRef number = a.getVarRegions()[0].var;
  CHECK(f.graph.getVariable(number) == a && !f.graph.isConstant(number));
  Tensor constant = f.graph.addConstant(INT, {1}, 3);
  CHECK(f.graph.isConstant(constant.getVarRegions()[0].var));
  CHECK_THROWS(index_error, "", f.graph.isConstant(99));
}

void tiles_of_virtual_graphs()
{
  SmallGraph f(codelets);
  Graph part = f.graph.createVirtualGraph(1, 3);
  CHECK(part.convertPhysicalTileToVirtualTile(2) == 1 &&
        part.convertPhysicalTileToVirtualTile(0, 2) == 1);
  CHECK(part.convertTopLevelGraphTileToTile(1) == 0 && part.convertTileToTopLevelGraphTile(0) == 1);
  CHECK_THROWS(index_error, "tile 3", part.convertPhysicalTileToVirtualTile(3));

  IPUModel model;
  model.numIPUs = 2;
  model.tilesPerIPU = 4;
  Graph two(model.createDevice());
  CHECK(two.convertPhysicalTileToVirtualTile(1, 1) == 5);
  CHECK_THROWS(index_error, "no tile 5 of IPU 0", two.convertPhysicalTileToVirtualTile(0, 5));
  CHECK_THROWS(index_error, "no tile 1 of IPU 1073741824",
               two.convertPhysicalTileToVirtualTile(1u << 30, 1));
}

void halves()
{
  CHECK(IeeeHalf(1.5f).bits() == 0x3e00 && float(IeeeHalf::fromBits(0xc000)) == -2);
  IeeeHalf h(2049); // between 2048 and 2050: rounded
  h += 0.25f;
  CHECK(float(h) == 2048 && equivalent_device_type<half>::value == HALF);

  SmallGraph f(codelets);
  Tensor out = f.graph.addVariable(FLOAT, {3}, VariableMappingMethod::LINEAR, "out");
  ComputeSet cs = f.graph.addComputeSet("cs");
  VertexRef v = f.graph.addVertex(cs, "Halves", {{"out", out}});
  std::uint16_t bits = 0;
  f.graph.setInitialValueHalf(v["one"], IeeeHalf(0.5f).bits());
  f.graph.setInitialValueHalf(v["more"], std::vector<std::uint16_t>{0x3e00, 0x1234});
  f.graph.setInitialValueHalf(v["more"][1], std::vector<std::uint16_t>{0xc000});
  CHECK_THROWS(graph_connection_error, "'more[1]': it is one value, and 2 are given",
               f.graph.setInitialValueHalf(v["more"][1], std::vector<std::uint16_t>{1, 2}));
  CHECK_THROWS(type_error, "elements of type float",
               f.graph.addConstantHalf(FLOAT, {1000}, std::uint16_t(0x3c00)));
  CHECK_THROWS(type_error, "elements of type int", f.graph.addConstantHalf(INT, {1}, &bits));
  f.graph.setInitialValue(v["negative"], 30); // converted to true, as in C++
  f.graph.setTileMapping(v, 0);
  CHECK((result<float>(f, Execute(cs), out) == std::vector<float>{-0.5f, 1.5f, -2}));
  double two = 2, back = 0;
  copyDoubleToDeviceHalf(f.graph.getTarget(), &two, &bits, 1);
  copyDeviceHalfToDouble(f.graph.getTarget(), &bits, &back, 1);
  CHECK(bits == 0x4000 && back == 2);
  // It would be a tie, and 1, if it were a float first.
  double above = 1 + 1.0 / 2048 + 1.0 / (1 << 30);
  copyDoubleToDeviceHalf(f.graph.getTarget(), &above, &bits, 1);
  CHECK(bits == 0x3c01);
}

void types_and_targets()
{
  CHECK(Target().getInterleavedMemoryElementIndex() == 0);
  Target target = Target::createIPUTarget(2, "ipu2").createVirtualTarget(1, 16);
  CHECK(Target::createIPUTarget(2, 16, "IPU-POD16").getTargetArchString() == "ipu2");
  CHECK_THROWS(poplar_error, "there is no target 'POD16'", Target::createIPUTarget(2, "POD16"));
  CHECK(target.createVirtualTarget(1, 0).getNumTiles() == 0); // planners test for this
  CHECK(target.getNumTiles() == 16 && target.getMinIPUSyncDelay() > 0);
  CHECK(target.getMaxIPUSyncDelay() == target.getMinIPUSyncDelay() &&
        target.getGlobalSyncCycles() == target.c().host_sync_cycles);
  CHECK(target.getTilesPerSharedExchangeBus() == 2 && !target.supportsExchangeBusSharing());
  CHECK(target.getVectorWidth(HALF) == 4 && target.getFloatVectorWidth() == 2 &&
        target.getDataPathWidth() == 64 && target.getAtomicStoreGranularity() == 4 &&
        target.getRptCountMax() == 0xffffu);
  CHECK(target.getTypeLimitsMaxAs<int>(SHORT) == 32767 &&
        target.getTypeLimitsLowestAs<int>(SHORT) == -32768 &&
        target.getTypeLimitsMaxAs<unsigned>(UNSIGNED_INT) == 4294967295u &&
        target.getTypeLimitsMaxAs<float>(HALF) == 65504);
  CHECK_THROWS(type_error, "long long", target.getTypeLimitsMaxAs<double>(LONGLONG));
  CHECK(FLOAT.isFloatingPoint() && !INT.isFloatingPoint() && INT.hash() != FLOAT.hash());
  CHECK(versionString().find(POPLAR_VERSION_STRING " (Populus ") == 0);
  SourceLocation here = SourceLocation::Current();
  CHECK(here.getFunctionName() == "types_and_targets" && here.getLineNumber() > 0);
  IPUModel model;
  CHECK(!model.compileIPUCode);
}

// Floating-point behaviour is changed and restored.
void floating_point_behaviour()
{
  SmallGraph f(codelets);
  FloatingPointBehaviour none(false, false, false, false, false), some = none;
  some.div0 = true;
  CHECK((!none).c() == POP_FP_ALL && (some | none).c() == POP_FP_DIVISION_BY_ZERO);
  Sequence prog;
  setFloatingPointBehaviour(f.graph, prog, some);
  Tensor before = getAndModifyFloatingPointBehaviour(f.graph, prog, !none, none);
  Tensor inside = getAndModifyFloatingPointBehaviour(f.graph, prog, none, none);
  setFloatingPointBehaviour(f.graph, prog, before);
  Tensor behind = getAndModifyFloatingPointBehaviour(f.graph, prog, none, none);
  auto got = result<unsigned>(f, prog, concat({before, inside, behind}));
  CHECK(got.size() == 12 && got[0] == POP_FP_DIVISION_BY_ZERO && got[4] == 0 && got[8] == got[0]);
}

void formats_of_prints()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(FLOAT, {4}, VariableMappingMethod::LINEAR, "t");
  f.graph.setInitialValue(t, std::vector<float>{1, 1.5, 2, 2.5});
  PrintTensorFmt few(2, 1, 75, 2, PrintTensorFmt::FloatFormat::Scientific, ',', '<', '>');
  Sequence prog{PrintTensor("a", t, PrintTensorFmt()), PrintTensor(t, few, "b"),
                PrintTensor("c", t, PrintTensorFmt::disableFormatting()), PrintTensor("d", t)};
  std::stringstream archive;
  Executable executable = compileGraph(f.graph, {prog});
  executable.serialize(archive);
  const char expected[] = "a: [1.0000000 1.5000000 2.0000000 2.5000000]\n"
                          "b: <1.0e+00,...,2.5e+00>\nc: [1 1.5 2 2.5]\nd: {1,1.5,2,2.5}\n";
  Engine made(std::move(executable)), loaded(Executable::deserialize(archive));
  for (Engine *engine : {&made, &loaded}) {
    std::ostringstream text;
    engine->setPrintStream(text);
    engine->load(f.device);
    engine->run();
    CHECK(text.str() == expected);
  }
  CHECK_THROWS(poplar_error, "1 to 17 digits", PrintTensor(t, PrintTensorFmt(1000, 3, 75, 0)));
}

void profile_values()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(INT, {4}, VariableMappingMethod::LINEAR, "t");
  Engine engine(f.graph, WriteUndef(t));
  ProfileValue graph = engine.getGraphProfile();
  ProfileValue total = graph["memory"]["byTile"]["total"];
  CHECK(total.toUintVector().size() == 4 && total[0].type() == ProfileValue::Type::NUMBER);
  CHECK(total[3u].asInt() == total[3L].asInt() &&
        total[std::size_t(3)].asInt() == total[3].asInt());
  CHECK_THROWS(index_error, "item -1", total[-1]);
  CHECK(total.sumUint() == static_cast<std::uint64_t>(total.sumDouble()) &&
        total.toUintVector()[1] == total[1].asUint());
  CHECK(graph.asMap().count("memory") == 1);
  CHECK_THROWS(profiling_disabled, "", graph.getOrNull("nothing").type());
  std::ostringstream summary;
  printGraphSummary(summary, graph, {{"showVarStorage", "true"}});
  CHECK(summary.str().find("Memory Usage:") != std::string::npos);
  CHECK_THROWS(invalid_option, "showAll", printGraphSummary(summary, graph, {{"showAll", "true"}}));
}

void values_of_programs()
{
  ProfileValue::Map entries{{"a", 1}, {"b", ProfileValue::Vector{1, -2, "x", true, 2.5}}};
  ProfileValue value = entries;
  std::ostringstream json;
  serializeToJSON(json, value);
  CHECK(json.str() == "{\"a\":1,\"b\":[1,-2,\"x\",true,2.5]}\n");
  CHECK(value.asMap().size() == 2 && value["b"][1].asInt() == -2);
  CHECK(getAsProfileValue({{"key", "value"}})["key"].asString() == "value");
  CHECK(ProfileValue(-(std::int64_t(1) << 62)).asInt() == -(std::int64_t(1) << 62));
  Interval interval(2, 5);
  CHECK(interval.lower() == 2 && interval.upper() == 5);
  CHECK(Device::createCPUDevice(2).getTarget().getNumIPUs() == 2);
  CHECK(versionString().compare(0, 5, "3.4.0") == 0);
  std::vector<int> numbers{1, 2, 3};
  CHECK(std::accumulate(numbers.begin(), numbers.end(), 0) == 6); // of <numeric>
  CHECK((std::unordered_set<int>{1, 1, 2}.size() == 2));          // of <unordered_set>
  DebugContext outer("outer");
  CHECK(DebugInfo({outer, "inner"}, "function").getPathName() == "outer/inner");
  DebugInfo info(outer, "function");
  CHECK(DebugInfo({info, "inner", SourceLocation::Current()}, "layer").getPathName() ==
        "outer/inner");
  Engine engine(SmallGraph("").graph, Sequence(), {{"debug.instrument", "true"}});
  CHECK(engine.getEngineOptions().at("debug.instrument") == "true");
}

void switches_with_bounds()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(INT, {}, VariableMappingMethod::LINEAR, "t");
  f.graph.createHostWrite("t", t);
  Engine engine(f.graph, {Switch::switchWithBoundsChecking(t, {{1, Sequence()}}, "chosen"),
                          Switch::switchWithUnreachableDefault(t).add(1, Sequence())});
  engine.load(f.device);
  int value = 1;
  engine.writeTensor("t", &value);
  engine.run(0);
  value = 2;
  engine.writeTensor("t", &value);
  engine.run(1);
  CHECK_THROWS(application_runtime_error, "Switch 'chosen': no case has the value", engine.run(0));
}

// Enough programs that a lookup of one among the others matters. Some of them are in two places.
void programs_of_many_nodes()
{
  SmallGraph f(codelets);
  Tensor t = f.graph.addVariable(INT, {}, VariableMappingMethod::LINEAR, "t");
  f.graph.createHostWrite("t", t);
  Sequence all;
  for (unsigned i = 0; i < 500; ++i) {
    Repeat twice(2, PrintTensor(std::to_string(i), t));
    all.add(twice);
    if (i % 2) all.add(twice);
  }
  Switch negative(t);
  negative.add(5, PrintTensor("five", t)).add(-5, PrintTensor("minus five", t));
  Engine engine(f.graph, {all, negative});
  std::ostringstream printed;
  engine.setPrintStream(printed);
  engine.load(f.device);
  int value = -5;
  engine.writeTensor("t", &value);
  engine.run(0);
  std::string expected;
  for (unsigned i = 0; i < 500; ++i)
    for (unsigned n = i % 2 ? 4 : 2; n > 0; --n) expected += std::to_string(i) + ": -5\n";
  CHECK(printed.str() == expected);
  printed.str("");
  engine.run(1);
  CHECK(printed.str() == "minus five: -5\n");
}

} // namespace

int main()
{
  errors_of_the_c_interface();
  tensors_of_others();
  tiles_of_virtual_graphs();
  halves();
  types_and_targets();
  floating_point_behaviour();
  formats_of_prints();
  profile_values();
  values_of_programs();
  switches_with_bounds();
  programs_of_many_nodes();
  return failures != 0;
}
