// [[poplar::constraint("elem(*a) != elem(*b)", …)]] on a vertex class or its compute(): the data of
// a and of b must lie in different memory elements; region(…) for regions of memory, == for the
// same one; ** if a field has rows.
//
// Clang drops attributes that it does not know. So a macro puts one that clang keeps beside each:
// popc finds `populus:constraint:elem(*a) != elem(*b)` in the syntax tree. The warning about the
// unknown attribute is at the user's `poplar`; it can only be switched off.
#ifndef POPLAR_CONSTRAINT_HPP
#define POPLAR_CONSTRAINT_HPP

#pragma clang diagnostic ignored "-Wunknown-attributes"

#define constraint(...)                                                                            \
  constraint(__VA_ARGS__), POPULUS_CONSTRAINT_COUNT(__VA_ARGS__, 6, 5, 4, 3, 2, 1, )(__VA_ARGS__)
#define POPULUS_CONSTRAINT_COUNT(a, b, c, d, e, f, n, ...) POPULUS_CONSTRAINT_##n
#define POPULUS_CONSTRAINT_1(a) clang::annotate("populus:constraint:" a)
#define POPULUS_CONSTRAINT_2(a, ...) POPULUS_CONSTRAINT_1(a), POPULUS_CONSTRAINT_1(__VA_ARGS__)
#define POPULUS_CONSTRAINT_3(a, ...) POPULUS_CONSTRAINT_1(a), POPULUS_CONSTRAINT_2(__VA_ARGS__)
#define POPULUS_CONSTRAINT_4(a, ...) POPULUS_CONSTRAINT_1(a), POPULUS_CONSTRAINT_3(__VA_ARGS__)
#define POPULUS_CONSTRAINT_5(a, ...) POPULUS_CONSTRAINT_1(a), POPULUS_CONSTRAINT_4(__VA_ARGS__)
#define POPULUS_CONSTRAINT_6(a, ...) POPULUS_CONSTRAINT_1(a), POPULUS_CONSTRAINT_5(__VA_ARGS__)

#endif
