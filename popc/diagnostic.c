/* Our own diagnostics in clang's form: "file:line:column: warning: text", the line, a caret; in
 * clang's colours, if colours are wanted. */
#include "popc_internal.h"

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

static void paint(pop_bytes *out, bool colour, const char *code)
{
  if (colour) print(out, code);
}

/* One line of the source, with blanks for tabs; returns the width of its first `before` bytes. */
static size_t print_expanded(pop_bytes *out, const char *start, size_t length, size_t before)
{
  size_t width = 0, width_before = 0;
  for (size_t i = 0; i < length; ++i) {
    if (i == before) width_before = width;
    size_t blanks = start[i] == '\t' ? TAB_STOP - width % TAB_STOP : 0;
    width += blanks ? blanks : 1;
    if (!blanks) pop_bytes_append(out, start + i, 1);
    for (; blanks > 0; --blanks) print(out, " ");
  }
  return before < length ? width_before : width;
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
  print(out, where);
  free(where);
  paint(out, colour, PLAIN);
  paint(out, colour, severities[severity].colour);
  print(out, severities[severity].name);
  paint(out, colour, PLAIN);
  /* clang makes the text of notes plain. */
  paint(out, colour && severity != POPC_NOTE, BOLD);
  print(out, message);
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
