/* Adds blocks, their contents and the addresses (fixups) in them. */
#include "compiler/compilation.h"

#include <assert.h>
#include <string.h>

uint32_t add_block(compilation *c, const block *b)
{
  assert(b->size > 0 && b->align >= 4 && (b->align & (b->align - 1)) == 0 && b->name);
  assert(c->num_blocks < COMPILER_NONE);
  pop_push(c->blocks, c->num_blocks, c->blocks_capacity, *b);
  return (uint32_t)(c->num_blocks - 1);
}

uint32_t begin_content(compilation *c, uint32_t size)
{
  content begun = {.first_byte = c->num_bytes, .size = size, .first_fixup = c->num_fixups};
  pop_reserve(c->bytes, c->num_bytes + size, c->bytes_capacity);
  memset(c->bytes + c->num_bytes, 0, size);
  c->num_bytes += size;
  pop_push(c->contents, c->num_contents, c->contents_capacity, begun);
  return (uint32_t)(c->num_contents - 1);
}

void add_fixup(compilation *c, uint32_t content, uint32_t at, place target)
{
  add_packed_fixup(c, content, at, target, ADDRESS_WORD);
}

void add_packed_fixup(compilation *c, uint32_t content, uint32_t at, place target,
                      address_form form)
{
  assert(content == c->num_contents - 1 && at + 2 <= c->contents[content].size);
  pop_push(c->fixups, c->num_fixups, c->fixups_capacity,
           (fixup){.at = at, .target = target, .form = form});
  c->contents[content].num_fixups++;
}
