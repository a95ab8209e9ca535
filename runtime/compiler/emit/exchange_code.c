/* Exchange code: encodes the planned instructions of a tile's part in an exchange (isa/isa.h), and
 * host exchange code from the tile's packets. Addresses are not known yet: patches insert them. */
#include "compiler/emit/emit.h"

#include <assert.h>

static const tile_exchange *find_part(emitter *e, uint32_t index)
{
  const compilation *c = e->c;
  const exchange *x = &c->exchanges[index];
  size_t *next = &e->next_exchange[index];
  while (*next < x->num_tiles && c->tile_exchanges[x->first_tile + *next].tile < e->tile) ++*next;
  if (*next == x->num_tiles || c->tile_exchanges[x->first_tile + *next].tile != e->tile)
    return NULL;
  return &c->tile_exchanges[x->first_tile + *next];
}

bool emitter_takes_part(emitter *e, uint32_t exchange)
{
  return find_part(e, exchange) != NULL;
}

/* A sender is named by its number within the IPU. */
static void put_exchange_op(assembler *a, const exchange_op *op, uint32_t tiles_per_ipu)
{
  switch ((exchange_op_kind)op->kind) {
  case EXCHANGE_SEND:
    assert(op->count >= 1 && op->count <= ISA_SEND_MAX_WORDS);
    add_patch(a, PATCH_SEND, op->at);
    put(a, isa_send_word(0, op->count));
    return;
  case EXCHANGE_RECEIVE_ADDRESS:
    add_patch(a, PATCH_IMM22, op->at);
    put(a, isa_imm22_word(ISA_FUNCT3_RECEIVE_ADDRESS, 0));
    return;
  case EXCHANGE_RECEIVE_MUX:
    assert(op->count >= 1 && op->count <= ISA_RECEIVE_MAX_WORDS && tiles_per_ipu <= ISA_MAX_TILES);
    put(a, isa_receive_mux_word(op->tile % tiles_per_ipu, op->count));
    return;
  case EXCHANGE_DELAY:
    assert(op->count >= 1 && op->count <= ISA_DELAY_MAX_CYCLES);
    put(a, isa_imm22_word(ISA_FUNCT3_DELAY, op->count));
    return;
  case EXCHANGE_END:
    put(a, isa_imm22_word(ISA_FUNCT3_END, 0));
    return;
  case EXCHANGE_REPLICA_MAP:
    add_patch(a, PATCH_IMM22, op->at);
    put(a, isa_imm22_word(ISA_FUNCT3_REPLICA_MAP, 0));
    return;
  case EXCHANGE_GLOBAL_SEND:
  case EXCHANGE_GLOBAL_RECEIVE:
    add_patch(a, PATCH_IMM22, op->at);
    put(a, isa_imm22_word(op->kind == EXCHANGE_GLOBAL_SEND ? ISA_FUNCT3_GLOBAL_SEND
                                                           : ISA_FUNCT3_GLOBAL_RECEIVE,
                          0));
    return;
  }
}

uint32_t emitter_exchange_code(emitter *e, uint32_t index)
{
  if (e->exchange_stamp[index] == e->tile + 1) return e->exchange_code[index];
  const tile_exchange *part = find_part(e, index);
  uint32_t block = COMPILER_NONE;
  if (part) {
    assembler code = {0};
    for (uint32_t i = 0; i < part->num_ops; i++)
      put_exchange_op(&code, &e->c->exchange_ops[part->first_op + i], e->c->target.tiles_per_ipu);
    const exchange *x = &e->c->exchanges[index];
    block = emitter_add_code(e, &code,
                             x->zone == EXCHANGE_WITHIN_IPUS ? POP_MEMORY_INTERNAL_EXCHANGE_CODE
                                                             : POP_MEMORY_GLOBAL_EXCHANGE_CODE,
                             x->name);
  }
  e->exchange_stamp[index] = e->tile + 1;
  e->exchange_code[index] = block;
  return block;
}

bool packet_begins_record(const host_packet *before, const host_packet *packet)
{
  static const host_packet start = {.window = 0, .record = {COMPILER_NONE, 0}};
  if (!before) before = &start;
  return packet->window != before->window || packet->record.block != before->record.block ||
         packet->record.offset != before->record.offset;
}

/* Says which record the following packets are about. */
static void put_record(assembler *code, const host_packet *p)
{
  if (p->record.block != COMPILER_NONE) add_patch(code, PATCH_SEND, p->record);
  put(code, isa_host_record_word(p->window, 0));
}

static uint32_t add_host_exchange_code(emitter *e, const host_exchange *exchange, size_t first)
{
  const compilation *c = e->c;
  const host_packet *before = NULL;
  assembler code = {0};
  for (size_t i = first; i < exchange->num_packets; i++) {
    const host_packet *p = &c->host_packets[exchange->first_packet + i];
    if (p->tile != e->tile) break;
    if (packet_begins_record(before, p)) put_record(&code, p);
    before = p;
    add_patch(&code, PATCH_IMM22, p->header);
    put(&code, isa_imm22_word(p->to_tile ? ISA_FUNCT3_HOST_READ : ISA_FUNCT3_HOST_WRITE, 0));
  }
  put(&code, isa_imm22_word(ISA_FUNCT3_END, 0));
  return emitter_add_code(e, &code, POP_MEMORY_HOST_EXCHANGE_CODE, exchange->name);
}

uint32_t emitter_host_exchange_code(emitter *e, uint32_t index)
{
  if (e->host_stamp[index] == e->tile + 1) return e->host_code[index];
  const compilation *c = e->c;
  const host_exchange *exchange = &c->host_exchanges[index];
  const host_packet *packets = c->host_packets + exchange->first_packet;
  size_t *next = &e->next_packet[index];
  while (*next < exchange->num_packets && packets[*next].tile < e->tile) ++*next;
  bool takes_part = *next < exchange->num_packets && packets[*next].tile == e->tile;
  e->host_code[index] = takes_part ? add_host_exchange_code(e, exchange, *next) : COMPILER_NONE;
  e->host_stamp[index] = e->tile + 1;
  return e->host_code[index];
}
