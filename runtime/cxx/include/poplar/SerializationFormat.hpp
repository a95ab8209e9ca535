#ifndef POPLAR_SERIALIZATIONFORMAT_HPP
#define POPLAR_SERIALIZATIONFORMAT_HPP

namespace poplar
{

// For Graph::serialize, Binary is the contents of the JSON as CBOR. For Graph::serializeTensors it
// is another format, which Graph::deserializeTensors reads.
enum class SerializationFormat { Binary, JSON };

} // namespace poplar

#endif
