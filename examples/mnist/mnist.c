/* Handwritten digits, data parallel: each of four replicas learns from a quarter of every batch, and the gradients are
 * all-reduced, so that all have the same weights. Under poprun the replicas are shared out to processes; nothing in here
 * knows of it, and what is printed is the same to the last bit.
 *
 * One hidden layer: 784 pixels and a 1 for the bias -> 32, of which what is below 0 becomes 0 -> 10 scores, softmax.
 *
 * usage: mnist [--device ipu|ipumodel|cpu] [--epochs N] [IMAGES LABELS TEST-IMAGES TEST-LABELS]
 *
 * The files are those of MNIST, in IDX format, not compressed. Without them the program draws digits itself: seven
 * strokes, moved about and with noise. */
#include "../example.h"
#include "digits.h"

#include <populus/collectives.h>
#include <populus/poplin.h>
#include <populus/popnn.h>
#include <populus/popops.h>

enum {
  REPLICAS = 4,
  BATCH = 16, /* of each replica */
  STEP = REPLICAS * BATCH,
  INPUTS = DIGITS_PIXELS + 1,
  HIDDEN = 32,
  TILES = 64 /* of each replica: the model is small */
};

static const double RATE = 0.25;
static const pop_comm_group ALL = {POP_COMM_ALL, 0};
static const pop_tensor NONE;

typedef struct model {
  pop_graph *graph;
  pop_tensor images, labels, first, second; /* batch; weights of both layers */
  pop_tensor loss, correct;                 /* of all since they were cleared */
} model;

static pop_tensor add(const model *m, pop_type type, size_t rows, size_t columns, const char *name)
{
  const size_t shape[] = {rows, columns};
  pop_tensor t = pop_graph_add_variable(m->graph, type, shape, 2, name);
  pop_graph_map_linearly(m->graph, t, 1, 1);
  return t;
}

static model new_model(pop_graph *graph)
{
  model m = {.graph = graph};
  pop_popops_add_codelets(graph);
  pop_poplin_add_codelets(graph);
  pop_popnn_add_codelets(graph);
  m.images = add(&m, POP_FLOAT, BATCH, INPUTS, "images");
  m.labels = pop_tensor_flatten(add(&m, POP_UNSIGNED_INT, BATCH, 1, "labels"));
  m.first = add(&m, POP_FLOAT, INPUTS, HIDDEN, "first");
  m.second = add(&m, POP_FLOAT, HIDDEN, DIGITS_CLASSES, "second");
  m.loss = pop_tensor_flatten(add(&m, POP_FLOAT, 1, 1, "loss"));
  m.correct = pop_tensor_flatten(add(&m, POP_UNSIGNED_INT, 1, 1, "correct"));
  pop_graph_create_host_read(graph, "loss", m.loss);
  pop_graph_create_host_read(graph, "correct", m.correct);
  return m;
}

/* ---- the programs ---- */

/* All replicas get the same weights, and clear their counters. */
static pop_program make_start(const model *m)
{
  pop_program start = pop_program_sequence(m->graph, "start");
  pop_stream first =
      pop_graph_add_host_to_device_fifo(m->graph, "first", POP_FLOAT, INPUTS * HIDDEN);
  pop_stream second =
      pop_graph_add_host_to_device_fifo(m->graph, "second", POP_FLOAT, HIDDEN * DIGITS_CLASSES);
  pop_stream_set_replicated_mode(first, POP_STREAM_BROADCAST);
  pop_stream_set_replicated_mode(second, POP_STREAM_BROADCAST);
  pop_sequence_add(start, pop_program_copy_from_stream(first, m->first, "first"));
  pop_sequence_add(start, pop_program_copy_from_stream(second, m->second, "second"));
  return start;
}

static pop_program begin(const model *m, const char *name)
{
  pop_program p = pop_program_sequence(m->graph, name);
  pop_popops_fill(m->graph, m->loss, NULL, p, name);
  pop_popops_fill(m->graph, m->correct, NULL, p, name);
  return p;
}

/* The next batch of each replica; what it is taken for, and the gradient of the loss with respect to the scores. */
static pop_tensor look(const model *m, const char *images, const char *labels, pop_tensor *hidden,
                       pop_program to)
{
  pop_graph *graph = m->graph;
  const size_t rows = 0;
  pop_stream image = pop_graph_add_host_to_device_fifo(graph, images, POP_FLOAT, BATCH * INPUTS);
  pop_stream label = pop_graph_add_host_to_device_fifo(graph, labels, POP_UNSIGNED_INT, BATCH);
  pop_sequence_add(to, pop_program_copy_from_stream(image, m->images, images));
  pop_sequence_add(to, pop_program_copy_from_stream(label, m->labels, labels));
  *hidden = pop_poplin_mat_mul(graph, m->images, m->first, to, "hidden");
  pop_popops_unary(graph, POP_UNARY_RELU, *hidden, *hidden, to, "relu");
  pop_tensor scores = pop_poplin_mat_mul(graph, *hidden, m->second, to, "scores");
  pop_tensor likely = pop_popnn_softmax(graph, scores, to, "softmax");
  pop_tensor loss = pop_tensor_flatten(add(m, POP_FLOAT, BATCH, 1, "losses"));
  pop_tensor gradient = add(m, POP_FLOAT, BATCH, DIGITS_CLASSES, "gradient");
  pop_popnn_loss(graph, POP_LOSS_CROSS_ENTROPY, likely, m->labels, loss, gradient, m->correct, to,
                 "loss");
  pop_popops_reduce(graph, loss, &rows, 1, (pop_reduction){.op = POP_REDUCE_ADD, .update = true},
                    pop_tensor_index(m->loss, 0), to, NULL, NULL, "loss");
  return gradient;
}

/* Both layers' weights go against the mean of all replicas' gradients. */
static void learn(const model *m, pop_tensor hidden, pop_tensor gradient, pop_program to)
{
  static const pop_expr_node where_positive[] = {
      {.kind = POP_EXPR_TENSOR, .tensor = 0},
      {.kind = POP_EXPR_CONSTANT, .value = 0, .type = POP_FLOAT},
      {.kind = POP_EXPR_TENSOR, .tensor = 1},
      {.kind = POP_EXPR_CONSTANT, .value = 0, .type = POP_FLOAT},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_GREATER_THAN},
      {.kind = POP_EXPR_TERNARY, .op = POP_TERNARY_SELECT}};
  pop_graph *graph = m->graph;
  pop_tensor back =
      pop_poplin_mat_mul(graph, gradient, pop_tensor_transpose(m->second), to, "back");
  pop_tensor by =
      pop_popops_map(graph, where_positive, 6, (pop_tensor[]){back, hidden}, 2, NONE, to, "back");
  pop_tensor changes[] = {
      pop_poplin_mat_mul(graph, pop_tensor_transpose(m->images), by, to, "change"),
      pop_poplin_mat_mul(graph, pop_tensor_transpose(hidden), gradient, to, "change")};
  pop_tensor all = pop_concat(
      (pop_tensor[]){pop_tensor_flatten(changes[0]), pop_tensor_flatten(changes[1])}, 2, 0);
  pop_gcl_all_reduce(graph, all, POP_COLLECTIVE_ADD, ALL, all, to, "gradients");
  pop_popops_scaled_add_to(graph, m->first, changes[0], -RATE / STEP, to, "learn");
  pop_popops_scaled_add_to(graph, m->second, changes[1], -RATE / STEP, to, "learn");
}

static void end(const model *m, pop_program epoch)
{
  pop_gcl_all_reduce(m->graph, m->loss, POP_COLLECTIVE_ADD, ALL, m->loss, epoch, "loss");
  pop_gcl_all_reduce(m->graph, m->correct, POP_COLLECTIVE_ADD, ALL, m->correct, epoch, "correct");
}

static pop_program make_epoch(const model *m, size_t steps)
{
  pop_tensor hidden;
  pop_program epoch = begin(m, "epoch"), step = pop_program_sequence(m->graph, "step");
  pop_tensor gradient = look(m, "images", "labels", &hidden, step);
  learn(m, hidden, gradient, step);
  pop_sequence_add(epoch, pop_program_repeat(m->graph, (uint32_t)steps, step, "steps"));
  end(m, epoch);
  pop_sequence_add(epoch, pop_program_assume_equal_across_replicas(m->first, "the same weights"));
  return epoch;
}

static pop_program make_test(const model *m, size_t steps)
{
  pop_tensor hidden;
  pop_program test = begin(m, "test"), step = pop_program_sequence(m->graph, "step");
  look(m, "test images", "test labels", &hidden, step);
  pop_sequence_add(test, pop_program_repeat(m->graph, (uint32_t)steps, step, "steps"));
  end(m, test);
  return test;
}

/* ---- the host's side ---- */

static void connect(pop_engine *engine, const char *images, const char *labels, const digits *d)
{
  example_check(
      pop_engine_connect_stream(engine, images, d->images, d->images + d->count * INPUTS));
  example_check(pop_engine_connect_stream(engine, labels, d->labels, d->labels + d->count));
}

/* Small numbers, the same in every run. */
static float *make_weights(size_t count)
{
  float *weights = example_alloc(count, sizeof *weights);
  uint32_t state = 7;
  for (size_t i = 0; i < count; ++i) weights[i] = (digits_random(&state) - 0.5F) * 0.2F;
  return weights;
}

static double report(pop_engine *engine, const char *what, size_t count)
{
  float loss[REPLICAS];
  uint32_t correct[REPLICAS];
  example_check(pop_engine_read_tensor(engine, "loss", loss, sizeof loss));
  example_check(pop_engine_read_tensor(engine, "correct", correct, sizeof correct));
  double right = 100.0 * correct[0] / (double)count;
  printf("%s: %.1f %% right, loss %.6f (%a)\n", what, right, (double)loss[0] / (double)count,
         (double)loss[0]);
  return right;
}

static double teach(pop_engine *engine, const digits *train, const digits *test, long epochs)
{
  float *first = make_weights(INPUTS * HIDDEN), *second = make_weights(HIDDEN * DIGITS_CLASSES);
  example_check(pop_engine_connect_stream(engine, "first", first, first + INPUTS * HIDDEN));
  example_check(
      pop_engine_connect_stream(engine, "second", second, second + HIDDEN * DIGITS_CLASSES));
  connect(engine, "images", "labels", train);
  connect(engine, "test images", "test labels", test);
  example_check(pop_engine_run(engine, 0));
  for (long i = 1; i <= epochs; ++i) {
    char what[32];
    snprintf(what, sizeof what, "epoch %ld", i);
    example_check(pop_engine_run(engine, 1));
    report(engine, what, train->count);
  }
  example_check(pop_engine_run(engine, 2));
  double right = report(engine, "test", test->count);
  free(first);
  free(second);
  return right;
}

static long take_epochs(int *argc, char **argv)
{
  long epochs = 5;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    if (strcmp(argv[i], "--epochs") != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    char *rest = "?";
    if (++i < *argc) epochs = strtol(argv[i], &rest, 10);
    if (*rest || epochs < 1) {
      fprintf(stderr, "error: --epochs takes a number from 1\n");
      exit(2);
    }
  }
  *argc = kept;
  argv[kept] = NULL;
  return epochs;
}

static const char usage[] = EXAMPLE_DEVICE " [--epochs N] [IMAGES LABELS TEST-IMAGES TEST-LABELS]";

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_device *device = example_device(&argc, argv, REPLICAS);
  long epochs = take_epochs(&argc, argv);
  example_check_arguments(argc, argv, 4, usage);
  if (argc != 1 && argc != 5) {
    fprintf(stderr, "error: four files are wanted, or none; usage: mnist %s\n", usage);
    return 2;
  }
  bool drawn = argc == 1;
  digits train = drawn ? digits_draw(10 * STEP, STEP, 1) : digits_read(argv[1], argv[2], STEP);
  digits test = drawn ? digits_draw(2 * STEP, STEP, 2) : digits_read(argv[3], argv[4], STEP);
  pop_graph *graph = pop_graph_create_replicated(pop_device_target(device), REPLICAS);
  bool on_tiles = pop_graph_num_tiles(graph) > TILES;
  model m = new_model(on_tiles ? pop_graph_create_virtual_graph(graph, 0, TILES) : graph);
  pop_program programs[] = {make_start(&m), make_epoch(&m, train.count / STEP),
                            make_test(&m, test.count / STEP)};
  const pop_option check = {"debug.runtimeVerify", "true"}; /* that the weights are equal */
  pop_engine *engine;
  example_check(pop_engine_create(graph, programs, 3, &check, 1, &engine));
  example_check(pop_engine_load_device(engine, device));
  double right = teach(engine, &train, &test, epochs);
  printf("%llu cycles\n", (unsigned long long)pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  digits_free(&train);
  digits_free(&test);
  return example_end(drawn && epochs >= 5 && right < 90);
}
