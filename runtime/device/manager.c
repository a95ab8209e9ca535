/* The device manager: all devices of all systems, numbered.
 *
 * Ids go from system to system. Within a system they go from the single IPUs to larger and larger
 * groups:
 *
 *   4 IPUs:   0: {0}  1: {1}  2: {2}  3: {3}  4: {0,1}  5: {2,3}  6: {0,1,2,3} */
#include "device/device.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

struct pop_device_manager {
  object base;
  pop_device **devices; /* by id */
  size_t num_devices, devices_capacity;
};

static void add_device(pop_device_manager *m, const device_system *system, uint32_t first,
                       uint32_t num_ipus)
{
  pop_device *device = device_new(&system->target);
  atomic_store(&device->base.users, 0); /* it is the manager's */
  device->target.num_ipus = num_ipus;
  device->id = (uint32_t)m->num_devices;
  memcpy(device->system, system->name, sizeof device->system);
  device->ipus = pop_xcalloc(num_ipus, sizeof *device->ipus);
  for (uint32_t i = 0; i < num_ipus; i++) device->ipus[i] = first + i;
  pop_push(m->devices, m->num_devices, m->devices_capacity, device);
}

static void add_system(pop_device_manager *m, const device_system *system)
{
  uint32_t all = system->target.num_ipus;
  for (uint32_t size = 1; size <= all; size *= 2)
    for (uint32_t first = 0; first + size <= all; first += size) add_device(m, system, first, size);
}

pop_error *pop_device_manager_create(pop_device_manager **manager)
{
  device_system *systems;
  size_t count;
  POP_TRY(object_check_argument(manager, "the manager to make", __func__));
  *manager = NULL;
  POP_TRY(device_read_configuration(&systems, &count));
  *manager = object_new(OBJECT_DEVICE_MANAGER, sizeof **manager);
  for (size_t i = 0; i < count; i++) add_system(*manager, &systems[i]);
  free(systems);
  return NULL;
}

void pop_device_manager_free(pop_device_manager *m)
{
  if (!object_release(m, OBJECT_DEVICE_MANAGER, __func__)) return;
  for (size_t i = 0; i < m->num_devices; i++) device_release(m->devices[i]);
  free(m->devices);
  object_delete(&m->base);
}

size_t pop_device_manager_num_devices(const pop_device_manager *m)
{
  if (!object_there(m, OBJECT_DEVICE_MANAGER, __func__)) return 0;
  return m->num_devices;
}

pop_error *pop_device_manager_get_device(const pop_device_manager *m, size_t id,
                                         pop_device **device)
{
  POP_TRY(object_check_argument(device, "the device", __func__));
  *device = NULL;
  POP_TRY(object_check(m, OBJECT_DEVICE_MANAGER, __func__));
  if (id >= m->num_devices)
    return pop_error_new(POP_ERROR_INDEX, "there is no device %zu: there are %zu%s", id,
                         m->num_devices, m->num_devices ? ", from 0 on" : "");
  *device = m->devices[id];
  return NULL;
}

size_t pop_device_manager_get_devices(const pop_device_manager *m, pop_target_type type,
                                      uint32_t num_ipus, pop_device **devices, size_t max)
{
  if (!object_there(m, OBJECT_DEVICE_MANAGER, __func__)) return 0;
  if (!devices) max = 0;
  size_t count = 0;
  for (size_t i = 0; i < m->num_devices; i++) {
    const pop_target *t = &m->devices[i]->target;
    if (t->type != type || t->num_ipus != num_ipus) continue;
    if (count < max) devices[count] = m->devices[i];
    count++;
  }
  return count;
}

/* "1, 2 or 4": how many IPUs the devices have. */
static void list_sizes(const pop_device_manager *m, pop_bytes *text)
{
  bool there[POP_TARGET_MAX_IPUS + 1] = {0};
  for (size_t i = 0; i < m->num_devices; i++) there[m->devices[i]->target.num_ipus] = true;
  for (uint32_t n = 1; n <= POP_TARGET_MAX_IPUS; n++) {
    if (!there[n]) continue;
    char *number = pop_xasprintf("%s%u", text->size ? ", " : "", n);
    pop_bytes_append(text, number, strlen(number));
    free(number);
  }
  pop_bytes_append(text, "", 1);
}

static pop_error *none_of_size(const pop_device_manager *m, uint32_t num_ipus)
{
  pop_bytes sizes = {0};
  list_sizes(m, &sizes);
  pop_error *error =
      m->num_devices
          ? pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                          "there is no device with %u IPUs: there are devices with %s (gc-info -l "
                          "shows them, POPULUS_DEVICES asks for others)",
                          num_ipus, (const char *)sizes.data)
          : pop_error_new(POP_ERROR_INVALID_ARGUMENT, "there are no devices: POPULUS_DEVICES is an "
                                                      "empty array");
  pop_bytes_free(&sizes);
  return error;
}

pop_error *pop_device_manager_acquire(const pop_device_manager *m, uint32_t num_ipus,
                                      pop_device **device)
{
  POP_TRY(object_check_argument(device, "the device", __func__));
  *device = NULL;
  POP_TRY(object_check(m, OBJECT_DEVICE_MANAGER, __func__));
  pop_error *first = NULL;
  size_t tried = 0;
  for (size_t i = 0; i < m->num_devices; i++) {
    if (m->devices[i]->target.num_ipus != num_ipus) continue;
    pop_error *error = pop_device_attach(m->devices[i]);
    if (!error) {
      pop_error_free(first);
      *device = pop_device_retain(m->devices[i]);
      return NULL;
    }
    if (tried++)
      pop_error_free(error);
    else
      first = error;
  }
  if (!tried) return none_of_size(m, num_ipus);
  return tried == 1 ? first
                    : pop_error_prefix(first, "none of %zu devices with %u IPU%s is free", tried,
                                       num_ipus, num_ipus == 1 ? "" : "s");
}
