/* Parsers and state machines, over n bytes of text. */
#include "kernel.h"

/* Depth, strings and commas of something like JSON. */
KERNEL(json_scan, byte, unsigned, unsigned)
{
  unsigned depth = 0, deepest = 0, commas = 0, strings = 0, digits = 0;
  bool in_string = false, escaped = false;
  for (unsigned i = 0; i < vertex->n; i++) {
    byte c = vertex->a.data[i];
    if (in_string) {
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        in_string = false;
      continue;
    }
    switch (c) {
    case '"':
      in_string = true;
      strings++;
      break;
    case '{':
    case '[':
      if (++depth > deepest) deepest = depth;
      break;
    case '}':
    case ']':
      if (depth) depth--;
      break;
    case ',':
      commas++;
      break;
    default:
      digits += c >= '0' && c <= '9';
    }
  }
  vertex->b.data[0] = deepest;
  vertex->b.data[1] = commas;
  vertex->b.data[2] = strings;
  vertex->b.data[3] = digits;
  return true;
}

/* Decimal numbers with fractions, everything else between them. */
KERNEL(parse_numbers, byte, float, float)
{
  unsigned count = 0, n = vertex->n;
  const byte *text = vertex->a.data;
  for (unsigned i = 0; i < n;) {
    if (text[i] < '0' || text[i] > '9') {
      i++;
      continue;
    }
    unsigned value = 0, below = 1;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) value = value * 10 + text[i] - '0';
    if (i < n && text[i] == '.')
      for (i++; i < n && text[i] >= '0' && text[i] <= '9' && below < 10000; i++) {
        value = value * 10 + text[i] - '0';
        below *= 10;
      }
    vertex->b.data[count++ % vertex->b.size] = (float)value / (float)below;
  }
  return true;
}

/* A deterministic automaton as a table: 16 states, 16 classes of bytes, in c. */
KERNEL(automaton, byte, unsigned, byte)
{
  unsigned state = 0, accepted = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    state = vertex->c.data[state * 16 + (vertex->a.data[i] & 15)] & 15;
    accepted += state == 7;
  }
  vertex->b.data[0] = state;
  vertex->b.data[1] = accepted;
  return true;
}

/* A machine with a stack and eight instructions; its code is any bytes. */
KERNEL(bytecode, byte, unsigned, unsigned)
{
  unsigned stack[16] = {0}, top = 0, sum = 0, n = vertex->n;
  for (unsigned pc = 0, steps = 0; steps < 2 * n; steps++) {
    byte code = vertex->a.data[pc];
    pc = pc + 1 < n ? pc + 1 : 0;
    unsigned *at = &stack[top & 15];
    switch (code & 7) {
    case 0:
      stack[++top & 15] = code >> 3;
      break;
    case 1:
      stack[(top - 1) & 15] += *at;
      top--;
      break;
    case 2:
      stack[(top - 1) & 15] ^= *at << 1;
      top--;
      break;
    case 3:
      *at = *at * 5 + 1;
      break;
    case 4:
      sum += *at;
      break;
    case 5:
      if (*at & 1) pc = (pc + (code >> 3)) % n;
      break;
    case 6:
      stack[(top + 1) & 15] = *at;
      top++;
      break;
    default:
      vertex->b.data[code >> 3] = *at;
    }
  }
  vertex->b.data[32] = sum;
  return true;
}

/* Sums and products of digits with brackets, by recursive descent; any other byte ends a term. */
typedef struct reader {
  const byte *text;
  unsigned at, n, depth;
} reader;

static unsigned read_sum(reader *r);

__attribute__((noinline)) static unsigned read_factor(reader *r)
{
  if (r->at >= r->n) return 0;
  byte c = r->text[r->at++];
  if (c >= '0' && c <= '9') return c - '0';
  if ((c != '(' && c != '[' && c != '{') || r->depth >= 12) return 1;
  r->depth++;
  unsigned value = read_sum(r);
  r->depth--;
  return value;
}

STACK(2048, read_sum)
__attribute__((noinline)) static unsigned read_sum(reader *r)
{
  unsigned sum = read_factor(r);
  while (r->at < r->n) {
    byte c = r->text[r->at++];
    if (c == ')' || c == ']' || c == '}') break;
    unsigned next = read_factor(r);
    sum = c & 1 ? sum * next : sum + next;
  }
  return sum;
}

KERNEL(expressions, byte, unsigned, unsigned)
{
  reader r = {vertex->a.data, 0, vertex->n, 0};
  for (unsigned count = 0; r.at < r.n; count++) vertex->b.data[count & 15] = read_sum(&r);
  return true;
}
