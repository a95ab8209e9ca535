/* What the files of code by indices (emit_index.c, emit_data.c, emit_compute.c) have in common. Each function adds statements that
 * define the variables of the operation's results: element `e` of them. Those that answer may fail: false after an error. */
#ifndef MODELS_EMIT_INDEX_H
#define MODELS_EMIT_INDEX_H

#include "models/lowering.h"

typedef const char *expression;

#define PRINT(...) pop_arena_printf(e->l->m->arena, __VA_ARGS__)

/* ---- emit_index.c ---- */

void emit_define(emitter *e, text *to, const value *v, expression is);
/* Variables for the index of the result's element in each dimension. */
expression *emit_own_index(emitter *e, text *to, const operation *op);

/* ---- emit_data.c: elements from elsewhere ---- */

/* A view of the operand with the same elements in the same order. */
void emit_same(emitter *e, text *to, const operation *op);
void emit_get_dimension_size(emitter *e, text *to, const operation *op);
void emit_broadcast(emitter *e, text *to, const operation *op);
void emit_transpose(emitter *e, text *to, const operation *op);
void emit_reverse(emitter *e, text *to, const operation *op);
void emit_slice(emitter *e, text *to, const operation *op);
void emit_dynamic_slice(emitter *e, text *to, const operation *op);
void emit_real_dynamic_slice(emitter *e, text *to, const operation *op);
void emit_dynamic_update_slice(emitter *e, text *to, const operation *op);
void emit_pad(emitter *e, text *to, const operation *op);
void emit_concatenate(emitter *e, text *to, const operation *op);
void emit_iota(emitter *e, text *to, const operation *op);
void emit_bitcast(emitter *e, text *to, const operation *op);
void emit_gather(emitter *e, text *to, const operation *op);

/* ---- emit_compute.c: calculated of many ---- */

bool emit_map(emitter *e, text *to, const operation *op);
bool emit_reduce(emitter *e, text *to, const operation *op);
bool emit_reduce_window(emitter *e, text *to, const operation *op);
void emit_dot(emitter *e, text *to, const operation *op);
void emit_convolution(emitter *e, text *to, const operation *op);
void emit_batch_norm_inference(emitter *e, text *to, const operation *op);
bool emit_fft(emitter *e, text *to, const operation *op);

#endif
