/* Parses HLO text to computations of instructions. */
#include "models/hlo_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 100 };

typedef struct scanner {
  hlo_module *h;
  pop_arena *arena;
  const char *text; /* a copy in which comments are blanks */
  const char *at, *end;
  pop_error *error;
  unsigned depth;
} scanner;

bool hlo_recognise(const char *text, size_t begin, size_t end)
{
  static const char first[] = "HloModule";
  while (begin < end && isspace((unsigned char)text[begin])) begin++;
  /* Comments and a separator of modules may come first. */
  while (end - begin >= 2 && text[begin] == '/' && text[begin + 1] == '/') {
    while (begin < end && text[begin] != '\n') begin++;
    while (begin < end && isspace((unsigned char)text[begin])) begin++;
  }
  return end - begin > sizeof first && memcmp(text + begin, first, sizeof first - 1) == 0 &&
         isspace((unsigned char)text[begin + sizeof first - 1]);
}

pop_error *hlo_error(const hlo_module *h, const hlo_instruction *i, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  va_end(args);
  char *place = model_place(h->m, i->offset);
  error = pop_error_prefix(error, "%s", place);
  free(place);
  return error;
}

static bool fail(scanner *s, const char *at, const char *format, ...) POP_PRINTF(3, 4);
static bool fail(scanner *s, const char *at, const char *format, ...)
{
  if (s->error) return false;
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  va_end(args);
  char *place = model_place(s->h->m, (uint32_t)(at - s->text));
  s->error = pop_error_prefix(error, "%s", place);
  free(place);
  return false;
}

/* ---- characters and words ---- */

/* Replaces comments, such as index=5 in long lists, by blanks, except in strings. */
static void blank_comments(char *text, size_t begin, size_t end)
{
  bool quoted = false, line = false, block = false;
  for (size_t i = begin; i < end; ++i) {
    if (quoted && text[i] == '\\' && i + 1 < end && text[i + 1] != '\n') {
      ++i; /* what is escaped ends no string: "a\\" does */
      continue;
    }
    bool slash = text[i] == '/' && i + 1 < end;
    if (text[i] == '\n') line = quoted = false;
    if (!line && !block && text[i] == '"') quoted = !quoted;
    if (!quoted && !block && slash && text[i + 1] == '/') line = true;
    if (!quoted && !line && slash && text[i + 1] == '*') block = true;
    bool last = block && text[i] == '*' && i + 1 < end && text[i + 1] == '/';
    if ((line || block) && text[i] != '\n') text[i] = ' ';
    if (last) {
      text[++i] = ' ';
      block = false;
    }
  }
}

static void skip_blanks(scanner *s)
{
  while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
}

static bool is(scanner *s, char c)
{
  skip_blanks(s);
  return s->at < s->end && *s->at == c;
}

static bool take(scanner *s, char c)
{
  if (!is(s, c)) return false;
  s->at++;
  return true;
}

static bool expect(scanner *s, char c)
{
  if (take(s, c)) return true;
  if (s->at >= s->end)
    return fail(s, s->at, "'%c' is expected, and this is the end of the text", c);
  return fail(s, s->at, "'%c' is expected, not '%c'", c, *s->at);
}

static bool in_word(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '%' || c == '$' ||
         c == ':';
}

/* Reads a name and returns it without '%'. NULL if there is none. */
static char *word(scanner *s)
{
  skip_blanks(s);
  const char *begin = s->at;
  while (s->at < s->end && in_word(*s->at) && !(*s->at == '-' && s->at[1] == '>')) s->at++;
  if (begin < s->at && *begin == '%') begin++;
  if (begin == s->at) return NULL;
  char *copy = pop_arena_alloc(s->arena, (size_t)(s->at - begin) + 1);
  memcpy(copy, begin, (size_t)(s->at - begin));
  return copy;
}

static bool take_word(scanner *s, const char *wanted)
{
  skip_blanks(s);
  size_t n = strlen(wanted);
  if ((size_t)(s->end - s->at) < n || memcmp(s->at, wanted, n) != 0) return false;
  if (s->at + n < s->end && in_word(s->at[n])) return false;
  s->at += n;
  return true;
}

/* A copy of the text up to one of `stops` outside of brackets and strings, trimmed. NULL if there
 * is no such end. */
static char *balanced(scanner *s, const char *stops)
{
  skip_blanks(s);
  const char *begin = s->at;
  int depth = 0;
  for (; s->at < s->end; s->at++) {
    char c = *s->at;
    if (c == '"') {
      for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
        if (*s->at == '\\') s->at++;
      if (s->at >= s->end) break;
      continue;
    }
    if (depth == 0 && strchr(stops, c)) {
      const char *stop = s->at;
      while (stop > begin && isspace((unsigned char)stop[-1])) stop--;
      char *copy = pop_arena_alloc(s->arena, (size_t)(stop - begin) + 1);
      memcpy(copy, begin, (size_t)(stop - begin));
      return copy;
    }
    if (strchr("([{", c)) depth++;
    if (strchr(")]}", c) && --depth < 0) break;
  }
  s->at = s->at < s->end ? s->at : s->end;
  fail(s, begin, "what begins here has no end");
  return NULL;
}

/* ---- types ---- */

static const char *element_of(scanner *s, const char *name)
{
  static const char *const names[][2] = {
      {"pred", "i1"}, {"c64", "complex<f32>"}, {"c128", "complex<f64>"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i][0], name) == 0) return names[i][1];
  if (name[0] == 's' && isdigit((unsigned char)name[1]))
    return pop_arena_printf(s->arena, "i%s", name + 1);
  if (name[0] == 'u' && isdigit((unsigned char)name[1]))
    return pop_arena_printf(s->arena, "ui%s", name + 1);
  return name;
}

static bool number(scanner *s, int64_t *value)
{
  skip_blanks(s);
  char *end;
  errno = 0;
  if (s->at >= s->end || !isdigit((unsigned char)*s->at))
    return fail(s, s->at, "a number is expected");
  *value = strtoll(s->at, &end, 10);
  if (errno) return fail(s, s->at, "the number has more than 63 bits");
  s->at = end;
  return true;
}

/* {1,0:T(8,128)}: tiles and memory spaces after ':' are ignored. */
static bool read_layout(scanner *s, hlo_type *t)
{
  for (uint32_t d = 0; d < t->rank; ++d) t->layout[d] = t->rank - 1 - d;
  if (s->at >= s->end || *s->at != '{') return true;
  const char *begin = s->at++;
  uint32_t n = 0;
  while (!is(s, '}') && !is(s, ':')) {
    int64_t d;
    if (!number(s, &d)) return false;
    if (n == t->rank || d >= t->rank)
      return fail(s, begin, "the layout is not one of %u dimensions", t->rank);
    for (uint32_t k = 0; k < n; ++k)
      if (t->layout[k] == d)
        return fail(s, begin, "the layout has dimension %lld twice", (long long)d);
    t->layout[n++] = d;
    (void)take(s, ',');
  }
  if (n != t->rank) return fail(s, begin, "the layout is not one of %u dimensions", t->rank);
  return balanced(s, "}") && expect(s, '}');
}

static bool read_type(scanner *s, hlo_type *t);

static bool read_members(scanner *s, hlo_type *t)
{
  size_t capacity = 0;
  hlo_type *members = NULL;
  bool good = true;
  t->tuple = true;
  if (++s->depth > MAX_NESTING) good = fail(s, s->at, "tuples are more than %d deep", MAX_NESTING);
  while (good && !is(s, ')')) {
    hlo_type member;
    good = read_type(s, &member);
    if (good) pop_push(members, t->num_members, capacity, member);
    if (good && !take(s, ',')) break;
  }
  s->depth--;
  t->members = pop_arena_alloc(s->arena, (t->num_members + 1) * sizeof *members);
  if (t->num_members) memcpy(t->members, members, t->num_members * sizeof *members);
  free(members);
  return good && expect(s, ')');
}

static bool read_type(scanner *s, hlo_type *t)
{
  *t = (hlo_type){0};
  if (take(s, '(')) return read_members(s, t);
  const char *at = s->at;
  char *name = word(s);
  if (!name) return fail(s, at, "a type is expected, such as f32[2,3]");
  t->element = element_of(s, name);
  t->token = strcmp(name, "token") == 0;
  if (!expect(s, '[')) return false;
  while (!is(s, ']')) {
    if (t->rank == MODEL_MAX_RANK)
      return fail(s, at, "a tensor has at most %d dimensions", MODEL_MAX_RANK);
    if (take(s, '<')) { /* <=5: a bound */
      if (!expect(s, '=')) return false;
      return fail(s, at, "a tensor with a dynamic dimension is not supported");
    }
    if (!number(s, &t->dims[t->rank])) return false;
    t->rank++;
    if (!take(s, ',')) break;
  }
  return expect(s, ']') && read_layout(s, t);
}

size_t hlo_num_leaves(const hlo_type *t)
{
  if (!t->tuple) return 1;
  size_t count = 0;
  for (size_t i = 0; i < t->num_members; ++i) count += hlo_num_leaves(&t->members[i]);
  return count;
}

const hlo_type *hlo_leaf(const hlo_type *t, size_t n)
{
  while (t->tuple) {
    size_t i = 0;
    while (n >= hlo_num_leaves(&t->members[i])) n -= hlo_num_leaves(&t->members[i++]);
    t = &t->members[i];
  }
  return t;
}

/* ---- instructions ---- */

const char *hlo_attribute_value(const hlo_instruction *i, const char *key)
{
  for (size_t k = 0; k < i->num_attributes; ++k)
    if (strcmp(i->attributes[k].key, key) == 0) return i->attributes[k].value;
  return NULL;
}

static hlo_instruction *find_instruction(const hlo_computation *c, const char *name)
{
  uint32_t n = pop_name_table_find(&c->by_name, name);
  return n < c->num_instructions && c->instructions ? c->instructions[n] : NULL;
}

/* "f32[2]{0} %x, %y": the name is the last word of each. */
static bool read_operands(scanner *s, const hlo_computation *c, hlo_instruction *i,
                          const char *begin)
{
  static const char *const others[] = {"constant", "parameter"};
  for (size_t k = 0; k < 2; ++k)
    if (strcmp(i->opcode, others[k]) == 0) return true;
  scanner in = *s;
  in.at = begin;
  in.end = s->at + 1; /* the closing parenthesis ends the last one */
  size_t capacity = 0;
  hlo_instruction **operands = NULL;
  bool good = true;
  while (good && !is(&in, ')')) {
    const char *at = in.at;
    char *one = balanced(&in, ",)");
    if (!one) {
      good = false;
      break;
    }
    char *name = strrchr(one, ' ');
    name = name ? name + 1 : one;
    if (*name == '%') name++;
    hlo_instruction *operand = find_instruction(c, name);
    if (!operand) good = fail(&in, at, "%s is used, and not defined before that", name);
    if (good) pop_push(operands, i->num_operands, capacity, operand);
    if (good && !take(&in, ',')) break;
  }
  i->operands = pop_arena_alloc(s->arena, (i->num_operands + 1) * sizeof *operands);
  if (operands) memcpy(i->operands, operands, i->num_operands * sizeof *operands);
  free(operands);
  s->error = in.error;
  return good;
}

static bool read_attributes(scanner *s, hlo_instruction *i)
{
  size_t capacity = 0;
  hlo_attribute *all = NULL;
  bool good = true;
  while (good && take(s, ',')) {
    skip_blanks(s);
    hlo_attribute a = {.offset = (uint32_t)(s->at - s->text)};
    a.key = word(s);
    good = a.key ? expect(s, '=') : fail(s, s->at, "the name of an attribute is expected");
    if (!good) break;
    a.value = balanced(s, ",\n}");
    good = a.value != NULL;
    if (good) pop_push(all, i->num_attributes, capacity, a);
  }
  i->attributes = pop_arena_alloc(s->arena, (i->num_attributes + 1) * sizeof *all);
  if (all) memcpy(i->attributes, all, i->num_attributes * sizeof *all);
  free(all);
  return good;
}

static bool read_instruction(scanner *s, hlo_computation *c)
{
  hlo_instruction *i = pop_arena_alloc(s->arena, sizeof *i);
  i->root = take_word(s, "ROOT");
  skip_blanks(s);
  i->offset = (uint32_t)(s->at - s->text);
  i->name = word(s);
  if (!i->name) return fail(s, s->at, "an instruction is expected");
  if (find_instruction(c, i->name))
    return fail(s, s->text + i->offset, "%s is defined twice", i->name);
  if (!expect(s, '=') || !read_type(s, &i->type)) return false;
  i->opcode = word(s);
  if (!i->opcode) return fail(s, s->at, "an operation is expected behind the type");
  if (!expect(s, '(')) return false;
  const char *begin = s->at;
  i->inside = balanced(s, ")");
  if (!i->inside || !read_operands(s, c, i, begin) || !expect(s, ')') || !read_attributes(s, i))
    return false;
  pop_name_table_add(&c->by_name, i->name, (uint32_t)c->num_instructions);
  pop_push(c->instructions, c->num_instructions, c->capacity, i);
  if (i->root && c->root) return fail(s, s->text + i->offset, "there are two ROOTs");
  if (i->root) c->root = i;
  return true;
}

/* ---- computations and the module ---- */

hlo_computation *hlo_find_computation(const hlo_module *h, const char *name)
{
  uint32_t n = pop_name_table_find(&h->by_name, *name == '%' ? name + 1 : name);
  return n == POP_NAME_NONE ? NULL : &h->computations[n];
}

static bool read_computation(scanner *s)
{
  hlo_computation c = {.entry = take_word(s, "ENTRY")};
  skip_blanks(s);
  c.offset = (uint32_t)(s->at - s->text);
  c.name = word(s);
  if (!c.name) return fail(s, s->at, "a computation is expected: its name, and '{'");
  if (hlo_find_computation(s->h, c.name))
    return fail(s, s->text + c.offset, "there is a computation %s already", c.name);
  /* The signature repeats what the parameters and ROOT say. */
  bool good = true;
  if (is(s, '(')) good = balanced(s, "{") != NULL;
  good = good && expect(s, '{');
  while (good && !is(s, '}')) {
    if (s->at >= s->end)
      good = fail(s, s->at, "'}' is expected, and this is the end of the text");
    else
      good = read_instruction(s, &c);
  }
  good = good && expect(s, '}');
  if (good && is(s, ',')) good = balanced(s, "\n") != NULL; /* execution_thread="main" */
  if (good && !c.instructions) good = fail(s, s->text + c.offset, "%s is empty", c.name);
  if (good && c.instructions && !c.root) c.root = c.instructions[c.num_instructions - 1];
  pop_name_table_add(&s->h->by_name, c.name, (uint32_t)s->h->num_computations);
  pop_push(s->h->computations, s->h->num_computations, s->h->capacity, c);
  return good;
}

static void read_header_number(const char *line, const char *key, int64_t *value)
{
  const char *at = strstr(line, key);
  if (at) *value = strtoll(at + strlen(key), NULL, 10);
}

/* Tables of names and lines of the traced program, to which metadata refers. */
static bool skip_table(scanner *s)
{
  static const char *const tables[] = {"FileNames", "FunctionNames", "FileLocations",
                                       "StackFrames"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
    if (!take_word(s, tables[i])) continue;
    for (skip_blanks(s); s->at < s->end && isdigit((unsigned char)*s->at); skip_blanks(s))
      while (s->at < s->end && *s->at != '\n') s->at++;
    return true;
  }
  return false;
}

static bool read_header(scanner *s)
{
  (void)take_word(s, "HloModule");
  s->h->name = word(s);
  if (!s->h->name) return fail(s, s->at, "the module's name is expected");
  const char *rest = is(s, ',') ? balanced(s, "\n") : "";
  if (!rest) return false;
  s->h->num_replicas = s->h->num_partitions = 1;
  read_header_number(rest, "replica_count=", &s->h->num_replicas);
  read_header_number(rest, "num_partitions=", &s->h->num_partitions);
  return true;
}

/* Without an ENTRY the last computation is the entry. */
static void mark_entry(scanner *s)
{
  hlo_module *h = s->h;
  for (size_t i = 0; i < h->num_computations; ++i)
    if (h->computations[i].entry) return;
  if (h->computations)
    h->computations[h->num_computations - 1].entry = true;
  else
    fail(s, s->end, "there is no computation");
}

pop_error *hlo_parse(module *m, size_t begin, size_t end, hlo_module **result)
{
  hlo_module *h = pop_arena_alloc(m->arena, sizeof *h);
  *h = (hlo_module){.m = m};
  char *copy = pop_arena_alloc(m->arena, end + 2);
  memcpy(copy, m->text, end);
  copy[end] = '\n'; /* the last line's end */
  blank_comments(copy, begin, end);
  scanner s = {.h = h, .arena = m->arena, .text = copy, .at = copy + begin, .end = copy + end + 1};
  bool good = read_header(&s);
  while (good) {
    skip_blanks(&s);
    if (s.at >= s.end) break;
    if (!skip_table(&s)) good = read_computation(&s);
  }
  if (good) mark_entry(&s);
  *result = h;
  return s.error;
}

void hlo_module_free(hlo_module *h)
{
  if (!h) return;
  for (size_t i = 0; i < h->num_computations; ++i) {
    free(h->computations[i].instructions);
    pop_name_table_free(&h->computations[i].by_name);
  }
  free(h->computations);
  pop_name_table_free(&h->by_name);
}
