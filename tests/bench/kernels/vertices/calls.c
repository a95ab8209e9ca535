/* Recursion and indirect calls. */
#include "kernel.h"

STACK(1024, fibonacci)
__attribute__((noinline)) static unsigned fibonacci(unsigned n)
{
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL(fibonacci_calls, unsigned, unsigned, unsigned)
{
  vertex->b.data[0] = fibonacci(vertex->n);
  return true;
}

STACK(1024, place_queens)
__attribute__((noinline)) static unsigned place_queens(unsigned all, unsigned columns,
                                                       unsigned left, unsigned right)
{
  unsigned count = 0;
  if (columns == all) return 1;
  for (unsigned free_places = all & ~(columns | left | right); free_places;) {
    unsigned place = free_places & -free_places;
    free_places ^= place;
    count += place_queens(all, columns | place, (left | place) << 1, (right | place) >> 1);
  }
  return count;
}

KERNEL(queens, unsigned, unsigned, unsigned)
{
  vertex->b.data[0] = place_queens((1u << vertex->n) - 1, 0, 0, 0);
  return true;
}

typedef float (*element_function)(float x, float y);

static float add(float x, float y)
{
  return x + y;
}

static float subtract(float x, float y)
{
  return x - y;
}

static float multiply(float x, float y)
{
  return x * y;
}

static float greater(float x, float y)
{
  return x > y ? x : y;
}

/* A function for each element, chosen by a table. */
STACK(256, __runCodelet_dispatch_table)
KERNEL(dispatch_table, float, float, float)
{
  static const element_function table[4] = {add, subtract, multiply, greater};
  float sum = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    float x = vertex->a.data[i];
    sum = table[(unsigned)(x * 64.0f) & 3](x, sum) * 0.5f;
    vertex->b.data[i] = sum;
  }
  return true;
}

STACK(256, map)
__attribute__((noinline)) static void map(float *to, const float *from, unsigned n,
                                          element_function function, float y)
{
  for (unsigned i = 0; i < n; i++) to[i] = function(from[i], y);
}

/* One function for all elements, handed to another. */
KERNEL(map_function, float, float, float)
{
  element_function function = vertex->a.data[0] > 100.0f ? add : multiply;
  map(vertex->b.data, vertex->a.data, vertex->n, function, 1.5f);
  map(vertex->c.data, vertex->b.data, vertex->n, greater, 1.0f);
  return true;
}

/* A tree in an array, walked in order by recursion. */
STACK(1024, walk)
__attribute__((noinline)) static unsigned walk(const unsigned *tree, unsigned at, unsigned n,
                                               unsigned depth)
{
  if (at >= n) return depth;
  unsigned left = walk(tree, 2 * at + 1, n, depth + 1);
  return left * 3 + tree[at] + walk(tree, 2 * at + 2, n, depth + 1);
}

KERNEL(tree_walk, unsigned, unsigned, unsigned)
{
  vertex->b.data[0] = walk(vertex->a.data, 0, vertex->n, 0);
  return true;
}

/* Small functions that are not inlined, in a loop. */
__attribute__((noinline)) static unsigned mix(unsigned x, unsigned y)
{
  return (x ^ y >> 15) * 2246822519u + y;
}

KERNEL(helper_calls, unsigned, unsigned, unsigned)
{
  unsigned state = 1;
  for (unsigned i = 0; i < vertex->n; i++)
    vertex->b.data[i] = state = mix(vertex->a.data[i], state);
  return true;
}
