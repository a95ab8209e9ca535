/* Codelets in memory: the host objects of all codelets, linked anew for each load, so that what they keep
 * in static objects is as at the start, too. */
#include "cpu/cpu_private.h"

#include "base/log.h"
#include "cpu/host_linker.h"

#include <dlfcn.h>
#include <gelf.h>
#include <populus/data_dir.h>
#include <stdlib.h>
#include <string.h>

struct host_code {
  void *library;
  const host_linker_interface *linker;
  linked_objects *linked;
};

typedef struct object_list {
  host_object *items;
  size_t count, capacity;
  pop_gp *library; /* what the C++ library has compiled */
} object_list;

/* ---- objects ---- */

static void add_objects(const pop_gp *gp, object_list *list)
{
  for (size_t i = 0; i < pop_gp_num_host_objects(gp); i++) {
    host_object object = {.name = pop_gp_name(gp)};
    object.bytes = pop_gp_host_object(gp, i, &object.size);
    bool known = false;
    for (size_t j = 0; j < list->count && !known; j++)
      known = list->items[j].size == object.size &&
              memcmp(list->items[j].bytes, object.bytes, object.size) == 0;
    if (!known) pop_push(list->items, list->count, list->capacity, object);
  }
}

/* Constructors of static objects: nobody runs them on a tile, and popc says so when it compiles for one. */
static pop_error *check_no_constructors(const host_object *object)
{
  if (elf_version(EV_CURRENT) == EV_NONE) return NULL;
  Elf *elf = elf_memory((char *)object->bytes, object->size);
  bool found = false;
  for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    found |= gelf_getshdr(section, &header) && header.sh_type == SHT_INIT_ARRAY;
  }
  elf_end(elf);
  if (!found) return NULL;
  return pop_error_new(POP_ERROR_LINK,
                       "'%s' has static objects with constructors, which nobody runs on a device: "
                       "make them constexpr, or initialise them in a vertex",
                       object->name);
}

static pop_error *collect(const cpu_program *p, object_list *list)
{
  for (size_t i = 0; i < p->num_codelets; i++) add_objects(p->codelets[i], list);
  for (size_t i = 0; i < list->count; i++) {
    log_write(LOG_INFO, "ENGINE",
              "The CPU device runs the host code of '%s' (%zu bytes) in this process",
              list->items[i].name, list->items[i].size);
    POP_TRY(check_no_constructors(&list->items[i]));
  }
  char *path = pop_xasprintf("%s/host-library.gp", pop_data_dir());
  pop_error *error = pop_gp_read(path, &list->library);
  free(path);
  if (!error) add_objects(list->library, list);
  return error;
}

/* ---- the module ---- */

static pop_error *open_module(host_code *code)
{
  char *path = pop_xasprintf("%s/populus-host-linker.so", pop_data_dir());
  code->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (code->library) code->linker = dlsym(code->library, "host_linker_module");
  free(path);
  if (code->linker) return NULL;
  return pop_error_new(POP_ERROR_SYSTEM, "cannot load the linker of the CPU device: %s", dlerror());
}

static pop_error *failure(const host_code *code, char *text)
{
  pop_error *error = pop_error_new(POP_ERROR_LINK, "cannot link codelets for the CPU: %s", text);
  code->linker->forget(text);
  return error;
}

/* ---- symbols ---- */

static uintptr_t find_outside(const char *name)
{
  uintptr_t address = cpu_library_find(name);
  return address ? address : (uintptr_t)dlsym(RTLD_DEFAULT, name);
}

static pop_error *find_entries(cpu *c)
{
  const cpu_program *p = c->program;
  c->entries = pop_xcalloc(p->num_entries + 1, sizeof *c->entries);
  for (size_t i = 0; i < p->num_entries; i++) {
    char *text = NULL;
    uintptr_t address = c->code->linker->address(c->code->linked, p->entries[i], &text);
    if (!address) return failure(c->code, text);
    c->entries[i].address = address;
  }
  return NULL;
}

static pop_error *link_all(cpu *c)
{
  object_list list = {0};
  char *text = NULL;
  pop_error *error = collect(c->program, &list);
  if (!error) error = open_module(c->code);
  if (!error) {
    c->code->linked = c->code->linker->link(list.items, list.count, find_outside, &text);
    error = c->code->linked ? find_entries(c) : failure(c->code, text);
  }
  pop_gp_free(list.library);
  free(list.items);
  return error;
}

pop_error *cpu_link(cpu *c)
{
  if (c->program->num_entries == 0) return NULL;
  c->code = pop_xcalloc(1, sizeof *c->code);
  pop_error *error = link_all(c);
  if (error) cpu_unlink(c);
  return error;
}

/* The module stays: LLVM does not like to be unloaded. */
void cpu_unlink(cpu *c)
{
  if (c->code && c->code->linked) c->code->linker->destroy(c->code->linked);
  free(c->code);
  free(c->entries);
  c->code = NULL;
  c->entries = NULL;
}
