/* The one error type of Populus.
 *
 * A function that can fail returns `pop_error *`: NULL when it did what it was asked, otherwise an
 * error that the caller owns (pop_error_free) or hands on. An error is a code and a sentence. The
 * sentence says what was being done, to what, what is wrong and, if there is an answer, what would
 * be right. Control characters in it, other than line feeds and tabs, and bytes that are not UTF-8
 * are written as "\x1b", because anybody may have chosen the names that it quotes.
 *
 * Libraries print only what they are asked to print (the log, if POPLAR_LOG_LEVEL says so;
 * PrintTensor). They end the process in one case, with exit status 4 and a sentence: the host
 * has no memory left, and no call is under way that could return the error
 * (populus/out_of_memory.h). */
#ifndef POPULUS_ERROR_H
#define POPULUS_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, name as users see it, exit status of our tools).
 * The names are those of the exceptions of the documented C++ interface where there is one. */
#define POP_ERROR_CODES(X)                                                                         \
  X(POP_ERROR_INVALID_ARGUMENT, "invalid_argument", 1)                                             \
  X(POP_ERROR_INDEX, "index_error", 1)                                                             \
  X(POP_ERROR_TYPE, "type_error", 1)                                                               \
  X(POP_ERROR_TENSOR, "tensor_error", 1)                                                           \
  X(POP_ERROR_INVALID_TILE_MAPPING, "invalid_tile_mapping", 1)                                     \
  X(POP_ERROR_UNKNOWN_VERTEX_TYPE, "unknown_vertex_type", 1)                                       \
  X(POP_ERROR_UNKNOWN_FIELD, "unknown_field", 1)                                                   \
  X(POP_ERROR_GRAPH_CONNECTION, "graph_connection_error", 1)                                       \
  X(POP_ERROR_GRAPH_CYCLE, "graph_cycle_error", 1)                                                 \
  X(POP_ERROR_CONTROL_PROGRAM, "control_program_error", 1)                                         \
  X(POP_ERROR_GRAPH_MEMORY, "graph_memory_allocation_error", 1)                                    \
  X(POP_ERROR_CODELET_COMPILE, "graph_program_compilation_error", 1)                               \
  X(POP_ERROR_LINK, "link_error", 1)                                                               \
  X(POP_ERROR_FILE_LOAD, "file_load_error", 1)                                                     \
  X(POP_ERROR_STREAM_CONNECTION, "stream_connection_error", 1)                                     \
  X(POP_ERROR_UNKNOWN_HANDLE, "unknown_handle", 1)                                                 \
  X(POP_ERROR_INVALID_OPTION, "invalid_option", 2)                                                 \
  X(POP_ERROR_USAGE, "usage_error", 2)                                                             \
  X(POP_ERROR_RUNTIME, "application_runtime_error", 3)                                             \
  X(POP_ERROR_SYSTEM, "system_error", 4)                                                           \
  X(POP_ERROR_MEMORY, "memory_error", 4)                                                           \
  X(POP_ERROR_INTERNAL, "internal_error", 70)

typedef enum pop_error_code {
#define POP_ERROR_ENUMERATOR(id, name, status) id,
  POP_ERROR_CODES(POP_ERROR_ENUMERATOR)
#undef POP_ERROR_ENUMERATOR
} pop_error_code;

typedef struct pop_error pop_error;

#if defined(__GNUC__)
#define POP_MUST_CHECK __attribute__((warn_unused_result))
#define POP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define POP_NEVER_NULL __attribute__((returns_nonnull))
#else
#define POP_MUST_CHECK
#define POP_PRINTF(fmt, args)
#define POP_NEVER_NULL
#endif

/* Makes an error; `format` as printf's. Never NULL: when there is no memory for it, a static
 * "out of memory" error is returned (pop_error_free may be called on it). */
POP_NEVER_NULL pop_error *pop_error_new(pop_error_code code, const char *format, ...)
    POP_PRINTF(2, 3);
POP_NEVER_NULL pop_error *pop_error_new_v(pop_error_code code, const char *format, va_list args);

/* POP_ERROR_SYSTEM with ": " and the text of `errnum` (an errno value) behind the sentence. */
POP_NEVER_NULL pop_error *pop_error_errno(int errnum, const char *format, ...) POP_PRINTF(2, 3);

/* Puts "<prefix>: " in front of the sentence of `error` and returns it; NULL stays NULL. The prefix
 * says, on the way up, what was being done. Use the result from then on, not the argument. */
pop_error *pop_error_prefix(pop_error *error, const char *format, ...) POP_PRINTF(2, 3);

/* The error that stands for lack of memory when there is none left for an error: MEMORY. Freeing it
 * does nothing. */
pop_error *pop_error_out_of_memory(void);

/* Notes the path of the report about the failure, which is copied, and returns `error`; NULL stays
 * NULL. */
pop_error *pop_error_with_report(pop_error *error, const char *path);

void pop_error_free(pop_error *error); /* NULL is fine */

/* `error` is not NULL in these three. The texts live as long as the error. */
pop_error_code pop_error_get_code(const pop_error *error);
const char *pop_error_message(const pop_error *error);
/* For a GRAPH_MEMORY error whose report was written (populus/profile.h), the path of profile.pop;
 * otherwise NULL. */
const char *pop_error_report(const pop_error *error);
/* "graph_connection_error", …; "unknown_error" for another number. */
const char *pop_error_code_name(pop_error_code code);
int pop_error_exit_status(const pop_error *error); /* 0 for NULL; see POP_ERROR_CODES */

/* Returns the error of `expression`, if there is one, from the calling function. */
#define POP_TRY(expression)                                                                        \
  do {                                                                                             \
    pop_error *pop_try_error_ = (expression);                                                      \
    if (pop_try_error_) return pop_try_error_;                                                     \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
