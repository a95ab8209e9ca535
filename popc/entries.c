/* What popc appends to a codelet's source: the entry function of each vertex and the vertex table.
 *
 *   # 1 "populus-entries" 3                 a system header to clang, and no warnings about it
 *   extern "C" bool __runCodelet_ns__V___float(void *populus_state)
 *   {
 *     return static_cast<ns::V<float> *>(populus_state)->compute();
 *   }
 *   __asm__(".pushsection .populus.vertices ... .ascii ...");
 *
 * clang compiles compute() of an explicit instantiation in any case. On the tile, where a call
 * costs cycles, the entry holds a second copy. On the host the entry calls the first copy: a second
 * one would double the compile time of a file full of instantiations.
 *
 * The entry is weak: one written in assembly takes its place. A MultiVertex's entry has the
 * worker's number as second parameter. A SupervisorVertex's has the address of the code that
 * workers start with (populus/workers.h). In C, COMPUTE has defined the entry already.
 *
 * Symbols follow the public scheme: `::` becomes `__`, template arguments follow `___`, with `_`
 * between them.
 */
#include "popc_internal.h"

#include <populus/vertex_table.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

/* The compiler and then the assembler read the table as a string literal: characters that are
 * special to one of them are written as octal escapes for the assembler. */
static void put_table(pop_bytes *out, const pop_bytes *table)
{
  put(out, "__asm__(\".pushsection " POP_VERTEX_TABLE_SECTION ",\\\"\\\",@progbits\\n\"\n\".ascii "
           "\\\"");
  for (size_t i = 0; i < table->size; ++i) {
    uint8_t c = table->data[i];
    char text[8];
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
      snprintf(text, sizeof text, "\\\\%03o", c);
    else
      snprintf(text, sizeof text, "%c", c);
    put(out, text);
    if (c == '\n' && i + 1 < table->size) put(out, "\\\"\\n\"\n\".ascii \\\"");
  }
  put(out, "\\\"\\n\"\n\".popsection\\n\");\n");
}

/* Names that no source has as macros; not even the words of attributes are sure not to be. */
static const struct {
  const char *parameter, *state, *argument;
} forms[] = {
    [POP_VERTEX_WORKER] = {"", "populus_state", ""},
    [POP_VERTEX_MULTI] = {", unsigned populus_worker", "populus_state", "populus_worker"},
    [POP_VERTEX_SUPERVISOR] = {", void *populus_stub", "POPULUS_ENTER(populus_state, populus_stub)",
                               ""},
};

static void put_entry(pop_bytes *out, const popc_vertex *vertex)
{
  const char *symbol = vertex->type.symbol, *parameter = forms[vertex->type.kind].parameter;
  char *text = pop_xasprintf(
      "extern \"C\" bool %s(void *%s) __attribute__((__weak__));\n"
      "extern \"C\" bool %s(void *populus_state%s)\n{\n"
      "  %s%sstatic_cast<%s *>(%s)->compute(%s);\n%s}\n",
      symbol, parameter, symbol, parameter, vertex->jumps ? "[[_Clang::__noinline__]] " : "",
      vertex->returns_void ? "" : "return ", vertex->cxx_name, forms[vertex->type.kind].state,
      forms[vertex->type.kind].argument, vertex->returns_void ? "  return true;\n" : "");
  put(out, text);
  free(text);
}

void popc_write_entries(const popc_vertex *vertices, size_t count, pop_bytes *out)
{
  /* The user's last line may end in a backslash. In a file that includes itself, only the outermost
   * level gets the entries. */
  put(out, "\n\n#if __INCLUDE_LEVEL__ == 0\n"
           "#pragma clang diagnostic ignored \"-Weverything\"\n"
           "# 1 \"" POP_VERTEX_ENTRIES_SOURCE "\" 3\n"
           "#ifndef POPULUS_ENTER\n#define POPULUS_ENTER(state, stub) (state)\n#endif\n");
  pop_vertex_type *types = pop_xcalloc(count + 1, sizeof *types);
  for (size_t i = 0; i < count; ++i) {
    if (vertices[i].alias) {
      put(out, vertices[i].alias);
      put(out, "\n");
    }
    if (vertices[i].cxx_name) put_entry(out, &vertices[i]);
    if (vertices[i].checks) put(out, vertices[i].checks);
    types[i] = vertices[i].type;
  }
  pop_bytes table = {0};
  pop_vertex_table_write(types, count, &table);
  put_table(out, &table);
  pop_bytes_free(&table);
  free(types);
  put(out, "#endif\n");
}

static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_';
}

/* The vectors of populus/vector_types.h, as clang spells them: names of elements, then the word
 * that their vectors begin with. */
static const struct {
  const char *element, *stem;
} vectors[] = {{"_Float16", "half"},
               {"float", "float"},
               {"char", "char"},
               {"signed char", "schar"},
               {"unsigned char", "uchar"},
               {"short", "short"},
               {"unsigned short", "ushort"},
               {"int", "int"},
               {"unsigned int", "uint"},
               {"long", "long"},
               {"long long", "longlong"}};

/* Writes "float2" for "__attribute__((__vector_size__(2 * sizeof(float)))) float" at `text`. The
 * result is what follows that; NULL: there is no such vector. */
static const char *take_vector(const char *text, char **out)
{
  unsigned count;
  char element[24];
  int length = 0;
  if (sscanf(text, "__attribute__((__vector_size__(%2u * sizeof(%23[A-Za-z0-9_ ])))) %n", &count,
             element, &length) != 2 ||
      !length || (count != 2 && count != 4 && count != 8))
    return NULL;
  const char *end = text + length + strlen(element);
  if (strncmp(text + length, element, strlen(element)) != 0 || is_word(*end)) return NULL;
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    if (strcmp(vectors[i].element, element) != 0) continue;
    *out += sprintf(*out, "%s%u", vectors[i].stem, count);
    return end;
  }
  return NULL;
}

/* Clang's spelling without the blank after commas, and with the names that codelets use for the
 * 16-bit floating-point type and for vectors. */
char *popc_vertex_name(const char *spelling)
{
  static const char half[] = "_Float16";
  char *name = pop_xmalloc(strlen(spelling) + 1), *out = name;
  for (const char *p = spelling; *p;) {
    bool word_start = is_word(*p) && (p == spelling || !is_word(p[-1]));
    const char *behind = word_start ? take_vector(p, &out) : NULL;
    if (behind) {
      p = behind;
    } else if (word_start && !strncmp(p, half, sizeof half - 1) && !is_word(p[sizeof half - 1])) {
      out = stpcpy(out, "half");
      p += sizeof half - 1;
    } else if (*p == ' ' && p > spelling && p[-1] == ',') {
      ++p;
    } else {
      *out++ = *p++;
    }
  }
  *out = '\0';
  return name;
}
