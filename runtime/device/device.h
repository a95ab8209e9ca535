/* Devices: what they are, and who has them.
 *
 *   POPULUS_DEVICES --configuration.c--> systems --manager.c--> devices --attach.c--> lock files
 *
 * A system is a number of IPUs with one name. Its devices are its single IPUs, then groups of 2, 4,
 * 8, … neighbours. A device of the type IPU is attached while it holds the locks of all its IPUs
 * (attach.c). Devices do not depend on engines. An engine that is loaded stores its address as
 * `loaded`. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/object.h"
#include <populus/device.h>

#define DEVICE_NO_ID UINT32_MAX
enum { DEVICE_MAX_SYSTEM_NAME = 32 };

typedef struct device_system {
  char name[DEVICE_MAX_SYSTEM_NAME + 1];
  pop_target target; /* of a device with all its IPUs */
} device_system;

struct pop_device {
  object base;
  pop_target target;
  uint32_t id;        /* DEVICE_NO_ID if it is not from a manager */
  pop_device *parent; /* of a virtual device: has the state; otherwise NULL */
  bool attached;
  const void *loaded; /* the engine that is loaded, if any */
  /* Type IPU, from a manager: */
  char system[DEVICE_MAX_SYSTEM_NAME + 1]; /* "" if there is nothing to lock */
  uint32_t *ipus;                          /* numbers of target.num_ipus IPUs, ascending */
  int locks; /* descriptor of the file of their locks, while attached */
};

/* configuration.c: reads the environment. Free *systems. */
POP_MUST_CHECK pop_error *device_read_configuration(device_system **systems, size_t *count);

/* device.c: `retain` and `release` are for objects that refer to the device. */
pop_device *device_retain(pop_device *device);
void device_release(pop_device *device); /* NULL is fine */
pop_device *device_new(const pop_target *target);
/* Can an executable for `wanted` run on the device? If not, the error describes both targets. */
POP_MUST_CHECK pop_error *device_check_target(const pop_device *device, const pop_target *wanted);
/* Is this the engine that was loaded last, and has nobody detached since? */
bool device_has_loaded(const pop_device *device, const void *engine);
void device_set_loaded(pop_device *device, const void *engine);

/* attach.c: takes the locks of all IPUs of the device. After an error it holds none. */
POP_MUST_CHECK pop_error *device_lock(pop_device *device);
void device_unlock(pop_device *device);
/* Who holds an IPU of the device: "4711 /bin/x". False if nobody does. */
typedef struct device_user {
  long pid;
  char executable[200]; /* "" if nobody knows */
} device_user;
bool device_find_user(const pop_device *device, device_user *user);

#endif
