/* Completion for shells, from the table of options: popc --print-completion=bash. */
#include "popc_internal.h"

#include <stdlib.h>
#include <string.h>

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

static void put_all(pop_bytes *out, const char *a, const char *b, const char *c)
{
  put(out, a);
  put(out, b);
  put(out, c);
}

static void put_word(void *context, const char *spelling, const char *value, bool joined,
                     const char *help)
{
  (void)value;
  (void)joined;
  if (help) put_all(context, " ", spelling, "");
}

static void put_bash(pop_bytes *out)
{
  put(out, "# bash completion for popc\n"
           "_popc()\n{\n"
           "  local word=$2 before=$3 list=''\n"
           "  COMPREPLY=()\n"
           "  case $before in\n"
           "  --target | -target) list='");
  for (const char *p = popc_target_list; *p; ++p) put(out, *p == ',' ? " " : (char[]){*p, 0});
  put(out, "' ;;\n"
           "  -x) list='c c++ assembler assembler-with-cpp ir gp none' ;;\n"
           "  *) [[ $word == -* ]] && list='");
  popc_visit_options(put_word, out);
  put(out, "' ;;\n"
           "  esac\n"
           "  if [[ $list ]]; then\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\")\n"
           "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
           "  fi\n"
           "  return 0\n"
           "}\n"
           "complete -o bashdefault -o default -F _popc popc\n");
}

/* '-I+[Search it for included files]:folder:_files' */
static void put_zsh_option(void *context, const char *spelling, const char *value, bool joined,
                           const char *help)
{
  pop_bytes *out = context;
  if (!help) return;
  put_all(out, "  '*", spelling, joined ? "-" : value ? "+" : "");
  put(out, "[");
  for (const char *p = help; *p; ++p) {
    if (strchr("[]:", *p)) put(out, "\\");
    put(out, *p == '\'' ? "’" : (char[]){*p, 0});
  }
  put(out, "]");
  if (value) {
    put_all(out, ":", value, "");
    put(out, strstr(value, "older") ? ":_files -/" : ":_files");
  }
  put(out, "' \\\n");
}

static void put_zsh(pop_bytes *out)
{
  put(out, "#compdef popc\n_arguments -S \\\n");
  popc_visit_options(put_zsh_option, out);
  put(out, "  '*:input:_files -g \"*.(c|cpp|cc|cxx|S|s|ll|bc|gp)\"'\n");
}

char *popc_completion_text(const char *shell)
{
  pop_bytes out = {0};
  if (!strcmp(shell, "bash"))
    put_bash(&out);
  else if (!strcmp(shell, "zsh"))
    put_zsh(&out);
  else
    return NULL;
  pop_bytes_append(&out, "", 1);
  return (char *)out.data;
}
