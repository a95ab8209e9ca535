/* The member `populus.o`: facts about the `.gp` as a whole, as an ELF note.
 *
 *   "Populus", type 1, then
 *     4 bytes   format version (little-endian)
 *     16 bytes  XXH3-128 over name, size, content and targets of every other member
 *     text      a line for each tile object: the targets that it is for ("ipu1,ipu2,ipu21\n"),
 *               padded with NULs
 */
#include "gp_internal.h"

#include <populus/arena.h>

#include <elf.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* makes the state a struct, which needs no allocation */
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

static note make_note(pop_gp_digest digest, size_t targets_size)
{
  uint32_t size = (uint32_t)(4 + sizeof digest + targets_size);
  return (note){
      .header = {sizeof NOTE_OWNER, size, NOTE_TYPE},
      .owner = NOTE_OWNER,
      .version = {POP_GP_VERSION},
      .digest = digest,
  };
}

/* Readers of notes and of target names want multiples of four bytes. */
static void put_targets(const gp_member *members, size_t count, pop_bytes *out)
{
  for (size_t i = 0; i < count; ++i) {
    if (members[i].kind != GP_TILE) continue;
    pop_bytes_append(out, members[i].targets, strlen(members[i].targets));
    pop_bytes_append(out, "\n", 1);
  }
  while (out->size % 4) pop_bytes_append(out, "", 1);
}

void gp_note_write(const gp_member *members, size_t count, pop_bytes *out)
{
  pop_bytes targets = {0}, content = {0};
  put_targets(members, count, &targets);
  note head = make_note(gp_digest(members, count), targets.size);
  pop_bytes_append(&content, &head, sizeof head);
  if (targets.size) pop_bytes_append(&content, targets.data, targets.size);
  gp_wrap(&wrapping, content.data, content.size, out);
  pop_bytes_free(&targets);
  pop_bytes_free(&content);
}

static bool is_target_list(const char *text, size_t length)
{
  bool name = false; /* behind at least one letter of a name */
  for (size_t i = 0; i < length; ++i) {
    if (text[i] == ',' && !name) return false;
    if (text[i] != ',' && !gp_is_target_letter(text[i])) return false;
    name = text[i] != ',';
  }
  return name;
}

/* Gives each tile object its line of the text. */
static bool take_targets(const char *text, size_t size, gp_member *members, size_t count,
                         pop_arena *arena)
{
  const char *end = text + size;
  while (end > text && !end[-1]) --end;
  for (size_t i = 0; i < count; ++i) {
    if (members[i].kind != GP_TILE) continue;
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    if (!newline || !is_target_list(text, (size_t)(newline - text))) return false;
    members[i].targets = pop_arena_printf(arena, "%.*s", (int)(newline - text), text);
    text = newline + 1;
  }
  return text == end;
}

pop_error *gp_note_read(const uint8_t *bytes, size_t size, const char *gp_name, pop_arena *arena,
                        gp_member *members, size_t count, pop_gp_digest *digest)
{
  const uint8_t *content;
  size_t content_size;
  note found;
  if (gp_unwrap(&wrapping, bytes, size, &content, &content_size) && content_size >= sizeof found) {
    memcpy(&found, content, sizeof found);
    size_t targets_size = content_size - sizeof found;
    const char *targets = (const char *)content + sizeof found;
    bool targets_fit = take_targets(targets, targets_size, members, count, arena);
    if (targets_fit) {
      *digest = gp_digest(members, count);
      note expected = make_note(*digest, targets_size);
      if (!memcmp(&found, &expected, sizeof found)) return NULL;
    }
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

static void update_number(XXH3_state_t *state, uint64_t number)
{
  uint8_t bytes[8];
  for (int byte = 0; byte < 8; ++byte) bytes[byte] = (uint8_t)(number >> (8 * byte));
  XXH3_128bits_update(state, bytes, sizeof bytes);
}

pop_gp_digest gp_digest(const gp_member *members, size_t count)
{
  pop_gp_digest digest = {{0}};
  XXH3_state_t kept, *state = &kept;
  XXH3_128bits_reset(state);
  for (size_t i = 0; i < count; ++i) {
    const char *targets = members[i].targets ? members[i].targets : "";
    XXH3_128bits_update(state, members[i].name, sizeof members[i].name);
    update_number(state, members[i].size);
    XXH3_128bits_update(state, members[i].bytes, members[i].size);
    update_number(state, strlen(targets));
    XXH3_128bits_update(state, targets, strlen(targets));
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  memcpy(digest.bytes, canonical.digest, sizeof digest.bytes);
  return digest;
}
