/* A parsed relocatable object, as the linker's own files see it (public view: populus/link.h).
 *
 *   bytes ──object.c──> header, sections ──object_tables.c──> symbols, groups, relocations
 *                                        ──object_pieces.c──> what may be merged and folded
 *
 * After pop_object_parse every index, offset and name in here is valid, and every relocation of a
 * loaded section has a known type and lies inside its section: later stages need not check again.
 */
#ifndef POPULUS_OBJECT_H
#define POPULUS_OBJECT_H

#include "relocation.h"
#include <populus/link.h>
#include <stdlib.h>

#define OBJECT_NONE UINT32_MAX

/* More than any tile's memory: a larger section is damage, and sums of sizes fit in 64 bits. */
#define OBJECT_SECTION_BYTES_MAX (1u << 30)
/* Each context has its own block: with the largest number of contexts, the total fits
 * in 32 bits. */
#define OBJECT_TLS_BYTES_MAX (1u << 24)

typedef struct object_section {
  const char *name;
  const uint8_t *data; /* NULL: zeros (SHT_NOBITS) */
  uint32_t size, align, type, flags;
  uint32_t first_relocation, num_relocations; /* of `relocations`; 0 unless SHF_ALLOC */
  uint32_t first_symbol, num_symbols;         /* of `by_place` */
  uint32_t first_piece, num_pieces;           /* of `pieces`; 0 unless it is cut into pieces */
  uint32_t entry_bytes;                       /* sh_entsize */
  bool listed;                                /* a symbol in it is in .llvm_addrsig */
  uint32_t group;                             /* of `groups`, or OBJECT_NONE */
} object_section;

typedef enum object_place {
  PLACE_UNDEFINED,
  PLACE_SECTION, /* value is an offset in `section` */
  PLACE_ABSOLUTE
} object_place;

typedef struct object_symbol {
  const char *name;
  uint32_t value, size;
  uint32_t section;   /* if PLACE_SECTION */
  uint8_t place;      /* object_place */
  uint8_t bind, type; /* STB_, STT_ */
  bool common;        /* its section was made for it: a tentative definition */
  bool listed;        /* in .llvm_addrsig */
} object_symbol;

typedef struct object_relocation {
  uint32_t offset, symbol;
  uint32_t addend;
  uint32_t order; /* in the object: pairs such as ADD32, SUB32 keep it */
  const relocation_type *type;
} object_relocation;

/* A string or constant of a section that may be merged with equal ones (SHF_MERGE). */
typedef struct object_piece {
  uint32_t start, size; /* bytes of the section; pieces follow one another without gaps */
} object_piece;

/* COMDAT: of all groups with one signature a program keeps one. */
typedef struct object_group {
  const char *signature;
} object_group;

struct pop_object {
  char *name;
  uint8_t *bytes;
  uint32_t size;
  object_section *sections; /* as in the file, then one for each common symbol */
  uint32_t num_sections;
  object_symbol *symbols; /* as in the file */
  uint32_t num_symbols;
  object_relocation *relocations; /* by section; within one by offset, `high` ones first */
  uint32_t num_relocations;
  object_group *groups;
  uint32_t num_groups;
  object_piece *pieces; /* by section, then start */
  uint32_t num_pieces;
  bool lists_addresses; /* it has .llvm_addrsig: code compares addresses of `listed` symbols only */
  uint32_t *by_place;   /* symbols that name code or data of loaded sections, and mapping symbols,
                         by section, then value */
  uint32_t constructors; /* section that lists start-up functions, or OBJECT_NONE */
};

/* Which group a section is linked into; POP_LINK_GROUP_COUNT: it is not loaded. */
pop_link_group object_section_group(const object_section *section);

/* 'x' or 'd' if the symbol only says that code or data starts here, 0 if it is a real one. */
char object_mapping_kind(const object_symbol *symbol);

/* The function or object around `offset`, for messages; the section's name if there is none. */
const char *object_name_at(const pop_object *object, uint32_t section, uint32_t offset);

/* Where that is, for messages: the object's name and, if debug information tells, the line of source:
 * "codelets.gp(tile-0.o), sum.c:12". The caller frees it. (debug_info.c) */
char *object_say_place(const pop_object *object, uint32_t section, uint32_t offset);

/* While parsing. */

/* Section headers of the file: without those made for common symbols. */
uint32_t object_num_headers(const pop_object *object);
/* Section `index` as it is in the file. */
Elf32_Shdr object_raw_section(const pop_object *object, uint32_t index);
POP_MUST_CHECK pop_error *object_string(const pop_object *object, uint32_t table, uint32_t offset,
                                        const char **string);
/* A zeroed table whose length comes from the file: an error if there is no memory for it. */
#define OBJECT_ALLOCATE(object, table, count)                                                      \
  (((table) = calloc((count) ? (count) : 1, sizeof *(table))) ? NULL                               \
                                                              : object_no_memory(object, count))
pop_error *object_no_memory(const pop_object *object, size_t count);
/* Entry `index` of the SHT_RELA section `table` for the section `target`, checked: its type is known,
 * its bytes lie inside the section, its symbol exists or is 0, "none". */
POP_MUST_CHECK pop_error *object_read_relocation(const pop_object *object,
                                                 const object_section *table, uint32_t index,
                                                 const object_section *target,
                                                 object_relocation *relocation);
/* Fills everything but the sections and the pieces. */
POP_MUST_CHECK pop_error *object_read_tables(pop_object *object);
/* Then this: cuts sections into pieces and reads .llvm_addrsig. */
POP_MUST_CHECK pop_error *object_read_pieces(pop_object *object);
/* The piece that holds the byte at `offset`, as an index of `pieces`; the section has pieces, and
 * the offset is in it. */
uint32_t object_piece_at(const pop_object *object, const object_section *section, uint32_t offset);

#endif
