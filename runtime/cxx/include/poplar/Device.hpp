// Devices that engines run on: populus/device.h.
#ifndef POPLAR_DEVICE_HPP
#define POPLAR_DEVICE_HPP

#include <map>
#include <poplar/Target.hpp>
#include <poplar/detail/CArray.hpp>
#include <poplar/detail/Shared.hpp>
#include <populus/device.h>
#include <string>
#include <vector>

namespace poplar
{

class Device
{
  detail::Shared<pop_device, pop_device_free> device;
  Target target;

  pop_device *get() const
  {
    if (!device)
      throw poplar_error(
          "poplar::Device: there is no device: it was made by Device() or moved from");
    return device.get();
  }
  // Those without a key, at the end, are of a user who has left meanwhile.
  detail::CArray<pop_device_attribute> attributes() const
  {
    detail::CArray<pop_device_attribute> list(pop_device_get_attributes(get(), nullptr, 0));
    pop_device_get_attributes(get(), list.data(), list.size());
    return list;
  }

public:
  Device() = default;
  // Takes over the caller's reference.
  explicit Device(pop_device *c) : device(c), target(*pop_device_target(c)) {}
  Device(Device &&) = default;
  Device &operator=(Device &&) = default;

  // The host, in the place of so many IPUs.
  static Device createCPUDevice(unsigned numIPUs = 1)
  {
    Device device(pop_device_create_cpu());
    device.target = Target::createCPUTarget(false, numIPUs);
    return device;
  }
  // A software IPU of the program's own with the target's figures. Vertices take the cycles of
  // their code, whatever their estimates are.
  static Device createSimulatorDevice(const Target &target)
  {
    const pop_target &t = target.c();
    pop_ipu_model model;
    detail::check(pop_ipu_model_init(&model, t.name));
    model.num_ipus = t.num_ipus;
    model.tiles_per_ipu = t.tiles_per_ipu;
    model.num_worker_contexts = t.num_worker_contexts;
    model.memory_bytes_per_tile = t.memory_bytes;
    model.interleaved_memory_element_index = target.getInterleavedMemoryElementIndex();
    model.tile_clock_frequency = t.clock_hz;
    model.exchange_bytes_per_cycle = t.exchange_bytes_per_cycle;
    model.min_ipu_sync_delay = t.sync_cycles;
    model.global_sync_cycles = t.host_sync_cycles;
    model.global_bytes_per_cycle = t.global_bytes_per_cycle;
    model.compile_ipu_code = true;
    model.code_cycles = true;
    pop_device *device;
    detail::check(pop_ipu_model_create_device(&model, &device));
    return Device(device);
  }
  // A device with only the first tiles of each IPU.
  Device createVirtualDevice(unsigned tilesPerIPU) const
  {
    pop_device *part;
    detail::check(pop_device_create_virtual(get(), tilesPerIPU, &part));
    return Device(part);
  }

  pop_device *c() const { return get(); }

  unsigned getId() const { return pop_device_id(get()); }
  const Target &getTarget() const
  {
    get();
    return target;
  }
  std::vector<int> getDriverIDs() const
  {
    const std::uint32_t *ids = pop_device_driver_ids(get());
    if (!ids) return {};
    std::vector<int> list(pop_device_target(get())->num_ipus);
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int>(ids[i]);
    return list;
  }
  // False if the device cannot be attached, as when another process has it.
  bool attach() const
  {
    pop_error *error = pop_device_attach(get());
    pop_error_free(error);
    return !error;
  }
  void detach() const { pop_device_detach(get()); }
  bool isAttached() const { return pop_device_is_attached(get()); }
  void reset() const { pop_device_reset(get()); }
  bool supportsRemoteBuffers() const { return pop_device_supports_remote_buffers(get()); }
  bool hasGateway() const { return false; }
  POPLAR_MISSING_MEMBER(getDriverVersion, "poplar::Device::getDriverVersion: there is no driver")
  POPLAR_MISSING_MEMBER(getNumaTopology, "poplar::Device::getNumaTopology is not there")
  POPLAR_MISSING_MEMBER(getNumaNodesUsedForIPUs,
                        "poplar::Device::getNumaNodesUsedForIPUs is not there")

  // The parameter is there so that only a program that asks for a map has one compiled.
  template <typename Map = std::map<std::string, std::string>> Map getAttributes() const
  {
    Map result;
    for (const auto &attribute : attributes())
      if (attribute.key) result[attribute.key] = attribute.value;
    return result;
  }
  std::string getAttribute(const std::string &key) const
  {
    for (const auto &attribute : attributes())
      if (attribute.key && key == attribute.key) return attribute.value;
    throw poplar_error("the device has no attribute '" + key + "'");
  }
};

} // namespace poplar

#endif
