/* What one tile does in an exchange, cycle by cycle, while the exchange is being planned.
 *
 * A tile has three resources, each reserved by cycle: issue slots (one instruction each), the bus
 * on which it sends, and its input. Slots and bus are bit sets.
 *
 * The input is a list of chains. A chain is a row of receives that follow one another without a new
 * address. It reserves the input from the slot of its receiveAddress to its last word, including
 * cycles in which it waits: a receive of another chain in between would move the pointer. A receive
 * that would have to wait for long begins a new chain, so that other receives can use the time. */
#ifndef COMPILER_EXCHANGE_TIMELINE_H
#define COMPILER_EXCHANGE_TIMELINE_H

#include "compiler/compilation.h"

typedef struct bit_set {
  uint64_t *words;
  size_t num_words, capacity; /* bits after the last word are clear */
} bit_set;

typedef struct chain {
  uint64_t begin; /* first cycle in which no word of another chain may arrive */
  uint64_t end;   /* the cycle after that of the last word */
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
  uint64_t bus_end; /* the cycle after the last in which the bus is taken */
  chain *chains;    /* ascending */
  size_t num_chains, chains_capacity;
  op_list listed; /* instructions listed so far, in any order */
  uint64_t words_sent, words_received;
} timeline;

/* Words that leave in consecutive cycles. They may come from several places. Each place has a send
 * instruction of its own, and a place with more words than one send can hold has several. */
typedef struct send_shape {
  uint64_t first_words; /* bit i: word i comes from another place than word i - 1; bit 0 is set */
  uint32_t words;
} send_shape;

enum { SEND_SHAPE_MAX_WORDS = 64 }; /* of a shape with several places */

#define NO_CYCLE UINT64_MAX

/* The first cycle >= `from` in which the first word could leave, or arrive. No word arrives before
 * cycle 2: the receiveAddress and the receive need a slot each. */
uint64_t earliest_send(const timeline *t, const send_shape *shape, uint64_t from);
uint64_t earliest_receive(const timeline *t, place destination, uint32_t words, uint64_t from);
/* The same for 64 cycles at once, for up to SEND_SHAPE_MAX_WORDS words. sends_from: bit i is set if
 * the words could leave in cycle `from` + i. receives_at_end: bit i is set if they could arrive in
 * cycle end_of_receives + i; `follows`: they continue the last chain. */
uint64_t sends_from(const timeline *t, const send_shape *shape, uint64_t from);
uint64_t receives_at_end(const timeline *t, bool follows);
/* For words that a tile sends to itself: they leave in cycle `sent` and arrive in cycle `arrival`,
 * each of which is possible by itself. Do the instructions of the send and of the receive fit
 * together, too? */
bool can_send_and_receive(timeline *t, const send_shape *shape, uint64_t sent, place destination,
                          uint64_t arrival);
/* Reserve what the functions above have found. The instructions are not kept here: there may be
 * tens of millions. reserve_receive returns the slot of the receiveAddress, or NO_CYCLE if the
 * receive continues the chain before it. */
void reserve_send(timeline *t, const send_shape *shape, uint64_t cycle);
uint64_t reserve_receive(timeline *t, place destination, uint32_t words, uint64_t cycle);
/* Append the instructions of a send (from one place), or of a receive, to a list. */
void add_send_ops(op_list *list, place source, uint32_t words, uint64_t cycle);
void add_receive_ops(op_list *list, uint32_t source_tile, place destination, uint32_t words,
                     uint64_t cycle, uint64_t address_slot);
uint64_t end_of_receives(const timeline *t);                /* the cycle after the last word */
bool continues_chain(const timeline *t, place destination); /* would it continue the last chain? */
void timeline_prefetch(const timeline *t,
                       uint64_t cycle); /* prefetch: this cycle will be asked about soon */
void timeline_free(timeline *t);

#endif
