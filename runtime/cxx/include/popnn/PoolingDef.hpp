// Kinds of pooling: populus/popnn_pooling.h.
#ifndef POPNN_POOLINGDEF_HPP
#define POPNN_POOLINGDEF_HPP

namespace popnn
{

enum class PoolingType { MAX, AVG, SUM };

} // namespace popnn

#endif
