#ifndef POPLAR_SERIALIZATIONFORMAT_HPP
#define POPLAR_SERIALIZATIONFORMAT_HPP

namespace poplar
{

// Of Graph::serialize. Populus writes JSON; Binary (Cap'n Proto) throws.
enum class SerializationFormat { Binary, JSON };

} // namespace poplar

#endif
