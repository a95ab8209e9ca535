/* What host programs hold by address: graphs, engines, executables, devices, traces, profiles.
 *
 * A program may free one twice or use it afterwards. So an address is given out once in the life of a process, and what
 * lies there can be read for ever: who is asked whether an object lives always has the right answer. What is behind a
 * freed one goes back to the system; 4 KiB of addresses stay.
 *
 * An object's struct begins with `object base`. It lives as long as somebody refers to it: the program, which has counted
 * calls of its own to take and give back references (`users`), or another object. A program that gives back one more
 * than it has takes nothing from others. */
#ifndef BASE_OBJECT_H
#define BASE_OBJECT_H

#include <populus/error.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds, and what messages call them. */
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

/* Zeros, with one user, who has one reference. */
void *object_new(object_kind kind, size_t bytes);
/* The object is gone: its bytes read as zeros from here on. */
void object_delete(object *o);

void object_use(object *o);  /* one user more */
void object_hold(object *o); /* one reference more, of another object */
/* One reference less. True: that was the last; the caller frees what the object has, and the object. */
POP_MUST_CHECK bool object_drop(object *o);
/* One user less, of `call`; as object_drop. False as well if the object is NULL, which is fine, or is not the
 * program's to free (any more), which the log says. */
POP_MUST_CHECK bool object_release(void *o, object_kind kind, const char *call);

static inline bool object_lives(const void *o, object_kind kind)
{
  return o && ((const object *)o)->kind == kind;
}
/* An error that names the call unless the object lives. */
POP_MUST_CHECK pop_error *object_check(const void *o, object_kind kind, const char *call);
/* The same for calls that have no errors: the log has it. */
bool object_there(const void *o, object_kind kind, const char *call);
/* An argument that a call cannot do without: an address of `what`. */
POP_MUST_CHECK pop_error *object_check_argument(const void *argument, const char *what,
                                                const char *call);
/* `count` things at `list`. */
POP_MUST_CHECK pop_error *object_check_list(const void *list, size_t count, const char *what,
                                            const char *call);

#endif
