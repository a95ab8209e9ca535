/* Objects that host programs hold by address: graphs, engines, executables, devices,
 * traces, profiles.
 *
 * A program may free an object twice or use it after freeing it. So an address is given out once in
 * the life of a process, and can be read for ever: a check whether an object lives is always right.
 * The memory of a freed object goes back to the system; 4 KiB of address space stay.
 *
 * An object's struct begins with `object base`. The object lives as long as something refers to it:
 * the program, whose calls that take and give back references are counted (`users`), or another
 * object. A program that gives back one reference too many takes none from other objects. */
#ifndef BASE_OBJECT_H
#define BASE_OBJECT_H

#include <populus/error.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds, and their names in messages. */
#define OBJECT_KINDS(X)                                                                            \
  X(GRAPH, "graph")                                                                                \
  X(ENGINE, "engine")                                                                              \
  X(EXECUTABLE, "executable")                                                                      \
  X(DEVICE, "device")                                                                              \
  X(DEVICE_MANAGER, "device manager")                                                              \
  X(EVENT_TRACE, "event trace")                                                                    \
  X(TRACE_EVENTS, "list of events")                                                                \
  X(MODEL, "model")                                                                                \
  X(SOLVER, "solver")

typedef enum object_kind {
  OBJECT_NONE, /* freed */
#define OBJECT_KIND(name, text) OBJECT_##name,
  OBJECT_KINDS(OBJECT_KIND)
#undef OBJECT_KIND
} object_kind;

typedef struct object {
  object_kind kind;
  atomic_uint users, references;
} object;

/* Zeroed, with one user, who has one reference. */
void *object_new(object_kind kind, size_t bytes);
/* The object is gone: its bytes read as zeros from here on. */
void object_delete(object *o);

void object_use(object *o);  /* one user more */
void object_hold(object *o); /* one reference more, of another object */
/* Removes a reference. True: that was the last; the caller frees what the object owns,
 * and the object. */
POP_MUST_CHECK bool object_drop(object *o);
/* Removes a user, in `call`; result as object_drop. Also false if the object is NULL, which is
 * allowed, or is not the program's to free (any more), which is logged. */
POP_MUST_CHECK bool object_release(void *o, object_kind kind, const char *call);

static inline bool object_lives(const void *o, object_kind kind)
{
  return o && ((const object *)o)->kind == kind;
}
/* An error that names the call if the object does not live. */
POP_MUST_CHECK pop_error *object_check(const void *o, object_kind kind, const char *call);
/* The same for calls without errors: it is logged. */
bool object_there(const void *o, object_kind kind, const char *call);
/* An error if a required argument, an address of `what`, is NULL. */
POP_MUST_CHECK pop_error *object_check_argument(const void *argument, const char *what,
                                                const char *call);
/* `count` things at `list`. */
POP_MUST_CHECK pop_error *object_check_list(const void *list, size_t count, const char *what,
                                            const char *call);

#endif
