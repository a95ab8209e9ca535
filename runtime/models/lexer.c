#include "models/lexer.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end)
{
  while (at < end) {
    if (isspace((unsigned char)*at))
      at++;
    else if (end - at >= 2 && at[0] == '/' && at[1] == '/')
      while (at < end && *at != '\n') at++;
    else
      break;
  }
  return at;
}

static bool in_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

static const char *skip_name(const char *at, const char *end)
{
  while (at < end && in_name(*at)) at++;
  return at;
}

/* Returns the end of the string, behind its closing quote. NULL if there is none. */
static const char *skip_string(const char *at, const char *end)
{
  for (at++; at < end && *at != '"' && *at != '\n'; at++)
    if (*at == '\\' && end - at >= 2) at++;
  return at < end && *at == '"' ? at + 1 : NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
  while (at < end && isdigit((unsigned char)*at)) at++;
  return at;
}

static token number(const char *at, const char *end)
{
  token t = {TOKEN_INTEGER, at, 0};
  const char *p = at;
  if (end - at > 2 && at[0] == '0' && at[1] == 'x' && isxdigit((unsigned char)at[2])) {
    for (p += 2; p < end && isxdigit((unsigned char)*p); p++) continue;
  } else {
    p = skip_digits(p, end);
    if (p < end && *p == '.') {
      t.kind = TOKEN_NUMBER;
      p = skip_digits(p + 1, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
      const char *e = p + 1;
      if (e < end && (*e == '+' || *e == '-')) e++;
      if (e < end && isdigit((unsigned char)*e)) {
        t.kind = TOKEN_NUMBER;
        p = skip_digits(e, end);
      }
    }
  }
  t.length = (size_t)(p - at);
  return t;
}

token lexer_next(const char *at, const char *end)
{
  at = skip_blanks(at, end);
  token t = {TOKEN_PUNCTUATION, at, 1};
  if (at == end) {
    t.kind = TOKEN_END;
    t.length = 0;
    return t;
  }
  if (isdigit((unsigned char)*at)) return number(at, end);
  const char *p = NULL;
  if (isalpha((unsigned char)*at) || *at == '_') {
    t.kind = TOKEN_NAME;
    p = skip_name(at, end);
  } else if (*at == '"') {
    t.kind = TOKEN_STRING;
    p = skip_string(at, end);
  } else if (*at == '@' && end - at > 1 && at[1] == '"') {
    t.kind = TOKEN_SYMBOL;
    p = skip_string(at + 1, end);
  } else if (strchr("%@^#!", *at)) {
    t.kind = *at == '%'   ? TOKEN_VALUE
             : *at == '@' ? TOKEN_SYMBOL
             : *at == '^' ? TOKEN_BLOCK
             : *at == '#' ? TOKEN_ALIAS
                          : TOKEN_BANG;
    for (p = at + 1; p < end && (in_name(*p) || *p == '-'); p++)
      if (*p == '-' && p + 1 < end && p[1] == '>') break;
    if (p == at + 1) p = NULL;
    /* In %0#1 the parser handles '#1'. */
    if (!p && *at == '#') {
      t.kind = TOKEN_PUNCTUATION;
      return t;
    }
  } else if (end - at >= 2 && at[0] == '-' && at[1] == '>') {
    t.kind = TOKEN_ARROW;
    p = at + 2;
  } else if (strchr("()[]{}<>,:=?*+-/|", *at) && *at) {
    return t;
  }
  if (!p) {
    t.kind = TOKEN_BAD;
    return t;
  }
  t.length = (size_t)(p - at);
  return t;
}
