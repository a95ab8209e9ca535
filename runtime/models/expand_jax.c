/* JAX's custom calls that stand for one operation or a few: random words on GPUs, LAPACK and BLAS
 * on CPUs. */
#include "models/inline.h"
#include "models/text.h"
#include "models/verify.h"

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

jax_call jax_call_of(const operation *op)
{
  static const struct {
    const char *target;
    jax_call call;
  } calls[] = {{"cu_threefry2x32_ffi", JAX_THREEFRY}, {"hip_threefry2x32_ffi", JAX_THREEFRY},
               {"lapack_spotrf_ffi", JAX_CHOLESKY},   {"lapack_dpotrf_ffi", JAX_CHOLESKY},
               {"lapack_cpotrf_ffi", JAX_CHOLESKY},   {"lapack_strsm_ffi", JAX_TRIANGULAR},
               {"lapack_dtrsm_ffi", JAX_TRIANGULAR},  {"lapack_ctrsm_ffi", JAX_TRIANGULAR}};
  if (op->code != OP_CUSTOM_CALL) return JAX_NONE;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
    if (strcmp(op_word(op, "call_target_name"), calls[i].target) == 0) return calls[i].call;
  return JAX_NONE;
}

char jax_letter(const operation *op, const char *name)
{
  const attribute *config = custom_config(op);
  int64_t letter = dict_int(config, name, 0);
  return letter > 0 && letter < 128 ? (char)letter : 0;
}

/* ---- Threefry ---- */

/* Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)
 * of keys %k0, %k1 and words %a0, %b0. */
static char *threefry(module *m, const operation *op)
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

/* ---- matrices ---- */

/* The factor, and the status 0: success. (The factor of a matrix that has none is NaN.) */
static char *potrf(module *m, const operation *op)
{
  const char *t = type_text(m->arena, op->operands[0]->type),
             *info = type_text(m->arena, op->results[1]->type);
  return PRINT("func.func private @f(%%a: %s) -> (%s, %s) {\n"
               "%%y = \"stablehlo.cholesky\"(%%a) {lower = %s} : (%s) -> %s\n"
               "%%info = stablehlo.constant dense<0> : %s\nreturn %%y, %%info : %s, %s\n}\n",
               t, t, info, jax_letter(op, "uplo") == 'L' ? "true" : "false", t, t, info, t, info);
}

static char *trsm(module *m, const operation *op)
{
  const char *a = type_text(m->arena, op->operands[0]->type),
             *b = type_text(m->arena, op->operands[1]->type);
  char transposed = jax_letter(op, "trans_x");
  return PRINT("func.func private @f(%%a: %s, %%b: %s) -> %s {\n"
               "%%y = \"stablehlo.triangular_solve\"(%%a, %%b) {left_side = %s, lower = %s, "
               "unit_diagonal = %s, transpose_a = #stablehlo<transpose %s>} : (%s, %s) -> %s\n"
               "return %%y : %s\n}\n",
               a, b, b, jax_letter(op, "side") == 'L' ? "true" : "false",
               jax_letter(op, "uplo") == 'L' ? "true" : "false",
               jax_letter(op, "diag") == 'U' ? "true" : "false",
               transposed == 'T'   ? "TRANSPOSE"
               : transposed == 'C' ? "ADJOINT"
                                   : "NO_TRANSPOSE",
               a, b, b, b);
}

char *jax_expand(module *m, const operation *op)
{
  jax_call call = jax_call_of(op);
  return call == JAX_THREEFRY ? threefry(m, op) : call == JAX_CHOLESKY ? potrf(m, op) : trsm(m, op);
}
