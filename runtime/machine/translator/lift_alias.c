/* Tells LLVM which accesses of a fast copy do not overlap (alias checks in the guard, alias scopes
 * on the accesses).
 *
 * All accesses are in the tile's memory, one object. LLVM's vectorizer compares two places itself,
 * in front of the loop, if both move by the same step and there are few of them. If the steps
 * differ (pairs are read and their sums stored, or a load stays), it gives up: "unknown
 * dependence". So the guard compares groups that move differently; if there are many groups, it
 * compares any two. It compares only pairs of which one stores, over all iterations. The accesses
 * are marked: each group is an alias scope, and an access does not alias the scopes that its group
 * was compared with. If groups overlap, the plain copy runs, whose accesses are not marked; so
 * nothing moves from one run of the loop into another. */
#include "lift.h"

#include <stdio.h>
#include <string.h>

static bool may_conflict(const access_group *a, const access_group *b)
{
  return a->store || b->store;
}

static bool needs_alias_check(const counted_loop *loop, uint32_t i, uint32_t j)
{
  const access_group *a = &loop->groups[i], *b = &loop->groups[j];
  bool apart = loop->needs_all_alias_checks ||
               (loop->needs_alias_checks && !affine_equal(&a->step, &b->step));
  return apart && may_conflict(a, b);
}

/* a - b - 1 */
static LLVMValueRef not_above(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildAdd(l->b, a, LLVMBuildNot(l->b, b, ""), "");
}

LLVMValueRef lift_no_overlap(lift *l, const access_group *a, const access_group *b)
{
  return LLVMBuildOr(l->b, not_above(l, a->to, b->from), not_above(l, b->to, a->from), "");
}

/* A trial stores nothing, so its loads are right only if no group stores where another group
 * loads. */
LLVMValueRef lift_groups_no_overlap(lift *l, const counted_loop *loop)
{
  bool tries = lift_has_trial(l, loop);
  LLVMValueRef apart = lift_constant64(l, UINT64_MAX);
  for (uint32_t i = 0; i < loop->num_groups; i++)
    for (uint32_t j = i + 1; j < loop->num_groups; j++) {
      const access_group *a = &loop->groups[i], *b = &loop->groups[j];
      bool of_trial = tries && ((a->store && b->load) || (b->store && a->load));
      if (of_trial || needs_alias_check(loop, i, j))
        apart = LLVMBuildAnd(l->b, apart, lift_no_overlap(l, a, b), "");
    }
  return apart;
}

/* The group's range in the first iteration. Two groups that move alike are as far apart in it as in
 * the last one. */
static access_group first_iteration(lift *l, const access_group *g)
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
      if (!loop->groups[i].store || !loop->groups[j].load || needs_alias_check(loop, i, j))
        continue;
      access_group store = first_iteration(l, &loop->groups[i]),
                   load = first_iteration(l, &loop->groups[j]);
      repeats = LLVMBuildAnd(l->b, repeats, lift_no_overlap(l, &store, &load), "");
    }
  return lift_compare(l, LLVMIntSLT, repeats, lift_constant64(l, 0));
}

static LLVMMetadataRef text_of(lift *l, const char *text)
{
  return LLVMMDStringInContext2(l->context, text, strlen(text));
}

/* A scope has two operands: its name, which nothing else in the module has, and its domain. */
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

void lift_mark_alias_scope(lift *l, uint32_t group, LLVMValueRef access)
{
  LLVMMetadataRef own = scope_of(l, group), others[MAX_GROUPS];
  size_t num_others = 0;
  for (uint32_t other = 0; other < l->fast->num_groups; other++)
    if (other != group && needs_alias_check(l->fast, group, other))
      others[num_others++] = scope_of(l, other);
  if (!num_others) return;
  mark(l, access, "alias.scope", &own, 1);
  mark(l, access, "noalias", others, num_others);
}
