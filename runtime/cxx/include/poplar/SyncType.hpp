#ifndef POPLAR_SYNCTYPE_HPP
#define POPLAR_SYNCTYPE_HPP

namespace poplar
{

// Whom tiles wait for (populus/program.h: pop_sync_type).
enum class SyncType { INTERNAL, EXTERNAL, GLOBAL };

} // namespace poplar

#endif
