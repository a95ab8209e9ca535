/* The member `populus.o`: format version and digest of a `.gp`, as an ELF note.
 *
 *   "Populus", type 1, then 4 bytes format version (little-endian), then 16 bytes XXH3-128 over the
 *   name, size and content of every other member
 */
#include "gp_internal.h"

#include <elf.h>
#include <string.h>
#include <xxhash.h>

#define NOTE_OWNER "Populus"
#define NOTE_TYPE 1

typedef struct note {
  Elf32_Nhdr header;
  char owner[sizeof NOTE_OWNER];
  uint8_t version[4];
  pop_gp_digest digest;
} note;

static const gp_wrapping wrapping = {".note.populus", SHT_NOTE, "populus_gp"};

static note make_note(pop_gp_digest digest)
{
  return (note){
      .header = {sizeof NOTE_OWNER, 4 + sizeof(pop_gp_digest), NOTE_TYPE},
      .owner = NOTE_OWNER,
      .version = {POP_GP_VERSION},
      .digest = digest,
  };
}

void gp_note_write(pop_gp_digest digest, pop_bytes *out)
{
  note content = make_note(digest);
  gp_wrap(&wrapping, &content, sizeof content, out);
}

pop_error *gp_note_check(const uint8_t *bytes, size_t size, pop_gp_digest digest,
                         const char *gp_name)
{
  const uint8_t *content;
  size_t content_size;
  note found, expected = make_note(digest);
  if (gp_unwrap(&wrapping, bytes, size, &content, &content_size) && content_size == sizeof found) {
    memcpy(&found, content, sizeof found);
    if (!memcmp(&found, &expected, sizeof found)) return NULL;
    uint32_t version = found.version[0] | (uint32_t)found.version[1] << 8 |
                       (uint32_t)found.version[2] << 16 | (uint32_t)found.version[3] << 24;
    if (!memcmp(found.owner, NOTE_OWNER, sizeof NOTE_OWNER) && version != POP_GP_VERSION)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "'%s' has format version %u, this Populus reads version %d: compile the "
                           "codelets again",
                           gp_name, version, POP_GP_VERSION);
  }
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' is damaged: its digest does not fit its content; compile the codelets "
                       "again",
                       gp_name);
}

pop_gp_digest gp_digest(const gp_member *members, size_t count)
{
  pop_gp_digest digest = {{0}};
  XXH3_state_t *state = XXH3_createState();
  if (!state) return digest; /* fits no content */
  XXH3_128bits_reset(state);
  for (size_t i = 0; i < count; ++i) {
    uint8_t size[8];
    for (int byte = 0; byte < 8; ++byte)
      size[byte] = (uint8_t)((uint64_t)members[i].size >> (8 * byte));
    XXH3_128bits_update(state, members[i].name, sizeof members[i].name);
    XXH3_128bits_update(state, size, sizeof size);
    XXH3_128bits_update(state, members[i].bytes, members[i].size);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  memcpy(digest.bytes, canonical.digest, sizeof digest.bytes);
  XXH3_freeState(state);
  return digest;
}
