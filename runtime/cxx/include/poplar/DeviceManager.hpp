// The devices that there are.
#ifndef POPLAR_DEVICEMANAGER_HPP
#define POPLAR_DEVICEMANAGER_HPP

#include <algorithm>
#include <poplar/Device.hpp>
#include <poplar/version.hpp>

namespace poplar
{

class DeviceManager
{
  detail::Shared<pop_device_manager, pop_device_manager_free> manager;

  static pop_target_type c(TargetType type)
  {
    return type == TargetType::IPU   ? POP_TARGET_IPU
           : type == TargetType::CPU ? POP_TARGET_CPU
                                     : POP_TARGET_IPU_MODEL;
  }
  static void refuse(const OptionFlags &options)
  {
    if (!options.empty())
      throw invalid_option("DeviceManager: there is no option '" + options.begin()->first +
                           "': targets of devices have none");
  }

public:
  DeviceManager()
  {
    pop_device_manager *created;
    detail::check(pop_device_manager_create(&created));
    manager.reset(created);
  }
  static DeviceManager createDeviceManager() { return DeviceManager(); }

  std::size_t getNumDevices() const { return pop_device_manager_num_devices(manager.get()); }
  Device getDevice(unsigned id, const OptionFlags &options = {}) const
  {
    refuse(options);
    pop_device *device;
    detail::check(pop_device_manager_get_device(manager.get(), id, &device));
    return Device(pop_device_retain(device));
  }
  std::vector<Device> getDevices(const OptionFlags &options = {}) const
  {
    refuse(options);
    std::vector<Device> devices;
    for (unsigned id = 0; id < getNumDevices(); ++id) devices.push_back(getDevice(id));
    return devices;
  }
  // For the CPU and for IPU Models, makes one device, since any number of them can be made.
  std::vector<Device> getDevices(TargetType type, unsigned numIPUs,
                                 const OptionFlags &options = {}) const;
  // The devices with `numChildDeviceIPUs` IPUs each that are parts of this one.
  std::vector<unsigned> getChildDeviceIds(unsigned parentId, unsigned numChildDeviceIPUs = 1) const
  {
    std::vector<int> ids = getDevice(parentId).getDriverIDs();
    std::vector<unsigned> children;
    for (const Device &device : getDevices(TargetType::IPU, numChildDeviceIPUs)) {
      std::vector<int> parts = device.getDriverIDs();
      bool isPart = device.getId() != parentId;
      for (int part : parts) isPart = isPart && std::count(ids.begin(), ids.end(), part);
      if (isPart) children.push_back(device.getId());
    }
    return children;
  }
  // Returns an attached device; throws if all are taken.
  Device acquireAvailableDevice(unsigned numIPUs = 1, const OptionFlags &options = {}) const
  {
    refuse(options);
    pop_device *device;
    detail::check(pop_device_manager_acquire(manager.get(), numIPUs, &device));
    return Device(device);
  }
};

} // namespace poplar

#include <poplar/IPUModel.hpp>

namespace poplar
{

inline std::vector<Device> DeviceManager::getDevices(TargetType type, unsigned numIPUs,
                                                     const OptionFlags &options) const
{
  refuse(options);
  std::vector<Device> devices;
  if (type == TargetType::CPU) {
    devices.push_back(Device::createCPUDevice());
  } else if (type == TargetType::IPU_MODEL) {
    IPUModel model;
    model.numIPUs = numIPUs;
    devices.push_back(model.createDevice());
  } else {
    detail::CArray<pop_device *> list(
        pop_device_manager_get_devices(manager.get(), c(type), numIPUs, nullptr, 0));
    pop_device_manager_get_devices(manager.get(), c(type), numIPUs, list.data(), list.size());
    for (pop_device *device : list) devices.push_back(Device(pop_device_retain(device)));
  }
  return devices;
}

} // namespace poplar

#endif
