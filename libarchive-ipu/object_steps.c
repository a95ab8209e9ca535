/* Which additions of an object's code are steps (isa/isa.h): the tile executes them together with
 * an instruction beside them. On the chip loads and stores step their pointers (ld32step, st64step
 * …) and branches count (brnzdec).
 *
 *   flw  fa4, 0(a2)          flw  fa4, 0(a2)
 *   fadd.s fa5, fa5, fa4     fadd.s fa5, fa5, fa4
 *   addi a2, a2, 4      -->  step a2, a2, 4       with the flw
 *   addi a1, a1, -1     -->  step a1, a1, -1      with the bnez
 *   bnez a1, …               bnez a1, …
 *
 * One word replaces another that computes the same. So nothing moves, and references to the code
 * stay right. An addition is a step if the chip has an instruction that does both:
 *
 *   - the access and the addition are in one straight line of code;
 *   - between them the pointer is used only by other accesses (which would have other
 *     offsets there);
 *   - the distance is a signed byte of the accessed elements;
 *   - a store is of one or two words, as the chip has no others.
 *
 * An access has at most one step. */
#include "object_code.h"

#include <populus/link.h>

enum { SP = 2, MAX_STEP = 127, MIN_STEP = -128 };

/* The register of an addition to itself that may become a step; 0: it is none. */
static uint32_t stepped(const object_code *c, uint32_t i, const code_use *u)
{
  if (!u->row || u->row->op != OP_ADDI || c->marks[i] & CODE_RELOCATED || u->imm == 0) return 0;
  uint32_t rd = isa_bits(code_word(c, i), 7, 5);
  return rd == isa_bits(code_word(c, i), 15, 5) && rd != SP ? rd : 0;
}

/* Does the chip have the access that steps its pointer by this distance? */
static bool can_step(const code_use *access, int32_t distance)
{
  int32_t bytes = access->row->access_bytes;
  if (isa_is_store(access->row) && bytes < 4) return false;
  return distance % bytes == 0 && distance / bytes >= MIN_STEP && distance / bytes <= MAX_STEP;
}

/* Searches in one direction from an addition for the instruction that it goes with. */
static bool look(object_code *c, uint32_t from, uint32_t r, int32_t distance, bool back)
{
  for (uint32_t i = from;;) {
    if (back ? c->marks[i] & CODE_JOIN || i == 0
             : i + 1 == c->num_words || c->marks[i + 1] & CODE_JOIN)
      return false;
    i += back ? UINT32_MAX : 1;
    code_use u = code_use_at(c, i);
    if (u.base == r && !((u.reads | u.writes) >> r & 1)) {
      if (c->marks[i] & (CODE_HAS_STEP | CODE_RELOCATED) || !can_step(&u, distance)) continue;
      c->marks[i] |= CODE_HAS_STEP;
      return true;
    }
    bool counts = u.row && u.row->op == OP_BNE && u.reads == (1u << r | 1) && distance == -1;
    if (!back && counts) return true;
    if (code_ends_line(&u) || (u.reads | u.writes) >> r & 1) return false;
  }
}

static void step_section(object_code *c)
{
  for (uint32_t i = 0; i < c->num_words; ++i) {
    code_use u = code_use_at(c, i);
    uint32_t r = stepped(c, i, &u);
    if (!r || (!look(c, i, r, u.imm, true) && !look(c, i, r, u.imm, false))) continue;
    relocation_put32(c->words + 4 * i, isa_word(OP_STEP, r, r, 0, u.imm));
  }
}

pop_error *pop_object_make_steps(void *bytes, size_t size, const char *name)
{
  return code_change(bytes, size, name, step_section);
}
