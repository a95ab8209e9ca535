/* Triangular matrices, for codelets that runtime/models/ generates (hlo.h).
 *
 * Results are those of XLA's expansion for its CPU, operation by operation. It inverts the matrix,
 * with columns scaled by the diagonal first. Then a product adds even and odd terms separately. f16
 * and bf16 are computed as f32 and rounded at the end. */
#ifndef POPULUS_HLO_LINEAR_H
#define POPULUS_HLO_LINEAR_H

#include <populus/hlo_complex.h>
#include <populus/hlo_convert.h>

HLO float hlo_multiply_add_f32(float a, float b, float c)
{
  return fmaf(a, b, c);
}
HLO double hlo_multiply_add_f64(double a, double b, double c)
{
  return a * b + c;
}
HLO hlo_c64 hlo_multiply_add_c64(hlo_c64 a, hlo_c64 b, hlo_c64 c)
{
  return hlo_add_c64(hlo_multiply_c64(a, b), c);
}

/* T is the element type and S its type in tensors. K is the type of the computation, KS its type in
 * tensors, C its type in C. Matrices are stored row by row.
 *
 * hlo_factor: the triangular factor of a Hermitian positive-definite matrix of m rows (Cholesky,
 *             row by row). `lower` says which half of the matrix is read, and which half of `out`
 *             has the factor; the other one becomes 0. `factor` is for the computation, and may be
 *             `out`. A negative pivot gives NaNs if the type is not complex.
 * hlo_invert: the inverse of a triangular matrix of m rows (`lower`: which half), or of its
 *             conjugate. The other half is not read. If `unit`, the diagonal is not read, but is
 *             all ones.
 * hlo_solve:  solves op(a) x = b (left: m rows, n columns) or x op(a) = b (n rows, m columns), with
 *             the inverse of a. op transposes a if `transposed`. */
#define HLO_LINEAR(T, S, K, KS, C, CONJUGATE)                                                      \
  HLO_LARGE void hlo_factor_##T(const S *a, KS *factor, S *out, int m, bool lower)                 \
  {                                                                                                \
    for (int i = 0; i < m; ++i)                                                                    \
      for (int j = 0; j <= i; ++j) {                                                               \
        C sum = lower ? hlo_load_##T(a[i * m + j]) : CONJUGATE(hlo_load_##T(a[j * m + i]));        \
        for (int k = 0; k < j; ++k)                                                                \
          sum = hlo_multiply_add_##K(hlo_negate_##K(hlo_load_##K(factor[i * m + k])),              \
                                     CONJUGATE(hlo_load_##K(factor[j * m + k])), sum);             \
        factor[i * m + j] = hlo_store_##K(                                                         \
            i == j ? hlo_sqrt_##K(sum) : hlo_divide_##K(sum, hlo_load_##K(factor[j * m + j])));    \
      }                                                                                            \
    for (int i = 0; i < m; ++i)                                                                    \
      for (int j = 0; j < m; ++j) {                                                                \
        C value = hlo_convert_f32_##K(0);                                                          \
        if (lower && j <= i) value = hlo_load_##K(factor[i * m + j]);                              \
        if (!lower && i <= j) value = CONJUGATE(hlo_load_##K(factor[j * m + i]));                  \
        out[i * m + j] = hlo_store_##T(value);                                                     \
      }                                                                                            \
  }                                                                                                \
  HLO_LARGE void hlo_invert_##T(const S *a, KS *inverse, int m, bool lower, bool unit,             \
                                bool conjugate)                                                    \
  {                                                                                                \
    const C one = hlo_convert_f32_##K(1), zero = hlo_convert_f32_##K(0);                           \
    for (int step = 0; step < m; ++step) {                                                         \
      const int i = lower ? step : m - 1 - step, begin = lower ? 0 : i + 1, end = lower ? i : m;   \
      KS *row = inverse + i * m;                                                                   \
      for (int c = 0; c < m; ++c) row[c] = hlo_store_##K(zero);                                    \
      for (int j = begin; j < end; ++j) {                                                          \
        C scaled = hlo_load_##T(a[i * m + j]), by = hlo_load_##T(a[j * m + j]);                    \
        if (conjugate) scaled = CONJUGATE(scaled), by = CONJUGATE(by);                             \
        if (!unit) scaled = hlo_divide_##K(scaled, by);                                            \
        for (int c = begin; c < end; ++c)                                                          \
          row[c] = hlo_store_##K(hlo_multiply_add_##K(                                             \
              hlo_negate_##K(scaled), hlo_load_##K(inverse[j * m + c]), hlo_load_##K(row[c])));    \
      }                                                                                            \
      row[i] = hlo_store_##K(one);                                                                 \
    }                                                                                              \
    for (int i = 0; i < m && !unit; ++i) {                                                         \
      C by = hlo_load_##T(a[i * m + i]);                                                           \
      if (conjugate) by = CONJUGATE(by);                                                           \
      for (int c = 0; c < m; ++c)                                                                  \
        inverse[i * m + c] = hlo_store_##K(hlo_divide_##K(hlo_load_##K(inverse[i * m + c]), by));  \
    }                                                                                              \
  }                                                                                                \
  HLO_LARGE void hlo_solve_##T(const KS *inverse, const S *b, S *x, int m, int n, bool left,       \
                               bool transposed)                                                    \
  {                                                                                                \
    /* Of x's element i, for right-hand side r: inverse elements from `first` on, `step` apart. */ \
    const int step = left == transposed ? m : 1, next = left == transposed ? 1 : m;                \
    for (int r = 0; r < n; ++r)                                                                    \
      for (int i = 0; i < m; ++i) {                                                                \
        C sums[2] = {hlo_convert_f32_##K(0), hlo_convert_f32_##K(0)};                              \
        for (int j = 0; j < m; ++j)                                                                \
          sums[j & 1] =                                                                            \
              hlo_multiply_add_##K(hlo_load_##T(b[left ? j * n + r : r * m + j]),                  \
                                   hlo_load_##K(inverse[i * next + j * step]), sums[j & 1]);       \
        x[left ? i * n + r : r * m + i] = hlo_store_##T(hlo_add_##K(sums[0], sums[1]));            \
      }                                                                                            \
  }
#define HLO_SAME(a) (a)
HLO_LINEAR(f32, float, f32, float, float, HLO_SAME)
HLO_LINEAR(f16, _Float16, f32, float, float, HLO_SAME)
HLO_LINEAR(bf16, unsigned short, f32, float, float, HLO_SAME)
HLO_LINEAR(f64, unsigned long long, f64, unsigned long long, double, HLO_SAME)
HLO_LINEAR(c64, unsigned long long, c64, unsigned long long, hlo_c64, hlo_conj_c64)

#endif
