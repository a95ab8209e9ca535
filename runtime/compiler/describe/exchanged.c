/* The names of what exchanges move: the variables and buffers that are sources and destinations of
 * their messages. Consecutive messages mostly have the same ones, so a name is looked up only when
 * it changes. */
#include "compiler/describe/profile.h"

#include <stdlib.h>

typedef struct exchanged_maker {
  profile_maker *m;
  uint32_t *seen[2]; /* by name: 1 + the last exchange with it, as source, as destination */
  size_t num_seen;
  const char *last[2]; /* name of the last block */
  uint32_t last_category[2], last_name[2];
} exchanged_maker;

static bool is_new(exchanged_maker *k, uint32_t exchange, uint32_t is_destination, uint32_t name)
{
  if (name >= k->num_seen) {
    size_t grown = 2 * (size_t)name + 64;
    for (int i = 0; i < 2; i++) {
      k->seen[i] = pop_xrealloc(k->seen[i], grown, sizeof **k->seen);
      for (size_t n = k->num_seen; n < grown; n++) k->seen[i][n] = 0;
    }
    k->num_seen = grown;
  }
  if (k->seen[is_destination][name] == exchange + 1) return false;
  k->seen[is_destination][name] = exchange + 1;
  return true;
}

static void take(exchanged_maker *k, uint32_t exchange, uint32_t is_destination, place at)
{
  const block *b = &k->m->c->blocks[at.block];
  if (b->name != k->last[is_destination] || b->category != k->last_category[is_destination]) {
    k->last[is_destination] = b->name;
    k->last_category[is_destination] = b->category;
    k->last_name[is_destination] = profile_block_name(k->m, b);
  }
  uint32_t name = k->last_name[is_destination];
  executable_profile *p = k->m->p;
  if (is_new(k, exchange, is_destination, name))
    pop_push(p->moved, p->num_moved, p->moved_capacity,
             (profile_moved){exchange, is_destination, name});
}

void describe_exchanged(profile_maker *m)
{
  const compilation *c = m->c;
  exchanged_maker k = {.m = m};
  for (uint32_t i = 0; i < c->num_exchanges; i++) {
    const exchange *x = &c->exchanges[i];
    for (size_t n = 0; n < x->num_messages; n++) {
      const message *message = &c->messages[x->first_message + n];
      take(&k, i, 0, message->source);
      for (uint32_t r = 0; r < message->num_receivers; r++)
        take(&k, i, 1, c->receivers[message->first_receiver + r].destination);
    }
  }
  free(k.seen[0]);
  free(k.seen[1]);
}
