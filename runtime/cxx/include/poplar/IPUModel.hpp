// A software IPU with figures of the program's own.
#ifndef POPLAR_IPUMODEL_HPP
#define POPLAR_IPUMODEL_HPP

#include <cstdio>
#include <poplar/Device.hpp>
#include <populus/device.h>
#include <populus/target_units.h>
#include <string>
#include <utility>
#include <vector>

namespace poplar
{
// Data over a link, from one IPU to another.
struct GlobalExchangeFlow {
  unsigned src, dst;

  GlobalExchangeFlow(unsigned from, unsigned to) : src(from), dst(to) {}
};
// All of these flows together have a bandwidth of so many bits a second.
struct GlobalExchangeConstraint {
  double bandwidth;
  std::vector<GlobalExchangeFlow> flows;

  GlobalExchangeConstraint(double bitsPerSecond, std::vector<GlobalExchangeFlow> of)
      : bandwidth(bitsPerSecond), flows(std::move(of))
  {
  }
};

// X(name here, name in pop_target_units)
#define POPULUS_FIGURES(X)                                                                         \
  X(dataPathWidth, data_path_bits)                                                                 \
  X(atomicStoreGranularity, atomic_store_bytes)                                                    \
  X(rptCountMax, repeat_count_max)                                                                 \
  X(tilesPerSharedExchangeBus, shared_bus_tiles)                                                   \
  X(numStrideBits, stride_bits)                                                                    \
  X(memcpyBytesPerCycle, memcpy_bytes_per_cycle)                                                   \
  X(fp16InFp16OutConvUnitsPerTile, half_to_half_units)                                             \
  X(fp16InFp32OutConvUnitsPerTile, half_to_float_units)                                            \
  X(fp32InFp32OutConvUnitsPerTile, float_to_float_units)                                           \
  X(fp8InFp16OutConvUnitsPerTile, quarter_to_half_units)                                           \
  X(fp16ConvUnitMaxPipelineDepth, pipeline_depth)                                                  \
  X(fp32ConvUnitMaxPipelineDepth, pipeline_depth)                                                  \
  X(fp8ConvUnitMaxPipelineDepth, pipeline_depth)                                                   \
  X(fp16ConvUnitInputLoadElemsPerCycle, half_inputs_per_cycle)                                     \
  X(fp32ConvUnitInputLoadElemsPerCycle, float_inputs_per_cycle)                                    \
  X(fp8ConvUnitInputLoadElemsPerCycle, quarter_inputs_per_cycle)                                   \
  X(convUnitCoeffLoadBytesPerCycle, weight_bytes_per_cycle)

class IPUModel
{
  static pop_ipu_model figures(const char *version)
  {
    pop_ipu_model model;
    detail::check(pop_ipu_model_init(&model, version));
    return model;
  }
  static const pop_target_units *unitsOf(const char *version)
  {
    pop_target target;
    detail::check(pop_target_create(version, 1, &target));
    return pop_target_get_units(&target);
  }
  static void checkFigure(const char *name, unsigned figure, unsigned own)
  {
    if (figure != own)
      throw poplar_error("IPUModel::" + std::string(name) + " is " + std::to_string(own) +
                         ", as the architecture's, and cannot be changed: not to " +
                         std::to_string(figure));
  }
  explicit IPUModel(const pop_ipu_model &m)
      : IPUVersion(m.ipu_version), numIPUs(m.num_ipus), tilesPerIPU(m.tiles_per_ipu),
        numWorkerContexts(m.num_worker_contexts), memoryBytesPerTile(m.memory_bytes_per_tile),
        tileClockFrequency(m.tile_clock_frequency),
        exchangeBytesPerCycle(m.exchange_bytes_per_cycle),
        interleavedMemoryElementIndex(m.interleaved_memory_element_index),
        minIPUSyncDelay(m.min_ipu_sync_delay), globalSyncCycles(m.global_sync_cycles),
        compileIPUCode(m.compile_ipu_code), units(unitsOf(m.ipu_version))
  {
#define POPULUS_INIT(name, unit) name = units->unit;
    POPULUS_FIGURES(POPULUS_INIT)
#undef POPULUS_INIT
  }

public:
  enum class RelativeSyncDelayType { AUTO, NO_DELAY };

  // "ipu1", "ipu2" or "ipu21"
  explicit IPUModel(char const *version = "ipu2") : IPUModel(figures(version)) {}

  std::string IPUVersion;
  unsigned numIPUs;
  unsigned tilesPerIPU;
  unsigned numWorkerContexts;
  unsigned memoryBytesPerTile;
  double tileClockFrequency; // Hz
  unsigned exchangeBytesPerCycle;
  unsigned interleavedMemoryElementIndex; // see Target::getMemoryElementOffsets
  unsigned minIPUSyncDelay;               // cycles of a sync
  unsigned globalSyncCycles;              // of one with the host or of all IPUs
  // All links of an IPU together have one figure here: the narrowest constraint, if there are
  // any; at least a byte a cycle.
  std::vector<GlobalExchangeConstraint> globalExchangeConstraints;
  RelativeSyncDelayType relativeSyncDelay = RelativeSyncDelayType::AUTO;
  // Whether memory profiles include the code (populus/device.h: compile_ipu_code). Vertices with an
  // estimate take the estimated cycles in both cases.
  bool compileIPUCode;

  // Figures of the architecture that libraries compute with (populus/target_units.h). They can
  // be read; createDevice() refuses other values.
#define POPULUS_FIGURE(name, unit) unsigned name;
  POPULUS_FIGURES(POPULUS_FIGURE)
#undef POPULUS_FIGURE

  // Figures of the chip that Populus' tiles and exchange do not have.
#define POPLAR_NO_FIGURE(name)                                                                     \
  POPLAR_MISSING_FIELD(name,                                                                       \
                       "poplar::IPUModel::" #name ": Populus' tiles have no such figure to set")
  POPLAR_NO_FIGURE(IPUExchangeType)
  POPLAR_NO_FIGURE(supervisorInstrFetchDelay)
  POPLAR_NO_FIGURE(memoryElementOffsets)
#undef POPLAR_NO_FIGURE

  Device createDevice(const OptionFlags &options = {}, bool accurateHalf = false) const
  {
    if (!options.empty())
      throw invalid_option("IPUModel::createDevice: there is no option '" + options.begin()->first +
                           "'");
    if (accurateHalf)
      throw poplar_error("IPUModel::createDevice: half is always accurate here: pass false");
#define POPULUS_CHECK(name, unit) checkFigure(#name, name, units->unit);
    POPULUS_FIGURES(POPULUS_CHECK)
#undef POPULUS_CHECK
    pop_ipu_model model = figures(IPUVersion.c_str());
    model.num_ipus = numIPUs;
    model.tiles_per_ipu = tilesPerIPU;
    model.num_worker_contexts = numWorkerContexts;
    model.memory_bytes_per_tile = memoryBytesPerTile;
    model.tile_clock_frequency = tileClockFrequency;
    model.exchange_bytes_per_cycle = exchangeBytesPerCycle;
    model.interleaved_memory_element_index = interleavedMemoryElementIndex;
    model.min_ipu_sync_delay = minIPUSyncDelay;
    model.global_sync_cycles = globalSyncCycles;
    for (std::size_t i = 0; i < globalExchangeConstraints.size(); ++i) {
      const double bytes = globalExchangeConstraints[i].bandwidth / 8 / tileClockFrequency;
      const auto perCycle = static_cast<unsigned>(bytes < 1 ? 1 : bytes);
      if (i == 0 || perCycle < model.global_bytes_per_cycle)
        model.global_bytes_per_cycle = perCycle;
    }
    model.compile_ipu_code = compileIPUCode;
    model.relative_sync_delay = relativeSyncDelay == RelativeSyncDelayType::AUTO
                                    ? POP_SYNC_DELAY_AUTO
                                    : POP_SYNC_DELAY_NO_DELAY;
    pop_device *device;
    detail::check(pop_ipu_model_create_device(&model, &device));
    return Device(device);
  }

private:
  const pop_target_units *units; // of the version that the model was made for
};

#undef POPULUS_FIGURES

} // namespace poplar

#endif
