/* Lists of vectors and their layouts: some codelets include them by this name. */
#ifndef POPLAR_VECTOR_LIST_TYPES_HPP
#define POPLAR_VECTOR_LIST_TYPES_HPP

#include <poplar/FieldTypes.hpp>

#endif
