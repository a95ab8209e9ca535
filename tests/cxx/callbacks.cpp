// Calls from the engine and the compiler into the program: host functions, estimators, progress.
#include "small_graph.hpp"

#include <atomic>
#include <chrono>
#include <locale>
#include <poplar/HostFunctionCallback.hpp>
#include <poplar/VertexIntrospector.hpp>
#include <thread>
#include <typeinfo>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char codelets[] = R"(
#include <poplar/Vertex.hpp>
using namespace poplar;

struct Sum : Vertex {
  Vector<Input<Vector<int>>> rows;
  Vector<short> weights;
  float scale;
  Output<int> sum;
  bool compute()
  {
    int total = 0;
    for (unsigned i = 0; i < rows.size(); ++i)
      for (unsigned k = 0; k < rows[i].size(); ++k) total += rows[i][k] * weights[i];
    *sum = total * scale;
    return true;
  }
};
)";

Tensor variable(Graph &graph, const Type &type, std::size_t size, const char *name)
{
  return graph.addVariable(type, {size}, VariableMappingMethod::LINEAR, name);
}

// Lives as long as the engine keeps it.
struct Counting : HostCallback {
  int &calls, &alive;

  Counting(int &c, int &a) : calls(c), alive(a) { ++alive; }
  ~Counting() override { --alive; }
  void operator()(ArrayRef<const void *> in, ArrayRef<void *> out) override
  {
    calls += static_cast<const int *>(in[0])[1] == 4 && out.empty();
  }
};

void host_functions()
{
  SmallGraph f(codelets);
  Tensor a = variable(f.graph, INT, 2, "a"), b = variable(f.graph, UNSIGNED_CHAR, 3, "b");
  f.graph.setInitialValue(a, std::vector<int>{3, 4});
  f.graph.createHostRead("b", b);
  HostFunction fill = f.graph.addHostFunction("fill", {Graph::HostFunctionArgument{INT, 2}},
                                              {Graph::HostFunctionArgument{UNSIGNED_CHAR, 3}});
  HostFunction hear = f.graph.addHostFunction("filler", {{INT, 2}}, {});
  CHECK_THROWS(control_program_error, "1 inputs and 1 outputs", Call(fill, {a, a}, {b}));
  Engine engine(f.graph, {Sequence{Call(fill, {a}, {b}), Call(hear, {a}, {}, "again")}});
  engine.load(f.device);
  std::vector<std::size_t> sizes;
  engine.connectHostFunction("fill", 0, [&](ArrayRef<const void *> in, ArrayRef<void *> out) {
    sizes = {in.size(), out.size()};
    const int *numbers = static_cast<const int *>(in[0]);
    unsigned char *to = static_cast<unsigned char *>(out[0]);
    for (int i = 0; i < 3; ++i) to[i] = static_cast<unsigned char>(numbers[0] * numbers[1] + i);
  });
  int heard = 0;
  engine.connectHostFunction("filler", 0, [&](ArrayRef<const void *> in, ArrayRef<void *> out) {
    heard += in.size() == 1 && out.empty();
  });
  engine.run();
  unsigned char got[3];
  engine.readTensor("b", got);
  CHECK(got[0] == 12 && got[2] == 14 && heard == 1);
  CHECK((sizes == std::vector<std::size_t>{1, 1}));
  CHECK(engine.listStreams().size() == 3);
  int calls = 0, alive = 0;
  std::vector<HostCallbackHandle> handles;
  handles.push_back(std::unique_ptr<HostCallback>(new Counting(calls, alive)));
  handles.push_back(std::unique_ptr<Counting>(new Counting(calls, alive)));
  handles.push_back([&](ArrayRef<const void *>, ArrayRef<void *>) { calls += 10; });
  for (HostCallbackHandle &handle : handles) {
    engine.connectHostFunction("filler", 0, std::move(handle));
    engine.run();
  }
  CHECK(calls == 12 && alive == 0 && heard == 1);
  CHECK_THROWS(
      stream_connection_error, "'fill'",
      engine.connectHostFunction("fil", 0, [](ArrayRef<const void *>, ArrayRef<void *>) {}));
  engine.connectHostFunction("fill", 0, [](ArrayRef<const void *>, ArrayRef<void *>) {
    throw std::out_of_range("thrown by the function");
  });
  CHECK_THROWS(std::out_of_range, "thrown by the function", engine.run());
}

// Other streams, and another host function, may have names that look like those of arguments.
void host_functions_have_their_own_arguments()
{
  SmallGraph f(codelets);
  Tensor a = variable(f.graph, INT, 1, "a");
  f.graph.setInitialValue(a, 7);
  HostFunction step = f.graph.addHostFunction("step", {{INT, 1}}, {{INT, 1}});
  HostFunction other = f.graph.addHostFunction("step/input", {{INT, 1}}, {});
  f.graph.addHostToDeviceFIFO("step/inputs", INT, 1);
  f.graph.addDeviceToHostFIFO("step/outputs", INT, 1);
  Engine engine(f.graph, Sequence{Call(step, {a}, {a}), Call(other, {a}, {})});
  std::vector<std::size_t> sizes;
  auto keep = [&](ArrayRef<const void *> in, ArrayRef<void *> out) {
    sizes.push_back(in.size());
    sizes.push_back(out.size());
  };
  engine.connectHostFunction("step", 0, keep);
  engine.connectHostFunction("step/input", 0, keep);
  engine.load(f.device);
  engine.run();
  CHECK((sizes == std::vector<std::size_t>{1, 1, 1, 0}));
}

// Logs the calls that it gets.
struct Numbers : StreamCallback {
  std::string &log;
  int next = 0;

  explicit Numbers(std::string &l) : log(l) {}
  Result prefetch(void *buffer) override
  {
    log += 'p';
    *static_cast<int *>(buffer) = next++;
    return Result::Success;
  }
  void fetch(void *buffer) override
  {
    log += 'f';
    *static_cast<int *>(buffer) = next++;
  }
  void complete() override { log += 'c'; }
  void invalidatePrefetched() override { log += 'i'; }
};

// A host function whose input comes from a stream gets each number once and in order, however early
// the next number is fetched.
void host_functions_beside_streams(bool ahead, const char *depth, const std::string &expected)
{
  SmallGraph f(codelets);
  std::string log;
  Tensor a = variable(f.graph, INT, 1, "a"), b = variable(f.graph, INT, 1, "b");
  DataStream in = f.graph.addHostToDeviceFIFO("in", INT, 1, ReplicatedStreamMode::REPLICATE,
                                              {{"bufferingDepth", depth}}),
             out = f.graph.addDeviceToHostFIFO("out", INT, 1);
  HostFunction twice = f.graph.addHostFunction("twice", {{INT, 1}}, {{INT, 1}});
  Engine engine(f.graph, Repeat(3, Sequence{Copy(in, a), Call(twice, {a}, {b}), Copy(b, out)}),
                {{"exchange.enablePrefetch", ahead ? "true" : "false"}});
  engine.load(f.device);
  std::vector<int> heard;
  engine.connectStreamToCallback("in", std::unique_ptr<Numbers>(new Numbers(log)));
  engine.connectHostFunction("twice", 0, [&](ArrayRef<const void *> i, ArrayRef<void *> o) {
    log += 't';
    *static_cast<int *>(o[0]) = 2 * *static_cast<const int *>(i[0]);
  });
  engine.connectStreamToCallback("out", [&](void *buffer) {
    log += 'o';
    heard.push_back(*static_cast<int *>(buffer));
  });
  engine.run();
  CHECK((heard == std::vector<int>{0, 2, 4}));
  engine.load(f.device);
  CHECK(log == expected);
}

// Two vertices. One has estimates of its own.
struct Sums : SmallGraph {
  Tensor data, sums;
  VertexRef first, second;
  ComputeSet cs;

  Sums() : SmallGraph(codelets)
  {
    data = variable(graph, INT, 6, "data");
    sums = variable(graph, INT, 2, "sums");
    cs = graph.addComputeSet("cs");
    first = add(0, {data.slice(0, 1), data.slice(1, 6)}, {100, 1});
    second = add(1, {data.slice(0, 2)}, {7});
  }
  VertexRef add(std::size_t i, std::vector<Tensor> rows, std::vector<short> weights)
  {
    VertexRef v = graph.addVertex(
        cs, "Sum", {{"rows", rows}, {"weights", weights}, {"scale", 0.5}, {"sum", sums[i]}});
    graph.setTileMapping(v, 0);
    return v;
  }
};

void estimators()
{
  Sums f;
  f.graph.setPerfEstimate(f.second, VertexPerfEstimate(11, 22));
  unsigned asked = 0;
  f.graph.registerPerfEstimator("Sum", [&](const VertexIntrospector &v, const Target &target) {
    ++asked;
    FieldData rows = v.getFieldInfo("rows"), weights = v.getFieldInfo("weights");
    CHECK(v.getTypeName() == "Sum" && target.getNumTiles() == 4 && rows.name() == "rows");
    CHECK(rows.rank() == 2 && rows.size() == 2 && rows[0].size() == 1 &&
          rows.getSizeAtIndex(1) == 5);
    CHECK_THROWS(index_error, "no row 2", rows.getSizeAtIndex(2));
    CHECK(weights.rank() == 1 && weights.size() == 2 && v.getFieldInfo("sum").rank() == 0);
    CHECK((weights.getInitialValues<short>(target) == std::vector<short>{100, 1}));
    CHECK(v.getFieldInfo("scale").getInitialValue<float>(target) == 0.5f);
    CHECK_THROWS(type_error, "'weights'", weights.getInitialValue<int>(target));
    CHECK_THROWS(type_error, "'rows'", rows.getInitialValues<int>(target));
    CHECK_THROWS(unknown_field, "'row'", v.getFieldInfo("row"));
    return VertexPerfEstimate(1000 * rows.size(), 5);
  });
  CHECK_THROWS(missing_perf_estimate, "", f.graph.getPerfEstimate(f.first));
  CHECK(f.graph.getFieldSize(f.first["rows"]) == 2);
  CHECK((result<int>(f, Execute(f.cs), f.sums) == std::vector<int>{0, 0}));
  CHECK(asked == 1);
  CHECK(f.graph.getPerfEstimate(f.first).cycles == 2000 &&
        f.graph.getPerfEstimate(f.first).flops == 5);
  CHECK(f.graph.getPerfEstimate(f.second).cycles == 11 &&
        f.graph.getPerfEstimate(f.second).flops == 22);
  CHECK_THROWS(unknown_vertex_type, "Sum",
               f.graph.registerPerfEstimator("Sums", PerfEstimateFunc()));
}

// On an IPUModel vertices take their estimated cycles, whether or not compileIPUCode is set. On a
// simulator they take the cycles of their code.
uint64_t cycles_of_a_million(const Device &device)
{
  Graph graph(device);
  std::stringstream text(codelets);
  graph.addCodelets(text);
  Tensor out = variable(graph, INT, 1, "out"), in = variable(graph, INT, 4, "in");
  ComputeSet cs = graph.addComputeSet("cs");
  VertexRef v = graph.addVertex(cs, "Sum",
                                {{"rows", std::vector<Tensor>{in}},
                                 {"weights", std::vector<short>{1}},
                                 {"scale", 1},
                                 {"sum", out[0]}});
  graph.setTileMapping(v, 0);
  graph.registerCycleEstimator("Sum",
                               [](const VertexIntrospector &, const Target &) { return 1000000; });
  Engine engine(graph, Execute(cs));
  engine.load(device);
  engine.run();
  return pop_engine_cycles(engine.c());
}

void estimates_count_on_models()
{
  IPUModel model;
  model.tilesPerIPU = 4;
  Device device = model.createDevice();
  CHECK(cycles_of_a_million(device) > 1000000);
  model.compileIPUCode = true;
  CHECK(cycles_of_a_million(model.createDevice()) > 1000000);
  CHECK(cycles_of_a_million(Device::createSimulatorDevice(device.getTarget())) < 1000000);
}

void what_callbacks_throw_ends_the_compilation()
{
  Sums f;
  f.graph.registerPerfEstimator(
      "Sum", [](const VertexIntrospector &, const Target &) -> VertexPerfEstimate {
        throw std::out_of_range("thrown by the estimator");
      });
  CHECK_THROWS(std::out_of_range, "thrown by the estimator", Engine(f.graph, Execute(f.cs)));
  f.graph.registerPerfEstimator(
      "Sum", [](const VertexIntrospector &, const Target &) { return VertexPerfEstimate(1); });
  std::vector<int> done;
  int all = 0;
  Engine engine(f.graph, Execute(f.cs), {}, [&](int i, int total) {
    done.push_back(i);
    all = total;
  });
  CHECK(done.size() == static_cast<std::size_t>(all) + 1 && done.front() == 0 &&
        done.back() == all);
  CHECK_THROWS(std::out_of_range, "thrown by the progress",
               compileGraph(f.graph, {Execute(f.cs)}, {},
                            [](int, int) { throw std::out_of_range("thrown by the progress"); }));
  CHECK(compileGraph(f.graph, {Execute(f.cs)}).getTarget().getNumTiles() == 4);
}

// Numbers of another country.
struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// Engine::load in two steps.
void prepare_and_deploy()
{
  Sums f;
  Program program = Execute(f.cs);
  Engine engine(f.graph, program);
  CHECK_THROWS(runtime_error, "Engine::prepare", engine.deploy());
  engine.prepare(f.device);
  engine.deploy();
  engine.run();
  auto before = engine.getTimeStamp();
  CHECK(engine.reportTiming(before, before).find("0 cycles") == 0);
  Engine::TimerTimePoint after = before;
  after.host += std::chrono::milliseconds(1500);
  after.cycles += 1234;
  const std::locale global = std::locale::global(std::locale(std::locale(), new Commas));
  CHECK(engine.reportTiming(before, after) == "1234 cycles, 1.5 s");
  std::locale::global(global);
  std::ostringstream archive, same;
  engine.serializeExecutable(archive);
  compileGraph(f.graph, {program}).serialize(same);
  CHECK(archive.str() == same.str());
}

// Each of the callbacks that run at once may throw. (ThreadSanitizer looks at this.)
void several_threads_throw()
{
  SmallGraph f(codelets);
  const unsigned streams = 4;
  Sequence copies;
  for (unsigned i = 0; i < streams; ++i) {
    std::string name = "in" + std::to_string(i);
    copies.add(
        Copy(f.graph.addHostToDeviceFIFO(name, INT, 4), variable(f.graph, INT, 4, name.c_str())));
  }
  Engine engine(f.graph, copies,
                {{"streamCallbacks.multiThreadMode", "dedicated"},
                 {"streamCallbacks.numWorkerThreads", "4"},
                 {"exchange.enablePrefetch", "false"}});
  std::atomic<unsigned> begun{0};
  for (unsigned i = 0; i < streams; ++i)
    engine.connectStreamToCallback("in" + std::to_string(i), [&](void *) {
      ++begun;
      for (unsigned waits = 0; begun < streams && waits < 1000; ++waits)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      throw std::out_of_range("thrown by one of several");
    });
  for (unsigned run = 0; run < 3; ++run) {
    begun = 0;
    engine.load(f.device);
    CHECK_THROWS(std::out_of_range, "one of several", engine.run());
  }
}

} // namespace

int main()
{
  host_functions();
  host_functions_have_their_own_arguments();
  host_functions_beside_streams(false, "1", "fctofctofcto");
  host_functions_beside_streams(true, "1", "fcptocptocptoi");
  host_functions_beside_streams(true, "2", "fcpptocptocptoi");
  estimators();
  estimates_count_on_models();
  what_callbacks_throw_ends_the_compilation();
  prepare_and_deploy();
  several_threads_throw();
  return failures != 0;
}
