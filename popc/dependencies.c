/* What an output depends on, as one rule for make, however many targets were compiled.
 *
 * Each compiler writes "x: a.cpp b.h \<newline> c.h". Names are already quoted for make
 * and stay so.
 */
#include "popc_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *popc_quote_for_make(pop_arena *arena, const char *name)
{
  char *quoted = pop_arena_alloc(arena, 3 * strlen(name) + 1), *out = quoted;
  for (const char *p = name; *p; ++p) {
    bool is_blank = *p == ' ' || *p == '\t';
    for (const char *b = p; is_blank && b > name && b[-1] == '\\'; --b) *out++ = '\\';
    if (is_blank || *p == '#') *out++ = '\\';
    if (*p == '$') *out++ = '$';
    *out++ = *p;
  }
  return quoted;
}

/* As clang writes a name: with '/' for a backslash, unless there are two. */
static const char *without_backslashes(pop_arena *arena, const char *name)
{
  char *changed = pop_arena_strdup(arena, name);
  for (char *p = changed; *p; ++p) {
    if (*p == '\\' && p[1] == '\\')
      ++p;
    else if (*p == '\\')
      *p = '/';
  }
  return changed;
}

/* A name that begins as clang writes the first `length` bytes of the path gets these back. NULL: it
 * begins otherwise. */
static const char *restore(pop_arena *arena, const char *path, int length, const char *name)
{
  const char *start = pop_arena_printf(arena, "%.*s", length, path);
  const char *written = popc_quote_for_make(arena, without_backslashes(arena, start));
  size_t size = strlen(written);
  if (strncmp(name, written, size) != 0) return NULL;
  return pop_arena_printf(arena, "%s%s", popc_quote_for_make(arena, start), name + size);
}

/* The source, and what is in its folder, have their names back, if its path has backslashes. */
static const char *restored(pop_arena *arena, const popc_source *source, const char *name)
{
  const char *path = source->path, *slash = strrchr(path, '/'), *found;
  if (source->is_stream || !strchr(path, '\\')) return name;
  while (!strncmp(path, "./", 2)) path += 2;
  found = restore(arena, path, (int)strlen(path), name);
  if (!found && slash > path) found = restore(arena, path, (int)(slash + 1 - path), name);
  return found ? found : name;
}

static void add_file(popc_file_list *list, const char *file, size_t length)
{
  for (size_t i = 0; i < list->count; ++i)
    if (strlen(list->files[i]) == length && !memcmp(list->files[i], file, length)) return;
  pop_push(list->files, list->count, list->capacity, pop_xasprintf("%.*s", (int)length, file));
}

void popc_add_dependency(popc_file_list *list, const char *file)
{
  add_file(list, file, strlen(file));
}

static bool is_blank(const char *p, const char *end)
{
  return *p == ' ' || *p == '\n' || (*p == '\\' && p + 1 < end && p[1] == '\n');
}

/* The compiler gets texts of ours as files without a name. */
static bool is_ours(const char *file)
{
  return !strncmp(file, "/proc/self/fd/", 14);
}

void popc_add_dependencies(popc_file_list *list, const char *rule, size_t size)
{
  if (!size) return;
  const char *end = rule + size, *p = memchr(rule, ':', size);
  for (p = p ? p + 1 : end; p < end;) {
    if (is_blank(p, end)) {
      p += 1 + (*p == '\\');
      continue;
    }
    const char *start = p;
    while (p < end && !is_blank(p, end)) p += *p == '\\' && p + 1 < end ? 2 : 1;
    if (!is_ours(start)) add_file(list, start, (size_t)(p - start));
  }
}

void popc_add_dependencies_of(const popc_settings *settings, const popc_source *source,
                              const pop_bytes *rule, popc_file_list *list)
{
  bool unnamed = source->language == POPC_ASSEMBLER || source->language == POPC_LLVM_IR;
  if (unnamed && !source->is_stream)
    popc_add_dependency(list, popc_quote_for_make(settings->arena, source->path));
  popc_file_list named = {0};
  popc_add_dependencies(&named, (const char *)rule->data, rule->size);
  for (size_t i = 0; i < named.count; ++i)
    popc_add_dependency(list, restored(settings->arena, source, named.files[i]));
  popc_file_list_free(&named);
}

void popc_file_list_free(popc_file_list *list)
{
  for (size_t i = 0; i < list->count; ++i) free(list->files[i]);
  free(list->files);
}

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

static void put_rule(const popc_settings *settings, const char *output, const popc_file_list *list,
                     pop_bytes *out)
{
  for (size_t i = 0; i < settings->num_dependency_targets; ++i) {
    if (i) put(out, " ");
    put(out, settings->dependency_targets[i]);
  }
  if (!settings->num_dependency_targets) put(out, popc_quote_for_make(settings->arena, output));
  put(out, ":");
  for (size_t i = 0; i < list->count; ++i) {
    put(out, " \\\n  ");
    put(out, list->files[i]);
  }
  put(out, "\n");
}

static bool is_input(const popc_settings *settings, const char *file)
{
  for (size_t i = 0; i < settings->num_inputs; ++i)
    if (!strcmp(popc_quote_for_make(settings->arena, settings->inputs[i].path), file)) return true;
  return false;
}

/* "out/x.gp" -> "out/x.d" */
static const char *default_file(const popc_settings *settings)
{
  const char *output = settings->output, *slash = strrchr(output, '/');
  const char *file = slash ? slash + 1 : output, *dot = strrchr(file, '.');
  int length = dot && dot > file ? (int)(dot - output) : (int)strlen(output);
  return pop_arena_printf(settings->arena, "%.*s.d", length, output);
}

static pop_error *write_rules(const popc_settings *settings, const char *output,
                              const popc_file_list *list, const char *path)
{
  pop_bytes text = {0};
  put_rule(settings, output, list, &text);
  for (size_t i = 0; settings->dependencies & POPC_PHONY_DEPENDENCIES && i < list->count; ++i) {
    if (is_input(settings, list->files[i])) continue;
    put(&text, "\n");
    put(&text, list->files[i]);
    put(&text, ":\n");
  }
  pop_error *error = popc_write_file(path, text.data, text.size);
  pop_bytes_free(&text);
  return error;
}

const char *popc_dependency_path(const popc_settings *settings)
{
  if (settings->dependency_file || popc_makes_rule(settings->product))
    return settings->dependency_file;
  return settings->dependencies && settings->output ? default_file(settings) : NULL;
}

pop_error *popc_write_dependencies(const popc_settings *settings, const popc_file_list *list)
{
  return write_rules(settings, settings->output, list, popc_dependency_path(settings));
}

bool popc_makes_rule(popc_product product)
{
  return product == POPC_RULE || product == POPC_USER_RULE;
}

/* -o names the file that gets the rule, as with clang. The rule's target is then the
 * default output. */
pop_error *popc_write_rule(const popc_settings *settings, const char *output,
                           const popc_file_list *list)
{
  const char *path = settings->dependency_file ? settings->dependency_file : settings->output;
  return write_rules(settings, output, list, path);
}
