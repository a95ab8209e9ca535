/* Checks that a reader of archives accepts what the compiler has described. What decode.c checks in
 * every file must hold for an executable made here, too: numbers in range, tiles in order, places
 * inside tile memory. */
#include "executable/executable.h"

#include <populus/out_of_memory.h>

#include <stdlib.h>
#include <string.h>

typedef struct verification {
  const pop_executable *executable;
  uint64_t *digests;
  pop_bytes written, again;
  pop_executable *read; /* decoded, as if from an archive */
} verification;

static pop_error *write_and_read(void *context)
{
  verification *v = context;
  uint32_t num_tiles = pop_target_num_tiles(&v->executable->target);
  v->digests = pop_xcalloc(num_tiles + 1, sizeof *v->digests);
  executable_encode(v->executable, v->digests, &v->written);
  v->read = executable_new();
  pop_error *refused = executable_decode(v->written.data, v->written.size, v->read);
  if (refused) {
    pop_error *error =
        pop_error_new(POP_ERROR_INTERNAL, "debug.verify, metadata: %s", pop_error_message(refused));
    pop_error_free(refused);
    return error;
  }
  executable_encode(v->read, v->read->digests, &v->again);
  if (v->written.size == v->again.size && !memcmp(v->written.data, v->again.data, v->again.size))
    return NULL;
  return pop_error_new(POP_ERROR_INTERNAL,
                       "debug.verify, metadata: %zu bytes are %zu others when they have been "
                       "read and written again",
                       v->written.size, v->again.size);
}

pop_error *executable_verify(const pop_executable *executable)
{
  verification v = {.executable = executable};
  pop_error *error = pop_with_memory("verifying the executable", write_and_read, &v);
  if (v.read) executable_release(v.read);
  pop_bytes_free(&v.written);
  pop_bytes_free(&v.again);
  free(v.digests);
  return error;
}
