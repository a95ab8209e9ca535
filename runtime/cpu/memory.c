/* The memory of a program: reserves it, and fills it at the start. */
#include "cpu/cpu_private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* A field without elements may point at the end of the memory. */
enum { SPARE_BYTES = 64 };

uint64_t cpu_memory_bytes(const cpu_program *p)
{
  return p->memory_bytes;
}

pop_error *cpu_make_memory(cpu *c)
{
  const cpu_program *p = c->program;
  void *memory = mmap(NULL, p->memory_bytes + SPARE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return pop_error_new(POP_ERROR_MEMORY,
                         "no memory for the %llu bytes of the graph on the CPU: %s",
                         (unsigned long long)p->memory_bytes, strerror(errno));
  c->memory = memory;
  for (size_t i = 0; i < p->num_contents; i++)
    memcpy(c->memory + p->contents[i].at, p->bytes + p->contents[i].first, p->contents[i].size);
  for (size_t i = 0; i < p->num_pointers; i++) {
    uint8_t *target = c->memory + p->pointers[i].target;
    memcpy(c->memory + p->pointers[i].at, &target, sizeof target);
  }
  return NULL;
}

void cpu_free_memory(cpu *c)
{
  if (c->memory) munmap(c->memory, c->program->memory_bytes + SPARE_BYTES);
  c->memory = NULL;
}
