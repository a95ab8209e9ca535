/* Is what the compiler has described what an archive's reader takes? All that decode.c trusts no file with holds for what
 * was made here, too: numbers in range, tiles in order, places inside tile memory. */
#include "executable/executable.h"

#include <stdlib.h>
#include <string.h>

/* As if it came from an archive. */
static pop_error *read_again(const pop_bytes *written, pop_bytes *again)
{
  pop_executable *e = executable_new();
  pop_error *error = executable_decode(written->data, written->size, e);
  if (!error) executable_encode(e, e->digests, again);
  executable_release(e);
  return error;
}

pop_error *executable_verify(const pop_executable *executable)
{
  uint64_t *digests = pop_xcalloc(pop_target_num_tiles(&executable->target) + 1, sizeof *digests);
  pop_bytes written = {0}, again = {0};
  executable_encode(executable, digests, &written);
  pop_error *refused = read_again(&written, &again), *error = NULL;
  if (refused)
    error =
        pop_error_new(POP_ERROR_INTERNAL, "debug.verify, metadata: %s", pop_error_message(refused));
  else if (written.size != again.size || memcmp(written.data, again.data, written.size))
    error = pop_error_new(POP_ERROR_INTERNAL,
                          "debug.verify, metadata: %zu bytes are %zu others when they have been "
                          "read and written again",
                          written.size, again.size);
  pop_error_free(refused);
  pop_bytes_free(&written);
  pop_bytes_free(&again);
  free(digests);
  return error;
}
