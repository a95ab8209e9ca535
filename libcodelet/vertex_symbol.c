/* The name of a vertex's entry in objects and images. */
#include <populus/arena.h>
#include <populus/vertex_type.h>
#include <string.h>

/* Letters outside ASCII stay as they are, as in the names of C functions: otherwise all names in
 * such a script would make the same symbol. */
static bool is_word(char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (unsigned char)c >= 0x80;
}

char *pop_vertex_symbol(const char *name)
{
  static const char prefix[] = POP_VERTEX_SYMBOL_PREFIX;
  char *symbol = pop_xmalloc(sizeof prefix + 3 * strlen(name)), *out = stpcpy(symbol, prefix);
  for (const char *p = name; *p; ++p) {
    if (*p == '<')
      out = stpcpy(out, "___");
    else if (*p == ':')
      *out++ = '_';
    else if (*p != '>')
      *out++ = is_word(*p) ? *p : '_';
  }
  *out = '\0';
  return symbol;
}
