/* Shared by the writer and the reader of `.gp` files. */
#ifndef POPULUS_GP_INTERNAL_H
#define POPULUS_GP_INTERNAL_H

#include <populus/gp.h>
#include <stdatomic.h>

#define GP_NOTE_MEMBER "populus.o"

typedef enum gp_kind { GP_TILE, GP_LIBRARY, GP_HOST, GP_KIND_COUNT } gp_kind;

/* One object of a `.gp`. The holder of the member owns `bytes` and `object`. */
typedef struct gp_member {
  gp_kind kind;
  char name[16];
  uint8_t *bytes;
  size_t size;
  pop_object *object;   /* parsed; NULL for host objects */
  const uint8_t *inner; /* host objects: the object itself, inside `bytes` */
  size_t inner_size;
  pop_vertex_type *types; /* of the vertex table; in the owner's arena */
  size_t num_types;
  const char *targets; /* tile objects: "ipu1,ipu2", in the owner's arena; else NULL */
} gp_member;

struct pop_gp {
  atomic_uint references;
  pop_arena *arena; /* names, vertex types */
  const char *name;
  pop_gp *whole; /* of a part: who owns the members' content; else NULL */
  pop_gp_digest digest;
  gp_member *members; /* by kind, in the order of gp_kind */
  size_t num_members, capacity;
  pop_vertex_type *types; /* of all members */
  size_t num_types, types_capacity;
};

/* gp_read.c */
pop_gp *gp_new(const char *name);

/* gp_wrap.c */

typedef struct gp_wrapping {
  const char *section;
  uint32_t section_type; /* SHT_… */
  const char *symbol;
} gp_wrapping;
/* Appends an object whose one section holds `bytes`. */
void gp_wrap(const gp_wrapping *wrapping, const void *bytes, size_t size, pop_bytes *out);
/* The bytes in such an object; false if it is none. */
bool gp_unwrap(const gp_wrapping *wrapping, const uint8_t *bytes, size_t size,
               const uint8_t **content, size_t *content_size);

/* gp_member.c */

/* Parses the object (tile and library) or looks at its header (host), and reads the vertex table.
 * `gp_name` is for messages. */
extern const gp_wrapping gp_host_wrapping;
POP_MUST_CHECK pop_error *gp_member_parse(gp_member *member, const char *gp_name, pop_arena *arena);
void gp_member_free(gp_member *member);
/* Equal bytes mean the same code. */
bool gp_member_equal(const gp_member *a, const gp_member *b);

/* gp_note.c */

/* Over names, contents and targets of the members, in order. */
pop_gp_digest gp_digest(const gp_member *members, size_t count);
/* Appends the content of GP_NOTE_MEMBER. */
void gp_note_write(const gp_member *members, size_t count, pop_bytes *out);
/* Reads it: gives the members their targets (in `arena`) and checks the digest; says what differs.
 */
POP_MUST_CHECK pop_error *gp_note_read(const uint8_t *bytes, size_t size, const char *gp_name,
                                       pop_arena *arena, gp_member *members, size_t count,
                                       pop_gp_digest *digest);

/* gp_targets.c: lists of targets, "ipu1,ipu2" */
bool gp_is_target_letter(char c);
bool gp_targets_overlap(const char *a, const char *b);
bool gp_member_is_for(const gp_member *member, const char *target);
char *gp_targets_join(pop_arena *arena, const char *a, const char *b);

#endif
