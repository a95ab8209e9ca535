// The target of a graph: so many tiles with so much memory, and their figures.
#ifndef POPLAR_TARGET_HPP
#define POPLAR_TARGET_HPP

#include <cstdint>
#include <poplar/OptionFlags.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/TargetType.hpp>
#include <poplar/Type.hpp>
#include <poplar/detail/Missing.hpp>
#include <poplar/exceptions.hpp>
#include <populus/target.h>
#include <populus/target_units.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace poplar
{

// Unused ones give no warning.
class __attribute__((unused)) Target
{
  pop_target target_ = {};

  static std::pair<double, double> limits(const Type &type)
  {
    if (type == HALF) return {-65504, 65504};
    if (type == FLOAT) return {-3.4028234663852886e38, 3.4028234663852886e38};
    if (type == BOOL) return {0, 1};
    bool isSigned = type == CHAR || type == SIGNED_CHAR || type == SHORT || type == INT;
    std::size_t bits = 8 * pop_type_bytes(type.c());
    if (bits == 0 || bits > 32 || type == QUARTER)
      throw type_error("Target: the limits of type " + type.toString() + " cannot be asked for");
    double values = static_cast<double>(std::uint64_t(1) << bits);
    return isSigned ? std::pair<double, double>(-values / 2, values / 2 - 1)
                    : std::pair<double, double>(0, values - 1);
  }

  const pop_target_units &units() const { return *pop_target_get_units(&target_); }
  // The figures that are compared.
  std::tuple<int, std::string, unsigned, unsigned, unsigned, unsigned> key() const
  {
    return std::make_tuple(static_cast<int>(target_.type), std::string(target_.name),
                           target_.num_ipus, target_.tiles_per_ipu, target_.memory_bytes,
                           target_.num_worker_contexts);
  }

public:
  Target() = default;
  explicit Target(const pop_target &target) : target_(target) {}

  // `systemType` is an architecture, "ipu1", "ipu2" or "ipu21", or a system of "ipu2":
  // "IPU-M2000", "IPU-POD16", ….
  static Target createIPUTarget(unsigned numIPUs, StringRef systemType,
                                const OptionFlags &options = {})
  {
    std::string name = systemType.cloneAsString();
    if (name == "IPU-M2000" || name.compare(0, 7, "IPU-POD") == 0) name = "ipu2";
    if (!options.empty())
      throw invalid_option("Target::createIPUTarget: there is no option '" +
                           options.begin()->first + "': targets have none");
    pop_target target;
    detail::check(pop_target_create(name.c_str(), numIPUs, &target));
    return Target(target);
  }
  static Target createIPUTarget(unsigned numIPUs, unsigned tilesPerIPU, StringRef systemType,
                                const OptionFlags &options = {})
  {
    Target target = createIPUTarget(numIPUs, systemType, options);
    target.target_.tiles_per_ipu = tilesPerIPU;
    detail::check(pop_target_validate(&target.target_));
    return target;
  }
  static Target createCPUTarget(bool accurateHalf = false, unsigned numIPUs = 1)
  {
    if (accurateHalf)
      throw poplar_error("Target::createCPUTarget: half is always accurate here: pass false");
    Target target;
    pop_target_create_cpu(&target.target_);
    target.target_.num_ipus = numIPUs;
    detail::check(pop_target_validate(&target.target_));
    return target;
  }

  // The same target with so many IPUs and tiles. With 0 tiles no graph can be made for it.
  Target createVirtualTarget(unsigned numIPUs, unsigned tilesPerIPU) const
  {
    Target target = *this;
    target.target_.num_ipus = numIPUs;
    target.target_.tiles_per_ipu = tilesPerIPU;
    if (tilesPerIPU) detail::check(pop_target_validate(&target.target_));
    return target;
  }

  const pop_target &c() const { return target_; }

  TargetType getTargetType() const
  {
    switch (target_.type) {
    case POP_TARGET_IPU:
      return TargetType::IPU;
    case POP_TARGET_CPU:
      return TargetType::CPU;
    case POP_TARGET_IPU_MODEL:
      break;
    }
    return TargetType::IPU_MODEL;
  }
  StringRef getTargetArchString() const { return target_.name; }
  unsigned getNumIPUs() const { return target_.num_ipus; }
  unsigned getTilesPerIPU() const { return target_.tiles_per_ipu; }
  unsigned getNumTiles() const { return pop_target_num_tiles(&target_); }
  unsigned getNumWorkerContexts() const { return target_.num_worker_contexts; }
  unsigned getBytesPerTile() const { return target_.memory_bytes; }
  std::uint64_t getMemoryBytes() const
  {
    return std::uint64_t(target_.memory_bytes) * getNumTiles();
  }
  unsigned getExchangeBytesPerCycle() const { return target_.exchange_bytes_per_cycle; }
  double getTileClockFrequency() const { return target_.clock_hz; }
  std::size_t getTypeSize(const Type &type) const { return pop_type_bytes(type.c()); }
  // Bytes from the base of tile memory to each memory element.
  std::vector<unsigned> getMemoryElementOffsets() const
  {
    std::vector<unsigned> offsets;
    for (std::uint64_t at = 0; at < target_.memory_bytes; at += target_.memory_element_bytes)
      offsets.push_back(static_cast<unsigned>(at)); // a CPU's memory ends where 32 bits do
    return offsets;
  }
  // Index in getMemoryElementOffsets of the first interleaved element; the number of elements if
  // none is.
  unsigned getInterleavedMemoryElementIndex() const
  {
    if (!target_.memory_element_bytes) return 0; // of Target()
    return (target_.interleaved_base - target_.memory_base) / target_.memory_element_bytes;
  }

  // The largest and the lowest value of a type. Throws type_error for 64-bit types and QUARTER.
  template <typename T> T getTypeLimitsMaxAs(const Type &type) const
  {
    return static_cast<T>(limits(type).second);
  }
  template <typename T> T getTypeLimitsLowestAs(const Type &type) const
  {
    return static_cast<T>(limits(type).first);
  }
  // Cycles of a sync, from the last tile's request to the release of all tiles; all tiles are
  // equally near. The first two are of a sync of one IPU, the third of one with the host or of all
  // IPUs (populus/target.h).
  unsigned getMinIPUSyncDelay() const { return target_.sync_cycles; }
  unsigned getMaxIPUSyncDelay() const { return target_.sync_cycles; }
  unsigned getGlobalSyncCycles() const { return target_.host_sync_cycles; }
  // Each tile has its own bandwidth of the exchange, so sharing a bus would gain nothing.
  bool supportsExchangeBusSharing() const { return false; }

  // Widths of the chip's instructions (populus/target_units.h), by which programs lay out data for
  // the chip. Tiles here are RV32IMF, and no cost depends on these figures.
  unsigned getVectorWidth(const Type &type) const
  {
    return pop_target_vector_width(&target_, type.c());
  }
  unsigned getFloatVectorWidth() const { return getVectorWidth(FLOAT); }
  unsigned getHalfVectorWidth() const { return getVectorWidth(HALF); }
  unsigned getQuarterVectorWidth() const { return getVectorWidth(QUARTER); }
  unsigned getDataPathWidth() const { return units().data_path_bits; }
  unsigned getAtomicStoreGranularity() const { return units().atomic_store_bytes; }
  unsigned getTilesPerSharedExchangeBus() const { return units().shared_bus_tiles; }
  unsigned getRptCountMax() const { return units().repeat_count_max; }
  unsigned getNumStrideBits() const { return units().stride_bits; }
  unsigned getMemcpyBytesPerCycle() const { return units().memcpy_bytes_per_cycle; }
  unsigned getFp16InFp16OutConvUnitsPerTile() const { return units().half_to_half_units; }
  unsigned getFp16InFp32OutConvUnitsPerTile() const { return units().half_to_float_units; }
  unsigned getFp32InFp32OutConvUnitsPerTile() const { return units().float_to_float_units; }
  unsigned getFp8InFp16OutConvUnitsPerTile() const { return units().quarter_to_half_units; }
  unsigned getFp16ConvUnitMaxPipelineDepth() const { return units().pipeline_depth; }
  unsigned getFp32ConvUnitMaxPipelineDepth() const { return units().pipeline_depth; }
  unsigned getFp8ConvUnitMaxPipelineDepth() const { return units().pipeline_depth; }
  unsigned getFp16ConvUnitInputLoadElemsPerCycle() const { return units().half_inputs_per_cycle; }
  unsigned getFp32ConvUnitInputLoadElemsPerCycle() const { return units().float_inputs_per_cycle; }
  unsigned getFp8ConvUnitInputLoadElemsPerCycle() const { return units().quarter_inputs_per_cycle; }
  unsigned getConvUnitCoeffLoadBytesPerCycle() const { return units().weight_bytes_per_cycle; }
  // 0: the chip has no unit for these types.
  unsigned getNumConvUnits(const Type &inputType, const Type &partialType) const
  {
    if (inputType == FLOAT) return partialType == FLOAT ? units().float_to_float_units : 0;
    if (inputType == HALF && partialType == FLOAT) return units().half_to_float_units;
    if (inputType == HALF && partialType == HALF) return units().half_to_half_units;
    return inputType == QUARTER && partialType == HALF ? units().quarter_to_half_units : 0;
  }
  unsigned getConvUnitMaxPipelineDepth(const Type & /*partialType*/) const
  {
    return units().pipeline_depth;
  }
  unsigned getConvUnitInputLoadElemsPerCycle(const Type &inputType) const
  {
    return inputType == FLOAT     ? units().float_inputs_per_cycle
           : inputType == QUARTER ? units().quarter_inputs_per_cycle
                                  : units().half_inputs_per_cycle;
  }
  unsigned getConvUnitInputLoadElemsPerCycle(bool isFloat) const
  {
    return getConvUnitInputLoadElemsPerCycle(isFloat ? FLOAT : HALF);
  }
  unsigned getWeightsPerConvUnit(const Type &inputType) const
  {
    return units().pipeline_depth * getConvUnitInputLoadElemsPerCycle(inputType);
  }
  unsigned getWeightsPerConvUnit(bool isFloat) const
  {
    return getWeightsPerConvUnit(isFloat ? FLOAT : HALF);
  }

  friend bool operator==(const Target &a, const Target &b) { return a.key() == b.key(); }
  friend bool operator!=(const Target &a, const Target &b) { return !(a == b); }
  // An order in which equal targets are equivalent.
  friend bool operator<(const Target &a, const Target &b) { return a.key() < b.key(); }

  // Figures of the chip's instruction set. They do not hold for Populus' tiles, which are
  // RV32IMF.
#define POPLAR_NO_FIGURE(name)                                                                     \
  POPLAR_MISSING_MEMBER(name, "poplar::Target::" #name                                             \
                              ": Populus' tiles are RV32IMF and have no such figure")
  POPLAR_NO_FIGURE(getInstanceSize)
  POPLAR_NO_FIGURE(getFpIctlRegIndex)
  POPLAR_NO_FIGURE(getDbgDataRegIndex)
  POPLAR_NO_FIGURE(makeFpIctlValue)
  POPLAR_NO_FIGURE(getNumContextsPerXB)
  POPLAR_NO_FIGURE(getNumTilesPerXBContext)
  POPLAR_NO_FIGURE(getTileHostExchangeContext)
  POPLAR_NO_FIGURE(getTileHostExchangeContextPosition)
  POPLAR_NO_FIGURE(getTileHostExchangeXB)
  POPLAR_NO_FIGURE(getGatewayMode)
  POPLAR_NO_FIGURE(getIpuLinkConfiguration)
  POPLAR_NO_FIGURE(getIpuLinkDomainSize)
  POPLAR_NO_FIGURE(getIpuLinkTopology)
  POPLAR_NO_FIGURE(getTargetSystemString)
#undef POPLAR_NO_FIGURE
};

// Converts between floats or doubles and elements of type HALF, in the host's memory, rounded
// once.
inline void copyFloatToDeviceHalf(const Target &, const float *source, void *destination,
                                  std::size_t numElements)
{
  unsigned char *out = static_cast<unsigned char *>(destination);
  for (std::size_t i = 0; i < numElements; ++i) {
    std::uint16_t half = pop_half_from_float(source[i]);
    __builtin_memcpy(out + i * sizeof half, &half, sizeof half);
  }
}
inline void copyDoubleToDeviceHalf(const Target &, const double *source, void *destination,
                                   std::size_t numElements)
{
  unsigned char *out = static_cast<unsigned char *>(destination);
  for (std::size_t i = 0; i < numElements; ++i) {
    std::uint16_t half = pop_half_from_double(source[i]);
    __builtin_memcpy(out + i * sizeof half, &half, sizeof half);
  }
}
inline void copyDeviceHalfToDouble(const Target &, const void *source, double *destination,
                                   std::size_t numElements)
{
  const unsigned char *in = static_cast<const unsigned char *>(source);
  for (std::size_t i = 0; i < numElements; ++i) {
    std::uint16_t half;
    __builtin_memcpy(&half, in + i * sizeof half, sizeof half);
    destination[i] = static_cast<double>(pop_half_to_float(half));
  }
}
inline void copyDeviceHalfToFloat(const Target &, const void *source, float *destination,
                                  std::size_t numElements)
{
  const unsigned char *in = static_cast<const unsigned char *>(source);
  for (std::size_t i = 0; i < numElements; ++i) {
    std::uint16_t half;
    __builtin_memcpy(&half, in + i * sizeof half, sizeof half);
    destination[i] = pop_half_to_float(half);
  }
}

} // namespace poplar

#endif
