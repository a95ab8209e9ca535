/* A single device: lifetime, target, state. */
#include "device/device.h"

#include "executable/metadata.h"

#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pop_device *device_new(const pop_target *target)
{
  pop_device *device = object_new(OBJECT_DEVICE, sizeof *device);
  device->target = *target;
  device->id = DEVICE_NO_ID;
  return device;
}

pop_device *pop_device_create_cpu(void)
{
  pop_target target;
  pop_target_create_cpu(&target);
  return device_new(&target);
}

pop_error *pop_device_create_virtual(pop_device *device, uint32_t tiles_per_ipu, pop_device **part)
{
  POP_TRY(object_check_argument(part, "the device to make", __func__));
  *part = NULL;
  POP_TRY(object_check(device, OBJECT_DEVICE, __func__));
  const pop_target *target = &device->target;
  if (target->type == POP_TARGET_CPU)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "pop_device_create_virtual: the device is the host, which has no tiles");
  if (tiles_per_ipu < 1 || tiles_per_ipu > target->tiles_per_ipu)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "pop_device_create_virtual: %u tiles per IPU were asked for: 1 to %u are "
                         "possible, as many as the device has",
                         tiles_per_ipu, target->tiles_per_ipu);
  *part = device_new(target);
  (*part)->target.tiles_per_ipu = tiles_per_ipu;
  (*part)->id = device->id;
  (*part)->parent = device_retain(device->parent ? device->parent : device);
  return NULL;
}

pop_device *pop_device_retain(pop_device *device)
{
  if (object_there(device, OBJECT_DEVICE, __func__)) object_use(&device->base);
  return device;
}

pop_device *device_retain(pop_device *device)
{
  object_hold(&device->base);
  return device;
}

static void destroy(pop_device *device)
{
  if (device->parent)
    device_release(device->parent);
  else
    pop_device_detach(device);
  free(device->ipus);
  object_delete(&device->base);
}

void device_release(pop_device *device)
{
  if (device && object_drop(&device->base)) destroy(device);
}

void pop_device_free(pop_device *device)
{
  if (object_release(device, OBJECT_DEVICE, __func__)) destroy(device);
}

/* The device whose state counts, attached or loaded: for a virtual device its parent. */
static pop_device *whole(pop_device *device)
{
  return device->parent ? device->parent : device;
}

static const pop_device *whole_const(const pop_device *device)
{
  return device->parent ? device->parent : device;
}

const pop_target *pop_device_target(const pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return NULL;
  return &device->target;
}

uint32_t pop_device_id(const pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return DEVICE_NO_ID;
  return device->id;
}

const uint32_t *pop_device_driver_ids(const pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return NULL;
  return whole_const(device)->ipus;
}

const char *pop_device_partition(const pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return "";
  return whole_const(device)->system;
}

bool pop_device_supports_remote_buffers(const pop_device *device)
{
  return object_there(device, OBJECT_DEVICE, __func__);
}

pop_error *pop_device_attach(pop_device *device)
{
  POP_TRY(object_check(device, OBJECT_DEVICE, __func__));
  device = whole(device);
  if (device->attached) return NULL;
  if (device->system[0]) POP_TRY(device_lock(device));
  device->attached = true;
  return NULL;
}

bool pop_device_is_attached(const pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return false;
  return whole_const(device)->attached;
}

void pop_device_detach(pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return;
  device = whole(device);
  if (!device->attached) return;
  device->loaded = NULL;
  if (device->system[0]) device_unlock(device);
  device->attached = false;
}

void pop_device_reset(pop_device *device)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return;
  whole(device)->loaded = NULL;
}

/* ---- for engines ---- */

bool device_has_loaded(const pop_device *device, const void *engine)
{
  return whole_const(device)->loaded == engine;
}

void device_set_loaded(pop_device *device, const void *engine)
{
  whole(device)->loaded = engine;
}

static const char *const type_names[] = {
    [POP_TARGET_IPU] = "IPU", [POP_TARGET_IPU_MODEL] = "IPU_MODEL", [POP_TARGET_CPU] = "CPU"};

/* "ipu2 of type IPU with 2 IPUs of 1472 tiles" */
static void describe(const pop_target *t, char *text, size_t size)
{
  if (t->type == POP_TARGET_CPU)
    snprintf(text, size, "the CPU");
  else
    snprintf(text, size, "%s of type %s with %u IPU%s of %u tiles", t->name, type_names[t->type],
             t->num_ipus, t->num_ipus == 1 ? "" : "s", t->tiles_per_ipu);
}

/* The first figure that differs and that `describe` does not show. NULL if there is none. */
static const char *find_difference(const pop_target *a, const pop_target *b)
{
#define COMPARE(field)                                                                             \
  if (a->field != b->field) return #field;
  METADATA_TARGET_NUMBERS(COMPARE)
#undef COMPARE
  if (a->clock_hz != b->clock_hz) return "clock_hz";
  return memcmp(a->cost, b->cost, sizeof a->cost) != 0 ? "cost" : NULL;
}

pop_error *device_check_target(const pop_device *device, const pop_target *wanted)
{
  const pop_target *have = &device->target;
  bool same_kind = have->type == wanted->type && strcmp(have->name, wanted->name) == 0;
  if (same_kind && have->type == POP_TARGET_CPU) return NULL;
  const char *difference = find_difference(have, wanted);
  if (same_kind && !difference) return NULL;
  char is[96], for_what[96];
  describe(have, is, sizeof is);
  describe(wanted, for_what, sizeof for_what);
  bool hidden = strcmp(is, for_what) == 0;
  return pop_error_new(
      POP_ERROR_INVALID_ARGUMENT,
      "the executable is compiled for %s, the device is %s%s%s: make the graph for "
      "pop_device_target(device)",
      for_what, is, hidden ? " with another " : "", hidden ? difference : "");
}

/* ---- attributes ---- */

typedef struct attribute_list {
  pop_device_attribute *items;
  size_t count, max;
} attribute_list;

static void add(attribute_list *list, const char *key, const char *format, ...) POP_PRINTF(3, 4);
static void add(attribute_list *list, const char *key, const char *format, ...)
{
  size_t at = list->count++;
  if (at >= list->max) return;
  va_list arguments;
  list->items[at].key = key;
  va_start(arguments, format);
  vsnprintf(list->items[at].value, sizeof list->items[at].value, format, arguments);
  va_end(arguments);
}

static void add_user(attribute_list *list, const pop_device *device)
{
  device_user user;
  if (!device->system[0] || !device_find_user(device, &user)) return;
  add(list, "user executable", "%s", user.executable);
  add(list, "user process id", "%ld", user.pid);
}

size_t pop_device_get_attributes(const pop_device *device, pop_device_attribute *items, size_t max)
{
  if (!object_there(device, OBJECT_DEVICE, __func__)) return 0;
  if (!items) max = 0;
  attribute_list list = {items, 0, max};
  const pop_target *t = &device->target;
  bool cpu = t->type == POP_TARGET_CPU;
  if (device->id != DEVICE_NO_ID) add(&list, "id", "%u", device->id);
  add(&list, "target", "%s",
      t->type != POP_TARGET_IPU ? type_names[t->type]
      : t->num_ipus > 1         ? "Multi IPU"
                                : "Software");
  if (!cpu) add(&list, "clock", "%.0fMHz", t->clock_hz / 1e6);
  add(&list, "driver version", "%s", POPULUS_VERSION);
  add(&list, "ipu architecture", "%s", t->name);
  if (!cpu) {
    add(&list, "memory per tile (bytes)", "%u", t->memory_bytes);
    add(&list, "num ipus", "%u", t->num_ipus);
  }
  if (whole_const(device)->system[0]) add(&list, "partition id", "%s", whole_const(device)->system);
  add(&list, "remote buffers supported", "%d", pop_device_supports_remote_buffers(device));
  if (!cpu) add(&list, "tiles per ipu", "%u", t->tiles_per_ipu);
  add_user(&list, whole_const(device));
  return list.count;
}
