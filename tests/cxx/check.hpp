// Checks for the C++ test programs. A program continues after a failed check; its exit status says
// whether all held.
#ifndef TESTS_CXX_CHECK_HPP
#define TESTS_CXX_CHECK_HPP

#include <iostream>
#include <poplar/exceptions.hpp>
#include <string>

static int failures;

#define CHECK(condition)                                                                           \
  ((condition)                                                                                     \
       ? (void)0                                                                                   \
       : (void)(++failures, std::cerr << __FILE__ << ":" << __LINE__ << ": " #condition "\n"))

// Checks that the call throws exactly this exception, with a message that has `words` and no name
// of the C interface.
#define CHECK_THROWS(exception, words, call)                                                       \
  do {                                                                                             \
    try {                                                                                          \
      call;                                                                                        \
      ++failures;                                                                                  \
      std::cerr << __FILE__ << ":" << __LINE__ << ": nothing thrown by " #call "\n";               \
    } catch (const exception &e) {                                                                 \
      if (typeid(e) != typeid(exception) ||                                                        \
          std::string(e.what()).find(words) == std::string::npos ||                                \
          std::string(e.what()).find("pop_") != std::string::npos ||                               \
          std::string(e.what()).find("POP_") != std::string::npos) {                               \
        ++failures;                                                                                \
        std::cerr << __FILE__ << ":" << __LINE__ << ": " << typeid(e).name() << ": " << e.what()   \
                  << "\n";                                                                         \
      }                                                                                            \
    }                                                                                              \
  } while (0)

#endif
