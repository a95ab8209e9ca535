/* Operations of chlo that broadcast their operands, and custom calls of JAX's, in the text's own words. */
#include "models/inline.h"
#include "models/text.h"
#include "models/verify.h"

#include <inttypes.h>

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

/* ---- chlo.broadcast_add, … ---- */

/* Dimensions of the result that the operand's are: the last ones, or what broadcast_dimensions says of the one of lower rank. */
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

/* ---- @cu_threefry2x32_ffi ---- */

bool is_threefry(const operation *op)
{
  const char *target = op_word(op, "call_target_name");
  return op->code == OP_CUSTOM_CALL && (strcmp(target, "cu_threefry2x32_ffi") == 0 ||
                                        strcmp(target, "hip_threefry2x32_ffi") == 0);
}

/* Threefry-2x32 of 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) of keys %k0, %k1 and words %a0, %b0. */
char *threefry_expand(module *m, const operation *op)
{
  static const unsigned turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const char *t = type_text(m->arena, op->results[0]->type);
  text to = {0};
  text_add(&to,
           "func.func private @f(%%k0: %s, %%k1: %s, %%x0: %s, %%x1: %s) -> (%s, %s) {\n"
           "%%parity = stablehlo.constant dense<0x1BD11BDA> : %s\n"
           "%%k01 = stablehlo.xor %%k0, %%k1 : %s\n%%k2 = stablehlo.xor %%k01, %%parity : %s\n"
           "%%a0 = stablehlo.add %%x0, %%k0 : %s\n%%b0 = stablehlo.add %%x1, %%k1 : %s\n",
           t, t, t, t, t, t, t, t, t, t, t);
  for (unsigned n = 0; n < 20; ++n) {
    unsigned turn = turns[n / 4 % 2][n % 4], group = n / 4 + 1;
    const char *left = n % 4 == 3 ? "u" : "";
    text_add(&to,
             "%%a%s%u = stablehlo.add %%a%u, %%b%u : %s\n"
             "%%left%u = stablehlo.constant dense<%u> : %s\n"
             "%%right%u = stablehlo.constant dense<%u> : %s\n"
             "%%high%u = stablehlo.shift_left %%b%u, %%left%u : %s\n"
             "%%low%u = stablehlo.shift_right_logical %%b%u, %%right%u : %s\n"
             "%%turned%u = stablehlo.or %%high%u, %%low%u : %s\n"
             "%%b%s%u = stablehlo.xor %%turned%u, %%a%s%u : %s\n",
             left, n + 1, n, n, t, n, turn, t, n, 32 - turn, t, n, n, n, t, n, n, n, t, n, n, n, t,
             left, n + 1, n, left, n + 1, t);
    if (n % 4 == 3)
      text_add(&to,
               "%%a%u = stablehlo.add %%au%u, %%k%u : %s\n"
               "%%bk%u = stablehlo.add %%bu%u, %%k%u : %s\n"
               "%%group%u = stablehlo.constant dense<%u> : %s\n"
               "%%b%u = stablehlo.add %%bk%u, %%group%u : %s\n",
               n + 1, n + 1, group % 3, t, n, n + 1, (group + 1) % 3, t, n, group, t, n + 1, n, n,
               t);
  }
  text_add(&to, "return %%a20, %%b20 : %s, %s\n}\n", t, t);
  char *all = pop_arena_strdup(m->arena, to.data);
  text_free(&to);
  return all;
}
