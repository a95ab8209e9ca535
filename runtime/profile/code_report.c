/* The code of vertices, from the images of the first tiles that have them.
 *
 *   vertex type --first tile--> image --symbol--> function
 *               --its words--> instructions, lines, functions that it refers to
 *
 * Functions are written in the order in which they are found: first those of vertices, then those
 * that they refer to. Source lines are noted on the way; their text comes last.
 */
#include "profile/code_report.h"

#include "base/json.h"
#include "isa/disassemble.h"
#include "isa/encoding.h"
#include "profile/source_text.h"
#include <errno.h>
#include <populus/out_of_memory.h>
#include <populus/profile.h>
#include <populus/vertex_type.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_WORDS = 1 << 18,         /* in all: what a page shows without effort */
  MAX_FUNCTION_WORDS = 1 << 14 /* in one function; it may have more */
};

static const uint32_t none = UINT32_MAX;

typedef struct type_code {
  uint32_t tile, function; /* `none` if no tile has such a vertex; if its code has no symbol */
} type_code;

typedef struct listing {
  json_writer json;
  const pop_executable *executable;
  pop_arena *arena; /* names of places in the source, until the tile is done */
  source_files files;
  type_code *types; /* by vertex type */
  uint32_t num_functions;
  size_t words_left;
} listing;

/* A tile whose functions are being written. */
typedef struct tile_code {
  listing *l;
  uint32_t tile;
  pop_image image;
  executable_lines *lines;
  const pop_image_symbol **functions; /* ascending by address, each address once */
  size_t num_functions;
  uint32_t *numbers; /* by function: its number in the report, or `none` */
  uint32_t *waiting; /* functions to be written, in the order of their numbers */
  size_t first_waiting, num_waiting;
} tile_code;

static void find_tiles(listing *l)
{
  const pop_executable *e = l->executable;
  for (size_t i = 0; i < e->num_vertex_types; ++i) l->types[i] = (type_code){none, none};
  for (size_t i = 0; i < e->num_works; ++i) {
    const executable_work *work = &e->works[i];
    const executable_row *row = &e->vertex_rows[work->row];
    for (size_t v = 0; v < row->count; ++v) {
      type_code *type = &l->types[e->vertices[row->first + v].type];
      if (work->tile < type->tile) type->tile = work->tile;
    }
  }
}

/* ---- a tile's functions ---- */

static int compare_functions(const void *left, const void *right)
{
  const pop_image_symbol *a = *(const pop_image_symbol *const *)left,
                         *b = *(const pop_image_symbol *const *)right;
  if (a->address != b->address) return a->address < b->address ? -1 : 1;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return strcmp(a->name, b->name);
}

static void find_functions(tile_code *t)
{
  const pop_image *image = &t->image;
  t->functions = pop_xcalloc(image->num_symbols + 1, sizeof *t->functions);
  for (size_t i = 0; i < image->num_symbols; ++i) {
    const pop_image_symbol *symbol = &image->symbols[i];
    uint32_t offset = symbol->address - image->base;
    if (symbol->kind == POP_SYMBOL_OBJECT || symbol->size < 4 || symbol->address % 4 ||
        offset > image->size || symbol->size > image->size - offset)
      continue;
    t->functions[t->num_functions++] = symbol;
  }
  qsort(t->functions, t->num_functions, sizeof *t->functions, compare_functions);
  t->numbers = pop_xcalloc(t->num_functions + 1, sizeof *t->numbers);
  t->waiting = pop_xcalloc(t->num_functions + 1, sizeof *t->waiting);
  for (size_t i = 0; i < t->num_functions; ++i) t->numbers[i] = none;
}

/* The function that begins at the address; num_functions if none does. If several names have the
 * address, the first. */
static size_t function_at(const tile_code *t, uint32_t address)
{
  size_t low = 0, high = t->num_functions;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (t->functions[middle]->address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < t->num_functions && t->functions[low]->address == address ? low : t->num_functions;
}

/* The function's number in the report. If it has none, it gets one and is put on the worklist. */
static uint32_t refer(tile_code *t, size_t function)
{
  if (t->numbers[function] == none) {
    t->numbers[function] = t->l->num_functions++;
    t->waiting[t->num_waiting++] = (uint32_t)function;
  }
  return t->numbers[function];
}

static uint32_t entry_of(tile_code *t, const char *type)
{
  char *name = pop_vertex_symbol(type);
  uint32_t number = none;
  for (size_t i = 0; i < t->num_functions && number == none; ++i)
    if (strcmp(t->functions[i]->name, name) == 0)
      number = refer(t, function_at(t, t->functions[i]->address));
  free(name);
  return number;
}

/* ---- a function ---- */

static uint32_t word_at(const tile_code *t, uint32_t pc)
{
  const uint8_t *at = t->image.bytes + (pc - t->image.base);
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The address that a jump goes to, or that a pair of instructions (auipc or lui, then addi or jalr)
 * makes. 0 if it is unknown. */
static uint32_t address_referred(const tile_code *t, uint32_t begin, uint32_t pc)
{
  uint32_t word = word_at(t, pc);
  const isa_row *row = isa_find(word);
  if (!row) return 0;
  uint32_t imm = (uint32_t)isa_immediate(word, row->format);
  if (row->op == OP_JAL) return pc + imm;
  if (pc == begin || (row->op != OP_JALR && row->op != OP_ADDI)) return 0;
  uint32_t before = word_at(t, pc - 4);
  const isa_row *first = isa_find(before);
  if (!first || isa_bits(before, 7, 5) != isa_bits(word, 15, 5)) return 0;
  uint32_t upper = (uint32_t)isa_immediate(before, first->format);
  return first->op == OP_AUIPC ? pc - 4 + upper + imm : first->op == OP_LUI ? upper + imm : 0;
}

static void put_instructions(tile_code *t, uint32_t begin, uint32_t end)
{
  json_writer *json = &t->l->json;
  const pop_target *target = &t->l->executable->target;
  char text[ISA_TEXT_BYTES];
  json_begin_list(json, "instructions");
  for (uint32_t pc = begin; pc < end; pc += 4) {
    isa_disassemble(word_at(t, pc), pc, text);
    json_put_string(json, NULL, text);
  }
  json_end_list(json);
  json_begin_list(json, "cycles");
  for (uint32_t pc = begin; pc < end; pc += 4) {
    const isa_row *row = isa_find(word_at(t, pc));
    json_put_number(json, NULL,
                    row ? isa_slots(row, target->cost) * target->num_worker_contexts : 0);
  }
  json_end_list(json);
}

static void put_run(json_writer *json, size_t count, int64_t file, unsigned line)
{
  if (!count) return;
  json_put_number(json, NULL, count);
  json_put_integer(json, NULL, file);
  json_put_number(json, NULL, line);
}

static void put_lines(tile_code *t, uint32_t begin, uint32_t end)
{
  json_writer *json = &t->l->json;
  int64_t file = -1;
  unsigned line = 0;
  size_t count = 0;
  json_begin_list(json, "lines");
  for (uint32_t pc = begin; pc < end; pc += 4) {
    pop_source_place place;
    bool is_known = executable_line(t->l->executable, t->lines, pc, t->l->arena, &place);
    int64_t now = is_known ? (int64_t)source_files_note(&t->l->files, &place) : -1;
    unsigned now_line = is_known ? place.line : 0;
    if (now != file || now_line != line) {
      put_run(json, count, file, line);
      count = 0;
    }
    file = now;
    line = now_line;
    ++count;
  }
  put_run(json, count, file, line);
  json_end_list(json);
}

static void put_calls(tile_code *t, uint32_t begin, uint32_t end)
{
  json_writer *json = &t->l->json;
  json_begin_list(json, "calls");
  for (uint32_t pc = begin; pc < end; pc += 4) {
    uint32_t address = address_referred(t, begin, pc);
    size_t found = address > begin && address < end ? t->num_functions : function_at(t, address);
    if (found == t->num_functions) continue;
    json_put_number(json, NULL, (pc - begin) / 4);
    json_put_number(json, NULL, refer(t, found));
  }
  json_end_list(json);
}

static void put_function(tile_code *t, const pop_image_symbol *function)
{
  json_writer *json = &t->l->json;
  size_t words = function->size / 4, most = t->l->words_left;
  if (most > MAX_FUNCTION_WORDS) most = MAX_FUNCTION_WORDS;
  if (words > most) words = most;
  t->l->words_left -= words;
  uint32_t begin = function->address, end = begin + (uint32_t)words * 4;
  json_begin_object(json, NULL);
  json_put_string(json, "name", function->name);
  json_put_number(json, "tile", t->tile);
  json_put_number(json, "address", begin);
  json_put_number(json, "bytes", function->size);
  put_instructions(t, begin, end);
  put_lines(t, begin, end);
  put_calls(t, begin, end);
  json_end_object(json);
}

static void put_tile_code(tile_code *t)
{
  const pop_executable *e = t->l->executable;
  find_functions(t);
  t->lines = executable_open_lines(e, t->tile);
  for (size_t i = 0; i < e->num_vertex_types; ++i)
    if (t->l->types[i].tile == t->tile) t->l->types[i].function = entry_of(t, e->vertex_types[i]);
  while (t->first_waiting < t->num_waiting)
    put_function(t, t->functions[t->waiting[t->first_waiting++]]);
  executable_close_lines(e, t->lines);
  free(t->functions);
  free(t->numbers);
  free(t->waiting);
}

/* ---- all ---- */

static pop_error *put_tile(listing *l, uint32_t tile, pop_bytes *elf)
{
  tile_code t = {.l = l, .tile = tile};
  l->arena = pop_arena_new();
  pop_error *error = executable_image(l->executable, tile, POP_IMAGE_MEMORY | POP_IMAGE_SYMBOLS,
                                      elf, l->arena, &t.image);
  if (!error) put_tile_code(&t);
  pop_arena_free(l->arena);
  return error;
}

/* The lowest tile, from `tile` on, that is the first with some vertex type; or `none`. */
static uint32_t next_tile(const listing *l, uint32_t tile)
{
  uint32_t next = none;
  for (size_t i = 0; i < l->executable->num_vertex_types; ++i)
    if (l->types[i].tile >= tile && l->types[i].tile < next) next = l->types[i].tile;
  return next;
}

static void put_types(listing *l)
{
  json_begin_list(&l->json, "vertexTypes");
  for (size_t i = 0; i < l->executable->num_vertex_types; ++i) {
    if (l->types[i].tile == none) continue;
    json_begin_object(&l->json, NULL);
    json_put_string(&l->json, "name", l->executable->vertex_types[i]);
    json_put_number(&l->json, "tile", l->types[i].tile);
    if (l->types[i].function != none) json_put_number(&l->json, "function", l->types[i].function);
    json_end_object(&l->json);
  }
  json_end_list(&l->json);
}

pop_error *write_code(FILE *stream, const pop_executable *e, bool with_source)
{
  listing l = {.json = {.stream = stream}, .executable = e, .words_left = MAX_WORDS};
  pop_bytes elf = {0};
  pop_error *error = NULL;
  l.types = pop_xcalloc(e->num_vertex_types + 1, sizeof *l.types);
  find_tiles(&l);
  json_begin_object(&l.json, NULL);
  json_begin_list(&l.json, "functions");
  for (uint32_t tile = 0; (tile = next_tile(&l, tile)) != none && !error; ++tile)
    error = put_tile(&l, tile, &elf);
  json_end_list(&l.json);
  put_types(&l);
  source_files_write(&l.files, with_source, &l.json, "files");
  json_end_object(&l.json);
  source_files_free(&l.files);
  free(l.types);
  pop_bytes_free(&elf);
  return error;
}

typedef struct code_request {
  const pop_executable *executable;
  bool with_source;
  FILE *stream;
} code_request;

static pop_error *write_requested(void *context)
{
  const code_request *request = context;
  return write_code(request->stream, request->executable, request->with_source);
}

pop_error *pop_executable_write_code(const pop_executable *executable, bool with_source,
                                     FILE *stream)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  if (executable->cpu)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "there is no code to list for the CPU: its codelets are code of the host");
  code_request request = {executable, with_source, stream};
  POP_TRY(pop_with_memory("listing code", write_requested, &request));
  return fflush(stream) == 0 && !ferror(stream) ? NULL
                                                : pop_error_errno(errno, "cannot write the code");
}
