/* The layouts of poplar/FieldTypes.hpp that reach all memory of every target. A codelet that asks
 * for one takes another if it is not here. The others can still be used by name: SCALED_PTR32 and
 * DELTAN reach 256 KiB, SCALED_PTR64 512 KiB, and a tile of ipu2 has 624. */
#ifndef POPLAR_AVAILABLE_V_TYPES_H
#define POPLAR_AVAILABLE_V_TYPES_H

#define VECTOR_AVAIL_SPAN 1
#define VECTOR_AVAIL_ONE_PTR 1
#define VECTOR_AVAIL_SHORT_SPAN 1
#define VECTOR_AVAIL_SCALED_PTR128 1
#define VECTOR_AVAIL_COMPACT_PTR 1
#define VECTORLIST_AVAIL_ONE_PTR 1
#define VECTORLIST_AVAIL_COMPACT_DELTAN 1

#endif
