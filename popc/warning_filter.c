/* Warnings of clang that mean something else here.
 *
 * double-promotion      The warning finds arithmetic in double by mistake. clang also gives it for
 *                       each half that becomes a float. That conversion is normal for half, and the
 *                       IPU's compiler is silent about it. Libraries are compiled with -Werror
 *                       -Wdouble-promotion, and clang has no switch for one without the other.
 * global-constructors   Nothing runs the constructors of static objects on a tile. clang warns at
 *                       the declaration, before it knows whether the optimizer computes the result.
 *                       If it does, the object has no constructor and nothing is wrong.
 *
 * So clang treats both as warnings, whatever -Werror says. This file removes those that do not
 * count and turns the others into errors: promotions only if the user asks for it.
 *
 *   In file included from a.cpp:1:            a group: these lines, the line with the diagnostic,
 *   b.hpp:2:3: warning: implicit …            then its source, caret and notes, up to the next group
 *       2 |   return h;                       or the last line ("1 warning generated.")
 */
#include "popc_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char promotion[] = "double-promotion", constructor[] = "global-constructors";

/* Do the flags ask for the warning, and is it an error? The last flag counts. */
typedef struct warning_flags {
  bool warning, any_error, this_error;
} warning_flags;

static bool is_option(const char *argument, const char *before, const char *which)
{
  size_t length = strlen(before);
  return !strncmp(argument, before, length) && !strcmp(argument + length, which);
}

static warning_flags read_warning_flags(const popc_arguments *arguments)
{
  warning_flags w = {false, false, false};
  bool said = false; /* -W[no-]error=double-promotion wins over -Werror */
  for (size_t i = 0; i < arguments->count; ++i) {
    const char *argument = arguments->items[i];
    bool on = is_option(argument, "-Werror=", promotion);
    if (on || is_option(argument, "-Wno-error=", promotion)) {
      said = true;
      w.this_error = on;
    }
    w.warning |= on || is_option(argument, "-W", promotion) || !strcmp(argument, "-Weverything");
    if (!strcmp(argument, "-Werror")) w.any_error = true;
    if (!strcmp(argument, "-Wno-error")) w.any_error = false;
  }
  if (!said) w.this_error = w.any_error;
  return w;
}

bool popc_add_warning_flags(popc_arguments *arguments, popc_target target)
{
  warning_flags w = read_warning_flags(arguments);
  bool errors = w.warning && w.this_error;
  if (errors) popc_add_argument(arguments, "-Wno-error=double-promotion");
  if (target == POPC_TILE) popc_add_argument(arguments, "-Wno-error=global-constructors");
  return errors;
}

/* What a line of clang's is. */
typedef enum line_kind { INCLUDED_FROM, WARNING, ERROR, SUMMARY, OTHER } line_kind;

/* The line without the escape sequences of colours. */
static char *plain(const char *line, size_t length)
{
  char *text = pop_xmalloc(length + 1), *out = text;
  for (size_t i = 0; i < length; ++i) {
    if (line[i] == '\x1b') {
      while (i < length && line[i] != 'm' && line[i] != 'K') ++i;
    } else {
      *out++ = line[i];
    }
  }
  *out = '\0';
  return text;
}

static bool starts(const char *text, const char *with)
{
  return !strncmp(text, with, strlen(with));
}

/* "   12 |   x = y;" */
static bool is_of_source(const char *line)
{
  line += strspn(line, " ");
  line += strspn(line, "0123456789");
  return *line == ' ' && line[strspn(line, " ")] == '|';
}

static bool is_note(const char *line)
{
  return strstr(line, ": note: ") || starts(line, "note: ");
}

static line_kind kind_of(const char *line)
{
  unsigned number;
  char word[16];
  if (starts(line, "In file included from ")) return INCLUDED_FROM;
  if (is_of_source(line) || is_note(line)) return OTHER;
  if (sscanf(line, "%u %15[a-z]", &number, word) == 2 && strstr(line, " generated."))
    return SUMMARY;
  if (strstr(line, ": warning: ") || starts(line, "warning: ")) return WARNING;
  if (strstr(line, "error: ")) return ERROR;
  return OTHER;
}

/* Where " [-Wname]" begins; NULL if the line is not this warning. */
static const char *find_flag(const char *line, const char *name)
{
  const char *found = strstr(line, " [-W");
  size_t length = strlen(name);
  bool is = found && !strncmp(found + 4, name, length) && found[4 + length] == ']';
  return is ? found : NULL;
}

/* "… to 'float' [-Wdouble-promotion]", "… to 'sum' (aka 'float') […" */
static bool ends_at_float(const char *line)
{
  const char *end = find_flag(line, promotion);
  if (!end) return false;
  end -= end[-1] == ')';
  return end - line > 7 && (!strncmp(end - 7, "'float'", 7) || !strncmp(end - 7, " float'", 7));
}

typedef struct filter {
  bool promotions_are_errors;
  bool checks_constructors, has_constructors;
  pop_bytes out;
  const char *pending; /* lines about inclusion, which belong to what follows them */
  bool dropping;
  unsigned dropped, raised;
} filter;

static void put(filter *f, const char *text, size_t length)
{
  pop_bytes_append(&f->out, text, length);
}

/* Writes the text before the first `from`, then `to`, and moves `*line` past `from`. */
static bool replace(filter *f, const char **line, const char *end, const char *from, const char *to)
{
  const char *found = memmem(*line, (size_t)(end - *line), from, strlen(from));
  if (!found) return false;
  put(f, *line, (size_t)(found - *line));
  put(f, to, strlen(to));
  *line = found + strlen(from);
  return true;
}

static void put_as_error(filter *f, const char *line, const char *end)
{
  static const char coloured[] = "35mwarning: ", coloured_error[] = "31merror: ";
  if (!replace(f, &line, end, coloured, coloured_error))
    replace(f, &line, end, "warning: ", "error: ");
  replace(f, &line, end, "[-W", "[-Werror,-W");
  put(f, line, (size_t)(end - line));
  ++f->raised;
}

/* "3 warnings and 1 error generated." */
static void put_summary(filter *f, const char *line, const char *end, const char *words)
{
  if (!f->dropped && !f->raised) {
    put(f, line, (size_t)(end - line));
    return;
  }
  unsigned first = 0, second = 0;
  char word[16] = "";
  sscanf(words, "%u %15[a-z] and %u", &first, word, &second);
  bool of_errors = starts(word, "error");
  unsigned warnings = (of_errors ? 0 : first) - f->dropped - f->raised;
  unsigned errors = (of_errors ? first : second) + f->raised;
  char *text = pop_xasprintf("%u warning%s", warnings, warnings == 1 ? "" : "s");
  if (warnings) put(f, text, strlen(text));
  free(text);
  if (warnings && errors) put(f, " and ", 5);
  text = pop_xasprintf("%u error%s", errors, errors == 1 ? "" : "s");
  if (errors) put(f, text, strlen(text));
  free(text);
  if (warnings || errors) put(f, " generated.\n", strlen(" generated.\n"));
}

static void take_line(filter *f, const char *line, const char *end, const char *words)
{
  line_kind kind = kind_of(words);
  if (kind == INCLUDED_FROM) {
    if (!f->pending) f->pending = line;
    return;
  }
  bool promotes = kind == WARNING && find_flag(words, promotion);
  bool constructs = f->checks_constructors && kind == WARNING && find_flag(words, constructor);
  if (kind != OTHER)
    f->dropping = (promotes && ends_at_float(words)) || (constructs && !f->has_constructors);
  if (kind == WARNING) f->dropped += f->dropping;
  if (f->pending && !f->dropping) put(f, f->pending, (size_t)(line - f->pending));
  f->pending = NULL;
  if (f->dropping) return;
  if (kind == SUMMARY)
    put_summary(f, line, end, words);
  else if (constructs || (promotes && f->promotions_are_errors))
    put_as_error(f, line, end);
  else
    put(f, line, (size_t)(end - line));
}

/* Does the object, assembly or IR have static constructors? */
static bool has_constructors(const popc_compile_outcome *outcome)
{
  static const char *const signs[] = {".init_array", "llvm.global_ctors"};
  if (!outcome->product || outcome->target != POPC_TILE) return false;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i)
    if (memmem(outcome->product, outcome->size, signs[i], strlen(signs[i]))) return true;
  return false;
}

static void filter_lines(filter *f, const pop_bytes *diagnostics)
{
  const char *line = (const char *)diagnostics->data, *all_end = line + diagnostics->size;
  while (line < all_end) {
    const char *newline = memchr(line, '\n', (size_t)(all_end - line));
    const char *end = newline ? newline + 1 : all_end;
    char *words = plain(line, (size_t)(end - line) - (newline != NULL));
    take_line(f, line, end, words);
    free(words);
    line = end;
  }
  if (f->pending) put(f, f->pending, (size_t)(all_end - f->pending));
}

bool popc_hold_error(const pop_bytes *diagnostics)
{
  bool found = false;
  const char *line = (const char *)diagnostics->data, *all_end = line + diagnostics->size;
  while (line < all_end && !found) {
    const char *newline = memchr(line, '\n', (size_t)(all_end - line));
    const char *end = newline ? newline : all_end;
    char *words = plain(line, (size_t)(end - line));
    found = kind_of(words) == ERROR;
    free(words);
    line = newline ? newline + 1 : all_end;
  }
  return found;
}

bool popc_filter_warnings(const popc_source *source, const popc_compile_outcome *outcome,
                          pop_bytes *diagnostics)
{
  filter f = {.promotions_are_errors = outcome->promotions_are_errors,
              .checks_constructors = outcome->target == POPC_TILE,
              .has_constructors = has_constructors(outcome)};
  if (diagnostics->size) filter_lines(&f, diagnostics);
  if (f.has_constructors && !f.raised) { /* -w, or a warning switched off */
    char *text = pop_xasprintf("%s: error: it has static objects with constructors, which nothing "
                               "runs on a tile\n",
                               source->path);
    put(&f, text, strlen(text));
    free(text);
    f.raised = 1;
  }
  pop_bytes_free(diagnostics);
  *diagnostics = f.out;
  return f.raised != 0;
}
