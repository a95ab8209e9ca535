/* JSON text to jansson's values. */
#ifndef POPULUS_JSON_TEXT_H
#define POPULUS_JSON_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_t;
struct json_error_t;

/* json_loadb, but a duplicate key is an error. Use this instead: jansson 2.14 reads and frees
 * memory that is not its own when it lacks memory for a long string. So this function gives
 * jansson, for the whole process, an allocator that ends in the out-of-memory handler
 * (populus/out_of_memory.h), unless the program has set one of its own. */
struct json_t *pop_json_load(const char *text, size_t size, struct json_error_t *problem);

#ifdef __cplusplus
}
#endif
#endif
