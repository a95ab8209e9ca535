/* Links objects with the tile linker, so that other tools can judge the result.
 *
 *   link_tool [--fold] <address> <output> <root>[,<root>]... <object>... [--library <object>...]
 *
 * Writes <output>.dbg, the debug information; <output>.bin, the linked bytes from <address> on
 * (code, read-only data, thread-local data, data); and <output>.ld, a script by which GNU ld or lld
 * puts the same sections at the same addresses (not with --fold, which merges equal ones). Prints
 * "<group> <address> <size> <name>" for each symbol and section group.
 */
#include "live_sections.h"
#include <populus/arena.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pop_link_group order[] = {POP_LINK_CODE, POP_LINK_RODATA, POP_LINK_TLS, POP_LINK_DATA};
static const char *const group_names[] = {"code", "rodata", "data", "tls"};

static pop_error *read_objects(char **arguments, pop_link_set *set, pop_object **objects)
{
  bool library = false;
  for (size_t count = 0; *arguments; ++arguments) {
    if (strcmp(*arguments, "--library") == 0) {
      library = true;
      continue;
    }
    uint8_t *bytes;
    size_t size;
    POP_TRY(pop_file_read(*arguments, UINT32_MAX, &bytes, &size));
    pop_error *error = pop_object_parse(bytes, size, *arguments, &objects[count]);
    free(bytes);
    POP_TRY(error);
    POP_TRY(pop_link_set_add(set, objects[count++], library));
  }
  return NULL;
}

/* Input sections of zeros get an output section of their own: no tool then writes them out. */
static void write_script_sections(FILE *script, const pop_live_sections *live, pop_link_group group,
                                  bool zeros, uint32_t start)
{
  const char *suffix = zeros ? "zeros" : "";
  bool open = false;
  for (uint32_t i = live->first[group]; i < live->first[group + 1]; ++i) {
    const live_section *place = &live->sections[i];
    const object_section *section = link_set_section(live->set, place->section);
    if (!section->data != zeros) continue;
    if (!open)
      fprintf(script, "  .%s%s 0x%x : {\n", group_names[group], suffix, start + place->offset);
    open = true;
    fprintf(script, "    \"%s\"(%s)\n", link_set_owner(live->set, place->section)->object->name,
            section->name);
  }
  if (open) fprintf(script, "  } =0\n");
}

static void write_script(FILE *script, const pop_live_sections *live,
                         const pop_link_addresses *addresses)
{
  fprintf(script, "SECTIONS {\n");
  for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
    for (int zeros = 0; zeros < 2; ++zeros)
      write_script_sections(script, live, order[i], zeros, addresses->start[order[i]]);
  }
  fprintf(script, "  /DISCARD/ : { *(.eh_frame) }\n}\n");
}

static void print_symbol(void *context, const pop_link_symbol *symbol)
{
  (void)context;
  printf("%s 0x%x %u %s\n", group_names[symbol->group], symbol->address, symbol->size,
         symbol->name);
}

static pop_error *write_debug_file(const pop_live_sections *live,
                                   const pop_link_addresses *addresses, const char *output)
{
  pop_bytes elf = {0};
  POP_TRY(pop_live_sections_debug_file(live, addresses, &elf));
  char *name = pop_xasprintf("%s.dbg", output);
  FILE *file = fopen(name, "wb");
  bool written = file && fwrite(elf.data, 1, elf.size, file) == elf.size;
  written = file && fclose(file) == 0 && written;
  pop_error *error = written ? NULL : pop_error_new(POP_ERROR_SYSTEM, "cannot write %s", name);
  pop_bytes_free(&elf);
  free(name);
  return error;
}

static pop_error *write_outputs(const pop_live_sections *live, uint32_t base, const char *output)
{
  pop_link_addresses addresses;
  uint32_t end = base;
  for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
    uint32_t align = pop_live_sections_group_align(live, order[i]);
    addresses.start[order[i]] = end = (end + align - 1) & ~(align - 1);
    end += pop_live_sections_group_bytes(live, order[i]);
    printf("group 0x%x %u %s\n", addresses.start[order[i]],
           pop_live_sections_group_bytes(live, order[i]), group_names[order[i]]);
  }
  uint8_t *memory = pop_xcalloc(end - base, 1);
  POP_TRY(pop_live_sections_relocate(live, &addresses, memory, base, end - base,
                                     memory + (addresses.start[POP_LINK_TLS] - base)));
  char *bin = pop_xasprintf("%s.bin", output), *ld = pop_xasprintf("%s.ld", output);
  FILE *bytes = fopen(bin, "wb"), *script = fopen(ld, "w");
  if (!bytes || !script) return pop_error_new(POP_ERROR_SYSTEM, "cannot write %s and %s", bin, ld);
  fwrite(memory, 1, end - base, bytes);
  write_script(script, live, &addresses);
  if (fclose(bytes) || fclose(script))
    return pop_error_new(POP_ERROR_SYSTEM, "cannot write %s and %s", bin, ld);
  POP_TRY(write_debug_file(live, &addresses, output));
  pop_live_sections_symbols(live, &addresses, print_symbol, NULL);
  free(memory);
  free(bin);
  free(ld);
  return NULL;
}

static pop_error *link_roots(const pop_link_set *set, char *list, uint32_t base, const char *output)
{
  const char *roots[64];
  size_t count = 0;
  for (char *root = strtok(list, ","); root && count < 64; root = strtok(NULL, ","))
    roots[count++] = root;
  pop_live_sections *live;
  POP_TRY(pop_live_sections_create(set, roots, NULL, count, &live));
  pop_error *error = write_outputs(live, base, output);
  pop_live_sections_free(live);
  return error;
}

int main(int argc, char **argv)
{
  bool fold = argc > 1 && strcmp(argv[1], "--fold") == 0;
  argc -= fold;
  argv += fold;
  if (argc < 5) {
    fprintf(stderr, "usage: link_tool [--fold] address output root[,root] object... "
                    "[--library object...]\n");
    return 2;
  }
  pop_link_set *set = pop_link_set_new();
  if (!fold) pop_link_set_keep_duplicates(set);
  pop_object **objects = pop_xcalloc((size_t)argc, sizeof *objects);
  pop_error *error = read_objects(argv + 4, set, objects);
  if (!error) error = link_roots(set, argv[3], (uint32_t)strtoul(argv[1], NULL, 0), argv[2]);
  pop_link_set_free(set);
  for (int i = 0; i < argc; ++i) pop_object_free(objects[i]);
  free(objects);
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "%s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}
