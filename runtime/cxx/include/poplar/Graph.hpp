// Graphs: populus/graph.h.
#ifndef POPLAR_GRAPH_HPP
#define POPLAR_GRAPH_HPP

// Programs use the first six, <memory>, <numeric>, <optional>, <unordered_set> and
// <poplar/version.hpp> without including them, because the documented headers do.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <poplar/ArrayRef.hpp>
#include <poplar/CodeletFileType.hpp>
#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Device.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/Interval.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/RemoteBuffer.hpp>
#include <poplar/ReplicatedStreamMode.hpp>
#include <poplar/SerializationFormat.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorRearranger.hpp>
#include <poplar/TypeTraits.hpp>
#include <poplar/VariableMappingMethod.hpp>
#include <poplar/VertexIntrospector.hpp>
#include <poplar/detail/CStream.hpp>
#include <poplar/detail/Connection.hpp>
#include <poplar/detail/HostValues.hpp>
#include <poplar/detail/Regions.hpp>
#include <poplar/version.hpp>
#include <populus/graph.h>
#include <populus/introspection.h>
#include <populus/remote_buffer.h>
#include <sstream>
#include <unordered_set>
#if __cplusplus >= 201703L
#include <optional>
#endif

namespace poplar
{

class replication_factor
{
  unsigned n;

public:
  explicit replication_factor(unsigned factor) : n(factor) {}
  unsigned get() const { return n; }
};

class Graph
{
  detail::Shared<pop_graph, pop_graph_free> top; // owns
  pop_graph *graph = nullptr;                    // it, or a virtual graph of it
  Target target;
  detail::Shared<detail::Estimators> estimators; // of `top`

  static pop_graph *create(const Target &target, unsigned replicas)
  {
    return replicas == 1 ? pop_graph_create(&target.c())
                         : pop_graph_create_replicated(&target.c(), replicas);
  }
  pop_graph *get() const
  {
    if (!top)
      throw poplar_error("poplar::Graph: there is no graph: it was made by Graph() or moved from");
    return graph;
  }
  void check() const { detail::check(graph); }
  Graph view(pop_graph *virtualGraph) const
  {
    check();
    Graph result;
    result.top = top;
    result.graph = virtualGraph;
    result.target = Target(*pop_graph_get_target(virtualGraph));
    result.estimators = estimators;
    return result;
  }
  Tensor wrap(pop_tensor t) const
  {
    check();
    return Tensor(t);
  }
  Tensor constant(const Type &type, ArrayRef<std::size_t> shape, const void *data, const char *name)
  {
    return wrap(pop_graph_add_constant(get(), type.c(), shape.data(), shape.size(), data, name));
  }
  static std::size_t product(ArrayRef<std::size_t> shape)
  {
    std::size_t n = 1;
    for (std::size_t size : shape)
      if (__builtin_mul_overflow(n, size, &n)) return SIZE_MAX;
    return n;
  }
  // How many values to convert for a constant: none if it is too large, of which the C function that
  // follows throws.
  static std::size_t numValues(ArrayRef<std::size_t> shape)
  {
    const std::size_t n = product(shape);
    return n > UINT32_MAX ? 0 : n;
  }

public:
  using HostFunctionArgument = poplar::HostFunctionArgument;
  using TileToTensorMapping = std::vector<std::vector<Interval>>;

  Graph() = default;
  explicit Graph(const Target &graphTarget, replication_factor replicas = replication_factor(1))
      : top(create(graphTarget, replicas.get())), graph(top.get()),
        estimators(new detail::Estimators)
  {
    check();
    target = Target(*pop_graph_get_target(get()));
  }
  explicit Graph(const Device &device, replication_factor replicas = replication_factor(1))
      : Graph(device.getTarget(), replicas)
  {
  }
  // The form of older programs, with so many tiles of each IPU for I/O only. Here any tile can
  // do I/O. Throws poplar_error unless the number is 0.
  Graph(const Target &graphTarget, unsigned numIOTiles, replication_factor replicas)
      : Graph(graphTarget, replicas)
  {
    if (numIOTiles)
      throw poplar_error("poplar::Graph: " + std::to_string(numIOTiles) +
                         " tiles for I/O: none can be set apart, as tiles of any kind do I/O; "
                         "give 0, or use a virtual graph");
  }
  Graph(const Device &device, unsigned numIOTiles, replication_factor replicas)
      : Graph(device.getTarget(), numIOTiles, replicas)
  {
  }
  Graph(Graph &&) = default;
  Graph &operator=(Graph &&) = default;

  pop_graph *c() const { return get(); }
  const Target &getTarget() const { return target; }
  unsigned getReplicationFactor() const { return pop_graph_replication_factor(get()); }
  unsigned getTopLevelReplicationFactor() const
  {
    get();
    return pop_graph_replication_factor(top.get());
  }

  // ---- virtual graphs ----

  // Divides the tiles of this graph among so many replicas, and returns the graph of one of them.
  // What is made with it is made in each replica.
  Graph createReplicatedGraph(unsigned replicationFactor)
  {
    return view(pop_graph_create_replicated_graph(get(), replicationFactor));
  }
  // The tensor in all replicas, with a further dimension in front: the replica.
  Tensor getNonReplicatedTensor(const Tensor &t)
  {
    return wrap(pop_graph_get_non_replicated_tensor(get(), t.c()));
  }
  // The first tiles of every IPU.
  Graph createVirtualGraph(unsigned numTilesPerIPU)
  {
    return createVirtualGraph(perIpu(0, numTilesPerIPU));
  }
  // Tiles lower <= tile < upper, over all IPUs.
  Graph createVirtualGraph(unsigned lowerTile, unsigned upperTile)
  {
    return view(pop_graph_create_virtual_graph(get(), lowerTile, upperTile));
  }
  // These tiles of every IPU.
  Graph createVirtualGraph(const std::vector<unsigned> &perIpuTiles)
  {
    auto tiles = detail::sizes(perIpuTiles);
    return view(pop_graph_create_virtual_graph_per_ipu(get(), tiles.data(), tiles.size()));
  }
  Graph getTopLevelGraph() { return view(pop_graph_top_level_graph(get())); }
  unsigned convertVirtualTileToPhysicalTile(unsigned tile) const
  {
    std::size_t physical = pop_graph_physical_tile(get(), tile);
    if (physical == SIZE_MAX)
      throw index_error("Graph::convertVirtualTileToPhysicalTile: there is no tile " +
                        std::to_string(tile));
    return static_cast<unsigned>(physical);
  }

  // The number in this graph of a tile of the top-level graph; throws index_error if the tile is
  // not in this graph.
  unsigned convertPhysicalTileToVirtualTile(unsigned tile) const
  {
    for (unsigned i = 0; i < target.getNumTiles(); ++i)
      if (pop_graph_physical_tile(get(), i) == tile) return i;
    throw index_error("Graph::convertPhysicalTileToVirtualTile: tile " + std::to_string(tile) +
                      " is none of the graph's " + std::to_string(target.getNumTiles()));
  }
  unsigned convertPhysicalTileToVirtualTile(unsigned ipu, unsigned tileOfIpu) const
  {
    get();
    const pop_target &all = *pop_graph_get_target(top.get());
    const unsigned tilesPerIpu = all.tiles_per_ipu;
    if (ipu >= all.num_ipus || tileOfIpu >= tilesPerIpu)
      throw index_error("Graph::convertPhysicalTileToVirtualTile: there is no tile " +
                        std::to_string(tileOfIpu) + " of IPU " + std::to_string(ipu) + ": " +
                        std::to_string(all.num_ipus) + " IPUs have " + std::to_string(tilesPerIpu) +
                        " tiles each");
    return convertPhysicalTileToVirtualTile(ipu * tilesPerIpu + tileOfIpu);
  }
  unsigned convertTileToTopLevelGraphTile(unsigned tile) const
  {
    return convertVirtualTileToPhysicalTile(tile);
  }
  unsigned convertTopLevelGraphTileToTile(unsigned tile) const
  {
    return convertPhysicalTileToVirtualTile(tile);
  }

  // ---- codelets: detail/GraphCodelets.inc ----

  // Adds a .gp file, or source that is compiled now. Returns true; errors throw.
  bool addCodelets(StringRef file, CodeletFileType type = CodeletFileType::Auto,
                   StringRef compileFlags = "", StringRef targetName = "");
  // These two decide for a string, which could also be a list of one string.
  bool addCodelets(const std::string &file, CodeletFileType type = CodeletFileType::Auto,
                   StringRef compileFlags = "", StringRef targetName = "");
  bool addCodelets(const char *file, CodeletFileType type = CodeletFileType::Auto,
                   StringRef compileFlags = "", StringRef targetName = "");
  bool addCodelets(ArrayRef<std::string> files, StringRef compileFlags = "",
                   StringRef targetName = "");
  bool addCodelets(std::initializer_list<const char *> files, StringRef compileFlags = "",
                   StringRef targetName = "");
  // Source text.
  void addCodelets(std::stringstream &stream, StringRef compileFlags = "",
                   CodeletFileType type = CodeletFileType::CppSource, StringRef targetName = "");
  bool hasCodelet(StringRef vertexType) const
  {
    return pop_graph_has_vertex_type(get(), vertexType.cloneAsString().c_str());
  }

  // ---- variables and constants: values of the host in detail/GraphValues.inc ----

  Tensor addVariable(const Type &type, ArrayRef<std::size_t> shape,
                     const DebugContext &debugContext = {})
  {
    return wrap(
        pop_graph_add_variable(get(), type.c(), shape.data(), shape.size(), debugContext.c()));
  }
  // `metadata` is the format and scale of quarters, a tensor of QUARTER_METADATA
  // (MetadataCreation.hpp). Without it, quarters get metadata of their own: Tensor::getMetadata.
  // Other types have none; {} says so.
  Tensor addVariable(const Type &type, const Tensor &metadata, ArrayRef<std::size_t> shape,
                     const DebugContext &debugContext = {})
  {
    return withMetadata(addVariable(type, shape, debugContext), metadata);
  }
  Tensor addVariable(const Type &type, const Tensor &metadata, ArrayRef<std::size_t> shape,
                     VariableMappingMethod method, const DebugContext &debugContext = {})
  {
    return withMetadata(addVariable(type, shape, method, debugContext), metadata);
  }
  // The shape is not a single number (`{}, 4` is one value of a scalar), and values are not
  // given as text. The metadata of quarters must be a constant, with which the values are
  // converted; or the values are 0, which is the same with all metadata.
  template <typename T, typename Shape, typename = detail::EnableIfShape<Shape>,
            typename = detail::EnableIfValues<T>>
  Tensor addConstant(const Type &type, const Tensor &metadata, const Shape &shape, T values,
                     const DebugContext &debugContext = {});
  template <typename T, typename = detail::EnableIfValues<T>>
  Tensor addConstant(const Type &type, const Tensor &metadata,
                     std::initializer_list<std::size_t> shape, T values,
                     const DebugContext &debugContext = {});
  Tensor clone(const Type &type, const Tensor &metadata, const Tensor &tensor,
               const DebugContext &debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
  {
    return withMetadata(clone(type, tensor, debugContext, method), metadata);
  }
  template <typename Metadata, typename = detail::EnableIfTensor<Metadata>>
  Tensor clone(const Metadata &metadata, const Tensor &tensor,
               const DebugContext &debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
  {
    return clone(tensor.elementType(), metadata, tensor, debugContext, method);
  }
  // `values` are of the host type that `traits` describes: as many as the shape has elements, or
  // with `broadcast` one.
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape, const void *values,
                     const TypeTraits &traits, bool broadcast = false,
                     const DebugContext &debugContext = {});
  // The form of the guide's tutorial 7, with the type's name.
  Tensor addTensor(StringRef typeName, ArrayRef<std::size_t> shape,
                   const DebugContext &debugContext = {})
  {
    pop_type type;
    if (!pop_type_from_name(typeName.cloneAsString().c_str(), &type))
      throw type_error("Graph::addTensor: there is no element type '" + typeName.cloneAsString() +
                       "'; use \"float\", \"int\", ...");
    return addVariable(Type(type), shape, debugContext);
  }
  Tensor addVariable(const Type &type, ArrayRef<std::size_t> shape, VariableMappingMethod method,
                     const DebugContext &debugContext = {})
  {
    Tensor variable = addVariable(type, shape, debugContext);
    if (method == VariableMappingMethod::LINEAR) pop_graph_map_linearly(get(), variable.c(), 0, 0);
    check();
    return variable;
  }
  template <typename T>
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape, ArrayRef<T> values,
                     const DebugContext &debugContext = {});
  template <typename Vector, typename = detail::EnableIfVector<Vector>, typename = void,
            typename = void>
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape, const Vector &values,
                     const DebugContext &debugContext = {});
  // The same value for all elements.
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape, T value,
                     const DebugContext &debugContext = {});
  // As many values as the shape has elements.
  template <typename P, typename = typename std::enable_if<std::is_pointer<P>::value>::type,
            typename = void>
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape, P values,
                     const DebugContext &debugContext = {});
  template <typename T, typename P,
            typename = typename std::enable_if<
                std::is_same<const T *, const typename std::remove_pointer<P>::type *>::value &&
                std::is_pointer<P>::value>::type,
            typename = void, typename = void>
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape, P values,
                     const DebugContext &debugContext = {});
  // Values in the device's format of half. Throws type_error unless the type is HALF.
  Tensor addConstantHalf(const Type &type, ArrayRef<std::size_t> shape, std::uint16_t value,
                         const DebugContext &debugContext = {});
  Tensor addConstantHalf(const Type &type, ArrayRef<std::size_t> shape, const std::uint16_t *values,
                         const DebugContext &debugContext = {});
  Tensor addReplicationIndexConstant(const DebugContext &debugContext = {})
  {
    return wrap(pop_graph_add_replication_index_constant(get(), debugContext.c()));
  }
  Tensor clone(const Type &type, const Tensor &tensor, const DebugContext &debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
  {
    pop_clone_method how = method == TensorCloneMethod::CREATE_NEW_ORDER
                               ? POP_CLONE_CREATE_NEW_ORDER
                           : method == TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES
                               ? POP_CLONE_PRESERVE_ORDER_AND_ALIASES
                           : method == TensorCloneMethod::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES
                               ? POP_CLONE_GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES
                               : POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES;
    return wrap(pop_graph_clone(get(), type.c(), detail::check(tensor.c()), debugContext.c(), how));
  }
  Tensor clone(const Tensor &tensor, const DebugContext &debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)
  {
    return clone(tensor.elementType(), tensor, debugContext, method);
  }

  // `n` clones as one tensor with one dimension more, in front: poplar/detail/CloneN.inc.
  Tensor cloneN(const Type &type, const Tensor &tensor, std::size_t n,
                const DebugContext &debugContext = {},
                TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                TensorCloneDuplicationMethod duplication =
                    TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION);
  Tensor cloneN(const Tensor &tensor, std::size_t n, const DebugContext &debugContext = {},
                TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                TensorCloneDuplicationMethod duplication =
                    TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION)
  {
    return cloneN(tensor.elementType(), tensor, n, debugContext, method, duplication);
  }
  // The variable with this number, whole.
  Tensor getVariable(VariableRef variable) const { return wrap(info(variable).tensor); }
  TileToTensorMapping getVariableTileMapping(VariableRef variable) const
  {
    return getTileMapping(getVariable(variable), false);
  }
  // The vertex with this number.
  VertexRef getVertex(std::size_t vertex) const
  {
    pop_vertex_info result;
    detail::check(pop_graph_vertex_info(get(), vertex, &result));
    return VertexRef(result.vertex);
  }
  bool isConstant(VariableRef variable) const { return info(variable).constant; }

  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  void setInitialValue(const Tensor &tensor, T value);
  template <typename T> void setInitialValue(const Tensor &tensor, ArrayRef<T> values);
  template <typename Vector, typename = detail::EnableIfVector<Vector>, typename = void>
  void setInitialValue(const Tensor &tensor, const Vector &values);
  void setInitialValueHalf(const Tensor &tensor, std::uint16_t value);
  void setInitialValueHalf(const FieldRef &field, std::uint16_t value);
  void setInitialValueHalf(const FieldRef &field, ArrayRef<std::uint16_t> values);
  void setInitialValueHalf(const Tensor &tensor, ArrayRef<std::uint16_t> values);

  // ---- tile mapping: detail/GraphMapping.inc ----

  void setTileMapping(const VertexRef &vertex, unsigned tile);
  void setTileMapping(const Tensor &tensor, unsigned tile);
  // `mapping` has, for each tile, intervals of the flattened tensor.
  void setTileMapping(const Tensor &tensor, const TileToTensorMapping &mapping);
  // `allowExternal` concerns variables outside of the tiles, which do not exist here.
  TileToTensorMapping getTileMapping(const Tensor &tensor, bool *isComplete,
                                     bool /*allowExternal*/ = false) const;
  TileToTensorMapping getTileMapping(const Tensor &tensor, bool requireComplete = true,
                                     bool /*allowExternal*/ = false) const;
  // With `aliases`, no interval is removed, and two intervals share all elements or none.
  // `aliases` gets, for each interval, list by list, the begin of the first interval with the
  // same elements.
  std::vector<std::vector<Interval>> getSortedContiguousRegions(
      const Tensor &tensor, ArrayRef<Interval> regions, bool removeAliasedIntervals = false,
      std::vector<std::size_t> *aliases = nullptr) const;

  // The order of a tensor's elements in memory. reorderToSimplify brings the tensor into this
  // order, and `others`, which have as many elements, as well. All become flat.
  TensorRearranger getSimplifyingRearranger(const Tensor &tensor) const;
  void reorderToSimplify(Tensor *tensor, ArrayRef<Tensor *> others,
                         bool /*requireSimplestOrder*/ = true) const;
  // The tensor before it was broadcast: in each dimension, the shortest prefix of which the
  // whole is a repetition.
  Tensor findUnbroadcastTensor(const Tensor &tensor) const { return detail::unbroadcast(tensor); }

  // ---- compute sets and vertices ----

  ComputeSet addComputeSet(const DebugContext &debugContext = {})
  {
    ComputeSet set(pop_graph_add_compute_set(get(), debugContext.c()));
    check();
    return set;
  }
  // The form of the guide's tutorial 7.
  ComputeSet createComputeSet(const DebugContext &debugContext = {})
  {
    return addComputeSet(debugContext);
  }
  VertexRef addVertex(const ComputeSet &computeSet, StringRef vertexType)
  {
    VertexRef vertex(
        pop_graph_add_vertex(get(), computeSet.c(), vertexType.cloneAsString().c_str()));
    check();
    return vertex;
  }
  VertexRef addVertex(const ComputeSet &computeSet, StringRef vertexType,
                      ArrayRef<ConnectionDesc> connections)
  {
    VertexRef vertex = addVertex(computeSet, vertexType);
    for (const ConnectionDesc &connection : connections) connection.connect(get(), vertex.c());
    return vertex;
  }
  // How many elements a field's layout can count. For a field with rows, 0 asks for the number
  // of rows and 1 for the elements of a row.
  std::size_t getMaxFieldDim(StringRef vertexType, StringRef field, unsigned dimension) const
  {
    pop_field_info f = fieldInfo(vertexType, field);
    if (dimension > (f.has_rows ? 1u : 0u))
      throw index_error("Graph::getMaxFieldDim: field '" + field.cloneAsString() + "' has " +
                        (f.has_rows ? "2 dimensions" : "1 dimension") + ": there is no dimension " +
                        std::to_string(dimension));
    return f.has_rows && dimension == 0 ? f.max_rows : f.max_elements;
  }
  // The largest value of the field's element type.
  template <typename T> T getMaxVertexFieldValueAs(StringRef vertexType, StringRef field) const
  {
    return target.getTypeLimitsMaxAs<T>(Type(fieldInfo(vertexType, field).type));
  }
  std::size_t getMaxVertexFieldValue(StringRef vertexType, StringRef field) const
  {
    return getMaxVertexFieldValueAs<std::size_t>(vertexType, field);
  }
  unsigned getNumVertices() const { return static_cast<unsigned>(pop_graph_num_vertices(get())); }

  void connect(const FieldRef &field, const Tensor &tensor)
  {
    detail::connect(get(), field, tensor.c());
  }
  void connect(const FieldRef &field, ArrayRef<Tensor> tensors)
  {
    detail::connect(get(), field, detail::tensors(tensors));
  }
  // Connects an edge to a constant on the vertex's tile, or sets the value of a plain member.
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  void connect(const FieldRef &field, T value)
  {
    detail::setValue(get(), field, value);
  }
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  void connect(const FieldRef &field, ArrayRef<T> values)
  {
    detail::setValues(get(), field, detail::HostValues(values.data(), values.size()));
  }
  template <typename Vector, typename = detail::EnableIfVector<Vector>, typename = void>
  void connect(const FieldRef &field, const Vector &values)
  {
    connect(field, ArrayRef<typename Vector::value_type>(values));
  }
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  void setInitialValue(const FieldRef &field, T value)
  {
    detail::setValue(get(), field, value);
  }
  template <typename T> void setInitialValue(const FieldRef &field, ArrayRef<T> values)
  {
    detail::setValues(get(), field, detail::HostValues(values.data(), values.size()));
  }
  template <typename Vector, typename = detail::EnableIfVector<Vector>, typename = void>
  void setInitialValue(const FieldRef &field, const Vector &values)
  {
    setInitialValue(field, ArrayRef<typename Vector::value_type>(values));
  }
  void setFieldSize(const FieldRef &field, std::size_t size)
  {
    if (field.isIndexed())
      throw graph_connection_error("Graph::setFieldSize: field '" + field.getName() + "[" +
                                   std::to_string(field.getIndex()) +
                                   "]': a row is as long as the tensor that is connected to it");
    pop_graph_set_field_size(get(), field.c(), field.getName().c_str(), size);
    check();
  }
  void setCycleEstimate(const VertexRef &vertex, std::uint64_t cycles)
  {
    pop_graph_set_cycle_estimate(get(), vertex.c(), cycles);
    check();
  }
  void setPerfEstimate(const VertexRef &vertex, std::uint64_t cycles, std::uint64_t flops = 0)
  {
    pop_graph_set_perf_estimate(get(), vertex.c(), cycles, flops);
    check();
  }
  void setPerfEstimate(const VertexRef &vertex, const VertexPerfEstimate &estimate)
  {
    setPerfEstimate(vertex, estimate.cycles, estimate.flops);
  }
  // An estimator for vertices of the type without an estimate of their own, called when the
  // graph is compiled. Its exceptions are thrown by the compiling call.
  void registerPerfEstimator(StringRef vertexType, PerfEstimateFunc estimate)
  {
    estimators->add(get(), vertexType, std::move(estimate));
    check();
  }
  // The estimator is called as a PerfEstimateFunc is, and returns the cycles.
  template <typename CycleEstimateFunc>
  void registerCycleEstimator(StringRef vertexType, CycleEstimateFunc estimate)
  {
    registerPerfEstimator(vertexType,
                          [estimate](const VertexIntrospector &vertex, const Target &t) {
                            return VertexPerfEstimate(estimate(vertex, t));
                          });
  }
  // The vertex's own estimate or, once the graph has been compiled, that of its type. Throws
  // missing_perf_estimate if there is none, or if it is 0.
  VertexPerfEstimate getPerfEstimate(const VertexRef &vertex) const
  {
    pop_perf_estimate estimate = pop_graph_perf_estimate(get(), vertex.c());
    if (!estimate.cycles && !estimate.flops)
      throw missing_perf_estimate("Graph::getPerfEstimate: nothing is said of the vertex");
    return VertexPerfEstimate(estimate.cycles, estimate.flops);
  }
  void rethrowFromEstimators() const { estimators->rethrow(); }
  // The number of elements, or of rows; 0 if the field is not connected.
  std::size_t getFieldSize(const FieldRef &field) const
  {
    std::size_t size = pop_graph_vertex_field_size(get(), field.c(), field.getName().c_str());
    if (size == SIZE_MAX) throw unknown_field("there is no field '" + field.getName() + "'");
    return size;
  }

  // ---- the host ----

  // `rearrangeOnHost` and `optimiseMemory` have no effect: the host always puts elements in
  // order.
  void createHostWrite(StringRef handle, const Tensor &tensor, bool /*rearrangeOnHost*/ = false)
  {
    pop_graph_create_host_write(get(), handle.cloneAsString().c_str(), detail::check(tensor.c()));
    check();
  }
  void createHostRead(StringRef handle, const Tensor &tensor, bool /*rearrangeOnHost*/ = false)
  {
    pop_graph_create_host_read(get(), handle.cloneAsString().c_str(), detail::check(tensor.c()));
    check();
  }
  DataStream addHostToDeviceFIFO(StringRef handle, const Type &type, std::size_t numElements,
                                 ReplicatedStreamMode mode = ReplicatedStreamMode::REPLICATE,
                                 const OptionFlags &options = {})
  {
    checkStreamOptions(pop_graph_add_host_to_device_fifo, handle, type, numElements, options);
    pop_stream stream = pop_graph_add_host_to_device_fifo(get(), handle.cloneAsString().c_str(),
                                                          type.c(), numElements);
    if (mode == ReplicatedStreamMode::BROADCAST)
      pop_stream_set_replicated_mode(stream, POP_STREAM_BROADCAST);
    return finish(stream, handle, type, numElements, DataStreamType::HostToDeviceFIFO, mode,
                  options);
  }
  DataStream addDeviceToHostFIFO(StringRef handle, const Type &type, std::size_t numElements,
                                 const OptionFlags &options = {})
  {
    checkStreamOptions(pop_graph_add_device_to_host_fifo, handle, type, numElements, options);
    pop_stream stream = pop_graph_add_device_to_host_fifo(get(), handle.cloneAsString().c_str(),
                                                          type.c(), numElements);
    return finish(stream, handle, type, numElements, DataStreamType::DeviceToHostFIFO,
                  ReplicatedStreamMode::REPLICATE, options);
  }
  RemoteBuffer addRemoteBuffer(StringRef handle, const Type &type, std::size_t numElements,
                               std::size_t repeats = 1, bool /*rearrangeOnHost*/ = false,
                               bool /*optimiseMemory*/ = false)
  {
    pop_remote_buffer buffer = pop_graph_add_remote_buffer(get(), handle.cloneAsString().c_str(),
                                                           type.c(), numElements, repeats);
    check();
    return RemoteBuffer(buffer, handle, type, numElements, repeats);
  }

  HostFunction addHostFunction(StringRef handle, ArrayRef<HostFunctionArgument> inputs,
                               ArrayRef<HostFunctionArgument> outputs)
  {
    auto argument = [](const HostFunctionArgument &a) {
      return pop_host_argument{a.type.c(), a.numElements};
    };
    detail::CArray<pop_host_argument> in(inputs, argument), out(outputs, argument);
    HostFunction function(pop_graph_add_host_function(
        get(), handle.cloneAsString().c_str(), in.data(), in.size(), out.data(), out.size()));
    check();
    return function;
  }

  // ---- programs ----

  Function addFunction(const program::Program &program)
  {
    Function function(pop_graph_add_function(get(), build(program)));
    check();
    return function;
  }
  pop_program build(const program::Program &program) const
  {
    return detail::ProgramBuilder(pop_graph_top(get())).build(program.getNode());
  }
  detail::CArray<pop_program> build(ArrayRef<program::Program> programs) const
  {
    detail::ProgramBuilder builder(pop_graph_top(get()));
    detail::CArray<pop_program> list(programs, [&](const program::Program &program) {
      return builder.build(program.getNode());
    });
    check();
    return list;
  }

  // ---- reports: detail/GraphSerialization.inc ----

  void outputVertexGraph(std::ostream &os, ArrayRef<program::Program> programs = {}) const;
  void outputComputeGraph(std::ostream &os, ArrayRef<program::Program> programs = {}) const;
  friend void program::dumpProgram(const Graph &graph, const program::Program &program,
                                   std::ostream &out);
  void serialize(std::ostream &os, SerializationFormat format) const;
  // JSON is for people: a list with type, shape and pieces [variable, begin, end] of each
  // tensor. Binary has the variables, too, for deserializeTensors.
  void serializeTensors(std::ostream &os, ArrayRef<Tensor> tensors,
                        SerializationFormat format) const;
  void serializeTensors(std::ostream &os, ArrayRef<Tensor> tensors) const;
  // Adds the variables of tensors that were serialised as Binary, and returns the tensors.
  std::vector<Tensor> deserializeTensors(std::istream &in, SerializationFormat format);

#define POPLAR_NOT_YET(name)                                                                       \
  POPLAR_MISSING_MEMBER(name, "poplar::Graph::" #name " is not there yet")
  POPLAR_NOT_YET(addExternalExchangeVertex)
  POPLAR_NOT_YET(addExternalVariable)
  POPLAR_NOT_YET(addFunctionBuffer)
  POPLAR_NOT_YET(getFunction)
#undef POPLAR_NOT_YET

private:
  Tensor withMetadata(const Tensor &t, const Tensor &metadata)
  {
    if (t.elementType() != QUARTER || !metadata.valid()) return t;
    pop_graph_set_metadata(get(), t.c(), metadata.c());
    check();
    return t;
  }
  pop_field_info fieldInfo(StringRef vertexType, StringRef field) const
  {
    pop_field_info result;
    detail::check(pop_graph_vertex_type_field_info(get(), vertexType.cloneAsString().c_str(),
                                                   field.cloneAsString().c_str(), &result));
    return result;
  }
  pop_variable_info info(VariableRef variable) const
  {
    pop_variable_info result;
    detail::check(pop_graph_variable_info(get(), variable, &result));
    return result;
  }
  static pop_graph *pop_graph_top(pop_graph *g)
  {
    while (pop_graph *parent = pop_graph_parent(g)) g = parent;
    return g;
  }
  static std::vector<unsigned> perIpu(unsigned first, unsigned end)
  {
    std::vector<unsigned> tiles(end > first ? end - first : 0);
    for (unsigned &tile : tiles) tile = first++;
    return tiles;
  }
  // Throws the error of a wrong option, before there is a stream in this graph.
  void checkStreamOptions(pop_stream (*add)(pop_graph *, const char *, pop_type, std::size_t),
                          StringRef handle, const Type &type, std::size_t numElements,
                          const OptionFlags &options) const
  {
    if (options.empty()) return;
    get();
    const Graph other(Target(*pop_graph_get_target(top.get())));
    pop_stream stream = add(other.c(), handle.cloneAsString().c_str(), type.c(), numElements);
    other.check();
    for (const auto &option : options)
      pop_stream_set_option(stream, option.first.c_str(), option.second.c_str());
    other.check();
  }
  DataStream finish(pop_stream stream, StringRef handle, const Type &type, std::size_t numElements,
                    DataStreamType direction, ReplicatedStreamMode mode, const OptionFlags &options)
  {
    check();
    for (const auto &option : options)
      pop_stream_set_option(stream, option.first.c_str(), option.second.c_str());
    check();
    return DataStream(stream, handle, type, numElements, direction, mode, getReplicationFactor());
  }
};

} // namespace poplar

#include <poplar/detail/CloneN.inc>
#include <poplar/detail/GraphCodelets.inc>
#include <poplar/detail/GraphMapping.inc>
#include <poplar/detail/GraphSerialization.inc>
#include <poplar/detail/GraphValues.inc>

#endif
