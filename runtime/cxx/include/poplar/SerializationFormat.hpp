#ifndef POPLAR_SERIALIZATIONFORMAT_HPP
#define POPLAR_SERIALIZATIONFORMAT_HPP

namespace poplar
{

// Of Graph::serialize: Binary is the same as JSON says, as CBOR.
enum class SerializationFormat { Binary, JSON };

} // namespace poplar

#endif
