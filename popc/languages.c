/* Languages of inputs: by the name's extension, or by -x. */
#include "popc_internal.h"

#include <string.h>

static const struct {
  const char *extension;
  popc_language language;
} extensions[] = {
    {".c", POPC_C},         {".cpp", POPC_CXX},         {".cc", POPC_CXX},
    {".cxx", POPC_CXX},     {".c++", POPC_CXX},         {".C", POPC_CXX},
    {".s", POPC_ASSEMBLER}, {".S", POPC_ASSEMBLER_CPP}, {".sx", POPC_ASSEMBLER_CPP},
    {".ll", POPC_LLVM_IR},  {".bc", POPC_LLVM_IR},      {".gp", POPC_GP_FILE},
};

static const char *const names[] = {
    [POPC_C] = "c",
    [POPC_CXX] = "c++",
    [POPC_ASSEMBLER_CPP] = "assembler-with-cpp",
    [POPC_ASSEMBLER] = "assembler",
    [POPC_LLVM_IR] = "ir",
    [POPC_GP_FILE] = "gp",
};

bool popc_language_of(const char *path, popc_language *language)
{
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  for (size_t i = 0; dot && i < sizeof extensions / sizeof *extensions; ++i) {
    if (!strcmp(dot, extensions[i].extension)) {
      *language = extensions[i].language;
      return true;
    }
  }
  return false;
}

bool popc_language_named(const char *name, popc_language *language)
{
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (!strcmp(name, names[i])) {
      *language = (popc_language)i;
      return true;
    }
  }
  return false;
}

const char *popc_language_name(popc_language language)
{
  return names[language];
}

bool popc_is_codelet_language(popc_language language)
{
  return language == POPC_C || language == POPC_CXX;
}
