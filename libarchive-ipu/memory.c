/* Memory categories and regions. */
#include <populus/memory.h>

static const struct {
  const char *key, *label;
} categories[POP_MEMORY_CATEGORY_COUNT] = {
#define POP_MEMORY_ROW(id, key, label) [id] = {key, label},
    POP_MEMORY_CATEGORIES(POP_MEMORY_ROW)
#undef POP_MEMORY_ROW
};

const char *pop_memory_category_key(pop_memory_category category)
{
  return (unsigned)category < POP_MEMORY_CATEGORY_COUNT ? categories[category].key : "?";
}

const char *pop_memory_category_label(pop_memory_category category)
{
  return (unsigned)category < POP_MEMORY_CATEGORY_COUNT ? categories[category].label : "?";
}

bool pop_memory_category_is_code(pop_memory_category category)
{
  switch (category) {
  case POP_MEMORY_CONTROL_CODE:
  case POP_MEMORY_VERTEX_CODE:
  case POP_MEMORY_INTERNAL_EXCHANGE_CODE:
  case POP_MEMORY_HOST_EXCHANGE_CODE:
  case POP_MEMORY_GLOBAL_EXCHANGE_CODE:
  case POP_MEMORY_SHARED_CODE_STORAGE:
    return true;
  default:
    return false;
  }
}

pop_memory_region pop_memory_region_of(const pop_target *target, uint32_t address)
{
  if (address >= pop_target_memory_end(target)) return POP_REGION_OVERFLOWED;
  return address >= target->interleaved_base ? POP_REGION_INTERLEAVED : POP_REGION_NON_INTERLEAVED;
}
