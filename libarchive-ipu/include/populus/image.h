/* Tile images: one ELF32 executable (EM_RISCV) per tile.
 *
 * All memory that the tile needs is the one allocatable section `.text`. It starts at the base of
 * tile memory and ends behind the highest byte used, so `size -A` prints what the tile occupies.
 * Other sections are .symtab/.strtab (functions, vertices, variables, code areas, stacks, with
 * sizes, and the mapping symbols $x/$d), .populus.symbols (their categories; types and shapes of
 * variables), .riscv.attributes (so that objdump decodes the extensions), .populus.segments (which
 * parts of memory are code, and which may be written), .note.gnu.build-id (a hash of the file),
 * .shstrtab and, if there is debug information, .gnu_debuglink. One program header loads all of
 * `.text`. strip and objcopy may be used on images: an image without symbols still runs.
 *
 * If an image has `sections`, `size -A` shows what memory is used for: memory is then in sections
 * of these names instead of .text, with the same bytes at the same addresses.
 *
 * No other section's name has "text" in it, nor has a member's name in an archive of images: users
 * filter the lines of `size -A` with grep -e ".text".
 */
#ifndef POPULUS_IMAGE_H
#define POPULUS_IMAGE_H

#include <populus/archive.h>
#include <populus/error.h>
#include <populus/memory.h>
#include <populus/storage.h>
#include <populus/target.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pop_symbol_kind {
  POP_SYMBOL_FUNCTION, /* STT_FUNC */
  POP_SYMBOL_OBJECT,   /* STT_OBJECT: vertices, variables, tables, stacks, buffers */
  POP_SYMBOL_CODE_AREA /* STT_FUNC too: control code, exchange code, named by the program */
} pop_symbol_kind;

typedef struct pop_image_symbol {
  const char *name;
  uint32_t address, size;
  uint8_t kind;     /* pop_symbol_kind; a code area is read back as a function */
  uint8_t category; /* pop_memory_category; when read, see symbols_have_categories */
  bool local;
  const char *type; /* of a variable: element type and shape, "float[300,40]"; otherwise NULL */
} pop_image_symbol;

typedef struct pop_image_segment {
  uint32_t start, size; /* tile addresses; segments are ascending and do not overlap */
  bool writable, executable;
  bool states; /* writable, but each vertex state by its own vertex only */
} pop_image_segment;

/* What a section's memory is used for: a pop_memory_category, or one of these. */
enum {
  POP_IMAGE_SECTION_OVERLAPPED = POP_MEMORY_CATEGORY_COUNT, /* by several blocks */
  POP_IMAGE_SECTION_SYSTEM,                                 /* what the system has of each tile */
  POP_IMAGE_SECTION_GAP,                                    /* by nothing */
  POP_IMAGE_SECTION_KIND_COUNT
};
/* ".data", ".vertex", …; of vertex code ".text"; "?" if there is no such kind. */
const char *pop_image_section_name(unsigned kind);

typedef struct pop_image_section {
  uint32_t start, size;
  uint8_t kind;
} pop_image_section;

/* A run of tile memory with its mapping symbol: code ($x) or data ($d), ascending. */
typedef struct pop_image_mapping {
  uint32_t address;
  bool code;
} pop_image_mapping;

typedef struct pop_image {
  uint32_t tile;        /* number of the tile, 0-based over all IPUs */
  uint32_t base;        /* == target.memory_base */
  uint32_t size;        /* of its memory: bytes of `.text` */
  const uint8_t *bytes; /* `size` bytes */
  uint32_t entry;       /* where the supervisor starts */
  const pop_image_segment *segments;
  size_t num_segments;
  /* All of the memory, ascending and without gaps; none: it is one section .text. */
  const pop_image_section *sections;
  size_t num_sections;
  const pop_image_symbol *symbols;
  size_t num_symbols;
  /* When read: false if .populus.symbols is missing, or if a tool has changed the symbols since.
   * Categories are then 0 and types NULL. The writer ignores it. */
  bool symbols_have_categories;
  /* Name of the file with debug information, looked for beside the image, and
   * pop_image_debug_crc of its content; NULL: none, or what is said of it makes no sense. */
  const char *debug_file;
  uint32_t debug_crc;
  const pop_image_mapping *mappings;
  size_t num_mappings;
} pop_image;

/* Appends the ELF file of `image` to `out`. Same image, same bytes. Errors: INTERNAL: the image
 * contradicts itself (a segment, section or symbol is outside of it, …) or its file would have 4
 * GiB; INVALID_ARGUMENT: more `sections` than ELF can number; MEMORY. */
POP_MUST_CHECK pop_error *pop_image_write(const pop_image *image, pop_bytes *out);

/* The CRC-32 of .gnu_debuglink. */
uint32_t pop_image_debug_crc(const void *bytes, size_t size);

/* Reads an image from ELF bytes (which must outlive it: `bytes`, names point into them). Trusts
 * nothing: every header is checked against the file's size and against the base of `target`'s tile
 * memory. An image that is larger than that memory is read, too, with *overflowed set, so that
 * reports can be made; the machine refuses to load it. The arrays live in `arena`. `name` is for
 * messages. Errors: FILE_LOAD. `tile` is left 0 (see archive.h). */
POP_MUST_CHECK pop_error *pop_image_read(const uint8_t *bytes, size_t size, const char *name,
                                         const pop_target *target, pop_arena *arena,
                                         pop_image *image, bool *overflowed);

/* The same from a member of an archive (`member` < pop_archive_num_members). Only the headers and
 * the wanted parts of it are read. All of the image lives in `arena`. */
enum {
  POP_IMAGE_MEMORY = 1,     /* else `bytes` is NULL */
  POP_IMAGE_SYMBOLS = 2,    /* symbols and mappings; else there are none */
  POP_IMAGE_DEBUG_LINK = 4, /* else `debug_file` is NULL */
  POP_IMAGE_ALL = 7
};
POP_MUST_CHECK pop_error *pop_image_read_member(const pop_archive *archive, size_t member,
                                                unsigned parts, const pop_target *target,
                                                pop_arena *arena, pop_image *image,
                                                bool *overflowed);

/* A hash of what goes into the tile's memory: base, bytes and entry. Symbols and everything else
 * that `strip` may remove do not count. */
uint64_t pop_image_digest(const pop_image *image);

#ifdef __cplusplus
}
#endif
#endif
