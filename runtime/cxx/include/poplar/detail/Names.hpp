// Translates names of the C interface in messages to those of C++: pop_graph_add_variable is
// Graph::addVariable. Most names are the same words in another notation; the others are in a
// table.
#ifndef POPLAR_DETAIL_NAMES_HPP
#define POPLAR_DETAIL_NAMES_HPP

#include <cctype>
#include <cstddef>
#include <string>

namespace poplar
{
namespace detail
{

struct CName {
  const char *c, *cxx;
};

// Names that are made of other words in C++.
inline const CName *otherNames(std::size_t &count)
{
  static const CName names[] = {
      {"pop_compile_graph", "compileGraph"},
      {"pop_concat", "concat"},
      {"pop_debug_stream_close", "DebugInfo::closeStreamer"},
      {"pop_debug_stream_open", "DebugInfo::initializeStreamer"},
      {"pop_device_attribute", "Device::getAttribute"},
      {"pop_device_create_cpu", "Device::createCPUDevice"},
      {"pop_device_create_virtual", "Device::createVirtualDevice"},
      {"pop_device_driver_ids", "Device::getDriverIDs"},
      {"pop_device_id", "Device::getId"},
      {"pop_device_manager_acquire", "DeviceManager::getDevices"},
      {"pop_device_manager_num_devices", "DeviceManager::getNumDevices"},
      {"pop_device_retain", "Device"},
      {"pop_device_target", "Device::getTarget"},
      {"pop_engine_connect_replica_stream", "Engine::connectStream"},
      {"pop_engine_connect_replica_stream_callback", "Engine::connectStreamToCallback"},
      {"pop_engine_connect_stream_callback", "Engine::connectStreamToCallback"},
      {"pop_engine_create", "Engine::Engine"},
      {"pop_engine_create_from_executable", "Engine::Engine"},
      {"pop_engine_execution_profile", "Engine::getExecutionProfile"},
      {"pop_engine_graph_profile", "Engine::getGraphProfile"},
      {"pop_engine_load_device", "Engine::load"},
      {"pop_engine_read_replica_tensor", "Engine::readTensor"},
      {"pop_engine_report", "Engine::getReport"},
      {"pop_engine_run_as", "Engine::run"},
      {"pop_engine_write_intervals", "Engine::reportIntervals"},
      {"pop_engine_write_replica_tensor", "Engine::writeTensor"},
      {"pop_executable_load", "Executable::deserialize"},
      {"pop_executable_load_memory", "Executable::deserialize"},
      {"pop_executable_num_handles", "Executable"},
      {"pop_executable_num_remote_buffers", "Executable"},
      {"pop_executable_num_streams", "Executable"},
      {"pop_executable_remote_buffer", "Executable"},
      {"pop_executable_save", "Executable::serialize"},
      {"pop_executable_write", "Executable::serialize"},
      {"pop_floating_point_behaviour", "FloatingPointBehaviour"},
      {"pop_gcl_all_gather", "gcl::allGatherCrossReplica"},
      {"pop_gcl_all_reduce", "gcl::allReduceCrossReplica"},
      {"pop_gcl_all_reduce_within", "gcl::allReduceWithinReplica"},
      {"pop_gcl_all_to_all_within", "gcl::allToAllWithinReplica"},
      {"pop_gcl_broadcast_within", "gcl::broadcastWithinReplica"},
      {"pop_gcl_reduce_scatter_within", "gcl::reduceScatterWithinReplica"},
      {"pop_gcl_all_gather_within", "gcl::allGatherWithinReplica"},
      {"pop_gcl_all_to_all", "gcl::allToAllCrossReplica"},
      {"pop_gcl_broadcast", "gcl::broadcastCrossReplica"},
      {"pop_gcl_reduce_scatter", "gcl::reduceScatterCrossReplica"},
      {"pop_graph_add_codelets_source", "Graph::addCodelets"},
      {"pop_graph_add_device_to_host_fifo", "Graph::addDeviceToHostFIFO"},
      {"pop_graph_add_host_function", "Graph::addHostFunction"},
      {"pop_graph_add_host_to_device_fifo", "Graph::addHostToDeviceFIFO"},
      {"pop_graph_connect_array", "Graph::connect"},
      {"pop_graph_connect_element", "Graph::connect"},
      {"pop_graph_connect_element_value", "Graph::connect"},
      {"pop_graph_connect_value", "Graph::connect"},
      {"pop_graph_create", "Graph::Graph"},
      {"pop_graph_create_replicated", "Graph::Graph"},
      {"pop_graph_create_virtual_graph_by_ipus", "Graph::createVirtualGraph"},
      {"pop_graph_create_virtual_graph_by_tiles", "Graph::createVirtualGraph"},
      {"pop_graph_create_virtual_graph_per_ipu", "Graph::createVirtualGraph"},
      {"pop_graph_cycle_count", "cycleCount"},
      {"pop_graph_cycle_stamp", "cycleStamp"},
      {"pop_graph_cycle_stamps", "cycleStamp"},
      {"pop_graph_get_hw_seeds", "getHwSeeds"},
      {"pop_graph_get_metadata", "Tensor::getMetadata"},
      {"pop_graph_has_vertex_type", "Graph::addVertex"},
      {"pop_graph_load_tensors", "Graph::deserializeTensors"},
      {"pop_graph_map_linearly", "poputil::mapTensorLinearly"},
      {"pop_graph_modify_floating_point_behaviour", "setFloatingPointBehaviour"},
      {"pop_graph_pack_metadata", "createVariableMetadataTensor"},
      {"pop_graph_perf_estimate", "Graph::getPerfEstimate"},
      {"pop_graph_physical_tile", "Graph"},
      {"pop_graph_register_perf_estimator", "Graph::registerPerfEstimator"},
      {"pop_graph_restore_floating_point_behaviour", "setFloatingPointBehaviour"},
      {"pop_graph_retain", "Graph"},
      {"pop_graph_save_tensors", "Graph::serializeTensors"},
      {"pop_graph_serialize_cbor", "Graph::serialize"},
      {"pop_graph_set_field", "Graph::setInitialValue"},
      {"pop_graph_set_field_array", "Graph::setInitialValue"},
      {"pop_graph_set_field_element", "Graph::setInitialValue"},
      {"pop_graph_set_field_float", "Graph::setInitialValue"},
      {"pop_graph_set_field_int", "Graph::setInitialValue"},
      {"pop_graph_set_floating_point_behaviour", "setFloatingPointBehaviour"},
      {"pop_graph_set_hw_seeds", "setHwSeeds"},
      {"pop_graph_set_metadata", "Graph::addVariable"},
      {"pop_graph_set_progress", "compileGraph"},
      {"pop_graph_set_stochastic_rounding", "setStochasticRounding"},
      {"pop_graph_set_vertex_tile", "Graph::setTileMapping"},
      {"pop_graph_take_error", "Graph"},
      {"pop_graph_top_level_graph", "Graph::getTopLevelGraph"},
      {"pop_graph_variable_info", "Graph"},
      {"pop_graph_vertex_field_size", "VertexIntrospector"},
      {"pop_graph_vertex_field_values", "VertexIntrospector"},
      {"pop_graph_vertex_row_values", "VertexIntrospector"},
      {"pop_graph_vertex_info", "VertexIntrospector"},
      {"pop_graph_vertex_type_field_info", "Graph::getMaxFieldDim"},
      {"pop_graph_visit_tile_mapping", "Graph::getTileMapping"},
      {"pop_graph_visit_vertex_fields", "VertexIntrospector"},
      {"pop_ipu_model_create_device", "IPUModel::createDevice"},
      {"pop_ipu_model_init", "IPUModel::IPUModel"},
      {"pop_poplin_convolution_weight_deltas", "poplin::calculateWeightDeltas"},
      {"pop_poplin_create_mat_mul_input", "poplin::createMatMulInput"},
      {"pop_poplin_create_mat_mul_output", "poplin::createMatMulOutput"},
      {"pop_poplin_mat_mul_with", "poplin::matMul"},
      {"pop_popnn_arg_extreme", "popnn::argMax"},
      {"pop_popnn_accuracy", "popnn::calcAccuracy"},
      {"pop_popnn_loss", "popnn::calcLoss"},
      {"pop_popnn_norm_gradient", "popnn, gradients of a norm"},
      {"pop_popnn_norm_parameter_gradients", "popnn, gradients of a norm"},
      {"pop_popnn_norm_scale", "popnn, scale of a norm"},
      {"pop_popnn_norm_statistics", "popnn, statistics of a norm"},
      {"pop_popnn_norm_whiten", "popnn, whiten of a norm"},
      {"pop_popnn_pool", "popnn::pooling::pool"},
      {"pop_popnn_pool_gradient", "popnn::pooling::poolInputGradient"},
      {"pop_popops_binary", "popops::map"},
      {"pop_popops_cast_in_set", "popops::cast"},
      {"pop_popops_create_sliceable", "popops::createSliceableTensor"},
      {"pop_popops_fill_in_set", "popops::fill"},
      {"pop_popops_gather_windows", "popops::gather"},
      {"pop_popops_scaled_add_by", "popops::scaledAddTo"},
      {"pop_popops_scatter_windows", "popops::scatter"},
      {"pop_popops_unary", "popops::map"},
      {"pop_popops_unary_in_set", "popnn::nonLinearityInPlace"},
      {"pop_poprand_draw", "poprand"},
      {"pop_profile_print_execution_summary", "printExecutionSummary"},
      {"pop_profile_print_graph_summary", "printGraphSummary"},
      {"pop_profile_print_summary", "printProfileSummary"},
      {"pop_profile_read_memory", "ProfileValue"},
      {"pop_profile_write", "ProfileValue"},
      {"pop_program_call_host_function", "program::Call"},
      {"pop_program_copy_from_remote_buffer", "program::Copy"},
      {"pop_program_copy_from_stream", "program::Copy"},
      {"pop_program_copy_to_remote_buffer", "program::Copy"},
      {"pop_program_copy_to_stream", "program::Copy"},
      {"pop_program_nop", "program::Sequence"},
      {"pop_program_print_tensor_formatted", "program::PrintTensor"},
      {"pop_program_serialize", "program::dumpProgram"},
      {"pop_report_read", "pva::openReport"},
      {"pop_sequence_add", "program::Sequence::add"},
      {"pop_stream_set_option", "OptionFlags"},
      {"pop_stream_set_replicated_mode", "ReplicatedStreamMode"},
      {"pop_target_create", "Target::createIPUTarget"},
      {"pop_target_create_cpu", "Target::createCPUTarget"},
      {"pop_tensor_constant_values", "Tensor::getConstantValue"},
      {"pop_tensor_debug_string", "Tensor::getDebugStr"},
      {"pop_tensor_expand_dims", "Tensor::expand"},
      {"pop_tensor_flatten_partial", "Tensor::flatten"},
      {"pop_tensor_index", "Tensor::operator[]"},
      {"pop_tensor_intersects_with", "Tensor::intersectsWith"},
      {"pop_tensor_reshape_partial", "Tensor::reshapePartial"},
      {"pop_tensor_shape_string", "Tensor::shapeToString"},
      {"pop_tensor_slice_nd", "Tensor::slice"},
      {"pop_tensor_squeeze_dims", "Tensor::squeeze"},
      {"pop_tensor_visit_contiguous_regions", "Tensor::getContiguousRegions"},
      {"pop_tensor_visit_sorted_contiguous_regions", "Graph::getSortedContiguousRegions"},
      {"pop_tensor_visit_sorted_regions_with_aliases", "Graph::getSortedContiguousRegions"},
      {"pop_tensor_visit_var_regions", "Tensor::getVarRegions"},
  };
  count = sizeof names / sizeof names[0];
  return names;
}

// Prefixes of names of the C interface, and the scopes that they are in C++.
inline const CName *scopes(std::size_t &count)
{
  static const CName names[] = {
      {"pop_graph_", "Graph::"},
      {"pop_tensor_", "Tensor::"},
      {"pop_engine_", "Engine::"},
      {"pop_device_manager_", "DeviceManager::"},
      {"pop_device_", "Device::"},
      {"pop_target_", "Target::"},
      {"pop_executable_", "Executable::"},
      {"pop_popops_", "popops::"},
      {"pop_poplin_", "poplin::"},
      {"pop_popnn_", "popnn::"},
      {"pop_poprand_", "poprand::"},
      {"pop_program_", "program::"},
      {"pop_", ""},
  };
  count = sizeof names / sizeof names[0];
  return names;
}

// add_variable becomes addVariable, or AddVariable if it is a class.
inline std::string inCamelCase(const std::string &words, bool isClass)
{
  std::string name;
  bool upper = isClass;
  for (char c : words) {
    if (c != '_')
      name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return name;
}

inline std::string cxxName(const std::string &c)
{
  std::size_t count;
  for (const CName *n = otherNames(count), *end = n + count; n != end; ++n)
    if (c == n->c) return n->cxx;
  for (const CName *s = scopes(count), *end = s + count; s != end; ++s) {
    const std::string prefix = s->c;
    if (c.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string scope = s->cxx;
    return scope + inCamelCase(c.substr(prefix.size()), scope == "program::" || scope.empty());
  }
  return c;
}

inline bool isOfName(char c)
{
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// A message of the C interface with the names of C++. Only names at its beginning, or after a space
// or a bracket, are translated: others are in quotes or paths, and the program's own.
inline std::string inCxxNames(const std::string &sentence)
{
  static const char prefix[] = "pop_";
  std::string result;
  std::size_t at = 0, found;
  while ((found = sentence.find(prefix, at)) != std::string::npos) {
    std::size_t end = found;
    while (end < sentence.size() && isOfName(sentence[end])) ++end;
    const bool begins = found == 0 || sentence[found - 1] == ' ' || sentence[found - 1] == '(';
    const std::string name = sentence.substr(found, end - found);
    result.append(sentence, at, found - at);
    const std::string inCxx = begins ? cxxName(name) : name, again = " (" + inCxx + ")";
    result += inCxx;
    // "pop_popops_add_codelets (popops::addCodelets)" has both names.
    at = sentence.compare(end, again.size(), again) == 0 ? end + again.size() : end;
  }
  return result.append(sentence, at, std::string::npos);
}

} // namespace detail
} // namespace poplar

#endif
