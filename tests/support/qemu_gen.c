/* Random programs for the comparison of the software IPU's engines with qemu-riscv32.
 *
 *   qemu_gen make <seed> <program.elf> <engine>   writes the program of this seed as a Linux executable
 *   qemu_gen check <seed> <dump> <engine>         runs the same words on the software IPU and compares
 *                                                 its memory with what the executable wrote to
 *                                                 standard output
 *
 * Programs are those of random_program.h: for the interpreter with flags; for the
 * translator without flags, shorter, and run by a worker. The executable writes slots and
 * registers to standard output and exits. The software IPU stops at that first ecall with a
 * TRAP. So both execute the same bytes at the same addresses, and a difference names its
 * case. qemu also checks the encodings.
 */
#include "random_program.h"

#include <machine/machine.h>

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* make: an executable of one segment that may be read, written and executed */
static int write_executable(const program *p, const char *path)
{
  enum { OFFSET = 0x1000 };
  Elf32_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_EXEC,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_entry = CODE,
      .e_phoff = sizeof header,
      .e_ehsize = sizeof header,
      .e_phentsize = sizeof(Elf32_Phdr),
      .e_phnum = 1};
  Elf32_Phdr segment = {.p_type = PT_LOAD,
                        .p_offset = OFFSET,
                        .p_vaddr = BASE,
                        .p_filesz = END - BASE,
                        .p_memsz = END - BASE,
                        .p_flags = PF_R | PF_W | PF_X,
                        .p_align = 0x1000};
  uint8_t *bytes = make_bytes(p), first[OFFSET] = {0};
  memcpy(first, &header, sizeof header);
  memcpy(first + sizeof header, &segment, sizeof segment);
  FILE *file = fopen(path, "wb");
  bool ok =
      file && fwrite(first, sizeof first, 1, file) == 1 && fwrite(bytes, END - BASE, 1, file) == 1;
  ok = file && !fclose(file) && ok;
  free(bytes);
  if (!ok) fprintf(stderr, "qemu_gen: cannot write %s\n", path);
  return ok ? 0 : 4;
}

/* check */

static int complain(pop_error *error)
{
  fprintf(stderr, "qemu_gen: %s\n", pop_error_message(error));
  pop_error_free(error);
  return 1;
}

/* Only workers are translated: the supervisor starts one. */
static uint32_t add_supervisor(program *p)
{
  uint32_t entry = here(p);
  emit_li(p, 5, CODE);
  emit(p, isa_tile_op_word(TILE_RUN, 0, 5, 0));
  emit(p, isa_tile_op_word(TILE_WAIT, 0, 0, 0));
  return entry;
}

/* Runs the program on one tile up to its first ecall; its slots and registers to `dump`. */
static pop_error *run_on_machine(program *p, machine_engine engine, uint8_t *dump)
{
  pop_target target;
  POP_TRY(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  const pop_image_segment segments[] = {{.start = CODE, .size = 4 * CODE_WORDS, .executable = true},
                                        {.start = POOL, .size = END - POOL, .writable = true}};
  uint32_t entry = engine == MACHINE_INTERPRETER ? CODE : add_supervisor(p);
  uint8_t *bytes = make_bytes(p);
  pop_image image = {.base = BASE,
                     .size = END - BASE,
                     .bytes = bytes,
                     .entry = entry,
                     .segments = segments,
                     .num_segments = 2};
  machine *m;
  machine_options options = {.max_cycles_per_run = 1 << 30, .engine = engine};
  pop_error *error = machine_create(&target, &options, &m);
  if (!error) error = machine_load(m, &image, NULL);
  uint32_t event;
  if (!error) {
    pop_error *stopped = machine_run(m, 0, &event);
    if (machine_get_fault(m)->kind == MACHINE_FAULT_TRAP)
      pop_error_free(stopped);
    else
      error = stopped;
  }
  if (!error) error = machine_read(m, 0, SLOTS, dump, DUMP_BYTES);
  machine_free(m);
  free(bytes);
  return error;
}

static uint32_t word_at(const uint8_t *dump, size_t index)
{
  uint32_t word;
  memcpy(&word, dump + 4 * index, sizeof word);
  return word;
}

static void show_difference(const program *p, size_t index, uint32_t ours, uint32_t theirs)
{
  static const char *const parts[SLOT_WORDS] = {"x[rd]",  "f[rd]",  "fcsr",
                                                "stored", "stored", "stored"};
  if (index >= SLOT_WORDS * p->num_cases) {
    printf("final registers, word %zu: ours 0x%08x, qemu 0x%08x\n", index - SLOT_WORDS * MAX_CASES,
           ours, theirs);
    return;
  }
  size_t number = index / SLOT_WORDS;
  printf("case %zu, %s (word 0x%08x, code from 0x%x), %s: ours 0x%08x, qemu 0x%08x\n", number,
         p->cases[number].tested->mnemonic, p->cases[number].word, p->cases[number].pc,
         parts[index % SLOT_WORDS], ours, theirs);
}

static int compare(const program *p, const uint8_t *ours, const uint8_t *theirs)
{
  enum { MOST_SHOWN = 20 };
  size_t differences = 0;
  for (size_t i = 0; i < DUMP_BYTES / 4; i++) {
    if (word_at(ours, i) == word_at(theirs, i)) continue;
    if (differences++ < MOST_SHOWN) show_difference(p, i, word_at(ours, i), word_at(theirs, i));
  }
  printf("%zu cases, %zu instructions of code, %zu words differ\n", p->num_cases, p->count,
         differences);
  return differences != 0;
}

static int check_dump(program *p, machine_engine engine, const char *path)
{
  uint8_t *ours = pop_xcalloc(1, DUMP_BYTES), *theirs = pop_xcalloc(1, DUMP_BYTES + 1);
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(theirs, 1, DUMP_BYTES + 1, file) : 0;
  if (file) fclose(file);
  pop_error *error = run_on_machine(p, engine, ours);
  int status = 1;
  if (error)
    status = complain(error);
  else if (size != DUMP_BYTES)
    fprintf(stderr, "qemu_gen: %s has %zu bytes instead of %d\n", path, size, DUMP_BYTES);
  else
    status = compare(p, ours, theirs);
  free(ours);
  free(theirs);
  return status;
}

int main(int argc, char **argv)
{
  bool make = argc == 5 && !strcmp(argv[1], "make");
  bool translator = argc == 5 && !strcmp(argv[4], "translator");
  if ((!make && (argc != 5 || strcmp(argv[1], "check") != 0)) ||
      (!translator && strcmp(argv[4], "interpreter") != 0)) {
    fprintf(stderr, "usage: qemu_gen make|check <seed> <file> interpreter|translator\n");
    return 2;
  }
  enum { SHORT_CASES = 150 };
  program_options options = {.flags = !translator,
                             .max_cases = translator ? SHORT_CASES : MAX_CASES};
  program *p = make_program(strtoull(argv[2], NULL, 0), options);
  machine_engine engine = translator ? MACHINE_TRANSLATOR : MACHINE_INTERPRETER;
  int status = make ? write_executable(p, argv[3]) : check_dump(p, engine, argv[3]);
  free(p);
  return status;
}
