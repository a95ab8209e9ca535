/* Host functions of an engine: callbacks of the streams of their arguments
 * (../graph/host_function.c). The function is called when its last input has arrived or, without
 * inputs, when its first output is needed. */
#include "engine/host_functions.h"

#include "engine/engine_private.h"
#include "engine/find_name.h"
#include <stdlib.h>
#include <string.h>

typedef struct argument {
  host_function *function;
  uint8_t *data; /* of one call */
  size_t bytes;
} argument;

struct host_function {
  const char *name; /* of its first stream: the executable's */
  uint32_t replica;
  pop_host_function_callback callback;
  size_t num_inputs, num_outputs;
  size_t moved;        /* inputs received, or outputs delivered, of this call */
  argument *arguments; /* inputs, then outputs */
  const void **inputs; /* for the callback */
  void **outputs;
  host_function *next; /* of the engine */
};

static int call(host_function *f)
{
  return f->callback.call(f->callback.context, f->inputs, f->outputs);
}

static int take_input(void *context, void *data)
{
  const argument *a = context;
  host_function *f = a->function;
  memcpy(a->data, data, a->bytes);
  if (++f->moved < f->num_inputs) return 0;
  f->moved = 0;
  return call(f);
}

static int give_output(void *context, void *data)
{
  const argument *a = context;
  host_function *f = a->function;
  if (f->num_inputs == 0 && f->moved == 0) {
    int result = call(f);
    if (result) return result;
  }
  if (f->num_inputs == 0 && ++f->moved == f->num_outputs) f->moved = 0;
  memcpy(data, a->data, a->bytes);
  return 0;
}

static const executable_stream *find_stream(const pop_executable *e, const char *handle,
                                            bool output, size_t number)
{
  char *name = pop_xasprintf("%s/%s%zu", handle, output ? "output" : "input", number);
  const executable_stream *found = NULL;
  for (size_t i = 0; i < e->num_streams && !found; i++)
    if (e->streams[i].to_device == output && strcmp(e->streams[i].name, name) == 0)
      found = &e->streams[i];
  free(name);
  return found;
}

static size_t count_streams(const pop_executable *e, const char *handle, bool output)
{
  size_t count = 0;
  while (find_stream(e, handle, output, count)) count++;
  return count;
}

/* Argument `i`: inputs, then outputs. */
static const executable_stream *stream_of(const pop_executable *e, const char *handle,
                                          const host_function *f, size_t i)
{
  bool output = i >= f->num_inputs;
  return find_stream(e, handle, output, output ? i - f->num_inputs : i);
}

static host_function *new_function(const pop_executable *e, const char *handle,
                                   const pop_host_function_callback *callback)
{
  host_function *f = pop_xcalloc(1, sizeof *f);
  f->callback = *callback;
  f->num_inputs = count_streams(e, handle, false);
  f->num_outputs = count_streams(e, handle, true);
  size_t count = f->num_inputs + f->num_outputs;
  f->arguments = pop_xcalloc(count + 1, sizeof *f->arguments);
  f->inputs = pop_xcalloc(f->num_inputs + 1, sizeof *f->inputs);
  f->outputs = pop_xcalloc(f->num_outputs + 1, sizeof *f->outputs);
  for (size_t i = 0; i < count; i++) {
    const executable_stream *s = stream_of(e, handle, f, i);
    argument *a = &f->arguments[i];
    *a = (argument){.function = f, .bytes = (size_t)s->num_elements * pop_type_bytes(s->type)};
    a->data = pop_xcalloc(a->bytes, 1);
    if (i < f->num_inputs)
      f->inputs[i] = a->data;
    else
      f->outputs[i - f->num_inputs] = a->data;
  }
  return f;
}

static void free_function(host_function *f)
{
  for (size_t i = 0; i < f->num_inputs + f->num_outputs; i++) free(f->arguments[i].data);
  free(f->arguments);
  free(f->inputs);
  free(f->outputs);
  free(f);
}

void host_functions_free(host_function *first)
{
  while (first) {
    host_function *next = first->next;
    free_function(first);
    first = next;
  }
}

host_function *host_functions_next(const host_function *f)
{
  return f->next;
}

void host_functions_restart(host_function *first)
{
  for (; first; first = first->next) first->moved = 0;
}

/* The first stream of a function has the function's name; without it there is no such function. */
static pop_error *refuse(const pop_executable *e, const char *handle)
{
  const char **names = pop_xcalloc(e->num_streams + 1, sizeof *names);
  size_t count = 0, number;
  pop_arena *arena = pop_arena_new();
  for (size_t i = 0; i < e->num_streams; i++) {
    const char *slash = strrchr(e->streams[i].name, '/');
    if (slash && (strcmp(slash, "/input0") == 0 || strcmp(slash, "/output0") == 0))
      names[count++] =
          pop_arena_printf(arena, "%.*s", (int)(slash - e->streams[i].name), e->streams[i].name);
  }
  pop_error *error =
      find_name(POP_ERROR_STREAM_CONNECTION, "host function", handle, names, count, &number);
  free(names);
  pop_arena_free(arena);
  return error;
}

static const char call_name[] = "pop_engine_connect_host_function";

/* Are all its streams there for the replica? */
static pop_error *check_streams(pop_engine *engine, const char *handle, const host_function *f)
{
  for (size_t i = 0; i < f->num_inputs + f->num_outputs; i++) {
    const executable_stream *s = stream_of(engine->executable, handle, f, i);
    POP_TRY(engine_check_own_stream(engine, call_name, s->name, f->replica));
  }
  return NULL;
}

static pop_error *connect_streams(pop_engine *engine, const char *handle, host_function *f)
{
  for (size_t i = 0; i < f->num_inputs + f->num_outputs; i++) {
    const pop_stream_callback of_stream = {.fetch = i < f->num_inputs ? take_input : give_output,
                                           .context = &f->arguments[i]};
    /* Its arguments belong together, and so do functions that share a context. */
    const void *user = f->callback.context ? f->callback.context : f;
    const char *name = stream_of(engine->executable, handle, f, i)->name;
    POP_TRY(engine_connect_callback(engine, name, f->replica, &of_stream, user));
    if (i == 0) f->name = name;
  }
  return NULL;
}

/* Removes the function that `f` has taken the place of, if there is one: all its streams are
 * those of `f`. */
static void remove_former(pop_engine *engine, const host_function *f)
{
  for (host_function **link = &engine->host_functions; *link; link = &(*link)->next) {
    host_function *former = *link;
    if (former == f || former->name != f->name || former->replica != f->replica) continue;
    *link = former->next;
    free_function(former);
    return;
  }
}

/* Nothing is changed until all streams are known to be there for the replica. */
static pop_error *connect(pop_engine *engine, const char *handle, uint32_t replica,
                          const pop_host_function_callback *callback)
{
  host_function *f = new_function(engine->executable, handle, callback);
  f->replica = replica;
  pop_error *error = check_streams(engine, handle, f);
  if (error) {
    free_function(f);
    return error;
  }
  f->next = engine->host_functions;
  engine->host_functions = f;
  POP_TRY(connect_streams(engine, handle, f));
  remove_former(engine, f);
  return NULL;
}

pop_error *pop_engine_connect_host_function(pop_engine *engine, const char *handle,
                                            uint32_t replica,
                                            const pop_host_function_callback *callback)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  if (!handle || !callback || !callback->call)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: the %s is NULL", call_name,
                         handle ? "callback" : "handle");
  pop_error *error = refuse(engine->executable, handle);
  if (error) return pop_error_prefix(error, "%s", call_name);
  POP_TRY(engine_enter(engine, "connect a host function"));
  return engine_leave(engine, connect(engine, handle, replica, callback));
}
