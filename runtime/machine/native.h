/* Native code of the process: made once for all machines.
 *
 *   unit of a machine --native.c--> the process's unit with the same content at the same place
 *                     --translate_move.c--> the same without its place
 *                     --native_objects.c--> its object, if the process has compiled it
 *                     --native_file.c--> its object, if the cache's folder has it
 *                     --native_module.c--> LLVM: compiled to an object; linked --> `native`
 *                     --native_file.c--> object in the cache's folder, for the next process
 *
 * A unit is known by the digest of its content: operations with their costs, addresses, words. Any
 * number of machines share it, in any threads. Its object depends on the content without the place,
 * the translator's module, LLVM and the processor (native_module_identity), and on nothing else.
 *
 * This is the one place of the runtime with global state: LLVM has global state, too, and a process
 * has one LLVM. */
#ifndef MACHINE_NATIVE_H
#define MACHINE_NATIVE_H

#include "translate.h"

#include <stdatomic.h>

/* of the executable cache; lives as long as the process */
typedef struct native_folder native_folder;

/* State of a unit:
 *
 *   NEW     nothing has been done
 *   QUEUED  the translator's thread will handle it
 *   BUSY    some thread handles it
 *   ABSENT  it is not in the folder, and has not been worth compiling so far
 *   DONE    `native` is final: NULL if it could not be made */
typedef enum native_state {
  NATIVE_NEW,
  NATIVE_QUEUED,
  NATIVE_BUSY,
  NATIVE_ABSENT,
  NATIVE_DONE
} native_state;

typedef struct native_unit {
  code_unit code;                  /* ranges and words; the other fields until it is made */
  uint64_t key[2];                 /* digest of the content */
  _Atomic(translated_code) native; /* set once */
  /* Under native.c's lock: */
  native_state state;
  bool worth_compiling, in_queue;
  native_folder *folder;    /* NULL: its object is not kept in a folder */
  uint32_t users;           /* machines */
  uint64_t last_used;       /* orders units without users */
  struct native_unit *next; /* in the same chain of the hash table */
  struct native_unit *next_queued;
  translated_object *object; /* the module's */
  size_t object_bytes;
} native_unit;

/* native.c */

/* The process's unit with this content. Takes `code`. The caller is a user of the unit until it
 * releases it. */
native_unit *native_acquire(code_unit *code);
void native_release(native_unit *u);
/* Asks the translator's thread to make it: from the folder (NULL: there is none), or, if it is not
 * there and `compile`, by compiling it. */
void native_request(native_unit *u, native_folder *folder, bool compile);
/* The same, at once and compiled if need be. */
void native_make(native_unit *u, native_folder *folder);
bool native_is_done(native_unit *u);
native_folder *native_folder_of(const char *path, uint64_t max_bytes);

typedef struct native_counters {
  uint64_t compiled, loaded, saved;
  uint64_t moved;  /* units with an object that was compiled for the same code at another place */
  uint64_t failed; /* units that could not be made: they are interpreted, and a log line says why */
  /* entries of the folder that are damaged, not this user's, or made from other code */
  uint64_t refused;
} native_counters;
native_counters native_get_counters(void); /* of the process */

/* native_module.c: the module, which one thread at a time uses. */

/* False: there is no module, or the process ends. `is_background`: the caller is the translator's
 * thread. */
bool native_module_enter(bool is_background);
void native_module_leave(void);
/* Between the two: */
const char *native_module_identity(void);
uint8_t *native_module_compile(const code_unit *code, const char *name, size_t *size, char **error);
translated_code native_module_link(const uint8_t *bytes, size_t size, const char *name,
                                   const code_place *place, translated_object **object,
                                   char **error);
void native_module_discard(translated_object *object);
/* There is no other work now: gives memory back. */
void native_module_shrink(void);
void native_module_digest(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES]);

/* Loads the module now. False: *error says why not. */
bool native_module_load(const char **error);
/* Begin and end of a machine's run in this thread. */
void native_module_run_begins(void);
void native_module_run_ends(void);
/* To be called in a forked child, which has no other threads. If one of them was in the module, it
 * is broken here. */
void native_module_forked(void);

enum { NATIVE_NAME_BYTES = 40 };

/* native_objects.c, between native_module_enter and native_module_leave: objects that the process
 * has compiled. */

/* Copies the object with this name that was made from this material; false: there is none. */
bool native_object_find(const char *name, const pop_bytes *material, pop_bytes *object);
/* Keeps a copy. There must be none of this name yet. */
void native_object_keep(const char *name, const pop_bytes *material, const uint8_t *object,
                        size_t object_bytes);

/* native_file.c */

/* The name of the unit's function, "unit_" and 32 digits of the digest of `material`. */
void native_file_name(const pop_bytes *material, char name[NATIVE_NAME_BYTES]);
/* What an object depends on: the unit's content and the module's identity. */
void native_file_material(const code_unit *code, pop_bytes *material);
/* Reads the folder's entry into `file`; the object is its start. Unless FOUND, the unit has to be
 * compiled. */
typedef enum native_found { NATIVE_FOUND, NATIVE_MISSING, NATIVE_REFUSED } native_found;
native_found native_file_read(native_folder *folder, const char *name, const pop_bytes *material,
                              pop_bytes *file, size_t *object_bytes);
/* Has anything ever been put into the folder? */
bool native_folder_is_used(const native_folder *folder);
/* The file of an object. */
void native_file_make(const uint8_t *object, size_t object_bytes, const pop_bytes *material,
                      pop_bytes *file);
/* False, and a warning, if it cannot be written; once for a folder. */
bool native_file_write(native_folder *folder, const char *name, const pop_bytes *file);

struct native_folder {
  char *path;
  atomic_uint_fast64_t max_bytes; /* as the last machine said */
  atomic_bool complained;         /* the log has said that nothing can be written */
  native_folder *next;
};

#endif
