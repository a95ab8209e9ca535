/* Executables: compiled graphs, to run now, or to save and run in another process.
 *
 *   pop_compile_graph ──> executable ──pop_executable_save──> archive.a
 *   archive.a ──pop_executable_load──> executable
 *   executable ──pop_engine_create_from_executable──> engine
 *   archive in memory ──pop_engine_create_from_memory──> engine
 *
 * The file is the archive of tile images that target.saveArchive writes. It has an ELF file for
 * each tile, and a member `metadata.elf` with what a host program needs to know. It runs without
 * the program that made it, also after `strip` or `objcopy` of the archive.
 *
 * An executable does not change. Several engines, also on several threads, may be made from one. */
#ifndef POPULUS_EXECUTABLE_H
#define POPULUS_EXECUTABLE_H

#include <populus/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_executable pop_executable;

/* Compiles `programs` of `graph`, as pop_engine_create does, with the same errors. The graph may
 * be freed or changed afterwards. An option about running (debug.maxCyclesPerRun) is kept for
 * the engines made from *executable; it is not in the archive. On success the caller owns
 * *executable (pop_executable_free). */
POP_MUST_CHECK pop_error *pop_compile_graph(pop_graph *graph, const pop_program *programs,
                                            size_t num_programs, const pop_option *options,
                                            size_t num_options, pop_executable **executable);
/* NULL is fine. Engines made from it stay valid. */
void pop_executable_free(pop_executable *executable);

/* Writes the archive. If that fails, an existing file is unchanged. The same executable gives the
 * same bytes; one that was loaded is written as it was. Errors: SYSTEM with the path; FILE_LOAD if
 * the archive that it was loaded from cannot be read any more; INVALID_ARGUMENT for the CPU, which
 * has no images; MEMORY. */
POP_MUST_CHECK pop_error *pop_executable_save(const pop_executable *executable, const char *path);
/* Writes the same bytes to a stream, which is flushed. They go through a temporary file (TMPDIR, or
 * /tmp). Errors: as above; SYSTEM: that file, or the stream, cannot be written. */
POP_MUST_CHECK pop_error *pop_executable_write(const pop_executable *executable, FILE *stream);
/* Opens an archive, which stays open: its images are read when an engine is loaded. On success the
 * caller owns *executable. Errors: FILE_LOAD, naming file and member: it is not an archive, or
 * damaged; it has no metadata (a .gp, another program's archive); it was made by a version with
 * another format (which one, and what to do); a tile is missing or there twice. SYSTEM or MEMORY as
 * for pop_file_read. pop_engine_load finds images that do not match the metadata. */
POP_MUST_CHECK pop_error *pop_executable_load(const char *path, pop_executable **executable);
/* The same for `size` bytes of a file from `offset` on, such as an archive that is embedded in a
 * program (populus/embed.h). `name` stands for it in messages. */
POP_MUST_CHECK pop_error *pop_executable_load_part(const char *path, uint64_t offset, uint64_t size,
                                                   const char *name, pop_executable **executable);
/* The same for memory, which must not change until the executable and all engines made from it
 * are freed. `name` stands for it in messages. */
POP_MUST_CHECK pop_error *pop_executable_load_memory(const void *bytes, size_t size,
                                                     const char *name, pop_executable **executable);

/* An engine that runs the executable, which may be freed afterwards. Options may be those of
 * pop_compile_graph. One about compiling must be what the executable was compiled with (otherwise
 * INVALID_OPTION: it is too late). target.saveArchive saves the archive now. The environment's
 * options count here as in pop_compile_graph; each call uses those that concern it. Errors:
 * INVALID_OPTION; SYSTEM: an archive, report or trace cannot be written; RUNTIME: poprun has
 * started another number of processes than the replicas allow; MEMORY. */
POP_MUST_CHECK pop_error *pop_engine_create_from_executable(pop_executable *executable,
                                                            const pop_option *options,
                                                            size_t num_options,
                                                            pop_engine **engine);

/* pop_executable_load_memory and pop_engine_create_from_executable in one call. So an archive
 * can be run that `popc --link -c` has made an object of:
 *
 *   pop_engine_create_from_memory(pop_archive_matvec, pop_archive_matvec_size, "matvec", NULL, 0,
 *                                 &engine)
 *
 * The memory must not change until the engine is freed. */
POP_MUST_CHECK pop_error *pop_engine_create_from_memory(const void *bytes, size_t size,
                                                        const char *name, const pop_option *options,
                                                        size_t num_options, pop_engine **engine);

/* ---- contents; everything that is returned lives as long as the executable ---- */

const pop_target *pop_executable_target(const pop_executable *executable);
/* How many replicas are loaded (pop_graph_create_replicated), each on such a target; usually 1. */
uint32_t pop_executable_num_replicas(const pop_executable *executable);
/* The version of Populus that compiled it: "0.1.0". */
const char *pop_executable_version(const pop_executable *executable);
size_t pop_executable_num_programs(const pop_executable *executable);
/* "" if it has none; NULL if there is no program `program`. */
const char *pop_executable_program_name(const pop_executable *executable, size_t program);

typedef struct pop_handle_info {
  const char *name;
  bool read; /* the host reads it (pop_engine_read_tensor); otherwise it writes it */
  pop_type type;
  uint32_t rank;
  const size_t
      *shape;   /* `rank` sizes; in a replicated graph the first one is the replicas' number */
  size_t bytes; /* of all elements */
  uint32_t num_replicas; /* 1: no such dimension. The host may also write one replica's part */
} pop_handle_info;
size_t pop_executable_num_handles(const pop_executable *executable);
/* INDEX if there is no handle `handle`. */
POP_MUST_CHECK pop_error *pop_executable_handle(const pop_executable *executable, size_t handle,
                                                pop_handle_info *info);

typedef struct pop_stream_info {
  const char *name;
  bool to_device; /* otherwise to the host */
  pop_type type;
  size_t num_elements;   /* of one copy */
  bool is_used;          /* a program uses it, so it must be connected before one is run */
  bool broadcast;        /* all replicas get the same data: POP_STREAM_BROADCAST */
  uint32_t num_replicas; /* each has a stream of this name; 1: the graph is not replicated */
} pop_stream_info;
size_t pop_executable_num_streams(const pop_executable *executable);
/* INDEX if there is no stream `stream`. */
POP_MUST_CHECK pop_error *pop_executable_stream(const pop_executable *executable, size_t stream,
                                                pop_stream_info *info);

typedef struct pop_remote_buffer_info {
  const char *name;
  pop_type type;
  size_t num_elements, repeats; /* of a row; rows */
  bool is_used;                 /* by a program */
  uint32_t num_replicas;        /* as in pop_stream_info */
} pop_remote_buffer_info;
size_t pop_executable_num_remote_buffers(const pop_executable *executable);
/* INDEX if there is no remote buffer `buffer`. */
POP_MUST_CHECK pop_error *pop_executable_remote_buffer(const pop_executable *executable,
                                                       size_t buffer, pop_remote_buffer_info *info);

#ifdef __cplusplus
}
#endif
#endif
