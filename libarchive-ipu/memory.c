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

pop_memory_region pop_memory_region_of(const pop_target *target, uint32_t address)
{
  if (address >= pop_target_memory_end(target)) return POP_REGION_OVERFLOWED;
  return address >= target->interleaved_base ? POP_REGION_INTERLEAVED : POP_REGION_NON_INTERLEAVED;
}
