/* The kernels: family; name; n for a vertex that is alone on its tile or one of six, and for one of
 * 48; element types of the fields a, b and c and the numbers of elements for an n; flags:
 *
 *   TEXT   a is text, not any bytes
 *   CLOSE  the host's C library gives other last bits: compared within a millionth
 *   HALVES no figure beside the host's -O2, which has no half instructions; in no mean
 *
 * A hash of the name decides whether the translator may be tuned to a kernel or the kernel is only
 * reported, so that nobody can choose (kernels.c). */
/* clang-format off */
#define KERNELS(X)                                                                                  \
  X(linear, matrix_product, 32, 12, FLOAT, 2 * n * n, FLOAT, n * n, FLOAT, 2, 0)                    \
  X(linear, matrix_product_rows, 32, 12, FLOAT, 2 * n * n, FLOAT, n * n, FLOAT, 2, 0)               \
  X(linear, atax, 80, 20, FLOAT, n * n + n, FLOAT, n, FLOAT, n, 0)                                  \
  X(linear, triangular_solve, 80, 20, FLOAT, n * n + n, FLOAT, n, FLOAT, 2, 0)                      \
  X(linear, lu, 48, 16, FLOAT, n * n, FLOAT, n * n, FLOAT, 2, 0)                                    \
  X(linear, cholesky, 48, 16, FLOAT, n * n, FLOAT, n * n, FLOAT, 2, 0)                              \
  X(linear, covariance, 40, 14, FLOAT, n * n, FLOAT, n * n, FLOAT, n, 0)                            \
  X(linear, dense_relu, 90, 22, FLOAT, n * n + n, FLOAT, n, FLOAT, n, 0)                            \
  X(stencils, jacobi_1d, 2000, 250, FLOAT, n, FLOAT, n, FLOAT, n, 0)                                \
  X(stencils, jacobi_2d, 64, 20, FLOAT, n * n, FLOAT, n * n, FLOAT, 2, 0)                           \
  X(stencils, gauss_seidel, 64, 20, FLOAT, n * n, FLOAT, n * n, FLOAT, 2, 0)                        \
  X(stencils, heat_3d, 16, 8, FLOAT, n * n * n, FLOAT, n * n * n, FLOAT, 2, 0)                      \
  X(stencils, life, 96, 24, BYTE, n * n, BYTE, n * n, BYTE, 4, 0)                                   \
  X(stencils, sharpen, 128, 30, BYTE, n * n, BYTE, n * n, BYTE, 4, 0)                               \
  X(sorting, quick_sort, 2000, 200, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 2, 0)                       \
  X(sorting, heap_sort, 2000, 200, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 2, 0)                        \
  X(sorting, merge_sort_by, 2000, 200, UNSIGNED, n, UNSIGNED, n, UNSIGNED, n, 0)                    \
  X(sorting, insertion_sort, 200, 40, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 2, 0)                     \
  X(sorting, binary_search, 2000, 250, UNSIGNED, n, UNSIGNED, n, UNSIGNED, n, 0)                    \
  X(sorting, radix_sort, 2000, 250, UNSIGNED, n, UNSIGNED, n, UNSIGNED, n, 0)                       \
  X(hashing, sha256, 1024, 128, UNSIGNED, n, UNSIGNED, 8, UNSIGNED, 64, 0)                          \
  X(hashing, chacha20, 1024, 128, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 16, 0)                        \
  X(hashing, siphash, 1000, 120, DWORD, n, DWORD, 2, DWORD, 2, 0)                                   \
  X(hashing, fnv, 500, 50, BYTE, 16 * n, UNSIGNED, n, UNSIGNED, 2, 0)                               \
  X(hashing, substitute, 2048, 256, BYTE, n, BYTE, n, BYTE, 256, 0)                                 \
  X(hashing, hash_table, 1000, 120, UNSIGNED, n, UNSIGNED, 2, UNSIGNED, 4 * n, 0)                   \
  X(compression, lz_compress, 6000, 800, BYTE, n, BYTE, 2 * n, UNSIGNED, 256, TEXT)                 \
  X(compression, lz_expand, 8000, 800, BYTE, n, BYTE, n, BYTE, 4, 0)                                \
  X(compression, run_length, 6000, 800, BYTE, n, BYTE, 2 * n, BYTE, 4, 0)                           \
  X(compression, bit_writer, 4000, 500, BYTE, n, UNSIGNED, n, UNSIGNED, 2, 0)                       \
  X(compression, delta_pack, 2048, 256, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 2, 0)                   \
  X(parsing, json_scan, 8000, 1000, BYTE, n, UNSIGNED, 4, UNSIGNED, 2, TEXT)                        \
  X(parsing, parse_numbers, 8000, 1000, BYTE, n, FLOAT, n / 4, FLOAT, 2, TEXT)                      \
  X(parsing, automaton, 8000, 1000, BYTE, n, UNSIGNED, 2, BYTE, 256, 0)                             \
  X(parsing, bytecode, 2000, 300, BYTE, n, UNSIGNED, 33, UNSIGNED, 2, 0)                            \
  X(parsing, expressions, 6000, 800, BYTE, n, UNSIGNED, 16, UNSIGNED, 2, TEXT)                      \
  X(dynamic, edit_distance, 128, 32, BYTE, 2 * n, UNSIGNED, 1, UNSIGNED, n + 1, 0)                  \
  X(dynamic, smith_waterman, 80, 24, BYTE, 2 * n, INT, 1, INT, (n + 1) * (n + 1), 0)                \
  X(dynamic, knapsack, 1000, 100, UNSIGNED, 32, UNSIGNED, n + 1, UNSIGNED, 2, 0)                    \
  X(dynamic, floyd_warshall, 32, 12, FLOAT, n * n, FLOAT, n * n, FLOAT, 2, 0)                       \
  X(dynamic, viterbi, 100, 12, FLOAT, 256, UNSIGNED, 1, FLOAT, 32, 0)                               \
  X(graphs, breadth_first, 1024, 128, UNSIGNED, 8 * n, UNSIGNED, n, UNSIGNED, n, 0)                 \
  X(graphs, page_rank, 1024, 128, UNSIGNED, 8 * n, FLOAT, n, FLOAT, n, 0)                           \
  X(graphs, union_find, 1024, 128, UNSIGNED, 8 * n, UNSIGNED, n, UNSIGNED, n, 0)                    \
  X(graphs, linked_list, 4096, 512, UNSIGNED, n, UNSIGNED, 1, UNSIGNED, n, 0)                       \
  X(graphs, sparse_product, 1024, 128, UNSIGNED, 8 * n, FLOAT, n, FLOAT, n, 0)                      \
  X(transforms, fft, 1024, 128, FLOAT, 2 * n, FLOAT, 2 * n, FLOAT, n, 0)                            \
  X(transforms, walsh_hadamard, 2048, 256, INT, n, INT, n, INT, 2, 0)                               \
  X(transforms, dct, 2048, 256, FLOAT, n, FLOAT, n, FLOAT, 64, 0)                                   \
  X(bodies, n_body, 100, 24, FLOAT, 4 * n, FLOAT, 3 * n, FLOAT, 2, 0)                               \
  X(bodies, pair_energy, 120, 30, FLOAT, 4 * n, FLOAT, 1, FLOAT, 2, 0)                              \
  X(monte_carlo, monte_carlo_pi, 2000, 200, UNSIGNED, 2, UNSIGNED, 1, UNSIGNED, 2, 0)               \
  X(monte_carlo, ising, 64, 20, UNSIGNED, 16, UNSIGNED, 1, BYTE, n * n, 0)                          \
  X(fixed, fixed_fir, 1000, 120, INT, n, INT, n, INT, 16, 0)                                        \
  X(fixed, modular_power, 500, 50, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 2, 0)                        \
  X(fixed, splitmix, 2000, 250, DWORD, 2, DWORD, n, DWORD, 1, 0)                                    \
  X(fixed, big_product, 100, 24, UNSIGNED, 2 * n, UNSIGNED, 2 * n, UNSIGNED, 2, 0)                  \
  X(fixed, fixed_iir, 2000, 250, INT, n, INT, n, INT, 2, 0)                                         \
  X(fixed, cordic, 500, 60, INT, n, INT, n, INT, 2, 0)                                              \
  X(library, softmax, 1000, 120, FLOAT, n, FLOAT, n, FLOAT, 2, CLOSE)                               \
  X(library, entropy, 1000, 120, FLOAT, n, FLOAT, 1, FLOAT, 2, CLOSE)                               \
  X(library, gelu, 1000, 120, FLOAT, n, FLOAT, n, FLOAT, 2, CLOSE)                                  \
  X(library, rotary, 1000, 120, FLOAT, n, FLOAT, n, FLOAT, 2, CLOSE)                                \
  X(library, gamma_curve, 1000, 120, FLOAT, n, FLOAT, n, FLOAT, 2, CLOSE)                           \
  X(library, normal_distribution, 1000, 120, FLOAT, n, FLOAT, n, FLOAT, 2, CLOSE)                   \
  X(library, layer_norm, 2000, 250, FLOAT, n, FLOAT, n, FLOAT, 2, 0)                                \
  X(calls, fibonacci_calls, 18, 12, UNSIGNED, 2, UNSIGNED, 1, UNSIGNED, 2, 0)                       \
  X(calls, queens, 7, 5, UNSIGNED, 2, UNSIGNED, 1, UNSIGNED, 2, 0)                                  \
  X(calls, dispatch_table, 2000, 250, FLOAT, n, FLOAT, n, FLOAT, 2, 0)                              \
  X(calls, map_function, 2000, 250, FLOAT, n, FLOAT, n, FLOAT, n, 0)                                \
  X(calls, tree_walk, 2000, 250, UNSIGNED, n, UNSIGNED, 1, UNSIGNED, 2, 0)                          \
  X(calls, helper_calls, 2000, 250, UNSIGNED, n, UNSIGNED, n, UNSIGNED, 2, 0)                       \
  X(vectors, complex_product, 1000, 120, FLOAT, 4 * n, FLOAT, 2 * n, FLOAT, 2, 0)                   \
  X(vectors, float2_axpy, 4000, 400, FLOAT, 2 * n, FLOAT, n, FLOAT, 2, 0)                           \
  X(vectors, half_axpy, 4000, 400, HALF, 2 * n, HALF, n, HALF, 4, HALVES)                           \
  X(vectors, half_dot, 4000, 400, HALF, 2 * n, FLOAT, 2, HALF, 4, HALVES)                           \
  X(vectors, half4_relu, 4000, 400, HALF, n, HALF, n, HALF, 4, HALVES)                              \
  X(indices, strided_columns, 32, 12, FLOAT, 2 * n * n, FLOAT, n * n, FLOAT, 2, 0)                  \
  X(indices, masked_rows, 1024, 128, UNSIGNED, 8 * n, FLOAT, n, FLOAT, n, 0)                        \
  X(indices, queue_levels, 1024, 128, UNSIGNED, 8 * n, UNSIGNED, n, UNSIGNED, n, 0)                 \
  X(bytes, string_search, 8000, 1000, BYTE, n, UNSIGNED, 1, BYTE, 8, TEXT)                          \
  X(bytes, base64, 6000, 600, BYTE, n, BYTE, n / 3 * 4, BYTE, 4, 0)                                 \
  X(bytes, utf8, 8000, 1000, BYTE, n, UNSIGNED, 2, UNSIGNED, 2, 0)                                  \
  X(bytes, histogram, 8000, 1000, BYTE, n, UNSIGNED, 256, UNSIGNED, 2, 0)                           \
  X(bytes, lower_case, 8000, 1000, BYTE, n, BYTE, n, UNSIGNED, 1, TEXT)                             \
  X(bytes, library_strings, 4096, 512, BYTE, n + 64, BYTE, n, UNSIGNED, 1, TEXT)
/* clang-format on */
