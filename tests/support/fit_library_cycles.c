/* fit_library_cycles [PREFIX]: measures vertices of each library type whose name begins with PREFIX and prints the rows of
 * runtime/poplibs/host/our_cycles.def for them:
 *
 *     build/tests/support/fit_library_cycles >runtime/poplibs/host/our_cycles.def
 *
 * The cycles of one unit of each term are fitted by least squares of the relative errors. They
 * decide which worker is the slowest. So the slowest worker is chosen again a few times. */
#include "poplibs/host/our_cycles.h"
#include "support/library_vertices.h"

#include <math.h>

enum { SHAPES = 200, MAX = OUR_CYCLES_MAX_TERMS, ROUNDS = 8 };

typedef struct sample {
  double terms[6][MAX]; /* by worker */
  uint32_t slowest;
  double cycles;
} sample;

static double cycles_of(const our_cycles *row, const double *terms)
{
  double cycles = 0;
  for (size_t i = 0; i < MAX; i++) cycles += row->cycles[i] * terms[i];
  return cycles;
}

/* Solves a * x = b by elimination; unknowns that are not determined are 0. */
static void solve(double a[MAX][MAX + 1], double *x)
{
  bool done[MAX] = {false};
  size_t pivot_of[MAX];
  for (size_t column = 0; column < MAX; column++) {
    size_t pivot = MAX;
    for (size_t row = 0; row < MAX; row++)
      if (!done[row] && (pivot == MAX || fabs(a[row][column]) > fabs(a[pivot][column])))
        pivot = row;
    pivot_of[column] = MAX;
    if (pivot == MAX || fabs(a[pivot][column]) < 1e-9) continue;
    done[pivot] = true;
    pivot_of[column] = pivot;
    for (size_t row = 0; row < MAX; row++) {
      double factor = row == pivot ? 0 : a[row][column] / a[pivot][column];
      for (size_t i = column; i <= MAX; i++) a[row][i] -= factor * a[pivot][i];
    }
  }
  for (size_t column = 0; column < MAX; column++)
    x[column] =
        pivot_of[column] == MAX ? 0 : a[pivot_of[column]][MAX] / a[pivot_of[column]][column];
}

static void fit_slowest(our_cycles *row, const sample *samples, size_t count)
{
  double a[MAX][MAX + 1] = {{0}};
  for (size_t s = 0; s < count; s++) {
    const double *terms = samples[s].terms[samples[s].slowest], weight = 1 / samples[s].cycles;
    for (size_t i = 0; i < MAX; i++) {
      for (size_t j = 0; j < MAX; j++) a[i][j] += terms[i] * terms[j] * weight * weight;
      a[i][MAX] += terms[i] * weight;
    }
  }
  solve(a, row->cycles);
}

/* The largest relative error. */
static double fit(our_cycles *row, sample *samples, size_t count)
{
  double worst = 0;
  for (size_t round = 0; round < ROUNDS; round++) {
    fit_slowest(row, samples, count);
    worst = 0;
    for (size_t s = 0; s < count; s++) {
      sample *m = &samples[s];
      for (uint32_t w = 0; w < 6; w++)
        if (cycles_of(row, m->terms[w]) > cycles_of(row, m->terms[m->slowest])) m->slowest = w;
      double error = fabs(cycles_of(row, m->terms[m->slowest]) / m->cycles - 1);
      if (error > worst) worst = error;
    }
  }
  return worst;
}

/* Guesses the slowest worker: the one with the largest terms, the last of which count
 * with `sign`. */
static void guess_slowest(sample *s, size_t terms, double sign)
{
  double most = -INFINITY;
  for (uint32_t w = 0; w < 6; w++) {
    double sum = 0;
    for (size_t i = 0; i < terms; i++) sum += (i <= terms / 2 ? 1 : sign) * s->terms[w][i];
    if (sum > most) s->slowest = w;
    if (sum > most) most = sum;
  }
}

/* The terms at the ends may be work that a worker does in addition, or work that it saves. From a
 * wrong guess the choice of the slowest worker does not recover. So both are tried. */
static double fit_lanes(pop_graph *graph, uint32_t type, const uint64_t *cycles, our_cycles *row)
{
  sample *samples = calloc(SHAPES, sizeof *samples);
  size_t count = 0, terms = 0;
  for (uint32_t v = 0; v < graph->num_vertices; v++) {
    if (graph->vertices[v].type != type) continue;
    sample *s = &samples[count++];
    s->cycles = (double)cycles[v];
    for (uint32_t w = 0; w < 6; w++)
      terms = our_cycles_terms(graph, (pop_vertex){graph, v + 1}, row, w, s->terms[w]);
  }
  double least = INFINITY;
  for (int sign = 1; sign >= -1; sign -= 2) {
    our_cycles from_here = *row;
    for (size_t s = 0; s < count; s++) guess_slowest(&samples[s], terms, sign);
    double error = fit(&from_here, samples, count);
    if (error < least) *row = from_here;
    if (error < least) least = error;
  }
  free(samples);
  return least;
}

static void print_row(const our_cycles *row)
{
  size_t count = MAX;
  while (count > 1 && fabs(row->cycles[count - 1]) < .005) count--;
  printf("{\"%s\", %u, {", row->type, row->lanes);
  for (size_t i = 0; i < count; i++)
    printf("%s%.6g", i ? ", " : "", fabs(row->cycles[i]) < .005 ? 0 : row->cycles[i]);
  printf("}},\n");
}

static int compare_names(const void *a, const void *b)
{
  return strcmp((*(const vertex_type_entry *const *)a)->type->name,
                (*(const vertex_type_entry *const *)b)->type->name);
}

static void print_table(pop_graph *graph, const char *prefix, const uint64_t *cycles)
{
  size_t count = graph->num_vertex_types;
  const vertex_type_entry **types = calloc(count, sizeof(void *));
  for (size_t i = 0; i < count; i++) types[i] = &graph->vertex_types[i];
  qsort(types, count, sizeof(void *), compare_names);
  for (size_t i = 0; i < count; i++) {
    const char *name = types[i]->type->name;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || !lv_family_of(name)) continue;
    our_cycles best = {0};
    double least = INFINITY;
    for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
      our_cycles row = {name, lanes, {0}};
      double error = fit_lanes(graph, (uint32_t)(types[i] - graph->vertex_types), cycles, &row);
      if (error > least / 2) continue; /* packed operations are plain to see */
      least = error;
      best = row;
    }
    print_row(&best);
  }
  free(types);
}

int main(int argc, char **argv)
{
  const char *prefix = argc > 1 ? argv[1] : "";
  pop_graph *graph = lv_new_graph();
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, lv_add_vertices(graph, prefix, SHAPES / 2, 1, false));
  pop_sequence_add(main, lv_add_vertices(graph, prefix, SHAPES / 2, 1 + SHAPES / 2, true));
  uint64_t *cycles = lv_measure(graph, main);
  if (cycles) print_table(graph, prefix, cycles);
  pop_graph_free(graph);
  free(cycles);
  return !cycles;
}
