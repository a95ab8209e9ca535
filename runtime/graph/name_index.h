/* A hash table from names to indices. Names are not copied: they must outlive the table. */
#ifndef GRAPH_NAME_INDEX_H
#define GRAPH_NAME_INDEX_H

#include <stdint.h>

#define NAME_INDEX_NONE UINT32_MAX

struct name_index;

struct name_index *name_index_new(void);
void name_index_free(struct name_index *table); /* NULL is fine */
/* The index of `name`, or NAME_INDEX_NONE. */
uint32_t name_index_find(const struct name_index *table, const char *name);
/* Adds a name that is not in the table yet. */
void name_index_add(struct name_index *table, const char *name, uint32_t index);

#endif
