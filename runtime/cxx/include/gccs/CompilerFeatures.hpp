// Attributes of declarations.
#ifndef GCCS_COMPILERFEATURES_HPP
#define GCCS_COMPILERFEATURES_HPP

#define GC_DEPRECATED __attribute__((deprecated))

#endif
