/* The tile linker: relocatable RV32 objects in, relocated bytes in tile memory out.
 *
 *   objects --pop_link_set_add--> link set      symbols resolved once for all tiles
 *   link set + roots --pop_live_sections_create--> the sections that a tile needs, and no others
 *   live sections + addresses --pop_live_sections_relocate--> bytes, straight into tile memory
 *
 * No process is started and no object is rewritten. Everything read from an object is checked
 * first: a relocation that would reach outside its section is an error, not a crash. Tiles with the
 * same roots share live sections; with the same addresses they have the same bytes.
 *
 * Objects are what clang 19, picolibc and libgcc produce: ELF32 little-endian EM_RISCV ET_REL, ABI
 * ilp32f, no compressed code. R_RISCV_RELAX and _ALIGN are hints here: nothing is relaxed.
 *
 * An object does not change once it is parsed, and a set not while live sections of it exist. So
 * several threads may use these at the same time. */
#ifndef POPULUS_LINK_H
#define POPULUS_LINK_H

#include <populus/error.h>
#include <populus/storage.h>
#include <populus/target.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest alignment that code and data may demand, in sections and in vertex types: a
 * power of two. */
#define POP_LINK_ALIGN_MAX (UINT32_C(1) << 16)

/* One parsed object. Immutable once parsed; the bytes are copied. */
typedef struct pop_object pop_object;

/* `name` appears in messages ("codelets.gp(tile-0.o)"). Fails with FILE_LOAD for anything that is
 * not such an object, naming what is wrong and where. */
POP_MUST_CHECK pop_error *pop_object_parse(const void *bytes, size_t size, const char *name,
                                           pop_object **object);
void pop_object_free(pop_object *object); /* NULL is fine */
const char *pop_object_name(const pop_object *object);
const void *pop_object_bytes(const pop_object *object, size_t *size); /* the whole file */
/* Content of the section `name`, NULL if there is none; lives as long as the object. */
const void *pop_object_section(const pop_object *object, const char *name, size_t *size);
/* The number of the first section of `other` that has the same name and content as section
 * `section` of `object`, which has a section of that number. 0: none, or the section has no content
 * in the file (as .bss). */
uint32_t pop_object_same_section(const pop_object *object, uint32_t section,
                                 const pop_object *other);
/* Calls `visit` for each global or weak symbol; `defined` tells definition from reference. */
void pop_object_symbols(const pop_object *object,
                        void (*visit)(void *context, const char *name, bool defined, bool weak),
                        void *context);

/* There must be code wherever a vertex can be entered. Each definition of a global or weak symbol
 * whose name begins with `prefix` must be a multiple of 4 in an executable section that is loaded,
 * with room for an instruction there. Otherwise FILE_LOAD, naming object, symbol and what it is
 * instead; `symbol` (may be NULL) is then the name, and lives as long as the object. */
POP_MUST_CHECK pop_error *pop_object_check_entries(const pop_object *object, const char *prefix,
                                                   const char **symbol);

/* Turns additions in the object's code into steps, which take no slot, if the chip has an
 * instruction that does them together with a load, a store or a branch beside them
 * (object_steps.c). Changes words of `bytes`; their number and what they compute stay the same.
 * Fails as pop_object_parse does. */
POP_MUST_CHECK pop_error *pop_object_make_steps(void *bytes, size_t size, const char *name);
/* Joins float operations in the object's code, which then take no slot, if the chip's compiler
 * would put them into a bundle with an instruction of another kind (object_joins.c). Changes words
 * of `bytes`, as above. Call it after pop_object_make_steps. */
POP_MUST_CHECK pop_error *pop_object_join(void *bytes, size_t size, const char *name);

typedef struct pop_link_set pop_link_set;
pop_link_set *pop_link_set_new(void);
void pop_link_set_free(pop_link_set *set); /* NULL is fine */

/* Adds an object (not owned; must outlive the set). Two strong definitions of one symbol are an
 * error (LINK, naming both objects) unless `library`; after it the set can only be freed. Otherwise
 * a strong definition is used before a common one, and that before a weak one. The largest common
 * one is used, and the first weak one. Definitions of a library object are used only for symbols
 * that nothing else defines; the first library object that defines one wins. */
POP_MUST_CHECK pop_error *pop_link_set_add(pop_link_set *set, const pop_object *object,
                                           bool library);
/* Gives a symbol a value, whatever objects define; `name` must outlive the set. */
void pop_link_set_define(pop_link_set *set, const char *name, uint32_t value);
/* The base of tile memory, which differs between targets that one object serves. */
#define POP_LINK_MEMORY_BASE "__tile_memory_base"
/* Live sections made from now on keep every section and constant as it is in its object. This is
 * for debugging. Otherwise equal constants and strings of mergeable sections are merged, a string
 * also with the tail of another. Functions and read-only data that are equal, with all they refer
 * to, share one copy unless code may compare their addresses. Each keeps its names. */
void pop_link_set_keep_duplicates(pop_link_set *set);
/* Also true for symbols that pop_link_set_define has given a value. */
bool pop_link_set_defines(const pop_link_set *set, const char *symbol);

/* What a tile needs. Sections come in four groups; the caller gives the groups addresses. */
typedef enum pop_link_group {
  POP_LINK_CODE,   /* executable sections */
  POP_LINK_RODATA, /* read-only data */
  POP_LINK_DATA,   /* writable: .data, then .bss */
  POP_LINK_TLS,    /* one copy per context (picolibc's errno): .tdata, then .tbss */
  POP_LINK_GROUP_COUNT
} pop_link_group;

typedef struct pop_live_sections pop_live_sections;

/* The sections reached from the symbols `roots`. `needed_by[i]` (may be NULL, as may be
 * `needed_by`) says in messages who needs roots[i] ("vertex SumVertex"). `set` must outlive the
 * result. Deterministic for the same set and roots. All errors are LINK and name the root. The
 * causes:
 *
 *   - an undefined symbol, with the object that refers to it,
 *   - a section that is not loaded, or that was discarded with its COMDAT group,
 *   - an object with constructors of global variables,
 *   - more than 1 GiB in a group, or 16 MiB in POP_LINK_TLS. */
POP_MUST_CHECK pop_error *pop_live_sections_create(const pop_link_set *set,
                                                   const char *const *roots,
                                                   const char *const *needed_by, size_t count,
                                                   pop_live_sections **live);
void pop_live_sections_free(pop_live_sections *live); /* NULL is fine */
/* The error that pop_live_sections_create would return if nothing defined `symbol`, which has a
 * value from pop_link_set_define; NULL if nothing in the live sections refers to it. `needed_by` as
 * for creation; the error leaves out a root that it does not name. */
POP_MUST_CHECK pop_error *pop_live_sections_explain_given(const pop_live_sections *live,
                                                          const char *const *needed_by,
                                                          const char *symbol);
/* Is it a symbol that no codelet file can be expected to define: of the heap, the operating
 * system, exceptions, …? */
bool pop_link_is_foreign_symbol(const char *symbol);
uint32_t pop_live_sections_group_bytes(const pop_live_sections *live, pop_link_group group);
/* Where the code of library objects begins in group CODE: a multiple of 4; the size of the group if
 * there is none. */
uint32_t pop_live_sections_library_code(const pop_live_sections *live);
uint32_t pop_live_sections_group_align(const pop_live_sections *live,
                                       pop_link_group group); /* >= 4 */
/* Calls `visit` with the content of the section `name` of each object that has code or data here,
 * in the order of the set. Such a section is not loaded and describes its object. Objects without
 * it are left out. */
void pop_live_sections_notes(const pop_live_sections *live, const char *name,
                             void (*visit)(void *context, const void *bytes, size_t size),
                             void *context);

/* Where each group starts. Code addresses TLS symbols by their offset from the thread pointer,
 * which the control code sets to the start of the context's TLS block (RISC-V: tp points at the
 * block's first byte; align it to group_align). So start[POP_LINK_TLS] has no part in relocation:
 * it is what pop_live_sections_symbol and pop_live_sections_symbols add to those offsets. */
typedef struct pop_link_addresses {
  uint32_t start[POP_LINK_GROUP_COUNT];
} pop_link_addresses;

/* Address of a defined symbol under these addresses, and its size in bytes. False if the live
 * sections do not hold it, or if it has a value of pop_link_set_define. */
bool pop_live_sections_symbol(const pop_live_sections *live, const pop_link_addresses *addresses,
                              const char *name, uint32_t *address, uint32_t *size);

/* Copies and relocates groups CODE, RODATA and DATA to `memory`, whose first byte has the tile
 * address `memory_address` and which holds `memory_bytes` bytes; TLS initial content is at
 * `tls_image` (group_bytes(TLS) bytes; may be NULL if 0). Errors: LINK naming relocation type,
 * symbol, object, section and offset, for a value that does not fit its field; LINK for a group
 * that is not aligned or lies outside of the memory. */
POP_MUST_CHECK pop_error *pop_live_sections_relocate(const pop_live_sections *live,
                                                     const pop_link_addresses *addresses,
                                                     uint8_t *memory, uint32_t memory_address,
                                                     uint32_t memory_bytes, uint8_t *tls_image);

/* Visits every function and object symbol of the live sections, group by group, with its kind.
 * Sections come in the order of their addresses, then merged read-only data. A shared copy has all
 * of its names. Sections without a sized symbol, and the merged constants and strings of one kind,
 * are visited under their section's name. Also visits every mapping symbol, so that images can say
 * what is code ($x) and data ($d). */
typedef struct pop_link_symbol {
  const char *name; /* as in the object: `__runCodelet_SumVertex`, `expf`, … */
  uint32_t address, size;
  pop_link_group group;
  bool function, local;
} pop_link_symbol;
void pop_live_sections_symbols(const pop_live_sections *live, const pop_link_addresses *addresses,
                               void (*visit)(void *context, const pop_link_symbol *symbol),
                               void *context);

/* For debug information: the object and section offset of a code address, or false. */
bool pop_live_sections_locate(const pop_live_sections *live, const pop_link_addresses *addresses,
                              uint32_t address, const pop_object **object,
                              const char **section_name, uint32_t *section_index, uint32_t *offset);

/* Does any of its objects have debug information (`.debug_…` sections that are not compressed)? */
bool pop_live_sections_has_debug(const pop_live_sections *live);
/* Appends to `elf` a file with all of it at these addresses, as tools find it by .gnu_debuglink:
 * ELF32, ET_EXEC, no section named .text. Functions that the live sections do not hold, or that
 * share another's copy, are at address 0. Errors: FILE_LOAD as for pop_object_debug_image; LINK if
 * it has more than 1 GiB or 65,000 sections; MEMORY. */
POP_MUST_CHECK pop_error *pop_live_sections_debug_file(const pop_live_sections *live,
                                                       const pop_link_addresses *addresses,
                                                       pop_bytes *elf);

/* Appends a copy of the object to `elf` that DWARF readers (libdw) understand without relocating
 * it: ET_EXEC, its `.debug_*` sections relocated, each loaded section at an address of its own, in
 * its sh_addr. So a place that pop_live_sections_locate finds is, in the copy, at sh_addr of
 * section `section_index` plus `offset`. These addresses are not the tile's. Errors: FILE_LOAD for
 * relocations of debug sections that are damaged or of a type that has no place there, and for
 * debug sections that are compressed; MEMORY. */
POP_MUST_CHECK pop_error *pop_object_debug_image(const pop_object *object, pop_bytes *elf);
/* The first of its debug sections that is compressed, which makes its debug information
 * unused; NULL: none. */
const char *pop_object_compressed_debug(const pop_object *object);

/* Debug information, for messages: NULL if there is none, or it is damaged. The object may be freed
 * before it. One thread at a time may use it. */
typedef struct pop_debug_info pop_debug_info;
pop_debug_info *pop_debug_info_open(const pop_object *object);
/* The same for a file that pop_live_sections_debug_file, or anyone, has made. Takes the bytes and
 * leaves `file` empty. */
pop_debug_info *pop_debug_info_open_file(pop_bytes *file);
void pop_debug_info_free(pop_debug_info *info); /* NULL is fine */

typedef struct pop_source_place {
  const char *path;      /* as the compiler was given it, in the arena that was given */
  const char *file;      /* the same from where the compiler was started, if that is known */
  unsigned line, column; /* from 1; column 0: not known */
} pop_source_place;

/* The place that made the instruction; false if that is not known. */
bool pop_debug_info_place(const pop_debug_info *info, uint32_t section, uint32_t offset,
                          pop_arena *arena, pop_source_place *place);
/* The same by the address in the file. */
bool pop_debug_info_line(const pop_debug_info *info, uint32_t address, pop_arena *arena,
                         pop_source_place *place);
/* The author's name of the function with that symbol ("_Z4walkj": "walk"), without the scopes
 * around it; NULL if it is not known. Lives as long as `info`. */
const char *pop_debug_info_name(const pop_debug_info *info, const char *symbol);

#ifdef __cplusplus
}
#endif
#endif
