/* Our own diagnostics in clang's form: "file:line:column: warning: text", the line, a caret; in
 * clang's colours, if colours are wanted. Names and lines are escaped, as anybody may have made
 * them, and they must not control a terminal. */
#include "popc_internal.h"

#include <populus/names.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define GREEN "\033[0;1;32m"
#define PLAIN "\033[0m"

enum { TAB_STOP = 8 };

static const struct {
  const char *name, *colour;
} severities[] = {
    [POPC_ERROR] = {"error: ", "\033[0;1;31m"},
    [POPC_WARNING] = {"warning: ", "\033[0;1;35m"},
    [POPC_NOTE] = {"note: ", "\033[0;1;36m"},
};

static void print(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

/* Appends the first character of the text; returns how many bytes of the text it takes. */
static size_t print_character(pop_bytes *out, const char *text, size_t size)
{
  size_t length = pop_printable_length(text, size);
  if (length) {
    pop_bytes_append(out, text, length);
    return length;
  }
  char escaped[8];
  snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*text);
  print(out, escaped);
  return 1;
}

/* The bytes of a sequence that sets a colour, as "\033[0;1;31m"; 0: there is none. */
static size_t colour_length(const char *text, size_t size)
{
  size_t length = 2;
  if (size < 3 || memcmp(text, "\033[", 2) != 0) return 0;
  while (length < size && strchr("0123456789;", text[length]) && text[length]) ++length;
  return length < size && text[length] == 'm' ? length + 1 : 0;
}

void popc_append_printable(pop_bytes *out, const void *bytes, size_t size, bool with_colours)
{
  const char *text = bytes;
  for (size_t at = 0; at < size;) {
    size_t colour = with_colours ? colour_length(text + at, size - at) : 0;
    if (colour) pop_bytes_append(out, text + at, colour);
    at += colour ? colour : print_character(out, text + at, size - at);
  }
}

static void print_escaped(pop_bytes *out, const char *text)
{
  popc_append_printable(out, text, strlen(text), false);
}

static void paint(pop_bytes *out, bool colour, const char *code)
{
  if (colour) print(out, code);
}

/* One line of the source, with blanks for tabs; returns the width of its first `before` bytes. */
static size_t print_expanded(pop_bytes *out, const char *start, size_t length, size_t before)
{
  size_t begin = out->size, width_before = 0;
  for (size_t i = 0; i < length;) {
    size_t width = out->size - begin;
    if (i <= before) width_before = width;
    if (start[i] != '\t') {
      i += print_character(out, start + i, length - i);
      continue;
    }
    for (size_t blanks = TAB_STOP - width % TAB_STOP; blanks > 0; --blanks) print(out, " ");
    ++i;
  }
  return before < length ? width_before : out->size - begin;
}

/* "    7 |   char *f;" and "      |         ^" */
static void print_line(pop_bytes *out, bool colour, const popc_place *place)
{
  size_t length = 0;
  const char *start = place->text;
  while (length < place->text_size && start[length] != '\n' && start[length] != '\r') ++length;
  char *margin = pop_xasprintf("%5u | ", place->line);
  print(out, margin);
  free(margin);
  size_t width = print_expanded(out, start, length, place->column - 1);
  print(out, "\n      | ");
  paint(out, colour, GREEN);
  for (; width > 0; --width) print(out, " ");
  print(out, "^\n");
  paint(out, colour, PLAIN);
}

void popc_print_diagnostic(pop_bytes *out, bool colour, popc_severity severity,
                           const popc_place *place, const char *message)
{
  char *where = place->column ? pop_xasprintf("%s:%u:%u: ", place->path, place->line, place->column)
                : place->line ? pop_xasprintf("%s:%u: ", place->path, place->line)
                              : pop_xasprintf("%s: ", place->path);
  paint(out, colour, BOLD);
  print_escaped(out, where);
  free(where);
  paint(out, colour, PLAIN);
  paint(out, colour, severities[severity].colour);
  print(out, severities[severity].name);
  paint(out, colour, PLAIN);
  /* clang makes the text of notes plain. */
  paint(out, colour && severity != POPC_NOTE, BOLD);
  print_escaped(out, message);
  paint(out, colour, PLAIN);
  print(out, "\n");
  if (place->column && place->text) print_line(out, colour, place);
}

popc_place popc_vertex_place(const pop_vertex_type *type, pop_arena *arena)
{
  const char *colon = strrchr(type->source, ':');
  if (!colon) return (popc_place){.path = type->source};
  return (popc_place){
      .path = pop_arena_printf(arena, "%.*s", (int)(colon - type->source), type->source),
      .line = (unsigned)strtoul(colon + 1, NULL, 10)};
}
