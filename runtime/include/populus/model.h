/* Models: makes programs of modules of StableHLO operations, as JAX, TensorFlow and PyTorch/XLA
 * export them, and of modules of HLO instructions, as XLA dumps them.
 *
 *   pop_model_load -> pop_model_lower -> pop_engine_create …
 *                     (into a graph, which the caller may extend)
 *
 * The text is what stablehlo-opt and jax.jit(f).lower(x).as_text() print, in the short and in
 * the generic form. Or it is what XLA writes with --xla_dump_to (*.txt, before or after
 * optimisation; it begins with HloModule). The function that runs is the ENTRY computation of
 * HLO; otherwise @main, or the only function, or the only public one. Tuples among its arguments
 * and results are flattened to their members: those of an argument t are t..0, t..1, … Shapes are
 * static.
 * Element types: i1, i8 to i64, ui8 to ui64, f16, bf16, f32, f64 (by software: slow on tiles)
 * and complex<f32>. The graph's tensors hold the bits of bf16 as POP_UNSIGNED_SHORT, and those
 * of f64 and complex<f32> (real part first) as POP_UNSIGNED_LONGLONG.
 *
 * A custom call adds a vertex of the user's codelet:
 *     %y = stablehlo.custom_call @populus.vertex(%a, %b) {backend_config = {vertex = "Scale",
 *            codelets = "scale.c", tile = 3 : i64, factor = 2.0 : f32}} : (…) -> …
 * `codelets` is a source or a .gp, looked for from the module's folder. Operands are connected
 * to the fields in0, in1, … and results to out0, out1, …, as vectors of their elements in
 * row-major order. The default of `tile` is 0. Other entries are fields of those names. jax.ffi
 * writes the same as mhlo.backend_config.
 *
 * The operation rng draws Philox numbers. Each rng operation has a state of its own, which
 * starts anew when an engine is loaded.
 *
 * Errors: FILE_LOAD, beginning with file, line and column: for text that is not a module, for
 * operations that contradict themselves, and for everything that is not supported (all at once,
 * a line each).
 *
 * Threads: one thread at a time per model; different models are independent. */
#ifndef POPULUS_MODEL_H
#define POPULUS_MODEL_H

#include <populus/engine.h>
#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_model pop_model;

/* Reads and checks the whole file, of at most 1 GiB. A file may hold several modules, with lines
 * "// -----" between them: `part` is the number of one, from 0. INDEX if there are not so many. The
 * caller owns *model; after an error it is NULL. */
POP_MUST_CHECK pop_error *pop_model_load(const char *path, size_t part, pop_model **model);
/* The same for `size` bytes in memory, which are copied. `name` stands for the file in messages. */
POP_MUST_CHECK pop_error *pop_model_parse(const char *text, size_t size, const char *name,
                                          size_t part, pop_model **model);
/* The same for a graph of 1 to 1,024 replicas (pop_graph_create_replicated). replica_id is the
 * number of the replica, partition_id is 0, and collectives are between replicas. The groups of
 * a collective have one size. A reduction has one operation, and begins with the first replica
 * of the group. Errors also: INVALID_ARGUMENT. */
POP_MUST_CHECK pop_error *pop_model_load_replicated(const char *path, size_t part,
                                                    uint32_t replicas, pop_model **model);
POP_MUST_CHECK pop_error *pop_model_parse_replicated(const char *text, size_t size,
                                                     const char *name, size_t part,
                                                     uint32_t replicas, pop_model **model);
/* How many modules the text has. */
size_t pop_model_count_parts(const char *text, size_t size);
void pop_model_free(pop_model *model); /* NULL is fine; graphs and engines stay valid */
/* The module's name; "module" if it has none. Lives as long as the model. */
const char *pop_model_name(const pop_model *model);

/* An argument or a result of the function. Names and shapes live as long as the model. If there is
 * no value with a number, it has type POP_TYPE_COUNT, and the others are NULL and 0. */
typedef struct pop_model_value {
  /* Arguments: as in the text, without '%'; "input" without a name. Results: out0, out1, … */
  const char *name;
  const char *element; /* "f32", "bf16", …; "token" */
  pop_type type;       /* of the graph's tensor; POP_TYPE_COUNT for a token, which has none */
  size_t rank;
  const size_t *shape;
} pop_model_value;
size_t pop_model_num_inputs(const pop_model *model);
size_t pop_model_num_outputs(const pop_model *model);
pop_model_value pop_model_input(const pop_model *model, size_t i);
pop_model_value pop_model_output(const pop_model *model, size_t i);
/* Tensors of infeed and outfeed operations. Each is a stream of the graph whose handle is its name:
 * infeed0, infeed1, …, outfeed0, … in the text's order; infeed0.0, infeed0.1 if an operation has
 * several. `to_device` may be NULL. */
size_t pop_model_num_feeds(const pop_model *model);
pop_model_value pop_model_feed(const pop_model *model, size_t i, bool *to_device);
/* How many tiles are worth using, 1 to 1,472 (those of an IPU of the second generation): as many as
 * give each a thousand elements of the largest tensor, or eight thousand multiplications of the
 * largest product, convolution or window operation. */
size_t pop_model_suggested_tiles(const pop_model *model);

/* Sets the size in bytes up to which operands may be copied whole to each tile that needs some
 * of their elements; the default is POP_MODEL_COPY_LIMIT. That saves steps, and code of
 * exchanges. Larger operands are brought in parts, where the needed parts are known. Errors:
 * INVALID_ARGUMENT for NULL, and for a model that has been lowered. */
enum { POP_MODEL_COPY_LIMIT = 16384 };
POP_MUST_CHECK pop_error *pop_model_set_copy_limit(pop_model *model, uint64_t bytes);
/* Adds variables, codelets (generated C, compiled now) and a program that calculates the outputs
 * from the inputs. A model can be lowered once, also if that fails. What the module's check
 * operations compare is made readable for pop_model_judge. Errors: those above; INVALID_ARGUMENT
 * for a model that has been lowered, and for a graph of another number of replicas; other errors
 * are the graph's own, which has none if NULL is returned. */
POP_MUST_CHECK pop_error *pop_model_lower(pop_model *model, pop_graph *graph, pop_program *program);
/* The same for `count` models, each into a graph of its own, for tiles or for the CPU. It takes
 * a fraction of the time, because their codelets are compiled together. errors[i] is what
 * pop_model_lower would return for models[i]; the caller frees it. If something is NULL or was
 * freed, that is the returned error; then nothing is lowered, and errors[] is unchanged. */
POP_MUST_CHECK pop_error *pop_model_lower_all(pop_model *const *models, pop_graph *const *graphs,
                                              size_t count, pop_program *programs,
                                              pop_error **errors);
/* The tensors of a lowered model, for the caller's own programs, host access and streams. Null
 * before it is lowered, and if there is no such input or output. */
pop_tensor pop_model_input_tensor(const pop_model *model, size_t i);
pop_tensor pop_model_output_tensor(const pop_model *model, size_t i);
/* The codelets' source, of a lowered model. The caller frees it. */
char *pop_model_codelet_source(const pop_model *model);

/* Writes the module after each pass as text: <folder>/module_<hash>.<name>.0_read.mlir,
 * 1_inlined.mlir (@main without calls, which is what is lowered) and, once it has been lowered,
 * 2_codelets.c. The files are identical for identical modules. The folder is created if needed, but
 * not the one that it is in. Errors: SYSTEM. */
POP_MUST_CHECK pop_error *pop_model_dump(const pop_model *model, const char *folder);
/* A hash of the operations that are lowered, independent of their notation and names. It is the
 * hash in the log's "Begin XLA compilation: … (Hash 0x…)" (POPLAR_LOG_LEVEL=INFO). */
uint64_t pop_model_hash(const pop_model *model);

/* The number of the module's check.expect_… operations, which may be operations or custom calls; 0
 * until the model is lowered. */
size_t pop_model_num_checks(const pop_model *model);
/* Evaluates these checks on an engine that has run the program. Without checks it returns NULL.
 * Errors: RUNTIME for the first check that fails, with its file, line, column and operation, the
 * first element that differs, and both values; the errors of pop_engine_read_tensor. */
POP_MUST_CHECK pop_error *pop_model_judge(const pop_model *model, pop_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
