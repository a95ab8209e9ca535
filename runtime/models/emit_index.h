/* Shared by emit_index.c, emit_data.c and emit_compute.c. Each function adds statements that define
 * the variables of the operation's results, for element `e`. Functions that return bool may fail,
 * with an error. */
#ifndef MODELS_EMIT_INDEX_H
#define MODELS_EMIT_INDEX_H

#include "models/lowering.h"

typedef const char *expression;

#define PRINT(...) pop_arena_printf(e->l->m->arena, __VA_ARGS__)

/* ---- emit_index.c ---- */

void emit_define(emitter *e, text *to, const value *v, expression is);
/* Emits variables for the index of the result's element in each dimension. */
expression *emit_own_index(emitter *e, text *to, const operation *op);

/* ---- emit_data.c: elements from elsewhere ---- */

/* The result's element is the operand's with the same linear index. */
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
