/* What holds for every tile image. See image_internal.h. */
#include "image_internal.h"

#include <inttypes.h>

static uint64_t end_of(const pop_image *image)
{
  return (uint64_t)image->base + image->size;
}

static bool is_inside(const pop_image *image, uint32_t address, uint32_t size)
{
  return address >= image->base && (uint64_t)address + size <= end_of(image);
}

static pop_error *outside(const pop_image *image, pop_error_code code, const char *what,
                          const char *name, uint32_t address, uint32_t size)
{
  return pop_error_new(code,
                       "%s '%s' at 0x%" PRIx32 " with %" PRIu32
                       " bytes is outside of the image, 0x%" PRIx32 " to 0x%" PRIx64,
                       what, name, address, size, image->base, end_of(image));
}

static pop_error *check_segments(const pop_image *image, pop_error_code code)
{
  uint64_t last_end = 0;
  for (size_t i = 0; i < image->num_segments; i++) {
    const pop_image_segment *segment = &image->segments[i];
    if (!is_inside(image, segment->start, segment->size))
      return outside(image, code, "segment", segment->executable ? "code" : "data", segment->start,
                     segment->size);
    if (segment->start < last_end)
      return pop_error_new(code,
                           "segment %zu starts at 0x%" PRIx32
                           ", before the end of the one before it, 0x%" PRIx64,
                           i, segment->start, last_end);
    last_end = (uint64_t)segment->start + segment->size;
  }
  return NULL;
}

static pop_error *check_sections(const pop_image *image, pop_error_code code)
{
  uint64_t end = image->base;
  for (size_t i = 0; i < image->num_sections; i++) {
    const pop_image_section *section = &image->sections[i];
    if (section->start != end || section->kind >= POP_IMAGE_SECTION_KIND_COUNT)
      return pop_error_new(code,
                           "section %zu of its memory, '%s', starts at 0x%" PRIx32
                           ", not at the end of the one before it, 0x%" PRIx64,
                           i, pop_image_section_name(section->kind), section->start, end);
    if (section->size == 0)
      return pop_error_new(code, "section %zu of its memory, '%s', is empty", i,
                           pop_image_section_name(section->kind));
    end += section->size;
  }
  if (image->num_sections && end != end_of(image))
    return pop_error_new(code, "the sections of its memory end at 0x%" PRIx64 ", not at 0x%" PRIx64,
                         end, end_of(image));
  return NULL;
}

static pop_error *check_entry(const pop_image *image, pop_error_code code)
{
  for (size_t i = 0; i < image->num_segments; i++) {
    const pop_image_segment *segment = &image->segments[i];
    if (segment->executable && image->entry % 4 == 0 && image->entry >= segment->start &&
        image->entry - segment->start < segment->size)
      return NULL;
  }
  return pop_error_new(code, "the entry 0x%" PRIx32 " is not an instruction of a code segment",
                       image->entry);
}

static pop_error *check_mappings(const pop_image *image, pop_error_code code)
{
  for (size_t i = 0; i < image->num_mappings; i++) {
    const pop_image_mapping *mapping = &image->mappings[i];
    if (!is_inside(image, mapping->address, 0))
      return outside(image, code, "mapping symbol", mapping->code ? "$x" : "$d", mapping->address,
                     0);
    if (i && mapping->address <= mapping[-1].address)
      return pop_error_new(
          code, "the mapping symbol at 0x%" PRIx32 " is not behind the one at 0x%" PRIx32,
          mapping->address, mapping[-1].address);
  }
  return NULL;
}

pop_error *image_verify(const pop_image *image, pop_error_code code)
{
  if (end_of(image) > UINT32_MAX)
    return pop_error_new(code, "an image of %" PRIu32 " bytes at 0x%" PRIx32 " ends past 32 bits",
                         image->size, image->base);
  POP_TRY(check_segments(image, code));
  POP_TRY(check_sections(image, code));
  POP_TRY(check_entry(image, code));
  POP_TRY(check_mappings(image, code));
  for (size_t i = 0; i < image->num_symbols; i++) {
    const pop_image_symbol *symbol = &image->symbols[i];
    if (!is_inside(image, symbol->address, symbol->size))
      return outside(image, code, "symbol", symbol->name, symbol->address, symbol->size);
  }
  return NULL;
}
