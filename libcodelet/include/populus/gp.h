/* `.gp` files: compiled codelets.
 *
 * A plain `ar` archive of ELF objects, so that nm, size and objdump read it:
 *
 *   populus.o       format version, a digest of all that follows, and the targets that each tile
 *                   object is for, as an ELF note
 *   tile-N.o        RV32 object of a source, with the vertex table in `.populus.vertices` (one
 *                   from assembly or LLVM IR has none)
 *   lib-NAME.o      objects of the device run-time library that the tile objects need
 *   host-N.o        the same source for the host (the CPU device), with its own vertex table: the
 *                   host's object is the content of the section .populus.host of an RV32 object,
 *                   so that tools which know one machine only read the whole file
 *
 * The vertex table is JSON text in a section that is not loaded: `readelf -p .populus.vertices`
 * shows it.
 *
 * The section `.populus.needs` names what an object needs of a tile beyond RISC-V's instructions
 * and TILE INSTRUCTIONS (isa.h). Each name ends with a zero byte: "packed" means the packed
 * instructions and accesses of 64 bits. A reader refuses a file with a need that it does not know.
 *
 * Tile objects are checked and can harm nothing but their tile. Host objects are native code: a
 * process that runs them on the CPU device trusts the file as it trusts a shared library.
 *
 * A pop_gp does not change: several threads may use one. A builder is for one thread at a time.
 */
#ifndef POPULUS_GP_H
#define POPULUS_GP_H

#include <populus/error.h>
#include <populus/link.h>
#include <populus/storage.h>
#include <populus/vertex_type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POP_GP_VERSION 2

#define POP_GP_NEEDS_SECTION ".populus.needs"
#define POP_GP_NEEDS_PACKED "packed"       /* runtime/isa/isa.h: packed instructions */
#define POP_GP_NEEDS_FUNCTIONS "functions" /* there: functions */
#define POP_GP_NEEDS_REPEATS "repeats"     /* there: repeats */

/* Do tiles here have what an object or an archive needs? `need` has `length` bytes. */
bool pop_gp_is_known_need(const char *need, size_t length);

/* The name of the host among the targets. */
#define POP_GP_HOST_TARGET "cpu"

typedef struct pop_gp pop_gp;

/* Reads and checks everything: digest, objects, vertex tables against the objects (entry symbols
 * exist, offsets inside the state, no field overlaps another, …). A file has at most 1 GiB. `name`
 * stands for it in messages; the bytes are copied. Errors: FILE_LOAD with the file, the member and
 * what would be right ("… is a JPEG image, not a .gp file: compile codelets with popc"); SYSTEM or
 * MEMORY as for pop_file_read. */
POP_MUST_CHECK pop_error *pop_gp_read(const char *path, pop_gp **gp);
POP_MUST_CHECK pop_error *pop_gp_read_memory(const void *bytes, size_t size, const char *name,
                                             pop_gp **gp);
/* Reference counted (thread-safe): read gives one, retain another, free gives one back. NULL may be
 * freed. */
pop_gp *pop_gp_retain(pop_gp *gp);
void pop_gp_free(pop_gp *gp);
const char *pop_gp_name(const pop_gp *gp);

/* Digest of the content: equal for equal files. */
typedef struct pop_gp_digest {
  uint8_t bytes[16];
} pop_gp_digest;
pop_gp_digest pop_gp_get_digest(const pop_gp *gp);

/* What is returned lives as long as the gp; index < number. */
size_t pop_gp_num_vertex_types(const pop_gp *gp);
const pop_vertex_type *pop_gp_vertex_type(const pop_gp *gp, size_t index);

/* Tile objects, codelets first, then library objects. Owned by the gp. `library` (may be NULL)
 * tells which the object is. */
size_t pop_gp_num_tile_objects(const pop_gp *gp);
const pop_object *pop_gp_tile_object(const pop_gp *gp, size_t index, bool *library);

/* "ipu1,ipu2": the targets that a tile object is for; "" for a library object, which serves all. */
const char *pop_gp_tile_object_targets(const pop_gp *gp, size_t index);

bool pop_gp_has_target(const pop_gp *gp, const char *target);
/* "cpu,ipu1,ipu2": all that it has code for. The caller frees. */
char *pop_gp_targets(const pop_gp *gp);
/* The codelets for one target only: what a graph for that target takes. A `.gp` may hold a vertex
 * once for each target; in such a part every vertex is there once. Free it with pop_gp_free; it
 * keeps `gp`, whose vertex types it has. For POP_GP_HOST_TARGET the vertex types are those of the
 * host objects, with the host's offsets and sizes; a vertex may be in several of these. An empty
 * `gp` has an empty part for every target. Errors: FILE_LOAD if there is no such target, with the
 * targets that are there, or if a host object's vertex table is wrong; MEMORY. */
POP_MUST_CHECK pop_error *pop_gp_for_target(pop_gp *gp, const char *target, pop_gp **part);

/* Host objects as bytes (x86-64 or whatever the host is), for the CPU device. */
size_t pop_gp_num_host_objects(const pop_gp *gp);
const void *pop_gp_host_object(const pop_gp *gp, size_t index, size_t *size);
/* The number of the host object that a vertex type of `gp` (a part for POP_GP_HOST_TARGET) was
 * found in. */
size_t pop_gp_find_host_object(const pop_gp *gp, const pop_vertex_type *type);
/* Appends the text of the object's vertex table (populus/vertex_table.h), unchecked. False if there
 * is none; then errno is ENOMEM if there was no memory to look for it. */
bool pop_gp_host_vertex_table(const pop_gp *gp, size_t index, pop_bytes *table);

/* Writing: collect, then write once. Bytes are copied; `source` and `name` are for messages. Errors
 * of all that add something: FILE_LOAD for bytes that are no such object or have a wrong vertex
 * table; CODELET_COMPILE for a vertex that another object defines for one of the same targets (both
 * sources are named); MEMORY. Objects with equal bytes are kept once. */
typedef struct pop_gp_builder pop_gp_builder;
pop_gp_builder *pop_gp_builder_new(void);
void pop_gp_builder_free(pop_gp_builder *builder); /* NULL is fine */
/* `targets`: "ipu1,ipu2". Equal objects are kept once, for the targets of both. */
POP_MUST_CHECK pop_error *pop_gp_builder_add_tile(pop_gp_builder *builder, const char *targets,
                                                  const void *bytes, size_t size,
                                                  const char *source);
POP_MUST_CHECK pop_error *pop_gp_builder_add_library(pop_gp_builder *builder, const char *name,
                                                     const void *bytes, size_t size);
POP_MUST_CHECK pop_error *pop_gp_builder_add_host(pop_gp_builder *builder, const void *bytes,
                                                  size_t size, const char *source);
/* Every object of another .gp. So a vertex of both is an error, unless the whole objects that have
 * it are equal. */
POP_MUST_CHECK pop_error *pop_gp_builder_add_gp(pop_gp_builder *builder, const pop_gp *gp);
/* Only what is for one target, for that target. */
POP_MUST_CHECK pop_error *pop_gp_builder_add_gp_for(pop_gp_builder *builder, const pop_gp *gp,
                                                    const char *target);
/* Atomically to `path`, or to memory (caller frees) when path is NULL. The builder stays as it is.
 * `bytes` and `size` are used for memory only. Errors: SYSTEM with the path; MEMORY. */
POP_MUST_CHECK pop_error *pop_gp_builder_write(pop_gp_builder *builder, const char *path,
                                               uint8_t **bytes, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
