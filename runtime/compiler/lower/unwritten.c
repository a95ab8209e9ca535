/* Warns of variables that programs read although nothing gives them a value: no step, no initial
 * value, and no handle through which the host writes. Their elements are 0, which is seldom
 * intended. */
#include "compiler/lower/lowering.h"

#include "base/log.h"
#include <stdlib.h>

enum { MOST_NAMED = 8 };

typedef struct block_history {
  bool read, written;
} block_history;

static block_history *histories(const compilation *c)
{
  block_history *blocks = pop_xcalloc(c->num_blocks + 1, sizeof *blocks);
  for (size_t i = 0; i < c->num_blocks; i++)
    blocks[i].written = c->blocks[i].content != COMPILER_NONE;
  for (size_t i = 0; i < c->num_accesses; i++) {
    const block_access *a = &c->accesses[i];
    blocks[a->block].read |= a->reads;
    blocks[a->block].written |= a->bytes_written > 0;
  }
  for (size_t i = 0; i < c->num_host_tensors; i++) {
    const host_tensor *t = &c->host_tensors[i];
    if (t->kind != HOST_WRITE && t->kind != HOST_REPLICA_INDEX) continue;
    for (size_t r = 0; r < t->num_runs; r++)
      blocks[c->host_runs[t->first_run + r].at.block].written = true;
  }
  return blocks;
}

/* A variable with a value in any of its blocks is taken for intended. */
static bool is_only_read(const placed_variable *v, const block_history *blocks)
{
  bool read = false;
  for (uint32_t b = v->first_block; b < v->first_block + v->num_blocks; b++) {
    if (blocks[b].written) return false;
    read |= blocks[b].read;
  }
  return read && !v->constant;
}

void warn_of_unwritten(const compilation *c)
{
  if (!log_enabled(LOG_WARN)) return;
  block_history *blocks = histories(c);
  size_t found = 0;
  for (size_t i = 0; i < c->num_variables; i++) {
    if (!is_only_read(&c->variables[i], blocks)) continue;
    if (found++ < MOST_NAMED)
      log_write(LOG_WARN, "COMPILER",
                "variable '%s' (%s) is read, but nothing writes it: its elements are 0; give it an "
                "initial "
                "value, or write it in a program or by a host handle",
                c->variables[i].name, c->variables[i].type);
  }
  if (found > MOST_NAMED)
    log_write(LOG_WARN, "COMPILER", "%zu more variables are read, but nothing writes them",
              found - MOST_NAMED);
  free(blocks);
}
