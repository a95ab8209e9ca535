/* The sections that hold an image's memory: one `.text`, or one for each run of bytes with one use.
 *
 * In both layouts the bytes are the same, and lie in the file as in the tile, without gaps. So one
 * PT_LOAD holds them, and only the number of section headers differs. Runs with the same use are
 * not moved together, as that would change addresses. So a name may occur several times, and the
 * sum of its rows in `size -A` is the figure of the report.
 *
 * A symbol belongs to the section that holds all of its bytes. If there is none, its value is
 * absolute, as eu-elflint wants symbols to fit into their sections. (A variable lies in two
 * sections if a part of it shares its memory with another.)
 */
#include "image_internal.h"

#include <string.h>

#define SYSTEM_ALIGN 16

static const struct {
  const char *name;
  uint32_t flags;
} kinds[POP_IMAGE_SECTION_KIND_COUNT] = {
    [POP_MEMORY_VARIABLE] = {".data", SHF_WRITE},
    [POP_MEMORY_CONSTANT] = {".rodata", 0},
    [POP_MEMORY_MESSAGE] = {".message", SHF_WRITE},
    [POP_MEMORY_HOST_MESSAGE] = {".message.host", SHF_WRITE},
    [POP_MEMORY_GLOBAL_MESSAGE] = {".message.global", SHF_WRITE},
    [POP_MEMORY_REARRANGEMENT] = {".rearrangement", SHF_WRITE},
    [POP_MEMORY_OUTPUT_EDGE] = {".edge", SHF_WRITE},
    [POP_MEMORY_MULTIPLE] = {".multiple", SHF_WRITE},
    [POP_MEMORY_HOST_EXCHANGE_PACKET_HEADER] = {".packet.host", SHF_WRITE},
    [POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER] = {".packet.global", SHF_WRITE},
    [POP_MEMORY_STACK] = {".stack", SHF_WRITE},
    [POP_MEMORY_VERTEX_INSTANCE_STATE] = {".vertex", SHF_WRITE},
    [POP_MEMORY_COPY_DESCRIPTOR] = {".vertex.copy", SHF_WRITE},
    [POP_MEMORY_VECTOR_LIST_DESCRIPTOR] = {".vertex.list", SHF_WRITE},
    [POP_MEMORY_VERTEX_FIELD_DATA] = {".vertex.field", SHF_WRITE},
    [POP_MEMORY_CONTROL_TABLE] = {".control.table", SHF_WRITE},
    [POP_MEMORY_CONTROL_CODE] = {".control", SHF_EXECINSTR},
    [POP_MEMORY_CONTROL_ID] = {".control.id", SHF_WRITE},
    [POP_MEMORY_VERTEX_CODE] = {".text", SHF_EXECINSTR},
    [POP_MEMORY_INTERNAL_EXCHANGE_CODE] = {".exchange", SHF_EXECINSTR},
    [POP_MEMORY_HOST_EXCHANGE_CODE] = {".exchange.host", SHF_EXECINSTR},
    [POP_MEMORY_GLOBAL_EXCHANGE_CODE] = {".exchange.global", SHF_EXECINSTR},
    [POP_MEMORY_INSTRUMENTATION_RESULTS] = {".instrumentation", SHF_WRITE},
    [POP_MEMORY_SHARED_CODE_STORAGE] = {".code.shared", SHF_EXECINSTR},
    [POP_MEMORY_SHARED_DATA_STORAGE] = {".data.shared", SHF_WRITE},
    [POP_IMAGE_SECTION_OVERLAPPED] = {".overlapped", SHF_WRITE},
    [POP_IMAGE_SECTION_SYSTEM] = {".system", 0},
    [POP_IMAGE_SECTION_GAP] = {".gap", 0},
};

const char *pop_image_section_name(unsigned kind)
{
  return kind < POP_IMAGE_SECTION_KIND_COUNT ? kinds[kind].name : "?";
}

bool image_section_kind(const char *name, uint8_t *kind)
{
  for (*kind = 0; *kind < POP_IMAGE_SECTION_KIND_COUNT; ++*kind)
    if (strcmp(kinds[*kind].name, name) == 0) return true;
  return false;
}

/* The flat layout is the one section `.text`. */
uint32_t image_num_memory_sections(const pop_image *image)
{
  return image->num_sections ? (uint32_t)image->num_sections : 1;
}

static pop_image_section image_memory_section(const pop_image *image, uint32_t index)
{
  if (image->num_sections) return image->sections[index];
  return (pop_image_section){image->base, image->size, POP_MEMORY_VERTEX_CODE};
}

uint32_t image_section_names_bytes(const pop_image *image)
{
  uint32_t bytes = 0;
  for (size_t i = 0; i < image->num_sections; i++)
    bytes += (uint32_t)strlen(kinds[image->sections[i].kind].name) + 1;
  return bytes;
}

void image_put_section_names(const pop_image *image, char *names)
{
  for (size_t i = 0; i < image->num_sections; i++)
    names = stpcpy(names, kinds[image->sections[i].kind].name) + 1;
}

static uint32_t alignment(uint32_t address)
{
  uint32_t align = address & -address;
  return align && align < SYSTEM_ALIGN ? align : SYSTEM_ALIGN;
}

void image_put_memory_headers(const pop_image *image, uint32_t file_offset, uint32_t first_name,
                              Elf32_Shdr *headers)
{
  uint32_t name = first_name;
  for (uint32_t i = 0; i < image_num_memory_sections(image); i++) {
    pop_image_section section = image_memory_section(image, i);
    headers[i] = (Elf32_Shdr){.sh_name = name,
                              .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC | kinds[section.kind].flags,
                              .sh_addr = section.start,
                              .sh_offset = file_offset + (section.start - image->base),
                              .sh_size = section.size,
                              .sh_addralign = alignment(section.start)};
    name += (uint32_t)strlen(kinds[section.kind].name) + 1;
  }
}

uint16_t image_section_of(const pop_image *image, uint32_t address, uint32_t size)
{
  uint32_t low = 0, high = image_num_memory_sections(image);
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (image_memory_section(image, middle).start <= address)
      low = middle;
    else
      high = middle;
  }
  pop_image_section section = image_memory_section(image, low);
  bool fits =
      address - section.start <= section.size && size <= section.size - (address - section.start);
  return fits ? (uint16_t)(1 + low) : SHN_ABS;
}
