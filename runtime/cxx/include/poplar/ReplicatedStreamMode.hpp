#ifndef POPLAR_REPLICATEDSTREAMMODE_HPP
#define POPLAR_REPLICATEDSTREAMMODE_HPP

namespace poplar
{

// Whether each replica has a stream of its own, or all get the same data.
enum class ReplicatedStreamMode { REPLICATE, BROADCAST };

} // namespace poplar

#endif
