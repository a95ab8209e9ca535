/* Writes an archive of tile images for tests that let other tools judge it.
 *
 *   make_images <archive> <target> <tiles> <code.bin>
 *
 * Tile i has system memory, the code of the file (functions `control` and `vertex`, one half of it
 * each, the second local), i words of data that do not look like instructions, and a stack. Prints
 * "<member> <bytes of .text>" for each.
 */
#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <populus/image.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES 256

static pop_error *add_image(pop_archive_writer *writer, const pop_target *target, uint32_t tile,
                            const uint8_t *code, uint32_t code_bytes)
{
  uint32_t code_start = target->memory_base + target->system_bytes;
  uint32_t data_start = code_start + code_bytes;
  uint32_t data_bytes = 4 * tile;
  uint32_t stack_start = data_start + data_bytes;
  uint32_t end = stack_start + STACK_BYTES;

  uint8_t *memory = pop_xcalloc(1, end - target->memory_base);
  memcpy(memory + target->system_bytes, code, code_bytes);
  memset(memory + (data_start - target->memory_base), 0xd0, data_bytes);

  const pop_image_segment segments[] = {
      {target->memory_base, target->system_bytes, .writable = true},
      {code_start, code_bytes, .executable = true},
      {data_start, end - data_start, .writable = true},
  };
  const pop_image_symbol symbols[] = {
      {.name = "control",
       .address = code_start,
       .size = code_bytes / 8 * 4,
       .kind = POP_SYMBOL_CODE_AREA},
      {.name = "vertex",
       .address = code_start + code_bytes / 8 * 4,
       .size = code_bytes - code_bytes / 8 * 4,
       .kind = POP_SYMBOL_FUNCTION,
       .local = true},
      {.name = "variable", .address = data_start, .size = data_bytes, .kind = POP_SYMBOL_OBJECT},
      {.name = "stack", .address = stack_start, .size = STACK_BYTES, .kind = POP_SYMBOL_OBJECT},
  };
  const pop_image_mapping mappings[] = {
      {target->memory_base, false}, {code_start, true}, {data_start, false}};
  pop_image image = {
      .tile = tile,
      .base = target->memory_base,
      .size = end - target->memory_base,
      .bytes = memory,
      .entry = code_start,
      .segments = segments,
      .num_segments = sizeof segments / sizeof *segments,
      .symbols = symbols,
      .num_symbols = sizeof symbols / sizeof *symbols,
      .mappings = mappings,
      .num_mappings = sizeof mappings / sizeof *mappings,
  };
  char name[16];
  pop_archive_tile_name(tile, name);
  pop_bytes file = {0};
  pop_error *error = pop_image_write(&image, &file);
  if (!error) error = pop_archive_writer_add(writer, name, file.data, file.size);
  if (!error) printf("%s %" PRIu32 "\n", name, image.size);
  pop_bytes_free(&file);
  free(memory);
  return error;
}

static pop_error *make(const char *path, const char *target_name, uint32_t tiles,
                       const char *code_path)
{
  pop_target target;
  POP_TRY(pop_target_create(target_name, 1, &target));
  uint8_t *code;
  size_t code_bytes;
  POP_TRY(pop_file_read(code_path, 65536, &code, &code_bytes));
  pop_archive_writer *writer = NULL;
  pop_error *error = pop_archive_writer_open(path, &writer);
  for (uint32_t tile = 0; tile < tiles && !error; tile++)
    error = add_image(writer, &target, tile, code, (uint32_t)code_bytes);
  free(code);
  if (error) {
    pop_archive_writer_abort(writer);
    return error;
  }
  return pop_archive_writer_commit(writer);
}

int main(int argc, char **argv)
{
  if (argc != 5) {
    fprintf(stderr, "usage: make_images <archive> <target> <tiles> <code.bin>\n");
    return 2;
  }
  pop_error *error = make(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 10), argv[4]);
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "make_images: error: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}
