/* Devices: what they are, and who has them.
 *
 *   POPULUS_DEVICES --configuration.c--> systems --manager.c--> devices --attach.c--> lock files
 *
 * A system is a number of IPUs with one name; its devices are its single IPUs, then groups of 2, 4, 8, …
 * neighbours. A device of the type IPU is attached while it holds the locks of all its IPUs (attach.c).
 * Devices know no engines; an engine that is loaded leaves its address as `loaded`. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/object.h"
#include <populus/device.h>

#define DEVICE_NO_ID UINT32_MAX
enum { DEVICE_MAX_SYSTEM_NAME = 32 };

typedef struct device_system {
  char name[DEVICE_MAX_SYSTEM_NAME + 1];
  pop_target target; /* of one with all its IPUs */
} device_system;

struct pop_device {
  object base;
  pop_target target;
  uint32_t id;        /* DEVICE_NO_ID: no manager's */
  pop_device *parent; /* of a virtual device: who is attached or not; otherwise NULL */
  bool attached;
  const void *loaded; /* the engine that is loaded, if any */
  /* Type IPU, from a manager: */
  char system[DEVICE_MAX_SYSTEM_NAME + 1]; /* "": there is nothing to lock */
  uint32_t *ipus;                          /* target.num_ipus numbers, ascending */
  int *locks;                              /* as many descriptors while attached */
};

/* configuration.c: what the environment asks for. Free *systems. */
POP_MUST_CHECK pop_error *device_read_configuration(device_system **systems, size_t *count);

/* device.c: `retain` and `release` are for objects that refer to it. */
pop_device *device_retain(pop_device *device);
void device_release(pop_device *device); /* NULL is fine */
pop_device *device_new(const pop_target *target);
/* Two targets that one executable cannot be for: an error that names both. `what` is "the executable is
 * for". */
POP_MUST_CHECK pop_error *device_check_target(const pop_device *device, const pop_target *wanted);
/* Was the engine loaded last, and has nobody detached since? */
bool device_has_loaded(const pop_device *device, const void *engine);
void device_set_loaded(pop_device *device, const void *engine);

/* attach.c: the locks of all IPUs of the device, or an error and none. */
POP_MUST_CHECK pop_error *device_lock(pop_device *device);
void device_unlock(pop_device *device);
/* Who holds an IPU of the device: "4711 /bin/x"; false if nobody does. */
typedef struct device_user {
  long pid;
  char executable[200]; /* "" if nobody knows */
} device_user;
bool device_find_user(const pop_device *device, device_user *user);

#endif
