// What engines run on: populus/device.h says which there are.
#ifndef POPLAR_DEVICE_HPP
#define POPLAR_DEVICE_HPP

#include <map>
#include <memory>
#include <poplar/Target.hpp>
#include <populus/device.h>
#include <string>
#include <vector>

namespace poplar
{

class Device
{
  std::shared_ptr<pop_device> device;
  Target target;

  pop_device *get() const
  {
    if (!device)
      throw poplar_error(
          "poplar::Device: there is no device: it was made by Device() or moved from");
    return device.get();
  }

public:
  Device() = default;
  // Takes the reference over.
  explicit Device(pop_device *c) : device(c, pop_device_free), target(*pop_device_target(c)) {}
  Device(Device &&) = default;
  Device &operator=(Device &&) = default;

  static Device createCPUDevice() { return Device(pop_device_create_cpu()); }
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
    return std::vector<int>(ids, ids + pop_device_target(get())->num_ipus);
  }
  // False: somebody else has it.
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
  POPLAR_MISSING_MEMBER(createSimulatorDevice,
                        "poplar::Device::createSimulatorDevice: use IPUModel")

  std::map<std::string, std::string> getAttributes() const
  {
    std::vector<pop_device_attribute> list(pop_device_get_attributes(get(), nullptr, 0));
    pop_device_get_attributes(get(), list.data(), list.size());
    std::map<std::string, std::string> attributes;
    for (const auto &attribute : list) attributes[attribute.key] = attribute.value;
    return attributes;
  }
  std::string getAttribute(const std::string &key) const
  {
    auto attributes = getAttributes();
    auto found = attributes.find(key);
    if (found == attributes.end()) throw poplar_error("the device has no attribute '" + key + "'");
    return found->second;
  }
};

} // namespace poplar

#endif
