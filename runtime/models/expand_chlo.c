/* Operations of chlo that broadcast their operands, as StableHLO text. */
#include "models/inline.h"
#include "models/verify.h"

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

/* The result's dimension for each of the operand's: the last ones. For the operand of lower rank
 * broadcast_dimensions may say others. */
static char *own_dimensions(module *m, const operation *op, size_t operand)
{
  uint32_t rank = op->operands[operand]->type->rank, more = op->results[0]->type->rank - rank;
  int64_t dims[MODEL_MAX_RANK];
  size_t count;
  const int64_t *given = op_int_list(m, op, "broadcast_dimensions", &count);
  if (op_attribute(op, "broadcast_dimensions") && more && count == rank)
    return expand_list(m, given, count);
  for (uint32_t d = 0; d < rank; ++d) dims[d] = more + d;
  return expand_list(m, dims, rank);
}

char *broadcasting_expand(module *m, const operation *op)
{
  const model_type *y = op->results[0]->type;
  const char *name = strstr(op->name, "broadcast_") + strlen("broadcast_");
  const char *to = type_text(m->arena, y), *words = "";
  const char *arguments = "", *body = "", *operands = "", *types = "";
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *x = op->operands[i]->type;
    const char *comma = i ? ", " : "", *from = type_text(m->arena, x);
    const char *full = expand_type(m, y, y->dims, y->rank, x->element);
    arguments = PRINT("%s%s%%x%zu: %s", arguments, comma, i, from);
    body = PRINT("%s%%b%zu = stablehlo.broadcast_in_dim %%x%zu, dims = %s : (%s) -> %s\n", body, i,
                 i, own_dimensions(m, op, i), from, full);
    operands = PRINT("%s%s%%b%zu", operands, comma, i);
    types = PRINT("%s%s%s", types, comma, full);
  }
  if (strcmp(name, "compare") == 0) {
    const char *type = op_word(op, "compare_type");
    words = PRINT("{comparison_direction = #stablehlo<comparison_direction %s>%s%s} ",
                  op_word(op, "comparison_direction"),
                  *type ? ", compare_type = #stablehlo<comparison_type " : "",
                  *type ? PRINT("%s>", type) : "");
  }
  return PRINT("func.func private @f(%s) -> %s {\n%s%%y = \"stablehlo.%s\"(%s) %s: (%s) -> %s\n"
               "return %%y : %s\n}\n",
               arguments, to, body, name, operands, words, types, to, to);
}
