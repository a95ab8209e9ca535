/* The features of the host's processor, and what the environment says about the code that is made
 * for it. The processor must have fused multiply-add and half-precision conversions (F16C). Without
 * them the code generator would call library functions for both. */
#include "module.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

/* Vector extensions that POPULUS_TRANSLATOR_WITHOUT can take away, so that code for other
 * processors can be seen and tested here. Without AVX there is no fused multiply-add either. */
static const struct {
  const char *name, *features;
} extensions[] = {{"avx512", ",-avx512f"},
                  {"avx2", ",-avx512f,-avx2"},
                  {"avx", ",-avx512f,-avx2,-avx,-fma,-f16c"}};

/* To be appended to the host's features; NULL: see `error`. */
static const char *unwanted_features(char **error)
{
  const char *name = secure_getenv("POPULUS_TRANSLATOR_WITHOUT");
  if (!name || !*name) return "";
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
    if (strcmp(name, extensions[i].name) == 0) return extensions[i].features;
  *error = pop_xasprintf("POPULUS_TRANSLATOR_WITHOUT is '%s': it can be avx512, avx2 or avx", name);
  return NULL;
}

char *host_features(char **error)
{
  const char *unwanted = unwanted_features(error);
  if (!unwanted) return NULL;
  char *cpu = LLVMGetHostCPUName(), *host = LLVMGetHostCPUFeatures(), *features = NULL;
  if (strstr(host, "+fma,") && strstr(host, "+f16c") && !strstr(unwanted, "-fma"))
    features = pop_xasprintf("%s%s", host, unwanted);
  else
    *error =
        pop_xasprintf("the processor (%s%s) has no fma or no f16c instructions", cpu, unwanted);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(host);
  return features;
}

bool host_effort(LLVMCodeGenOptLevel *effort, char **error)
{
  const char *name = secure_getenv("POPULUS_TRANSLATOR_EFFORT");
  bool least = name && strcmp(name, "least") == 0;
  *effort = least ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
  if (least || !name || !*name) return true;
  *error = pop_xasprintf("POPULUS_TRANSLATOR_EFFORT is '%s': it can be least", name);
  return false;
}
