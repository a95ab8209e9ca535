/* Words to operations, and the table of decoded pages. */
#include "code_pages.h"
#include "float_control.h"
#include "isa/float.h"

#include <populus/arena.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Stores relative to sp are operations of their own, because they can overflow the stack. */
static uint8_t stack_store(uint8_t id)
{
#define STACK_ROW(id, ...) [OP_##id] = OP_##id##_STACK,
  static const uint8_t by_sp[] = {STORES(STACK_ROW) FLOAT_STORES(STACK_ROW) WIDE_STORES(STACK_ROW)};
  return by_sp[id];
}

static uint8_t far_jump(uint8_t id)
{
#define FAR_ROW(id, ...) [OP_##id] = OP_##id##_FAR,
  static const uint8_t far[] = {[OP_JAL] = OP_JAL_FAR, BRANCHES(FAR_ROW)};
  return far[id];
}

/* Targets in the page become distances in operations; other targets stay distances in bytes. */
static void resolve_jump(operation *op, uint32_t index)
{
  int32_t target = (int32_t)index + op->imm / 4;
  if (op->imm % 4 == 0 && target >= 0 && target < PAGE_WORDS)
    op->imm /= 4;
  else
    op->id = far_jump(op->id);
}

static uint32_t unusual_rounding(isa_format f, uint32_t mode)
{
  uint32_t usual = f == FORMAT_R_RM ? ROUND_TO_ZERO : ROUND_NEAREST_EVEN;
  if (mode == usual) return 0;
  bool follows_frm = mode == ROUND_DYNAMIC && usual == ROUND_NEAREST_EVEN;
  return (follows_frm ? 7u : ROUNDS_UNUSUALLY) << ROUNDING_SHIFT;
}

static operation decode_word(const isa_row *r, uint32_t word, uint32_t address, uint32_t index)
{
  isa_format f = r->format;
  operation op = {.id = r->op,
                  .rd = (uint8_t)isa_bits(word, 7, 5),
                  .rs1 = (uint8_t)isa_bits(word, 15, 5),
                  .rs2 = (uint8_t)isa_bits(word, 20, 5),
                  .imm = isa_immediate(word, f)};
  if (r->cost == POP_COST_STEP) op.id = OP_ADDI; /* an addi that costs less */
  if (op.rd == 0 && isa_writes_integer(f)) op.rd = REGISTER_SINK;
  if (f == FORMAT_B || f == FORMAT_J) resolve_jump(&op, index);
  if (isa_rounds(f)) op.imm |= (int32_t)unusual_rounding(f, isa_bits(word, 12, 3));
  if (f == FORMAT_S && op.rs1 == 2) op.id = stack_store(op.id);
  if (op.id == OP_AUIPC) op.imm = (int32_t)((uint32_t)op.imm + address + 4 * index);
  return op;
}

/* The piece that executes these two consecutive operations, or the first one's own. */
static uint8_t piece_of(uint8_t first, uint8_t second)
{
#define PAIR_ROW(one, two) {OP_##one, OP_##two, OP_##one##_##two},
  static const uint8_t pairs[][3] = {PAIRS(PAIR_ROW)};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (pairs[i][0] == first && pairs[i][1] == second) return pairs[i][2];
  return first;
}

static uint8_t controlled_piece(uint8_t id)
{
  return float_is_controlled(id) ? OP_CONTROLLED : id;
}

/* Decodes backwards, because an operation's block cost includes that of its successors. */
static void decode_page(const code_cache *cache, code_page *page)
{
  const code_key *key = &page->key;
  page->operations[PAGE_WORDS] = (operation){.id = OP_NEXT_PAGE};
  for (uint32_t i = PAGE_WORDS; i-- > 0;) {
    operation *op = &page->operations[i];
    if (!(key->executable[i / 32] >> i % 32 & 1)) {
      *op = (operation){.id = OP_NOT_CODE};
      continue;
    }
    const isa_row *r = isa_find(key->words[i]);
    if (!r) {
      *op = (operation){.id = OP_INVALID};
      continue;
    }
    *op = decode_word(r, key->words[i], key->address, i);
    op->block_cost = isa_slots(r, cache->cost);
    op->block_count = 1;
    if (!isa_ends_block(r->cost)) {
      op->block_cost += op[1].block_cost;
      op->block_count += op[1].block_count;
    }
  }
  page->operations[PAGE_WORDS].piece = cache->pieces[OP_NEXT_PAGE];
  for (uint32_t i = 0; i < PAGE_WORDS; i++) {
    operation *op = &page->operations[i];
    op->piece =
        cache->pieces[key->controlled ? controlled_piece(op->id) : piece_of(op->id, op[1].id)];
  }
}

void code_cache_init(code_cache *cache, const pop_target *target, const void *const *pieces)
{
  *cache = (code_cache){.pieces = pieces};
  memcpy(cache->cost, target->cost, sizeof cache->cost);
}

void code_cache_clear(code_cache *cache)
{
  for (size_t i = 0; i < cache->num_slots; i++) free(cache->slots[i]);
  free(cache->slots);
  cache->slots = NULL;
  cache->num_slots = cache->num_pages = 0;
}

static code_page **find_slot(code_cache *cache, const code_key *key, uint64_t hash)
{
  for (size_t i = hash;; i++) {
    code_page **slot = &cache->slots[i & (cache->num_slots - 1)];
    if (!*slot || ((*slot)->hash == hash && !memcmp(&(*slot)->key, key, sizeof *key))) return slot;
  }
}

static void grow(code_cache *cache)
{
  code_cache old = *cache;
  cache->num_slots = old.num_slots ? 2 * old.num_slots : 64;
  cache->slots = pop_xcalloc(cache->num_slots, sizeof *cache->slots);
  for (size_t i = 0; i < old.num_slots; i++)
    if (old.slots[i]) *find_slot(cache, &old.slots[i]->key, old.slots[i]->hash) = old.slots[i];
  free(old.slots);
}

const code_page *code_cache_get(code_cache *cache, const code_key *key)
{
  if (2 * cache->num_pages >= cache->num_slots) grow(cache);
  uint64_t hash = XXH3_64bits(key, sizeof *key);
  code_page **slot = find_slot(cache, key, hash);
  if (!*slot) {
    *slot = pop_xmalloc(sizeof **slot);
    (*slot)->key = *key;
    (*slot)->hash = hash;
    decode_page(cache, *slot);
    cache->num_pages++;
  }
  return *slot;
}
