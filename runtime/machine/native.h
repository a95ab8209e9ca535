/* Native code of the process: made once, whoever runs it.
 *
 *   unit of some machine --native.c--> the process's unit with the same content at the same place
 *                        --translate_move.c--> the same without its place
 *                        --native_objects.c--> object, if the process has compiled that
 *                        --native_module.c--> LLVM: object, linked --> `native`
 *                        --native_file.c--> object in the cache's folder, for the next process
 *
 * A unit is known by the digest of its content: operations with their costs, addresses, words. Any
 * number of machines share it, in any threads. Its object depends on nothing but the content without the place, the
 * translator's module, LLVM and the processor (native_module_identity).
 *
 * This is the one place of the runtime with state of its own: LLVM has its own, too, and a process
 * has one of it. */
#ifndef MACHINE_NATIVE_H
#define MACHINE_NATIVE_H

#include "translate.h"

#include <stdatomic.h>

typedef struct native_folder
    native_folder; /* of the executable cache; lives as long as the process */

/* What has been done about a unit:
 *   NEW     nothing
 *   QUEUED  the translator's thread will do something
 *   BUSY    somebody is at it
 *   ABSENT  it is not in the folder, and nobody has found it worth compiling
 *   DONE    `native` is what it is to be: NULL if it could not be made */
typedef enum native_state {
  NATIVE_NEW,
  NATIVE_QUEUED,
  NATIVE_BUSY,
  NATIVE_ABSENT,
  NATIVE_DONE
} native_state;

typedef struct native_unit {
  code_unit code;                  /* ranges and words; the rest until it is made */
  uint64_t key[2];                 /* digest of the content */
  _Atomic(translated_code) native; /* set once */
  /* Under native.c's lock: */
  native_state state;
  bool worth_compiling, in_queue;
  native_folder *folder;    /* NULL: it is kept nowhere */
  uint32_t users;           /* machines */
  uint64_t last_used;       /* orders units without users */
  struct native_unit *next; /* of the same hash */
  struct native_unit *next_queued;
  translated_object *object; /* the module's */
  size_t object_bytes;
} native_unit;

/* native.c */

/* The process's unit with that content, which it takes; the caller is a user until it releases it. */
native_unit *native_take(code_unit *code);
void native_release(native_unit *u);
/* Has it made by the translator's thread: taken from the folder (NULL: there is none), and if it is
 * not there and `compile`, compiled. */
void native_want(native_unit *u, native_folder *folder, bool compile);
/* The same, at once. */
void native_make(native_unit *u, native_folder *folder);
bool native_is_done(native_unit *u);
native_folder *native_folder_of(const char *path, uint64_t max_bytes);

typedef struct native_counters {
  uint64_t compiled, loaded, saved;
  uint64_t moved; /* units with an object that was compiled for the same code at another place */
  uint64_t
      failed; /* units that could not be made: the interpreter does it all, and a log line says why */
  uint64_t refused; /* entries of the folder that are damaged, or others' */
} native_counters;
native_counters native_get_counters(void); /* of the process */

/* native_module.c: the module and its one user at a time. */

/* False: there is none here, or the process ends. `parks`: the caller is the translator's thread. */
bool native_module_enter(bool parks);
void native_module_leave(void);
/* Between the two: */
const char *native_module_identity(void);
uint8_t *native_module_compile(const code_unit *code, const char *name, size_t *size, char **error);
translated_code native_module_link(const uint8_t *bytes, size_t size, const char *name,
                                   const code_place *place, translated_object **object,
                                   char **error);
void native_module_discard(translated_object *object);
/* There is nothing else to do now: what can be had again is given back. */
void native_module_shrink(void);
void native_module_digest(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES]);

/* Loads the module now; false: why not. */
bool native_module_load(const char **error);
/* Between these a machine runs in this thread. */
void native_module_run_begins(void);
void native_module_run_ends(void);
/* In a child of the process: there are no other threads here; was one at work? */
void native_module_forked(void);

enum { NATIVE_NAME_BYTES = 40 };

/* native_objects.c, between native_module_enter and native_module_leave: what the process has compiled. */

/* A copy of what has that name and was made from that; false: there is none. */
bool native_object_find(const char *name, const pop_bytes *material, pop_bytes *object);
/* A copy is kept. There is none by that name yet. */
void native_object_keep(const char *name, const pop_bytes *material, const uint8_t *object,
                        size_t object_bytes);

/* native_file.c */

/* The name of the unit's function, "unit_" and 32 digits of the digest of `material`. */
void native_file_name(const pop_bytes *material, char name[NATIVE_NAME_BYTES]);
/* What an object depends on: the unit's content and the module's identity. */
void native_file_material(const code_unit *code, pop_bytes *material);
/* What the folder has for it, into `file`, and in it the object; false: it has to be compiled. */
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
  atomic_uint_fast64_t max_bytes; /* what the last machine said */
  atomic_bool complained;         /* that nothing can be written */
  native_folder *next;
};

#endif
