// Engines: populus/engine.h.
#ifndef POPLAR_ENGINE_HPP
#define POPLAR_ENGINE_HPP

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <gccs/ArrayRef.hpp>
#include <locale>
#include <ostream>
#include <poplar/Device.hpp>
#include <poplar/Executable.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/detail/EngineState.hpp>
#include <poplar/detail/MissingClasses.hpp>
#include <poplar/version.hpp>
#include <populus/engine.h>
#include <sstream>
#include <string>
#include <vector>

namespace pva
{
class Report;
}

namespace poplar
{
class Engine
{
  detail::Shared<detail::EngineState> state; // of no other engine

  detail::EngineState &get() const
  {
    if (!state) throw poplar_error("poplar::Engine: there is none: it was moved from");
    return *state.get();
  }
  void create(Executable &&executable, const OptionFlags &options)
  {
    state.reset(new detail::EngineState);
    get().executable = executable.getState();
    get().options = options;
    executable = Executable();
    auto flags = detail::options(options);
    detail::check(pop_engine_create_from_executable(get().executable->executable, flags.data(),
                                                    flags.size(), &get().engine));
  }
  // Throws the last exception of a callback, or else the error.
  void finishRun(pop_error *error)
  {
    if (std::exception_ptr thrown = get().thrown.take()) {
      pop_error_free(error);
      std::rethrow_exception(thrown);
    }
    detail::check(error);
  }
  // The bytes of one copy of the stream, of all replicas together.
  std::size_t streamBytes(const std::string &handle) const
  {
    pop_executable *executable = get().executable->executable;
    for (std::size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
      pop_stream_info info;
      detail::check(pop_executable_stream(executable, i, &info));
      if (handle != info.name) continue;
      return info.num_elements * pop_type_bytes(info.type) *
             (info.broadcast ? 1 : info.num_replicas);
    }
    // pop_engine_connect_stream's message names the nearest.
    detail::check(pop_engine_connect_stream(get().engine, handle.c_str(), nullptr, nullptr));
    throw stream_connection_error("there is no stream '" + handle + "'");
  }
  std::size_t handleBytes(const std::string &handle, bool read) const
  {
    pop_executable *executable = get().executable->executable;
    for (std::size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
      pop_handle_info info;
      detail::check(pop_executable_handle(executable, i, &info));
      // What is written to several replicas is the same for all.
      if (handle == info.name && info.read == read)
        return read ? info.bytes : info.bytes / info.num_replicas;
    }
    return 0; // the call that follows says which there are
  }
  // The format and scale of quarters. Throws tensor_metadata_error if replicas have different
  // ones, or if there are none.
  QuarterMetadata readMetadata(const std::string &handle)
  {
    const std::string name = handle + POP_METADATA_SUFFIX;
    std::vector<QuarterMetadata> all(handleBytes(name, true));
    if (all.empty())
      throw tensor_metadata_error("Engine: handle '" + handle +
                                  "' is not of quarters that have one format and scale");
    readTensor(name, all.data());
    if (std::adjacent_find(all.begin(), all.end(), std::not_equal_to<QuarterMetadata>()) !=
        all.end())
      throw tensor_metadata_error("Engine::readTensor: '" + handle +
                                  "': replicas have different metadata; read '" + name + "'");
    return all[0];
  }
  // The bytes of a buffer that the call uses. With several replicas the size tells whether it is
  // for each or for all, so it must be exact.
  std::size_t usedBytes(const std::string &handle, bool read, std::size_t given) const
  {
    pop_executable *executable = get().executable->executable;
    for (std::size_t i = 0; i < pop_executable_num_handles(executable); ++i) {
      pop_handle_info info;
      detail::check(pop_executable_handle(executable, i, &info));
      if (handle == info.name && info.read == read && info.num_replicas == 1)
        return std::min(given, info.bytes);
    }
    return given;
  }

public:
  explicit Engine(const Graph &graph, ArrayRef<program::Program> programs,
                  const OptionFlags &options = {}, const ProgressFunc &progress = {},
                  const DebugContext &debugContext = {})
  {
    create(compileGraph(graph, programs, options, progress, debugContext), {});
    get().options = options;
  }
  explicit Engine(const Graph &graph, const program::Program &program,
                  const OptionFlags &options = {}, const ProgressFunc &progress = {},
                  const DebugContext &debugContext = {})
      : Engine(graph, ArrayRef<program::Program>(program), options, progress, debugContext)
  {
  }
  // A copy of the executable stays valid for other engines.
  explicit Engine(Executable executable, const OptionFlags &options = {})
  {
    create(std::move(executable), options);
  }
  Engine(Engine &&) = default;
  Engine &operator=(Engine &&) = default;

  pop_engine *c() const { return get().engine; }

  // ---- running ----

  void load(const Device &device) { finishRun(pop_engine_load_device(get().engine, device.c())); }
  // In two steps what load does: prepare keeps the device, deploy loads.
  void prepare(const Device &device) { get().prepared.reset(pop_device_retain(device.c())); }
  void deploy()
  {
    if (!get().prepared) throw runtime_error("Engine::deploy: call Engine::prepare first");
    finishRun(pop_engine_load_device(get().engine, get().prepared.get()));
  }
  void run(unsigned program = 0, const std::string &debugName = "")
  {
    finishRun(pop_engine_run_as(get().engine, program, debugName.c_str()));
  }
  // May be called from another thread, a callback or a signal handler: the current run ends
  // soon, with an exception.
  void stop() { pop_engine_stop(get().engine); }
  void loadAndRun(const Device &device, unsigned program = 0)
  {
    load(device);
    run(program);
  }
  void setPrintStream(std::ostream &os)
  {
    detail::CStream *stream = new detail::CStream(os);
    std::setvbuf(*stream, nullptr, _IOLBF, BUFSIZ);
    pop_engine_set_print_stream(get().engine, *stream);
    std::swap(get().print, stream);
    delete stream;
  }
  void setPrintTensorStream(std::ostream &os) { setPrintStream(os); }

  // ---- the host ----

  // Without replicas, the buffer may be larger than the tensor: its beginning is used.
  void readTensor(StringRef handle, void *begin, void *end)
  {
    std::string name = handle;
    detail::check(pop_engine_read_tensor(get().engine, name.c_str(), begin,
                                         usedBytes(name, true, bytes(begin, end))));
  }
  void writeTensor(StringRef handle, const void *begin, const void *end)
  {
    std::string name = handle;
    detail::check(pop_engine_write_tensor(get().engine, name.c_str(), begin,
                                          usedBytes(name, false, bytes(begin, end))));
  }
  // The same for quarters, with their format and scale. If these are constants of the graph,
  // writeTensor must be given the same. Throws tensor_metadata_error otherwise.
  void readTensor(StringRef handle, QuarterMetadata &metadata, void *begin, void *end)
  {
    readTensor(handle, begin, end);
    metadata = readMetadata(handle.cloneAsString());
  }
  void writeTensor(StringRef handle, const QuarterMetadata &metadata, const void *begin,
                   const void *end)
  {
    const std::string name = handle.cloneAsString() + POP_METADATA_SUFFIX;
    if (!handleBytes(handle.cloneAsString(), false))
      return writeTensor(handle, begin, end); // throws the error
    if (const std::size_t size = handleBytes(name, false)) {
      const std::vector<unsigned char> all(size, metadata.getBinary());
      writeTensor(name, all.data());
    } else if (readMetadata(handle.cloneAsString()) != metadata) {
      throw tensor_metadata_error("Engine::writeTensor: '" + handle.cloneAsString() +
                                  "': the metadata of these quarters are a constant of the graph, "
                                  "and another one than what is to be written");
    }
    writeTensor(handle, begin, end);
  }
  template <typename T> void writeTensor(StringRef handle, ArrayRef<T> values)
  {
    writeTensor(handle, values.data(), values.data() + values.size());
  }
  template <typename T> void readTensor(StringRef handle, ArrayRef<T> values)
  {
    T *begin = const_cast<T *>(values.data());
    readTensor(handle, begin, begin + values.size());
  }
  // The buffer is as large as the tensor; for readTensor, as large as those of all replicas.
  void readTensor(StringRef handle, void *buffer)
  {
    std::string name = handle;
    detail::check(
        pop_engine_read_tensor(get().engine, name.c_str(), buffer, handleBytes(name, true)));
  }
  void writeTensor(StringRef handle, const void *buffer)
  {
    std::string name = handle;
    detail::check(
        pop_engine_write_tensor(get().engine, name.c_str(), buffer, handleBytes(name, false)));
  }

  void connectStream(StringRef handle, void *begin, void *end)
  {
    detail::check(
        pop_engine_connect_stream(get().engine, handle.cloneAsString().c_str(), begin, end));
  }
  // The buffer is as large as one copy, of all replicas together unless the stream is BROADCAST.
  void connectStream(StringRef handle, void *begin)
  {
    std::string name = handle;
    connectStream(handle, begin, static_cast<char *>(begin) + streamBytes(name));
  }
  // Connects a vector, or anything else that an ArrayRef can view. A stream to the host writes
  // to it, so it must not be const then.
  template <typename T> void connectStream(StringRef handle, ArrayRef<T> values)
  {
    T *begin = const_cast<T *>(values.data());
    connectStream(handle, begin, begin + values.size());
  }
  void connectStream(const DataStream &stream, void *begin, void *end)
  {
    connectStream(stream.handle(), begin, end);
  }
  void connectStream(const DataStream &stream, void *begin)
  {
    connectStream(stream.handle(), begin);
  }
  void connectStream(StringRef handle, unsigned replica, void *begin, void *end)
  {
    detail::check(pop_engine_connect_replica_stream(get().engine, handle.cloneAsString().c_str(),
                                                    replica, begin, end));
  }
  void connectStreamToCallback(StringRef handle, StreamCallbackHandle callback)
  {
    connectCallback(handle, ~0u, std::move(callback));
  }
  void connectStreamToCallback(const DataStream &stream, StreamCallbackHandle callback)
  {
    connectStreamToCallback(stream.handle(), std::move(callback));
  }
  void connectStreamToCallback(StringRef handle, unsigned replica, StreamCallbackHandle callback)
  {
    connectCallback(handle, replica, std::move(callback));
  }

  // Connects the function that program::Call of a HostFunction calls.
  void connectHostFunction(StringRef handle, unsigned replica, HostCallbackHandle callback)
  {
    std::string name = handle;
    auto function = callback.take();
    if (!function)
      throw stream_connection_error("host function '" + name + "': the function is empty");
    const std::size_t inputs = countStreams(name + "/input", false);
    const std::size_t outputs = countStreams(name + "/output", true);
    auto *connected = new detail::ConnectedFunction(name, replica, get().thrown,
                                                    std::move(function), inputs, outputs);
    pop_host_function_callback c = connected->c();
    get().functions.add(connected,
                        pop_engine_connect_host_function(get().engine, name.c_str(), replica, &c));
  }
  std::vector<std::string> listStreams() const
  {
    pop_executable *executable = get().executable->executable;
    std::vector<std::string> names(pop_executable_num_streams(executable));
    for (std::size_t i = 0; i < names.size(); ++i) {
      pop_stream_info info;
      detail::check(pop_executable_stream(executable, i, &info));
      names[i] = info.name;
    }
    return names;
  }

  // Row `row` of a remote buffer.
  void copyToRemoteBuffer(const void *data, StringRef handle, std::uint64_t row,
                          unsigned replica = 0)
  {
    std::string name = handle;
    detail::check(pop_engine_copy_to_remote_buffer(get().engine, name.c_str(), row, replica, data,
                                                   rowBytes(name)));
  }
  void copyFromRemoteBuffer(StringRef handle, void *data, std::uint64_t row, unsigned replica = 0)
  {
    std::string name = handle;
    detail::check(pop_engine_copy_from_remote_buffer(get().engine, name.c_str(), row, replica, data,
                                                     rowBytes(name)));
  }
  // The same with a vector, or anything else that an ArrayRef can view, as long as the row.
  template <typename T>
  void copyToRemoteBuffer(ArrayRef<T> values, StringRef handle, std::uint64_t row,
                          unsigned replica = 0)
  {
    detail::check(pop_engine_copy_to_remote_buffer(get().engine, handle.cloneAsString().c_str(),
                                                   row, replica, values.data(),
                                                   values.size() * sizeof(T)));
  }
  template <typename T>
  void copyFromRemoteBuffer(StringRef handle, ArrayRef<T> values, std::uint64_t row,
                            unsigned replica = 0)
  {
    detail::check(pop_engine_copy_from_remote_buffer(get().engine, handle.cloneAsString().c_str(),
                                                     row, replica, const_cast<T *>(values.data()),
                                                     values.size() * sizeof(T)));
  }

  // ---- time ----

  struct TimerTimePoint {
    std::chrono::steady_clock::time_point host;
    std::uint64_t cycles;
  };
  TimerTimePoint getTimeStamp() const
  {
    return {std::chrono::steady_clock::now(), pop_engine_cycles(get().engine)};
  }
  // Prints "name: 1234 cycles, 0.5 s": cycles of the device and time of the host.
  void reportTiming(std::ostream &os, const std::string &name, const TimerTimePoint &start,
                    const TimerTimePoint &end) const
  {
    os << name << ": " << reportTiming(start, end) << '\n';
  }
  std::string reportTiming(const TimerTimePoint &start, const TimerTimePoint &end) const
  {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << end.cycles - start.cycles << " cycles, "
         << std::chrono::duration<double>(end.host - start.host).count() << " s";
    return text.str();
  }
  double getTileClockFrequency() const
  {
    return pop_executable_target(get().executable->executable)->clock_hz;
  }

  // ---- reports ----

#define POPLAR_NOT_YET(name)                                                                       \
  POPLAR_MISSING_MEMBER(name, "poplar::Engine::" #name " is not there yet")
  POPLAR_NOT_YET(insertSimulatedError)
  POPLAR_NOT_YET(eraseSimulatedError)
  POPLAR_NOT_YET(clearSimulatedErrors)
  POPLAR_NOT_YET(getSimulatedErrorLocations)
#undef POPLAR_NOT_YET
  // The options that the engine was made with.
  const OptionFlags &getEngineOptions() const { return get().options; }
  // Writes the archive of tile images.
  void serializeExecutable(std::ostream &os) const { Executable(get().executable).serialize(os); }

  // <pva/pva.hpp> defines it.
  pva::Report getReport(bool reportExecution = true) const;
  ProfileValue getGraphProfile() const
  {
    pop_profile *profile;
    detail::check(pop_engine_graph_profile(get().engine, &profile));
    return ProfileValue(profile);
  }
  ProfileValue getExecutionProfile() const
  {
    pop_profile *profile;
    detail::check(pop_engine_execution_profile(get().engine, &profile));
    return ProfileValue(profile);
  }
  // Writes how many tiles compute, exchange and wait, as CSV: a row for each interval of cycles
  // in which these numbers are constant.
  void reportIntervals(std::ostream &os) const
  {
    detail::check(pop_engine_write_intervals(get().engine, detail::CStream(os)));
  }
  void resetExecutionProfile() { detail::check(pop_engine_reset_execution_profile(get().engine)); }
  void enableExecutionProfiling() { pop_engine_enable_execution_profiling(get().engine); }
  void disableExecutionProfiling() { pop_engine_disable_execution_profiling(get().engine); }

  // Prints the guide's summary of memory and, if it is measured, of runs. The options are those of
  // pop_profile_print_graph_summary.
  void printProfileSummary(std::ostream &os, const OptionFlags &options = {}) const
  {
    OptionFlags coloured = detail::withColours(os, options);
    auto flags = detail::options(coloured);
    detail::check(pop_engine_print_profile_summary(get().engine, flags.data(), flags.size(),
                                                   detail::CStream(os)));
  }

private:
  static std::size_t bytes(const void *begin, const void *end)
  {
    if (static_cast<const char *>(end) < static_cast<const char *>(begin))
      throw poplar_error("poplar::Engine: a buffer ends before it begins");
    return static_cast<std::size_t>(static_cast<const char *>(end) -
                                    static_cast<const char *>(begin));
  }
  std::size_t rowBytes(const std::string &handle) const
  {
    pop_executable *executable = get().executable->executable;
    for (std::size_t i = 0; i < pop_executable_num_remote_buffers(executable); ++i) {
      pop_remote_buffer_info info;
      detail::check(pop_executable_remote_buffer(executable, i, &info));
      if (handle == info.name) return info.num_elements * pop_type_bytes(info.type);
    }
    return 0; // the call that follows says which there are
  }
  // The number of streams NAME0, NAME1, …, which are there in this order: those of a host function's
  // arguments. Other streams may have names that begin with NAME.
  std::size_t countStreams(const std::string &name, bool toDevice) const
  {
    pop_executable *executable = get().executable->executable;
    std::size_t count = 0;
    for (std::size_t i = 0; i < pop_executable_num_streams(executable); ++i) {
      pop_stream_info info;
      detail::check(pop_executable_stream(executable, i, &info));
      count += info.to_device == toDevice && name + std::to_string(count) == info.name;
    }
    return count;
  }
  void connectCallback(StringRef handle, unsigned replica, StreamCallbackHandle callback)
  {
    std::string name = handle;
    auto calls = callback.take();
    if (!calls) throw stream_connection_error("stream '" + name + "': the callback is null");
    auto *connected = new detail::ConnectedCallback(name, replica, get().thrown, std::move(calls));
    pop_stream_callback c = connected->c();
    get().callbacks.add(
        connected,
        replica == ~0u
            ? pop_engine_connect_stream_callback(get().engine, name.c_str(), &c)
            : pop_engine_connect_replica_stream_callback(get().engine, name.c_str(), replica, &c));
  }
};

} // namespace poplar

#endif
