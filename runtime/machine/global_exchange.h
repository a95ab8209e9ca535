/* The state of a global exchange while it is being read, and the interface of its parts: this
 * process's (global_exchange.c) and other ranks' (global_remote.c). */
#ifndef MACHINE_GLOBAL_EXCHANGE_H
#define MACHINE_GLOBAL_EXCHANGE_H

#include "machine.h"
#include <populus/arena.h>

#define NO_REPLICA UINT32_MAX

typedef struct packet {
  uint32_t tile, pc;
  uint32_t address, words;
  uint32_t ipus;           /* sent: a bit for each receiving IPU of the replica, counted */
  uint32_t first_ipu;      /* from this one on */
  uint32_t sender, number; /* received: which packet of which tile in the replica that sends */
  uint8_t *data;           /* sent by another rank: where it goes to; NULL: in the tile's memory */
} packet;

typedef struct packet_list {
  packet *items; /* by tile, in the order of its code */
  size_t count, capacity;
  size_t *first; /* by tile; one more at the end */
} packet_list;

/* Words of a tile that are sent or received. */
typedef struct span {
  uint32_t begin, end; /* addresses */
  bool received;
  const packet *of;
} span;

/* What determines the time of the exchange: maxima over this rank, then over all. */
typedef struct exchange_sum {
  uint64_t instructions;  /* the most of a tile */
  uint64_t words;         /* the most that a tile sends or receives */
  uint64_t link_bytes;    /* the most that leave an IPU or come to one, with headers */
  uint64_t gateway_bytes; /* likewise, from or to another link domain */
  bool packets;           /* there are some */
} exchange_sum;

/* Bytes of packets, with headers. */
typedef struct ipu_bytes {
  uint64_t all, gateway; /* from or to another link domain */
} ipu_bytes;

/* Bytes that were read from writable memory. */
typedef struct bytes_read {
  const uint8_t *at;
  size_t bytes, copy; /* how many; their offset in `copies` */
} bytes_read;

typedef struct read_list {
  bytes_read *items;
  size_t count, capacity;
  pop_bytes copies;
} read_list;

typedef struct reading {
  const machine_group *group; /* ranks NULL: one machine, between its IPUs */
  const pop_target *target;   /* of a replica */
  uint32_t tiles_per_replica;
  bool between_replicas;
  bool knows_map;
  uint32_t *map;       /* by replica of the graph: where its packets go, or NO_REPLICA */
  uint32_t *other_map; /* another tile's */
  /* By replica of this process: the replica that it receives from, or NO_REPLICA: */
  uint32_t *from;      /* by its number in the graph */
  uint32_t *sources;   /* by its slot here, from global_remote_read on */
  uint32_t num_remote; /* slots of replicas of other ranks */
  packet_list sent, received;
  span *spans; /* of the current tile */
  size_t num_spans, spans_capacity;
  ipu_bytes *from_ipu, *to_ipu; /* by IPU of this process's replicas */
  exchange_sum sum;
  /* For the next time (global_cache.h): */
  read_list reads;
  bool has_unwanted; /* other ranks have sent words that no tile receives */
  const ranks_pieces *pieces_to, *pieces_from; /* by rank, from global_remote_pass on */
} reading;

/* A received packet as a copy within this process. The first receiver of another rank's packet has
 * the words already; for it *to == *from. False: its replica receives nothing. */
bool global_exchange_get_move(reading *r, size_t received, uint8_t **to, const uint8_t **from,
                              size_t *bytes);
/* Bytes that the replica in the slot sends, once for each IPU that they go to. */
uint64_t global_exchange_count_sent(const reading *r, uint32_t slot);
/* Advances the tile's clock by the exchange, and counts and traces it. */
void global_exchange_take_time(machine *m, uint32_t number, uint64_t cycles,
                               uint64_t received_bytes);

/* global_remote.c: tells other ranks which packets replicas of this process send to theirs, and
 * receives the same from them. `own`: this rank's error so far, which is taken. */
POP_MUST_CHECK pop_error *global_remote_announce(reading *r, pop_error *own);
/* Gives all sending replicas their slots. Errors: RUNTIME, to be told to the other ranks by
 * global_remote_agree. */
POP_MUST_CHECK pop_error *global_remote_read(reading *r);
/* Gives a place (data) to packets that no tile receives. Errors: MEMORY; likewise. */
POP_MUST_CHECK pop_error *global_remote_place(reading *r);
/* All ranks have checked everything, without errors; `sum` becomes that of all ranks. */
POP_MUST_CHECK pop_error *global_remote_agree(reading *r, pop_error *own);
/* Then passes the packets' words to their places. */
POP_MUST_CHECK pop_error *global_remote_pass(reading *r);

#endif
