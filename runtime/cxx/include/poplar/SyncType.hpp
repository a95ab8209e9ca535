#ifndef POPLAR_SYNCTYPE_HPP
#define POPLAR_SYNCTYPE_HPP

namespace poplar
{

// Which others a tile waits for (populus/program.h: pop_sync_type).
enum class SyncType { INTERNAL, EXTERNAL, GLOBAL };

} // namespace poplar

#endif
