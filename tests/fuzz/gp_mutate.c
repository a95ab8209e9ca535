/* Mutations of a `.gp`: one member changes; the sizes and the digest around it are adapted.
 *
 * Otherwise every byte that libFuzzer adds or removes would break the archive. One input in eight
 * is still changed as plain bytes, as the archive's reader is fuzzed, too.
 */
#include "fuzz.h"
#include "gp_parts.h"

#include <stdlib.h>
#include <string.h>

enum { GROWTH_BYTES = 64 };

/* Host objects are changed inside their wrapping. Otherwise they would not be
 * recognised as wrapped. */
static void change(gp_member *member, unsigned seed)
{
  const uint8_t *content;
  size_t size;
  bool wrapped = member->kind == GP_HOST &&
                 gp_unwrap(&gp_host_wrapping, member->bytes, member->size, &content, &size);
  if (!wrapped) {
    content = member->bytes;
    size = member->size;
  }
  /* An object that does not change its size keeps its tables where its header says they are. */
  size_t max_size = size + (seed % 4 ? 0 : GROWTH_BYTES);
  uint8_t *changed = malloc(max_size + 1);
  if (!changed) abort();
  memcpy(changed, content, size);
  size = LLVMFuzzerMutate(changed, size, max_size ? max_size : 1);
  free(member->bytes);
  member->bytes = changed;
  member->size = size;
  if (!wrapped) return;
  pop_bytes out = {0};
  gp_wrap(&gp_host_wrapping, changed, size, &out);
  free(changed);
  member->bytes = out.data;
  member->size = out.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
  gp_parts parts;
  if (seed % 8 == 0 || !gp_parts_take(bytes, size, &parts))
    return LLVMFuzzerMutate(bytes, size, max_size);
  if (parts.count) change(&parts.members[seed / 8 % parts.count], seed / 256);
  uint8_t *joined;
  size_t joined_size;
  gp_parts_join(&parts, &joined, &joined_size);
  gp_parts_free(&parts);
  bool fits = joined_size <= max_size;
  if (fits) memcpy(bytes, joined, joined_size);
  free(joined);
  return fits ? joined_size : LLVMFuzzerMutate(bytes, size, max_size);
}
