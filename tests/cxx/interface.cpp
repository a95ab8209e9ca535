// The C++ interface, piece by piece. Each function tests one subject.
#include "small_graph.hpp"

#include <algorithm>
#include <locale>
#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/DeviceManager.hpp>
#include <poplar/RandomSeed.hpp>
#include <sstream>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char codelets[] = R"(
#include <poplar/Vertex.hpp>
using namespace poplar;

struct Scale : Vertex {
  Input<Vector<float>> in;
  Output<Vector<float>> out;
  Input<float> factor;
  float offset;
  bool compute()
  {
    for (unsigned i = 0; i < in.size(); ++i) out[i] = in[i] * *factor + offset;
    return true;
  }
};

struct Rows : Vertex {
  Vector<Input<Vector<int>>> rows;
  Vector<int> weights;
  Output<int> sum;
  bool compute()
  {
    int total = 0;
    for (unsigned i = 0; i < rows.size(); ++i)
      for (unsigned k = 0; k < rows[i].size(); ++k) total += rows[i][k] * weights[i];
    *sum = total;
    return true;
  }
};

struct Decrease : Vertex {
  InOut<int> value;
  bool compute()
  {
    *value = *value - 1;
    return true;
  }
};
)";

struct Fixture : SmallGraph {
  Fixture() : SmallGraph(codelets) {}
};

void connections()
{
  Fixture f;
  Tensor in = f.graph.addConstant<float>(FLOAT, {3}, {1, 2, 3});
  Tensor out = f.graph.addVariable(FLOAT, {2, 3}, VariableMappingMethod::LINEAR, "out");
  f.graph.setTileMapping(in, 0);
  ComputeSet cs = f.graph.addComputeSet("cs");
  VertexRef a =
      f.graph.addVertex(cs, "Scale", {{"in", in}, {"out", out[0]}, {"factor", 2}, {"offset", 0.5}});
  VertexRef b = f.graph.addVertex(cs, "Scale");
  f.graph.connect(b["in"], in);
  f.graph.connect(b["out"], out[1]);
  f.graph.connect(b["factor"], -1.0f);
  f.graph.setInitialValue(b["offset"], 1);
  f.graph.setTileMapping(a, 1);
  f.graph.setTileMapping(b, 2);
  CHECK((result<float>(f, Execute(cs), out) == std::vector<float>{2.5, 4.5, 6.5, 0, -1, -2}));
}

void rows()
{
  Fixture f;
  Tensor data = f.graph.addVariable(INT, {6}, "data"), sums = f.graph.addVariable(INT, {2}, "sums");
  f.graph.setInitialValue(data, std::vector<int>{1, 2, 3, 4, 5, 6});
  f.graph.setTileMapping(data, 0);
  f.graph.setTileMapping(sums, 0);
  ComputeSet cs = f.graph.addComputeSet("cs");
  std::vector<Tensor> parts = {data.slice(0, 1), data.slice(1, 6)};
  VertexRef a = f.graph.addVertex(
      cs, "Rows", {{"rows", parts}, {"weights", std::vector<int>{100, 1}}, {"sum", sums[0]}});
  VertexRef b = f.graph.addVertex(cs, "Rows", {{"sum", sums[1]}});
  f.graph.setFieldSize(b["rows"], 2);
  f.graph.connect(b["rows"][0], data.slice({0, 2}));
  f.graph.connect(b["rows"][1], data.slice(2, 4));
  f.graph.setInitialValue<int>(b["weights"], {1, 10});
  f.graph.setTileMapping(a, 0);
  f.graph.setTileMapping(b, 0);
  CHECK((result<int>(f, Execute(cs), sums) == std::vector<int>{120, 73}));
}

// Elements of vectors and rows can be connected one by one.
void elements_of_fields()
{
  Fixture f;
  Tensor data = f.graph.addVariable(INT, {3}, "data"), sum = f.graph.addVariable(INT, {}, "sum");
  f.graph.setInitialValue(data, std::vector<int>{1, 2, 3});
  f.graph.setTileMapping(data, 0);
  f.graph.setTileMapping(sum, 0);
  ComputeSet cs = f.graph.addComputeSet("cs");
  VertexRef v = f.graph.addVertex(cs, "Rows", {{"sum", sum}});
  f.graph.setTileMapping(v, 0);
  f.graph.setFieldSize(v["rows"], 3);
  f.graph.connect(v["rows"][0], data);
  f.graph.connect(v["rows"][1], ArrayRef<int>{4, 5});
  f.graph.setInitialValue(v["rows"][2], 7);
  CHECK_THROWS(index_error, "no element 0", f.graph.setInitialValue(v["weights"][0], 1));
  f.graph.setFieldSize(v["weights"], 3);
  for (int i = 2; i >= 0; i--) f.graph.setInitialValue(v["weights"][i], i ? 10 * i : 1);
  CHECK_THROWS(index_error, "no element 3", f.graph.setInitialValue(v["weights"][3], 1));
  CHECK_THROWS(graph_connection_error, "weights[0]",
               f.graph.setInitialValue(v["weights"][0], std::vector<int>{1, 2}));
  CHECK_THROWS(graph_connection_error, "rows[0]", f.graph.setFieldSize(v["rows"][0], 2));
  VertexRef scale = f.graph.addVertex(f.graph.addComputeSet("unused"), "Scale");
  CHECK_THROWS(graph_connection_error, "offset[0]", f.graph.setInitialValue(scale["offset"][0], 1));
  CHECK(result<int>(f, Execute(cs), sum)[0] == 6 + 10 * 9 + 20 * 7);
}

void constants_of_all_kinds()
{
  Fixture f;
  double values[] = {1.5, -2};
  Tensor parts[] = {
      f.graph.addConstant<float>(FLOAT, {2}, {1.5, -2.0}),
      f.graph.addConstant(FLOAT, {2}, values),
      f.graph.addConstant(FLOAT, {2}, std::vector<int>{7, 8}),
      f.graph.addConstant(FLOAT, {2}, 9),
      f.graph.addConstant<double>(FLOAT, {2}, values),
      f.graph.addConstant<float>(FLOAT, {}, 4).expand({0}),
  };
  for (const Tensor &part : parts) f.graph.setTileMapping(part, 1);
  Tensor all = concat(parts), copy = f.graph.clone(all.slice(0, 11));
  f.graph.setTileMapping(copy, 3);
  CHECK((result<float>(f, Copy(all, copy), copy) ==
         std::vector<float>{1.5, -2, 1.5, -2, 7, 8, 9, 9, 1.5, -2, 4}));

  Fixture g;
  Tensor half = g.graph.addConstant<float>(HALF, {2}, {1.5, -2.0}),
         out = g.graph.addVariable(HALF, {2});
  Tensor flags = g.graph.addConstant<bool>(BOOL, {2}, {true, false});
  g.graph.setTileMapping(half, 0);
  g.graph.setTileMapping(flags, 0);
  g.graph.setTileMapping(out, 0);
  auto bits = result<std::uint16_t>(g, Copy(half, out), out);
  float floats[2];
  copyDeviceHalfToFloat(g.device.getTarget(), bits.data(), floats, 2);
  CHECK(bits[0] == 0x3e00 && floats[0] == 1.5f && floats[1] == -2);
  // A double is rounded once: by way of float it would be a tie, and 1.
  Fixture h;
  Tensor near = h.graph.addConstant<double>(HALF, {}, 1 + 1.0 / 2048 + 1.0 / (1 << 30)),
         rounded = h.graph.addVariable(HALF, {});
  h.graph.setTileMapping(near, 0);
  h.graph.setTileMapping(rounded, 0);
  CHECK(result<std::uint16_t>(h, Copy(near, rounded), rounded)[0] == 0x3c01);
  CHECK_THROWS(tensor_creation_error, "2 values for 3 elements",
               g.graph.addConstant<float>(FLOAT, {3}, {1, 2}));
}

// Sequence::add copies the program as it is at that time.
void programs_are_values()
{
  Fixture f;
  Tensor value = f.graph.addVariable(INT, {1}, "value");
  f.graph.setInitialValue(value, 100);
  f.graph.setTileMapping(value, 0);
  ComputeSet cs = f.graph.addComputeSet("cs");
  f.graph.setTileMapping(f.graph.addVertex(cs, "Decrease", {{"value", value}}), 0);

  Execute decrease(cs);
  Sequence inner(decrease, decrease), outer;
  outer.add(inner);
  inner.add(Execute(cs));
  outer.add(inner);
  Sequence copy = outer;
  copy.add(inner);
  Sequence moved = std::move(copy);
  copy.add(Execute(cs));
  CHECK(inner.size() == 3 && outer.size() == 2 && moved.size() == 3 && copy.size() == 1);
  CHECK(result<int>(f, outer, value)[0] == 95);
  CHECK(result<int>(f, moved, value)[0] == 92);
  CHECK(result<int>(f, copy, value)[0] == 99);
  CHECK(result<int>(f, Repeat(7, Sequence{outer, Program()}), value)[0] == 65);

  Sequence itself{decrease};
  itself.add(itself);
  itself.add(itself);
  CHECK(itself.size() == 3 && result<int>(f, itself, value)[0] == 96);
  Switch none(value);
  none.add(1, none).add(2, none);
  CHECK(result<int>(f, none, value)[0] == 100);
}

// Programs that are nested too deep are refused, and are freed without recursion.
void nested_programs()
{
  Fixture f;
  Tensor value = f.graph.addVariable(INT, {1}, "value");
  f.graph.setInitialValue(value, 100);
  f.graph.setTileMapping(value, 0);
  ComputeSet cs = f.graph.addComputeSet("cs");
  f.graph.setTileMapping(f.graph.addVertex(cs, "Decrease", {{"value", value}}), 0);
  Program program = Execute(cs);
  for (int i = 0; i < 4000; ++i) program = Repeat(1, program);
  CHECK(result<int>(f, program, value)[0] == 99);
  for (int i = 0; i < 300000; ++i) program = Sequence{program};
  CHECK_THROWS(control_program_error, "more than 20000 levels", Engine(f.graph, program));
}

void control_flow()
{
  Fixture f;
  Tensor value = f.graph.addVariable(INT, {}, "value"), log = f.graph.addVariable(INT, {4}, "log");
  f.graph.setInitialValue(value, 3);
  f.graph.setTileMapping(value, 0);
  f.graph.setTileMapping(log, 1);
  auto constant = [&](int n) {
    Tensor c = f.graph.addConstant(INT, {1}, n);
    f.graph.setTileMapping(c, 1);
    return c;
  };
  auto note = [&](unsigned i, int n) { return Copy(constant(n), log.slice(i, i + 1)); };
  ComputeSet cs = f.graph.addComputeSet("cs");
  f.graph.setTileMapping(f.graph.addVertex(cs, "Decrease", {{"value", value}}), 0);
  Function twice = f.graph.addFunction(Sequence{Execute(cs), Execute(cs)});

  Switch choice(value, note(0, -1));
  choice.add(3, note(0, 33)).add(1, note(0, 11));
  Switch others(value, {{4, note(0, 44)}}, "others");
  Sequence one = Repeat(1, others);
  CHECK(one.size() == 1);
  Sequence program{choice, one, Call(twice), If(value, note(1, 1), note(1, 2))};
  program.add(RepeatWhileTrue(Sequence(), value, Execute(cs))); // 1 -> 0
  program.add(If(value, note(2, 1), note(2, 2)));
  program.add(Block(note(3, 5), "block"));
  program.add(Sync(SyncType::INTERNAL));
  program.add(WriteUndef(value));
  CHECK((result<int>(f, program, log) == std::vector<int>{33, 1, 2, 5}));

  Engine engine(f.graph, Sequence{AbortOnCondition(value, "value is not zero")});
  engine.load(f.device);
  CHECK_THROWS(application_runtime_error, "value is not zero", engine.run());
}

void tensors()
{
  Fixture f;
  Tensor t = f.graph.addVariable(FLOAT, {4, 6}, "t");
  f.graph.setTileMapping(t, 2);
  const auto unread =
      t.elementType(); // unused, but no warning: some programs are compiled with -Werror
  const Target unread_target = f.graph.getTarget(); // the same
  CHECK(t.rank() == 2 && t.dim(1) == 6 && t.numElements() == 24 && t.elementType() == FLOAT);
  CHECK((t.slice({1, 2}, {3, 6}).shape() == std::vector<std::size_t>{2, 4}));
  CHECK((t.transpose().shape() == std::vector<std::size_t>{6, 4}));
  CHECK(t.dimShuffle({1, 0}) == t.transpose());
  CHECK(t.index({2, 3}) == t[2][3] && t != t.transpose());
  CHECK((t.reshape({2, 12}).flatten() == t.flatten()));
  CHECK((t.expand({0, 2}).shape() == std::vector<std::size_t>{1, 4, 6, 1}));
  CHECK((t.expand({1}).squeeze({1}) == t));
  CHECK((t.broadcast(3, 0).shape() == std::vector<std::size_t>{12, 6}));
  CHECK((concat({t, t}, 1).shape() == std::vector<std::size_t>{4, 12}));
  CHECK((append(t, t[0]).shape() == std::vector<std::size_t>{5, 6}));
  CHECK((t.subSample(2, 1).shape() == std::vector<std::size_t>{4, 3}));
  CHECK(t.reverse(0)[0] == t[3] && t.reinterpret(INT).elementType() == INT);
  CHECK(t.shapeToString() == "{4,6}" && t.getDebugStr() == "float {4,6} = t[0:24]");
  CHECK(t.isContiguous() && !t.transpose().isContiguous() && t.broadcast(2, 1).containsAliases());
  auto regions = t.slice(1, 3, 1).getVarRegions();
  CHECK(regions.size() == 4 && regions[1].interval == Interval(7, 9));
  auto parts = t.flatten().slices({{{0, 2}, {5, 6}}, {{8, 9}}});
  CHECK(parts.size() == 2 && parts[0].numElements() == 3);
  CHECK(!Tensor().valid() && t.valid());
  CHECK_THROWS(index_error, "", t.slice(3, 9));
  CHECK_THROWS(index_error, "the tensor's rank is 2", t.dim(2));
  CHECK_THROWS(tensor_creation_error, "the tensor is null", Tensor().flatten());
}

void tile_mappings()
{
  Fixture f;
  Tensor t = f.graph.addVariable(INT, {10}, "t");
  bool complete = true;
  f.graph.getTileMapping(t, &complete);
  CHECK(!complete);
  CHECK_THROWS(invalid_tile_mapping, "not all elements", f.graph.getTileMapping(t));
  Graph::TileToTensorMapping mapping = {{{0, 2}, {4, 6}}, {}, {{2, 4}}, {{6, 10}}};
  f.graph.setTileMapping(t, mapping);
  CHECK(f.graph.getTileMapping(t) == mapping);
  auto sorted =
      f.graph.getSortedContiguousRegions(concat(t.slice(5, 10), t.slice(0, 5)), {{0, 10}});
  CHECK(sorted.size() == 1 && (sorted[0] == std::vector<Interval>{{5, 10}, {0, 5}}));
  CHECK_THROWS(invalid_tile_mapping, "tile 4", f.graph.setTileMapping(t, 4));

  Graph part = f.graph.createVirtualGraph(2, 4);
  Tensor u = part.addVariable(INT, {2}, VariableMappingMethod::LINEAR, "u");
  CHECK(part.getTarget().getNumTiles() == 2 && part.convertVirtualTileToPhysicalTile(1) == 3);
  CHECK((f.graph.getTileMapping(u) == Graph::TileToTensorMapping{{}, {}, {{0, 1}}, {{1, 2}}}));
  CHECK(f.graph.createVirtualGraph(3u).getTarget().getTilesPerIPU() == 3);
}

// The first error is thrown where it is made. The graph can still be used.
void errors()
{
  Fixture f;
  ComputeSet cs = f.graph.addComputeSet("cs");
  CHECK_THROWS(unknown_vertex_type, "Scale", f.graph.addVertex(cs, "Scales"));
  VertexRef v = f.graph.addVertex(cs, "Decrease");
  f.graph.setTileMapping(v, 0);
  CHECK_THROWS(unknown_field, "valu", f.graph.connect(v["valu"], 3));
  CHECK_THROWS(graph_connection_error, "int",
               f.graph.connect(v["value"], f.graph.addVariable(FLOAT, {1})));
  Tensor t = f.graph.addVariable(INT, {1}, "t");
  CHECK_THROWS(graph_connection_error, "", Engine(f.graph, Execute(cs)));
  f.graph.connect(v["value"], t);
  CHECK_THROWS(invalid_tile_mapping, "'t'", Engine(f.graph, Execute(cs)));
  f.graph.setTileMapping(t, 0);
  CHECK_THROWS(invalid_option, "debug.instrument",
               Engine(f.graph, Execute(cs), {{"debug.instument", "true"}}));
  CHECK(result<int>(f, Execute(cs), t)[0] == -1);
  std::stringstream wrong("int f( {");
  CHECK_THROWS(graph_program_compilation_error, "expected", f.graph.addCodelets(wrong));
  CHECK_THROWS(file_load_error, "no-such.gp", f.graph.addCodelets("no-such.gp"));
  CHECK_THROWS(invalid_tile_mapping, "first < end", (void)f.graph.createVirtualGraph(2, 2));
}

struct Counting : StreamCallback {
  int &next, &completed;
  Counting(int &n, int &c) : next(n), completed(c) {}
  Result prefetch(void *p) override
  {
    fetch(p);
    return Result::Success;
  }
  void fetch(void *p) override { *static_cast<int *>(p) = next++; }
  void complete() override { ++completed; }
};

void streams()
{
  Fixture f;
  Tensor t = f.graph.addVariable(INT, {1}, "t");
  f.graph.setTileMapping(t, 0);
  DataStream in = f.graph.addHostToDeviceFIFO("in", INT, 1, ReplicatedStreamMode::REPLICATE,
                                              {{"bufferingDepth", "2"}});
  DataStream out = f.graph.addDeviceToHostFIFO("out", INT, 1);
  CHECK(in.handle() == "in" && out.numElements() == 1 && out.elementType() == INT);
  CHECK(isHostToDevice(in.type()) && isDeviceToHost(out.type()) && in.replicationFactor() == 1);
  Program round = Sequence{Copy(in, t), Copy(t, out)};
  Engine engine(f.graph, {Repeat(3, round), round}, {{"exchange.enablePrefetch", "true"}});
  engine.load(f.device);

  int next = 5, completed = 0;
  std::vector<int> got;
  engine.connectStreamToCallback("in", std::unique_ptr<Counting>(new Counting(next, completed)));
  engine.connectStreamToCallback("out", [&got](void *p) { got.push_back(*static_cast<int *>(p)); });
  engine.run(0);
  CHECK((got == std::vector<int>{5, 6, 7}) && completed == 3);

  int one = 42, to[2] = {};
  engine.connectStream(in, &one);
  engine.connectStream(out, to, to + 2);
  engine.run(1);
  engine.run(1);
  CHECK(to[0] == 42 && to[1] == 42);
  std::vector<int> seven{7};
  engine.connectStream<int>("in", seven);
  engine.run(1);
  CHECK(to[0] == 7);
  engine.connectStreamToCallback(out,
                                 [](void *) { throw std::out_of_range("thrown by the callback"); });
  CHECK_THROWS(std::out_of_range, "thrown by the callback", engine.run(1));
  CHECK_THROWS(stream_connection_error, "'in'", engine.connectStream("im", &one));
}

void remote_buffers()
{
  Fixture f;
  RemoteBuffer buffer = f.graph.addRemoteBuffer("rows", INT, 2, 4);
  Tensor t = f.graph.addVariable(INT, {2}, VariableMappingMethod::LINEAR, "t");
  Tensor row = f.graph.addConstant(UNSIGNED_INT, {1}, 2);
  f.graph.setTileMapping(row, 1);
  Engine engine(f.graph, Sequence{Copy(buffer, t, row), Copy(t, buffer)});
  engine.load(f.device);
  int data[2] = {3, 4}, back[2] = {};
  engine.copyToRemoteBuffer(data, "rows", 2);
  engine.run();
  engine.copyFromRemoteBuffer("rows", back, 0);
  CHECK(back[0] == 3 && back[1] == 4 && buffer.getRepeats() == 4);
  std::vector<int> more{5, 6}, got(2), long_row(3);
  engine.copyToRemoteBuffer<int>(gccs::ArrayRef<int>(more), "rows", 2, 0);
  engine.run();
  engine.copyFromRemoteBuffer<int>("rows", gccs::ArrayRef<int>(got.data(), 2), 0);
  CHECK(got == more);
  engine.copyToRemoteBuffer<int>(std::vector<int>{7, 8}, "rows", 1);
  engine.copyFromRemoteBuffer("rows", ArrayRef<int>(got), 1);
  CHECK((got == std::vector<int>{7, 8}));
  CHECK_THROWS(poplar_error, "8 bytes",
               engine.copyFromRemoteBuffer<int>("rows", ArrayRef<int>(long_row), 1));
  CHECK_THROWS(index_error, "not 4", engine.copyToRemoteBuffer<int>(more, "rows", 4));
}

// Executables are saved, loaded and run. Their bytes are those of target.saveArchive.
void executables()
{
  Fixture f;
  Tensor t = f.graph.addVariable(INT, {1}, "t");
  f.graph.setTileMapping(t, 0);
  f.graph.setInitialValue(t, 9);
  f.graph.createHostRead("t", t);
  ComputeSet cs = f.graph.addComputeSet("cs");
  f.graph.setTileMapping(f.graph.addVertex(cs, "Decrease", {{"value", t}}), 0);
  std::stringstream first, second;
  {
    Executable made = compileGraph(f.graph, {Execute(cs)});
    made.serialize(first);
    made.serialize(second);
  }
  CHECK(first.str().compare(0, 8, "!<arch>\n") == 0 && first.str() == second.str());
  Engine engine(Executable::deserialize(first));
  engine.load(f.device);
  engine.run();
  int value = 0;
  engine.readTensor("t", &value);
  CHECK(value == 8);
  // An executable that is passed without a move can serve several independent engines.
  const Executable shared = compileGraph(f.graph, {Execute(cs)});
  std::unique_ptr<Engine> one(new Engine(shared, {{"target.tileEngine", "interpreter"}}));
  Engine two(shared);
  int values[2] = {};
  one->load(f.device);
  one->run();
  one->run();
  one->readTensor("t", &values[0]);
  one.reset();
  two.loadAndRun(f.device);
  two.readTensor("t", &values[1]);
  CHECK(values[0] == 7 && values[1] == 8 && shared.getTarget().getNumTiles() == 4);
  Executable moved = shared;
  Engine three(std::move(moved));
  std::stringstream third, again;
  three.serializeExecutable(third);
  shared.serialize(again);
  CHECK(third.str() == again.str());
  std::stringstream damaged("no archive");
  CHECK_THROWS(file_load_error, "", Executable::deserialize(damaged));
  CHECK_THROWS(poplar_error, "there is none", Executable().getTarget());
}

// A stream that nothing can be written to, and which throws.
struct FullStream : std::streambuf, std::ostream {
  FullStream() : std::ostream(static_cast<std::streambuf *>(this)) { exceptions(badbit); }
};

// The exceptions of a stream do not go through functions of C.
void streams_that_throw()
{
  Fixture f;
  Tensor t = f.graph.addVariable(FLOAT, {2}, "t");
  f.graph.setTileMapping(t, 0);
  Engine engine(f.graph, PrintTensor("title", t));
  engine.load(f.device);
  std::ostringstream text;
  FullStream printed, archive, summary, saved;
  engine.setPrintStream(printed);
  CHECK_THROWS(system_runtime_error, "cannot print tensor 'title'", engine.run());
  engine.setPrintStream(text);
  engine.load(f.device);
  engine.run();
  CHECK(text.str() == "title: {0,0}\n");
  CHECK_THROWS(system_runtime_error, "", engine.serializeExecutable(archive));
  CHECK_THROWS(system_runtime_error, "", engine.printProfileSummary(summary));
  CHECK_THROWS(system_runtime_error, "",
               f.graph.serializeTensors(saved, {t}, SerializationFormat::Binary));
}

// Numbers of another country.
struct Commas : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

void printing()
{
  Fixture f;
  Tensor t = f.graph.addVariable(FLOAT, {2, 2}, "t");
  f.graph.setTileMapping(t, 0);
  f.graph.setInitialValue(t, 0.25);
  Engine engine(f.graph, PrintTensor("title", t));
  engine.load(f.device);
  std::ostringstream text, memory, dot, json;
  engine.setPrintStream(text);
  engine.run();
  CHECK(text.str() == "title: {\n {0.25,0.25},\n {0.25,0.25}\n}\n");
  engine.printProfileSummary(memory);
  CHECK(memory.str().find("Memory Usage:") != std::string::npos);
  f.graph.outputComputeGraph(dot, {PrintTensor("title", t)});
  CHECK(dot.str().find("digraph") != std::string::npos &&
        dot.str().find("title") != std::string::npos);
  CHECK(f.graph.getVariableTileMapping(t.getVarRegions()[0].var)[0].size() == 1);
  std::ostringstream tensors, none;
  f.graph.serializeTensors(tensors, {t[1], t.transpose()});
  CHECK(tensors.str() == "[{\"type\":\"float\",\"shape\":[2],\"pieces\":[[0,2,4]]},"
                         "{\"type\":\"float\",\"shape\":[2,2],\"pieces\":[[0,0,1],[0,2,3],"
                         "[0,1,2],[0,3,4]]}]");
  std::ostringstream hexadecimal;
  hexadecimal.imbue(std::locale(std::locale(), new Commas));
  hexadecimal << std::hex;
  f.graph.serializeTensors(hexadecimal, {t.flatten().broadcast(5, 0)});
  CHECK(hexadecimal.str().find("\"shape\":[20]") != std::string::npos);
  f.graph.serializeTensors(none, {});
  CHECK(none.str() == "[]");
  std::stringstream saved;
  f.graph.serializeTensors(saved, {t.transpose()}, SerializationFormat::Binary);
  const std::vector<Tensor> again = f.graph.deserializeTensors(saved, SerializationFormat::Binary);
  CHECK(again.size() == 1 && again[0].shape() == t.shape() && again[0] != t.transpose() &&
        again[0].getVarRegions().size() == 4);
  std::ostringstream steps;
  dumpProgram(f.graph, Sequence{Copy(t[0], t[1])}, steps);
  CHECK(steps.str().find("\"Copy\"") != std::string::npos &&
        steps.str().find("\"Execute\"") == std::string::npos);
  f.graph.serialize(json, SerializationFormat::JSON);
  CHECK(json.str()[0] == '{');
  std::stringstream cbor; // the same as CBOR: a map of indefinite length
  f.graph.serialize(cbor, SerializationFormat::Binary);
  CHECK(cbor.str().substr(0, 8) == "\xbf\x66target" && cbor.str().back() == '\xff');
}

void profiles_and_registers()
{
  Fixture f;
  Tensor t = f.graph.addVariable(INT, {1}, "t");
  f.graph.setTileMapping(t, 1);
  ComputeSet cs = f.graph.addComputeSet("decrease");
  f.graph.setTileMapping(f.graph.addVertex(cs, "Decrease", {{"value", t}}), 1);
  Sequence once{Execute(cs)}, often{Repeat(100, Execute(cs))}, seeds;
  setFloatingPointBehaviour(f.graph, seeds,
                            FloatingPointBehaviour(false, false, false, false, false));
  setHwSeeds(f.graph, f.graph.clone(getHwSeeds(f.graph, seeds)), seeds);
  Tensor few = cycleCount(f.graph, once, 1, SyncType::INTERNAL),
         many = cycleCount(f.graph, often, 1, "named");
  f.graph.createHostRead("cycles", concat(few, many));
  Sequence behind;
  std::vector<Tensor> stamps =
      cycleStamp(f.graph, behind, std::vector<unsigned>{3, 0}, SyncType::INTERNAL, "behind");
  CHECK(stamps.size() == 2 && f.graph.getTileMapping(stamps[0])[3].size() == 1);
  CHECK(cycleStamp(f.graph, behind, std::vector<unsigned>(), SyncType::INTERNAL).empty());
  stamps.push_back(cycleStamp(f.graph, behind, 1, SyncType::EXTERNAL));
  f.graph.createHostRead("stamps", concat(stamps));
  Engine engine(f.graph, Sequence{seeds, once, often, behind}, {{"debug.instrument", "true"}});
  engine.load(f.device);
  engine.run();
  unsigned cycles[4];
  engine.readTensor("cycles", cycles);
  CHECK(cycles[0] > 0 && cycles[1] == 0 && cycles[2] > 20 * 100 && cycles[2] > cycles[0] + 20 * 99);
  unsigned moments[6];
  engine.readTensor("stamps", moments);
  CHECK(moments[0] > cycles[2] && moments[0] < moments[2] + 50 && moments[2] < moments[0] + 50);
  CHECK(moments[4] > moments[0] && moments[1] == 0 && moments[3] == 0);

  ProfileValue graph = engine.getGraphProfile();
  CHECK(graph.type() == ProfileValue::Type::MAP && graph["memory"]["byTile"]["total"].size() == 4);
  CHECK(graph["memory"]["byTile"]["total"].sumInt() > 0 && !graph.keys().empty());
  CHECK_THROWS(index_error, "'nothing'", graph["nothing"]);
  CHECK(engine.getExecutionProfile()["runs"].size() == 1);
  std::ostringstream json, summary, steps;
  serializeToJSON(json, graph);
  CHECK(json.str()[0] == '{');
  engine.printProfileSummary(summary);
  engine.printProfileSummary(steps, {{"showExecutionSteps", "true"}});
  CHECK(summary.str().find("Memory Usage:") != std::string::npos);
  CHECK(summary.str().find("Execution:") != std::string::npos);
  CHECK(steps.str().size() > summary.str().size());
  CHECK_THROWS(invalid_option, "showAll", engine.printProfileSummary(steps, {{"showAll", "true"}}));
  // The same from the profile values alone.
  std::ostringstream both, halves, intervals;
  ProfileValue execution = engine.getExecutionProfile();
  printProfileSummary(both, graph, execution, {{"showExecutionSteps", "true"}});
  CHECK(both.str() == steps.str());
  printProfileSummary(halves, graph);
  printExecutionSummary(halves, graph, execution, {{"showExecutionSteps", "true"}});
  CHECK(halves.str() == steps.str());
  CHECK_THROWS(poplar_error, "are needed", printExecutionSummary(halves, execution, graph));
  // Each row begins where the one before ends, and all four tiles are active.
  engine.reportIntervals(intervals);
  std::istringstream rows(intervals.str());
  std::string line;
  std::getline(rows, line);
  CHECK(line == "begin,end,compute,exchange,sync");
  unsigned long at = 0, begin, end, doing[3], computed = 0;
  while (std::getline(rows, line)) {
    CHECK(std::sscanf(line.c_str(), "%lu,%lu,%lu,%lu,%lu", &begin, &end, &doing[0], &doing[1],
                      &doing[2]) == 5);
    CHECK(begin == at && end > begin && doing[0] + doing[1] + doing[2] == 4);
    computed += doing[0] * (end - begin);
    at = end;
  }
  CHECK(at == execution["simulation"]["cycles"].asUint());
  CHECK(computed == execution["simulation"]["tileCycles"]["compute"].asUint());
  engine.resetExecutionProfile();
  engine.disableExecutionProfiling();
  CHECK(engine.getExecutionProfile()["runs"].size() == 0);
}

void devices_and_targets()
{
  auto manager = DeviceManager::createDeviceManager();
  auto pairs = manager.getDevices(TargetType::IPU, 2);
  CHECK(!pairs.empty() && pairs[0].getTarget().getNumIPUs() == 2 &&
        pairs[0].getDriverIDs().size() == 2);
  Device first = std::move(pairs[0]);
  CHECK(first.attach() && first.isAttached());
  CHECK(!manager.getDevice(static_cast<unsigned>(first.getDriverIDs()[0])).attach());
  first.detach();
  CHECK(first.createVirtualDevice(16).getTarget().getTilesPerIPU() == 16);
  CHECK(manager.getDevices(TargetType::CPU, 1)[0].getTarget().getTargetType() == TargetType::CPU);
  CHECK_THROWS(poplar_error, "there is no device", Device().getTarget());

  Target target = Target::createIPUTarget(2, "ipu1");
  CHECK(target.getNumTiles() == 2432 && target.getNumWorkerContexts() == 6 &&
        target.getExchangeBytesPerCycle() == 4);
  CHECK(target.getMemoryElementOffsets()[1] == 0x4000 &&
        target.getInterleavedMemoryElementIndex() == 8);
  CHECK(Target::createCPUTarget().getMemoryElementOffsets().size() == 1 << 18);
  CHECK(target.getTypeSize(HALF) == 2 && target.getTargetArchString() == "ipu1");
  CHECK(Target::createIPUTarget(1, 8, "ipu2").getTilesPerIPU() == 8);
  CHECK_THROWS(poplar_error, "ipu3", Target::createIPUTarget(1, "ipu3"));
  IPUModel model("ipu1");
  model.numIPUs = 2;
  model.minIPUSyncDelay = 0;
  model.relativeSyncDelay = IPUModel::RelativeSyncDelayType::NO_DELAY;
  CHECK(!model.compileIPUCode);
  CHECK(model.createDevice().getTarget().getNumTiles() == 2432);

  Graph cpu(Device::createCPUDevice());
  std::stringstream text(codelets);
  cpu.addCodelets(text);
  CHECK(cpu.hasCodelet("Scale") && !cpu.hasCodelet("Scales"));
}

void names_and_options()
{
  DebugInfo info(DebugContext("outer"), "test");
  CHECK(DebugContext(info, "inner").getPathName() == "outer/inner" &&
        info.getPathName() == "outer");
  CHECK(DebugContext({info, "a"}, "b").getPathName() == "outer/a/b");
  auto path = [](const DebugContext &context) { return context.getPathName(); };
  CHECK(path({info}) == "outer" && path({info, "a"}) == "outer/a" && path({}) == "" &&
        path("b") == "b");
  CHECK(path({DebugContext("b"), "c"}) == "b/c" && path(std::string("d")) == "d" &&
        path({DebugNameAndId("e"), "f"}) == "e/f");
  OptionFlags options{{"a", "1"}, {"b", "2"}};
  options.set("a", "3");
  CHECK(options.at("a") == "3" && options.size() == 2);
  CHECK_THROWS(invalid_option, "'c'", options.at("c"));
  CHECK((options == OptionFlags{{"b", "2"}, {"a", "3"}}));
  CHECK(!(options == OptionFlags{{"b", "2"}}) && !(OptionFlags{{"b", "2"}} == options));
  CHECK(!(options == OptionFlags{{"a", "3"}, {"b", "3"}}) && OptionFlags() == OptionFlags());
  readJSON("{\"b\": \"x y\", \"c\": 4, \"d\": true, \"e\": 0.5}", options);
  CHECK(options.at("a") == "3" && options.at("b") == "x y" && options.at("c") == "4" &&
        options.at("d") == "true" && options.at("e") == "0.5");
  std::istringstream stream("{}");
  readJSON(stream, options);
  CHECK(options.size() == 5);
  CHECK_THROWS(parse_error, "not JSON", readJSON("{\"a\": 1", options));
  CHECK_THROWS(parse_error, "an object such as", readJSON("[1]", options));
  CHECK_THROWS(parse_error, "'f' must be", readJSON("{\"a\": 9, \"f\": [1]}", options));
  CHECK(options.at("a") == "3");
  const OptionFlags odd{{"a \"b\"", "c\\d\n\x1f"}, {"\u00e4", ""}};
  std::ostringstream text;
  text << odd;
  CHECK(text.str() == "{\"a \\\"b\\\"\": \"c\\\\d\\u000a\\u001f\", \"\u00e4\": \"\"}");
  OptionFlags read;
  readJSON(text.str(), read);
  CHECK(read == odd);
  CHECK(equivalent_device_type<float>().value == FLOAT &&
        equivalent_device_type<unsigned>::value == UNSIGNED_INT);
  CHECK(INT.toString() == "int" && FLOAT != HALF);
  std::vector<int> values{1, 2, 3};
  CHECK(ArrayRef<int>(values) == ArrayRef<int>({1, 2, 3}) && ArrayRef<int>(7).size() == 1);
  const ArrayRef<const int> constants = values;
  CHECK(constants.size() == 3 && constants.cloneAsVector() == values);
}

void replicas()
{
  IPUModel model;
  model.numIPUs = 2;
  model.tilesPerIPU = 2;
  Device device = model.createDevice();
  Graph graph(device, replication_factor(2));
  CHECK(graph.getReplicationFactor() == 2 && graph.getTarget().getNumIPUs() == 1);
  Tensor number = graph.addReplicationIndexConstant(),
         other = graph.addVariable(UNSIGNED_INT, {1}, "other");
  graph.setTileMapping(number, 0);
  graph.setTileMapping(other, 1);
  graph.createHostRead("other", other);
  DataStream all =
      graph.addHostToDeviceFIFO("all", UNSIGNED_INT, 1, ReplicatedStreamMode::BROADCAST);
  Tensor same = graph.addVariable(UNSIGNED_INT, {1}, "same");
  graph.setTileMapping(same, 1);
  graph.createHostRead("same", same);
  Engine engine(graph, Sequence{CrossReplicaCopy(number.flatten(), other, {{0, 1}, {1, 0}}),
                                Copy(all, same), AssumeEqualAcrossReplicas(same)});
  engine.load(device);
  unsigned seven = 7, got[2];
  engine.connectStream("all", &seven);
  engine.run();
  engine.readTensor("other", got, got + 2);
  CHECK(got[0] == 1 && got[1] == 0);
  engine.readTensor("same", got);
  CHECK(got[0] == 7 && got[1] == 7);
}

void replicas_of_a_graph()
{
  IPUModel model;
  model.tilesPerIPU = 4;
  Device device = model.createDevice();
  Graph parent(device);
  Graph graph = parent.createReplicatedGraph(2);
  CHECK(graph.getReplicationFactor() == 2 && graph.getTopLevelReplicationFactor() == 1);
  CHECK(graph.getTarget().getNumTiles() == 2);
  CHECK_THROWS(poplar_error, "3 replicas on 4 tiles", Graph(device).createReplicatedGraph(3));
  Tensor v = graph.addVariable(INT, {2}, "v"), source = parent.addVariable(INT, {2}, "source");
  graph.setTileMapping(v, 1);
  parent.setTileMapping(source, 0);
  Tensor all = parent.getNonReplicatedTensor(v);
  CHECK(all.rank() == 2 && all.dim(0) == 2 && all.dim(1) == 2);
  parent.createHostWrite("source", source);
  graph.createHostWrite("v", v);
  graph.createHostRead("v out", v);
  DataStream in = graph.addHostToDeviceFIFO("in", INT, 2);
  Engine engine(parent, {Copy(source, all[1]), Copy(in, v)});
  engine.load(device);
  int one[] = {3, 4}, both[] = {5, 6, 7, 8}, got[4];
  engine.connectStream("in", both);
  engine.writeTensor("source", one);
  engine.writeTensor("v", both + 1); // the same value for both
  engine.run(0);
  engine.readTensor("v out", got);
  CHECK(got[0] == 6 && got[1] == 7 && got[2] == 3 && got[3] == 4);
  engine.run(1);
  engine.readTensor("v out", got);
  CHECK(std::equal(got, got + 4, both));
  CHECK_THROWS(poplar_error, "in each of 2 replicas", engine.readTensor("v out", got, got + 2));
}

} // namespace

int main()
{
  connections();
  rows();
  elements_of_fields();
  constants_of_all_kinds();
  programs_are_values();
  nested_programs();
  control_flow();
  tensors();
  tile_mappings();
  errors();
  streams();
  remote_buffers();
  executables();
  streams_that_throw();
  printing();
  profiles_and_registers();
  devices_and_targets();
  names_and_options();
  replicas();
  replicas_of_a_graph();
  return failures != 0;
}
