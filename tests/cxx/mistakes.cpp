// Mistakes of programs: each call throws the documented exception with a message that names the
// object. Existing objects can still be used.
#include "small_graph.hpp"

#include <memory>
#include <poplar/CycleCount.hpp>
#include <poplar/DeviceManager.hpp>
#include <typeinfo>
#include <vector>

using namespace poplar;
using namespace poplar::program;

namespace
{

const char codelets[] = "#include <poplar/Vertex.hpp>\n"
                        "class First : public poplar::Vertex {\n"
                        "public:\n"
                        "  poplar::Input<poplar::Vector<float>> in;\n"
                        "  poplar::Output<float> out;\n"
                        "  int n;\n"
                        "  bool compute() { *out = in[n]; return true; }\n"
                        "};\n";

Tensor mapped(Graph &graph, const Type &type, std::vector<std::size_t> shape, const char *name)
{
  Tensor t = graph.addVariable(type, shape, name);
  graph.setTileMapping(t, 0);
  return t;
}

// Functions that Populus lacks compile, and throw an error when they are called.
void what_is_missing()
{
  SmallGraph f(codelets);
  Engine engine(f.graph, Sequence());
  CHECK_THROWS(poplar_error, "Target::getIpuLinkTopology: Populus' tiles are RV32IMF",
               f.graph.getTarget().getIpuLinkTopology());
  CHECK_THROWS(poplar_error, "Graph::addFunctionBuffer is not there yet",
               f.graph.addFunctionBuffer(0));
  CHECK_THROWS(poplar_error, "Engine::insertSimulatedError is not there yet",
               engine.insertSimulatedError(0));
  CHECK_THROWS(poplar_error, "IPUModel::supervisorInstrFetchDelay: Populus' tiles have no such",
               IPUModel().supervisorInstrFetchDelay = 64);
  IPUModel wide;
  wide.dataPathWidth *= 2;
  CHECK_THROWS(poplar_error, "IPUModel::dataPathWidth is 64, as the architecture's, and cannot be",
               wide.createDevice());
  IPUModel other("ipu2"); // the constructor's version can be changed
  other.IPUVersion = "ipu21";
  CHECK(other.createDevice().getTarget().getTargetArchString() == "ipu21");
  CHECK_THROWS(poplar_error, "program::Loop: a run has to end", Loop loop(0); (void)loop);
  CHECK_THROWS(poplar_error, "compileModule is not there yet", compileModule(f.graph, 0));
  CHECK_THROWS(poplar_error, "exit codes of vertices are not kept",
               Execute(f.graph.addComputeSet(), Tensor()));
}

// Empty objects: default-constructed, moved from, null.
void objects_of_nothing()
{
  SmallGraph f(codelets);
  Graph none;
  CHECK_THROWS(poplar_error, "there is no graph", none.addVariable(FLOAT, {1}));
  CHECK_THROWS(poplar_error, "there is no graph", none.addComputeSet("x"));
  CHECK_THROWS(poplar_error, "there is no graph", Engine(none, Sequence()));
  Graph first(f.device), second = std::move(first);
  CHECK_THROWS(poplar_error, "moved from", first.getTopLevelReplicationFactor());
  CHECK(second.addVariable(FLOAT, {1}).valid());

  Engine engine(second, Sequence()), other = std::move(engine);
  CHECK_THROWS(poplar_error, "poplar::Engine", engine.run());
  CHECK_THROWS(poplar_error, "poplar::Engine", engine.load(f.device));
  CHECK_THROWS(poplar_error, "there is no device", other.load(Device()));
  other.load(f.device);
  other.run();

  Tensor null, t = mapped(f.graph, FLOAT, {3}, "t");
  CHECK_THROWS(tensor_creation_error, "null", Copy(null, t));
  CHECK_THROWS(tensor_creation_error, "null", f.graph.getSortedContiguousRegions(null, {{0, 1}}));
  CHECK_THROWS(tensor_creation_error, "null", f.graph.findUnbroadcastTensor(null));
  CHECK_THROWS(tensor_creation_error, "no tensors", concat(std::vector<Tensor>()));
  CHECK_THROWS(poplar_error, "null", f.graph.setInitialValue(null, 1));
  CHECK_THROWS(control_program_error, "null", Execute{ComputeSet()});
  CHECK_THROWS(control_program_error, "null", Call{Function()});
  CHECK_THROWS(poplar_error, "null", f.graph.addVertex(ComputeSet(), "First"));
  CHECK_THROWS(poplar_error, "null", f.graph.setTileMapping(VertexRef(), 0));
  CHECK_THROWS(poplar_error, "null", f.graph.connect(VertexRef()["in"], t));
  CHECK_THROWS(poplar_error, "null", f.graph.setInitialValue(VertexRef()["n"], 3));
  CHECK_THROWS(poplar_error, "null", Copy(DataStream(), t));
  CHECK_THROWS(poplar_error, "null", Copy(RemoteBuffer(), t));
  Graph foreign(f.device);
  CHECK_THROWS(poplar_error, "another graph", Copy(t, mapped(foreign, FLOAT, {3}, "t")));
}

void graphs()
{
  SmallGraph f(codelets);
  Graph &g = f.graph;
  Tensor t = mapped(g, FLOAT, {3, 4}, "t"), row = t[0];
  CHECK_THROWS(tensor_creation_error, "{5} has 5", t.reshape({5}));
  CHECK_THROWS(index_error, "index 3", t[3]);
  CHECK_THROWS(index_error, "is a scalar", t[0][0][0]);
  CHECK_THROWS(index_error, "[2, 1)", t.slice(2, 1));
  CHECK_THROWS(poplar_error, "{0,0}", t.dimShuffle({0, 0}));
  CHECK_THROWS(index_error, "dimension 0", t.squeeze({0}));
  CHECK_THROWS(index_error, "{7}", t.expand({7}));
  CHECK_THROWS(type_error, "half", t.reinterpret(HALF));
  CHECK_THROWS(tensor_creation_error, "tensor 1", concat(t, mapped(g, FLOAT, {3, 5}, "u")));
  CHECK_THROWS(type_error, "int", concat(row, mapped(g, INT, {4}, "v")));
  CHECK_THROWS(index_error, "[0, 5)", g.setTileMapping(row, {{Interval(0, 5)}}));
  CHECK_THROWS(poplar_error, "at most", g.addVariable(FLOAT, {1ull << 40, 1ull << 40}, "large"));
  CHECK_THROWS(poplar_error, "at most", g.addConstant(FLOAT, {1ull << 45}, 1.0f));
  CHECK_THROWS(poplar_error, "at most", g.addConstant(FLOAT, {1ull << 33, 1ull << 33}, 1.0f));
  CHECK_THROWS(tensor_creation_error, "1 values for 8589934592 elements",
               g.addConstant(FLOAT, {1ull << 33}, std::vector<float>{1}));
  CHECK_THROWS(poplar_error, "3 replicas", Graph(f.device, replication_factor(3)));
  CHECK_THROWS(poplar_error, "already", (g.createHostRead("r", t), g.createHostRead("r", t)));
  CHECK_THROWS(invalid_option, "bufferingDepth",
               g.addHostToDeviceFIFO("s", FLOAT, 3, ReplicatedStreamMode::REPLICATE,
                                     {{"bufferingDepht", "2"}}));
  CHECK_THROWS(invalid_option, "splitLimit",
               g.addDeviceToHostFIFO("s", FLOAT, 3, {{"splitLimit", "many"}}));
  g.addHostToDeviceFIFO("s", FLOAT, 3); // the name is still free
  ComputeSet cs = g.addComputeSet("cs"), unused = g.addComputeSet("unused");
  CHECK_THROWS(unknown_field, "'in'", g.addVertex(unused, "First", {{"inn", t}}));
  VertexRef v = g.addVertex(cs, "First", {{"in", row}, {"out", t[1][0]}, {"n", 1}});
  CHECK_THROWS(graph_connection_error, "'out'", g.connect(v["out"], row));
  CHECK_THROWS(type_error, "1.5", g.setInitialValue(v["n"], 1.5));
  VertexRef again = g.addVertex(cs, "First", {{"in", row}, {"out", t[1][0]}, {"n", 1}});
  g.setTileMapping(v, 0);
  g.setTileMapping(again, 0);
  CHECK_THROWS(graph_cycle_error, "First.out", Engine(g, Execute(cs)));
}

void programs()
{
  SmallGraph f(codelets);
  Graph &g = f.graph;
  Tensor t = mapped(g, FLOAT, {3}, "t"), one = mapped(g, INT, {}, "one");
  DataStream in = g.addHostToDeviceFIFO("in", FLOAT, 3);
  CHECK_THROWS(tensor_creation_error, "same number", Copy(t, t.slice(0, 2)));
  CHECK_THROWS(type_error, "int", Copy(one, t[0]));
  CHECK_THROWS(control_program_error, "from the host", Copy(t, in));
  CHECK_THROWS(tensor_creation_error, "'in' of 3", Copy(in, t.slice(0, 2)));
  CHECK_THROWS(tensor_creation_error, "predicate", Engine(g, If(t, Sequence(), Sequence())));
  Switch twice(one);
  twice.add(1, Sequence()).add(1, Sequence());
  CHECK_THROWS(control_program_error, "value 1", Engine(g, twice));
  Program moved = std::move(twice);
  CHECK_THROWS(control_program_error, "moved from", twice.add(2, Sequence()));
  CHECK_THROWS(control_program_error, "replica 1", Engine(g, CrossReplicaCopy(t, t, {{0, 1}})));
  Sequence sequence;
  CHECK_THROWS(invalid_tile_mapping, "tile 9", cycleCount(g, sequence, 9, SyncType::INTERNAL));
}

void engines()
{
  SmallGraph f(codelets);
  Graph &g = f.graph;
  Tensor t = mapped(g, FLOAT, {3}, "t");
  g.createHostRead("t", t);
  g.createHostWrite("t in", t);
  DataStream in = g.addHostToDeviceFIFO("in", FLOAT, 3);
  HostFunction host = g.addHostFunction("host", {{FLOAT, 3}}, {{FLOAT, 3}});
  RemoteBuffer rows = g.addRemoteBuffer("rows", FLOAT, 3, 2);
  Tensor number = g.addConstant(UNSIGNED_INT, {1}, 7u);
  g.setTileMapping(number, 0);
  Engine engine(g, {Copy(in, t), Call(host, {t}, {t}), Copy(rows, t, number)});
  float data[3] = {};
  CHECK_THROWS(application_runtime_error, "not loaded", engine.run());
  engine.load(f.device);
  CHECK_THROWS(index_error, "program 3", engine.run(3));
  CHECK_THROWS(tensor_io_state_error, "'t'", engine.readTensor("tt", data, data + 3));
  CHECK_THROWS(tensor_io_state_error, "write handle 't'", engine.writeTensor("t", data, data + 3));
  CHECK_THROWS(poplar_error, "12 bytes", engine.readTensor("t", data, data + 2));
  float larger[5] = {1, 2, 3, 4, 5}; // the tensor uses only the first elements
  engine.writeTensor("t in", larger, larger + 5);
  larger[0] = larger[1] = larger[2] = 0;
  engine.readTensor("t", larger, larger + 5);
  CHECK(larger[0] == 1 && larger[2] == 3 && larger[3] == 4 && larger[4] == 5);
  CHECK_THROWS(stream_connection_error,
               "stream 'in' (host to device, 3 elements of type float) is not connected: call "
               "Engine::connectStream or Engine::connectStreamToCallback",
               engine.run(0));
  CHECK_THROWS(stream_connection_error, "the callback is null",
               engine.connectStreamToCallback("in", std::unique_ptr<StreamCallback>()));
  CHECK_THROWS(stream_connection_error, "'host': the function is empty",
               engine.connectHostFunction("host", 0, HostFunctionCallback()));
  CHECK_THROWS(stream_connection_error, "'host': the function is empty",
               engine.connectHostFunction("host", 0, std::unique_ptr<HostCallback>()));
  CHECK_THROWS(index_error, "not 2", engine.copyToRemoteBuffer(data, "rows", 2));
  CHECK_THROWS(tensor_io_state_error, "'rows'", engine.copyToRemoteBuffer(data, "row", 0));
  engine.load(f.device);
  CHECK_THROWS(application_runtime_error, "offset 7 in remote buffer 'rows'", engine.run(2));
  CHECK_THROWS(poplar_error, "of 5 tiles", [&] {
    IPUModel model;
    model.tilesPerIPU = 5;
    engine.load(model.createDevice());
  }());
}

void devices()
{
  DeviceManager manager = DeviceManager::createDeviceManager();
  CHECK_THROWS(invalid_option, "'a'", manager.getDevice(0, {{"a", "b"}}));
  CHECK_THROWS(index_error, "9999", manager.getDevice(9999));
  CHECK_THROWS(poplar_error, "1000 IPUs", manager.acquireAvailableDevice(1000));
  CHECK_THROWS(poplar_error, "ipu9", IPUModel("ipu9"));
  CHECK_THROWS(poplar_error, "tiles_per_ipu", [] {
    IPUModel model;
    model.tilesPerIPU = 0;
    model.createDevice();
  }());
  Device device = manager.getDevice(0);
  Graph graph(device);
  Engine engine(graph, Sequence());
  CHECK_THROWS(application_runtime_error, "not attached", engine.load(device));
}

} // namespace

int main()
{
  what_is_missing();
  objects_of_nothing();
  graphs();
  programs();
  engines();
  devices();
  return failures != 0;
}
