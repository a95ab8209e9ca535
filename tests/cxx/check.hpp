// Checks of the C++ test programs. A failed check does not stop the program; its exit status says
// whether all passed.
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

// The call throws exactly this exception. Its message has `words` and no name of the C interface.
#define CHECK_THROWS(exception, words, call)                                                       \
  do {                                                                                             \
    try {                                                                                          \
      call;                                                                                        \
      ++failures;                                                                                  \
      std::cerr << __FILE__ << ":" << __LINE__ << ": nothing thrown by " #call "\n";               \
    } catch (const exception &e) {                                                                 \
      if (typeid(e) != typeid(exception) ||                                                        \
          std::string(e.what()).find(words) == std::string::npos ||                                \
          std::string(e.what()).find("pop_") != std::string::npos) {                               \
        ++failures;                                                                                \
        std::cerr << __FILE__ << ":" << __LINE__ << ": " << typeid(e).name() << ": " << e.what()   \
                  << "\n";                                                                         \
      }                                                                                            \
    }                                                                                              \
  } while (0)

#endif
