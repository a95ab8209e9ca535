/* Devices: what engines run on.
 *
 *   pop_device_manager_create -> pop_device_manager_acquire -> pop_device
 *   pop_ipu_model_create_device, pop_device_create_cpu      -> pop_device
 *
 *   pop_device_target(device) -> pop_graph_create -> … -> pop_engine_load_device(engine, device)
 *
 * Three types:
 *   IPU        software IPUs that all processes of a user share. A process attaches to a device.
 *              Then no other process gets it, nor a device that has an IPU in common with it, until
 *              it is detached or the process ends, in whatever way
 *   IPU_MODEL  a software IPU of the program's own, with figures of its own
 *   CPU        codelets compiled for the host, on the host's memory and threads: no tiles, no
 *              cycles
 *
 * By default the manager has 64 IPUs "ipu2". Devices 0 to 63 are single ones; then come those of 2,
 * 4, … 64 IPUs (device 64 is IPUs 0 and 1). The environment variable POPULUS_DEVICES configures
 * others. It is JSON, or the path of a file with it:
 *
 *   POPULUS_DEVICES='[{"target":"ipu1","ipus":4},
 *                     {"name":"small","target":"ipu2","tilesPerIPU":16}]'
 *
 *   name         1 to 32 letters, digits, - and _; default: the target's; processes that use one
 *                name share its IPUs
 *   target       "ipu1", "ipu2" (the default) or "ipu21"
 *   ipus         1 to 1,024; default: 1
 *   tilesPerIPU  1 to 65,536; default: the target's
 *
 * Attachments are locks on files in the folder POPULUS_RUN_DIR, or else $XDG_RUNTIME_DIR/populus,
 * or /tmp/populus-<user number>. They are released when the process ends. A child made by fork
 * shares them, as long as it runs no other program.
 *
 * Threads: one thread at a time per device. A device is reference counted: pop_device_free releases
 * one reference. A manager has one of each of its devices, and an engine one of the device that it
 * was loaded on last. */
#ifndef POPULUS_DEVICE_H
#define POPULUS_DEVICE_H

#include <populus/error.h>
#include <populus/target.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_device pop_device;
typedef struct pop_device_manager pop_device_manager;

/* ---- the manager ---- */

/* Reads the environment once. The caller owns *manager. INVALID_OPTION: POPULUS_DEVICES is not as
 * above, with the place; FILE_LOAD: its file cannot be read. */
POP_MUST_CHECK pop_error *pop_device_manager_create(pop_device_manager **manager);
/* NULL is fine. Devices that were retained stay. */
void pop_device_manager_free(pop_device_manager *manager);

size_t pop_device_manager_num_devices(const pop_device_manager *manager);
/* The device with this id, 0 to number of devices - 1. It is the manager's: pop_device_retain it
 * to keep it longer. INDEX if there is none. */
POP_MUST_CHECK pop_error *pop_device_manager_get_device(const pop_device_manager *manager,
                                                        size_t id, pop_device **device);
/* The devices of a type with so many IPUs, ascending by id. Fills up to `max` of `devices` (the
 * manager's; may be NULL) and returns how many there are. Only the type IPU has any. */
size_t pop_device_manager_get_devices(const pop_device_manager *manager, pop_target_type type,
                                      uint32_t num_ipus, pop_device **devices, size_t max);
/* Attaches to the first free device with so many IPUs. A device of this manager that is attached
 * already counts as free: the same one may be acquired again. The caller owns a reference to
 * *device. INVALID_ARGUMENT: there are none with so many (the message lists the numbers that there
 * are); SYSTEM: all are taken, with the process that has the first. */
POP_MUST_CHECK pop_error *pop_device_manager_acquire(const pop_device_manager *manager,
                                                     uint32_t num_ipus, pop_device **device);

/* ---- devices ---- */

/* The host. The caller owns it. */
pop_device *pop_device_create_cpu(void);
/* A device with only the first tiles of each IPU. It is attached if and only if `device` is. The
 * caller owns *part, which keeps `device`. INVALID_ARGUMENT unless 1 <= tiles_per_ipu <= those of
 * the device, and for the CPU, which has no tiles. */
POP_MUST_CHECK pop_error *pop_device_create_virtual(pop_device *device, uint32_t tiles_per_ipu,
                                                    pop_device **part);
/* Adds a reference and returns `device`. */
pop_device *pop_device_retain(pop_device *device);
/* NULL is fine. Releasing the last reference detaches; while the manager lives, it has one. */
void pop_device_free(pop_device *device);

/* Lives as long as the device. */
const pop_target *pop_device_target(const pop_device *device);
/* Its id in its manager; UINT32_MAX for a device without a manager. */
uint32_t pop_device_id(const pop_device *device);
/* The numbers of its IPUs, ascending, as in the lock files; there are
 * pop_device_target(device)->num_ipus. The documented interface calls them driver ids. NULL for
 * a device without a manager. */
const uint32_t *pop_device_driver_ids(const pop_device *device);
/* The name of its entry in POPULUS_DEVICES; "" for a device without a manager. */
const char *pop_device_partition(const pop_device *device);
/* True for all devices. */
bool pop_device_supports_remote_buffers(const pop_device *device);

/* Attaches to the device. Attaching again is fine. Errors: SYSTEM: one of its IPUs is taken,
 * with the number of the process; or locks are not possible (the folder and the reason). Types
 * IPU_MODEL and CPU are always free, and need not be attached to. */
POP_MUST_CHECK pop_error *pop_device_attach(pop_device *device);
bool pop_device_is_attached(const pop_device *device);
/* Detaches; an engine that is loaded on the device is unloaded. If the device is not attached,
 * does nothing. */
void pop_device_detach(pop_device *device);
/* Unloads the engine that is loaded on the device. */
void pop_device_reset(pop_device *device);

/* A property of a device, as text. Names are those of the documented device attributes. */
typedef struct pop_device_attribute {
  const char *key;
  char value[256];
} pop_device_attribute;
/* Fills up to `max` of `list` (may be NULL) and returns how many there are. "user process id" and
 * "user executable" exist only while somebody is attached. */
size_t pop_device_get_attributes(const pop_device *device, pop_device_attribute *list, size_t max);

/* ---- IPU_MODEL ---- */

typedef enum pop_sync_delay {
  POP_SYNC_DELAY_AUTO,    /* as the machine has it */
  POP_SYNC_DELAY_NO_DELAY /* a sync takes no cycle longer on one tile than on another */
} pop_sync_delay;

/* Fill it with pop_ipu_model_init, then change figures. */
typedef struct pop_ipu_model {
  char ipu_version[16]; /* "ipu1", "ipu2", "ipu21" */
  uint32_t num_ipus;
  uint32_t tiles_per_ipu;
  /* With fewer than 6, no vertex may use all workers, as many library vertices do. */
  uint32_t num_worker_contexts;
  uint32_t memory_bytes_per_tile; /* interleaved memory is its upper part */
  /* The first memory element that is interleaved; at or past the end: none is. */
  uint32_t interleaved_memory_element_index;
  double tile_clock_frequency;       /* Hz */
  uint32_t exchange_bytes_per_cycle; /* a multiple of 4 */
  uint32_t min_ipu_sync_delay;       /* cycles of a sync of all tiles */
  uint32_t global_sync_cycles;       /* the same for a sync with the host or of all IPUs */
  uint32_t global_bytes_per_cycle;   /* of all links of one IPU to other IPUs, each way */
  /* Both values mean the same here, because a sync takes the same time for every tile. */
  pop_sync_delay relative_sync_delay;
  /* true: memory profiles and summaries include the code, and are those of an IPU. false, the
   * default: they leave it out, as the guide says. The code is compiled and runs in both cases,
   * for the results. It is in the images, and in the numbers of pop_engine_tile_memory. */
  bool compile_ipu_code;
  /* What vertices with an estimate (pop_graph_set_perf_estimate) take. false, the default: the
   * estimated cycles; true: those of their code. For other vertices the code counts in both
   * cases. */
  bool code_cycles;
} pop_ipu_model;

/* Sets the figures of `version` (NULL: "ipu2"), with one IPU. INVALID_ARGUMENT: there is no such
 * version. */
POP_MUST_CHECK pop_error *pop_ipu_model_init(pop_ipu_model *model, const char *version);
/* A software IPU with these figures. The caller owns *device. INVALID_ARGUMENT: a figure is not
 * possible (the message says which, and what is possible). */
POP_MUST_CHECK pop_error *pop_ipu_model_create_device(const pop_ipu_model *model,
                                                      pop_device **device);

#ifdef __cplusplus
}
#endif
#endif
