/* What LLVM is told about which accesses of a fast copy do not overlap.
 *
 * All of them are in the tile's memory, one object. Where two places move alike, LLVM's vectorizer compares them itself, in front of
 * the loop, if they are few. Where they do not (pairs are read and their sums stored, a load stays), it gives up: "unknown dependence". So
 * the guard asks whether groups that move differently, or of many any two, of which one stores, overlap in all rounds, and the accesses are marked:
 * each group is a scope of aliases, and an access is in none of the scopes that it was compared with. Where groups overlap, the plain copy runs, whose
 * accesses are not marked; so nothing moves from one run of the loop into another. */
#include "lift.h"

#include <stdio.h>
#include <string.h>

static bool may_conflict(const access_group *a, const access_group *b)
{
  return a->store || b->store;
}

static bool are_compared(const counted_loop *loop, uint32_t i, uint32_t j)
{
  const access_group *a = &loop->groups[i], *b = &loop->groups[j];
  bool apart = loop->has_all_apart || (loop->has_ways_apart && !affine_equal(&a->step, &b->step));
  return apart && may_conflict(a, b);
}

/* a - b - 1 */
static LLVMValueRef not_above(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildAdd(l->b, a, LLVMBuildNot(l->b, b, ""), "");
}

LLVMValueRef lift_apart(lift *l, const access_group *a, const access_group *b)
{
  return LLVMBuildOr(l->b, not_above(l, a->to, b->from), not_above(l, b->to, a->from), "");
}

/* A trial that does not store loads what the rounds would load: nothing of a group is stored by way of another. */
LLVMValueRef lift_groups_apart(lift *l, const counted_loop *loop)
{
  bool tries = lift_tries(l, loop);
  LLVMValueRef apart = lift_constant64(l, UINT64_MAX);
  for (uint32_t i = 0; i < loop->num_groups; i++)
    for (uint32_t j = i + 1; j < loop->num_groups; j++) {
      const access_group *a = &loop->groups[i], *b = &loop->groups[j];
      bool of_trial = tries && ((a->store && b->load) || (b->store && a->load));
      if (of_trial || are_compared(loop, i, j))
        apart = LLVMBuildAnd(l->b, apart, lift_apart(l, a, b), "");
    }
  return apart;
}

/* Where a group is in the first round: with another that moves alike, as far apart as in the last one. */
static access_group first_round(lift *l, const access_group *g)
{
  access_group first = *g;
  uint64_t extent = (uint64_t)((int64_t)g->highest - g->lowest);
  first.from = g->start;
  first.to = LLVMBuildAdd(l->b, g->start, lift_constant64(l, extent), "");
  return first;
}

LLVMValueRef lift_last_repeats(lift *l, const counted_loop *loop)
{
  LLVMValueRef repeats = lift_constant64(l, loop->may_repeat_last ? UINT64_MAX : 0);
  for (uint32_t i = 0; i < loop->num_groups && loop->may_repeat_last; i++)
    for (uint32_t j = 0; j < loop->num_groups; j++) {
      if (!loop->groups[i].store || !loop->groups[j].load || are_compared(loop, i, j)) continue;
      access_group store = first_round(l, &loop->groups[i]),
                   load = first_round(l, &loop->groups[j]);
      repeats = LLVMBuildAnd(l->b, repeats, lift_apart(l, &store, &load), "");
    }
  return lift_compare(l, LLVMIntSLT, repeats, lift_constant64(l, 0));
}

static LLVMMetadataRef text_of(lift *l, const char *text)
{
  return LLVMMDStringInContext2(l->context, text, strlen(text));
}

/* A scope's first operand is its name, which nothing else in the module has; the second the domain. */
static LLVMMetadataRef scope_of(lift *l, uint32_t group)
{
  char name[64];
  const code_block *header = &l->unit->blocks[l->f->first_block + l->fast->header];
  snprintf(name, sizeof name, "function %x loop %x group %x", (unsigned)l->f->first_block,
           (unsigned)header->pc, (unsigned)group);
  LLVMMetadataRef domain_name = text_of(l, "groups");
  LLVMMetadataRef domain = LLVMMDNodeInContext2(l->context, &domain_name, 1);
  return LLVMMDNodeInContext2(l->context, (LLVMMetadataRef[]){text_of(l, name), domain}, 2);
}

static void mark(lift *l, LLVMValueRef access, const char *kind, LLVMMetadataRef *scopes,
                 size_t count)
{
  LLVMMetadataRef list = LLVMMDNodeInContext2(l->context, scopes, count);
  LLVMSetMetadata(access, LLVMGetMDKindIDInContext(l->context, kind, (unsigned)strlen(kind)),
                  LLVMMetadataAsValue(l->context, list));
}

/* An access of the fast copy. */
void lift_mark_apart(lift *l, uint32_t group, LLVMValueRef access)
{
  LLVMMetadataRef own = scope_of(l, group), others[MAX_GROUPS];
  size_t num_others = 0;
  for (uint32_t other = 0; other < l->fast->num_groups; other++)
    if (other != group && are_compared(l->fast, group, other))
      others[num_others++] = scope_of(l, other);
  if (!num_others) return;
  mark(l, access, "alias.scope", &own, 1);
  mark(l, access, "noalias", others, num_others);
}
