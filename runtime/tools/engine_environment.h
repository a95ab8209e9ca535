/* Engines that a tool makes for its own purposes. */
#ifndef TOOLS_ENGINE_ENVIRONMENT_H
#define TOOLS_ENGINE_ENVIRONMENT_H

#include <stdlib.h>

/* Removes engine options from the environment. They are meant for the user's programs: an engine of
 * the tool's would write its reports and traces over those of the program. */
static inline void ignore_engine_options(void)
{
  static const char *const names[] = {"POPLAR_ENGINE_OPTIONS", "POPLAR_RUNTIME_OPTIONS",
                                      "POPLAR_SIMULATOR_OPTIONS", "POPLAR_GRAPH_REPORT_DEST"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) unsetenv(names[i]);
}

#endif
