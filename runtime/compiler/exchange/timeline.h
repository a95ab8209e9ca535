/* What one tile does in an exchange, cycle by cycle, while the exchange is being planned.
 *
 * Three things are taken up by cycle: issue slots (one instruction each), the bus out, and the input.
 * Slots and bus are bit sets. The input is a list of chains: receives that follow one another without
 * a new address. A chain keeps the input from the slot of its receiveAddress to its last word, also
 * where it waits: another receive in between would move the pointer. Where it would wait for long, a
 * new one begins, so that others can use the time. */
#ifndef COMPILER_EXCHANGE_TIMELINE_H
#define COMPILER_EXCHANGE_TIMELINE_H

#include "compiler/compilation.h"

typedef struct bit_set {
  uint64_t *words;
  size_t num_words, capacity; /* bits behind the last word are clear */
} bit_set;

typedef struct chain {
  uint64_t begin; /* first cycle in which no word of another chain may arrive */
  uint64_t end;   /* the cycle behind that of the last word */
  place next;     /* where the next word would go */
} chain;

typedef struct timed_op {
  uint64_t slot;
  exchange_op op;
} timed_op;

typedef struct op_list {
  timed_op *items;
  size_t count, capacity;
} op_list;

typedef struct timeline {
  uint32_t tile;
  bit_set slots, bus;
  uint64_t bus_end; /* the cycle behind the last in which the bus is taken */
  chain *chains;    /* ascending */
  size_t num_chains, chains_capacity;
  op_list listed; /* what has been written down of it already, in any order */
  uint64_t words_sent, words_received;
} timeline;

/* Words that leave one behind the other. They may come from several places: each has a send of its own,
 * and so has what a single send cannot hold. */
typedef struct send_shape {
  uint64_t first_words; /* bit i: word i comes from another place than word i - 1; bit 0 is set */
  uint32_t words;
} send_shape;

enum { SEND_SHAPE_MAX_WORDS = 64 }; /* where there are several places */

#define NO_CYCLE UINT64_MAX

/* The first cycle >= `from` in which the words could leave, or arrive. A word arrives in cycle 2 at the
 * earliest: its address and the receive need a slot each. */
uint64_t earliest_send(const timeline *t, const send_shape *shape, uint64_t from);
uint64_t earliest_receive(const timeline *t, place destination, uint32_t words, uint64_t from);
/* The same for 64 cycles at once. Bit i: up to SEND_SHAPE_MAX_WORDS words could leave in cycle `from` + i; as many
 * could arrive in the i-th cycle behind all that has been received, going on from there or elsewhere. */
uint64_t sends_from(const timeline *t, const send_shape *shape, uint64_t from);
uint64_t receives_at_end(const timeline *t, bool follows);
/* Words that are to leave in cycle `sent` and arrive on the same tile, as the above have found by themselves:
 * do their instructions get along with each other, too? */
bool gets_along(timeline *t, const send_shape *shape, uint64_t sent, place destination,
                uint64_t arrival);
/* Takes what the above has found. The instructions are not kept here: there may be tens of millions. A receive's
 * address has the slot that is returned; NO_CYCLE: it goes on from the one before. */
void take_send(timeline *t, const send_shape *shape, uint64_t cycle);
uint64_t take_receive(timeline *t, place destination, uint32_t words, uint64_t cycle);
/* The instructions of what has been taken; of a send, for words from one place. */
void list_send(op_list *list, place source, uint32_t words, uint64_t cycle);
void list_receive(op_list *list, uint32_t source_tile, place destination, uint32_t words,
                  uint64_t cycle, uint64_t address_slot);
uint64_t end_of_receives(const timeline *t);                /* the cycle behind the last word's */
bool continues_chain(const timeline *t, place destination); /* of the last chain */
void timeline_fetch(const timeline *t,
                    uint64_t cycle); /* something about this cycle will be asked soon */
void timeline_free(timeline *t);

#endif
