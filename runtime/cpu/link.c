/* Codelets in memory. The host objects of all codelets are linked anew for each load, so that their
 * static objects are as at the start, too. LLVM does it, in a thread that can be given up
 * (base/llvm_thread.h): if it has no memory, that is an error, and the process goes on. */
#include "cpu/cpu_private.h"

#include "base/library.h"
#include "base/llvm_thread.h"
#include "base/log.h"
#include "cpu/host_linker.h"
#include "host_linker_contract.h"

#include <dlfcn.h>
#include <gelf.h>
#include <populus/data_dir.h>
#include <stdlib.h>
#include <string.h>

struct host_code {
  const host_linker_interface *linker;
  linked_objects *linked;
};

typedef struct object_list {
  host_object *items;
  size_t count, capacity;
  pop_gp *library; /* compiled parts of the C++ library */
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

/* Static objects may have no constructors: they would not be run on a tile. popc says so when it
 * compiles for one. */
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

/* ---- symbols ---- */

static uintptr_t find_outside(const char *name)
{
  uintptr_t address = cpu_library_find(name);
  return address ? address : (uintptr_t)dlsym(RTLD_DEFAULT, name);
}

/* ---- in LLVM's thread ---- */

typedef struct link_call {
  cpu *c;
  const object_list *objects;
  pop_error *error;
} link_call;

/* The module is never unloaded, because LLVM does not support that. */
static pop_error *open_module(host_code *code)
{
  if (!llvm_thread_has_room())
    return pop_error_new(POP_ERROR_MEMORY,
                         "cannot load the linker of the CPU device: there is no memory for LLVM");
  char *path = pop_xasprintf("%s/populus-host-linker.so", pop_data_dir());
  const char *why;
  code->linker = library_load(path, RTLD_NOW | RTLD_LOCAL, "host_linker_module", &why);
  free(path);
  if (!code->linker)
    return pop_error_new(POP_ERROR_SYSTEM, "cannot load the linker of the CPU device: %s", why);
  if (strcmp(code->linker->contract, POPULUS_HOST_LINKER_CONTRACT) != 0)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "populus-host-linker.so in '%s' belongs to another build of Populus: "
                         "install it together with what uses it",
                         pop_data_dir());
  code->linker->set_fatal_handler(llvm_thread_give_up);
  return NULL;
}

static pop_error *failure(const host_code *code, char *text)
{
  bool no_memory = strcmp(text, HOST_LINKER_NO_MEMORY) == 0;
  pop_error *error = pop_error_new(no_memory ? POP_ERROR_MEMORY : POP_ERROR_LINK,
                                   "cannot link codelets for the CPU: %s", text);
  code->linker->forget(text);
  return error;
}

static pop_error *find_entries(cpu *c)
{
  for (size_t i = 0; i < c->program->num_entries; i++) {
    char *text = NULL;
    uintptr_t address = c->code->linker->address(c->code->linked, c->program->entries[i], &text);
    if (!address) return failure(c->code, text);
    c->entries[i].address = address;
  }
  return NULL;
}

static void open_inside(void *context)
{
  link_call *call = context;
  call->error = open_module(call->c->code);
}

static pop_error *link_objects(cpu *c, const object_list *objects)
{
  char *text = NULL;
  c->code->linker->set_fatal_handler(llvm_thread_give_up);
  c->code->linked = c->code->linker->link(objects->items, objects->count, find_outside, &text);
  return c->code->linked ? find_entries(c) : failure(c->code, text);
}

static void link_inside(void *context)
{
  link_call *call = context;
  call->error = link_objects(call->c, call->objects);
}

static void unlink_inside(void *context)
{
  host_code *code = context;
  code->linker->set_fatal_handler(llvm_thread_give_up);
  code->linker->destroy(code->linked);
}

/* ---- from outside ---- */

static pop_error *call_linker(void (*body)(void *), link_call *call)
{
  if (llvm_thread_call(LLVM_HOST_LINKER, body, call)) return call->error;
  call->c->code->linked = NULL; /* it may be half made */
  return pop_error_new(POP_ERROR_MEMORY, "cannot link codelets for the CPU: %s",
                       llvm_thread_error());
}

static pop_error *link_all(cpu *c, object_list *objects)
{
  link_call call = {.c = c, .objects = objects};
  POP_TRY(collect(c->program, objects));
  POP_TRY(call_linker(open_inside, &call));
  c->code->linker->prepare_thread();
  return call_linker(link_inside, &call);
}

pop_error *cpu_link(cpu *c)
{
  object_list objects = {0};
  if (c->program->num_entries == 0) return NULL;
  c->code = pop_xcalloc(1, sizeof *c->code);
  c->entries = pop_xcalloc(c->program->num_entries + 1, sizeof *c->entries);
  pop_error *error = link_all(c, &objects);
  pop_gp_free(objects.library);
  free(objects.items);
  if (error) cpu_unlink(c);
  return error;
}

void cpu_unlink(cpu *c)
{
  if (c->code && c->code->linked) (void)llvm_thread_call(LLVM_HOST_LINKER, unlink_inside, c->code);
  free(c->code);
  free(c->entries);
  c->code = NULL;
  c->entries = NULL;
}
