/* Interface of the CPU device and its linker.
 *
 * The linker puts host objects into memory, through LLVM's ORC. It is a module of its own (linker/,
 * populus-host-linker.so), because a program without a CPU device should not wait for LLVM. Objects
 * are native code and are trusted. An undefined symbol that is not found anywhere is an error. */
#ifndef CPU_HOST_LINKER_H
#define CPU_HOST_LINKER_H

#include <stddef.h>
#include <stdint.h>

typedef struct host_object {
  const char *name; /* for messages */
  const void *bytes;
  size_t size;
} host_object;

typedef struct linked_objects linked_objects;

/* The error text of `link` if there is no memory. */
#define HOST_LINKER_NO_MEMORY "out of memory"

/* The module's one symbol, host_linker_module. */
typedef struct host_linker_interface {
  /* Always the first member: POPULUS_HOST_LINKER_CONTRACT of the module's build, like the
   * translator's contract (machine/translate.h). */
  const char *contract;
  /* Called first, in each thread that calls the module: base/llvm/fatal_handlers.h. */
  void (*set_fatal_handler)(void (*give_up)(const char *why));
  /* To be called in any thread that may end the process; needs memory. */
  void (*prepare_thread)(void);
  /* `find` returns the address of a symbol that no object defines, or 0. Errors are texts to be
   * freed with `forget`. */
  linked_objects *(*link)(const host_object *objects, size_t count,
                          uintptr_t (*find)(const char *name), char **error);
  /* 0: see `error`. */
  uintptr_t (*address)(linked_objects *linked, const char *symbol, char **error);
  void (*destroy)(linked_objects *linked);
  void (*forget)(char *error);
} host_linker_interface;

#endif
