// The user of a device leaves while its attributes are read. The linker sends the header's calls
// to __wrap_…
#include <iostream>
#include <poplar/DeviceManager.hpp>

static bool leaves;

extern "C" size_t __real_pop_device_get_attributes(const pop_device *, pop_device_attribute *,
                                                   size_t);
extern "C" size_t __wrap_pop_device_get_attributes(const pop_device *device,
                                                   pop_device_attribute *list, size_t max)
{
  size_t count = __real_pop_device_get_attributes(device, list, max);
  return leaves && !list ? count + 2 : count;
}

int main()
{
  const poplar::DeviceManager manager = poplar::DeviceManager::createDeviceManager();
  const poplar::Device device = manager.getDevice(0);
  const auto expected = device.getAttributes();
  leaves = true;
  if (expected.empty() || device.getAttributes() != expected) return 1;
  try {
    device.getAttribute("user process id");
  } catch (const poplar::poplar_error &) {
    return 0;
  }
  return 1;
}
