// names: reads names of the C interface from standard input, one a line, and prints them as
// messages to C++ programs name them. names --check: checks which words are names of the interface
// and which are the program's own.
#include <iostream>
#include <poplar/detail/Names.hpp>

using poplar::detail::inCxxNames;

static int failures;

static void check(const std::string &sentence, const std::string &expected)
{
  const std::string got = inCxxNames(sentence);
  if (got == expected) return;
  ++failures;
  std::cerr << "'" << sentence << "' becomes '" << got << "', not '" << expected << "'\n";
}

int main(int argc, char **)
{
  if (argc > 1) {
    check("pop_graph_add_variable: the shape is null", "Graph::addVariable: the shape is null");
    check("map them with pop_graph_set_tile_mapping or pop_graph_map_linearly",
          "map them with Graph::setTileMapping or poputil::mapTensorLinearly");
    check("the run was stopped (pop_engine_stop)", "the run was stopped (Engine::stop)");
    check("pop_program_if: program 'pop_program_if' is null",
          "program::If: program 'pop_program_if' is null");
    check("cannot read /tmp/pop_graph_add.a", "cannot read /tmp/pop_graph_add.a");
    check("popops::map and pop", "popops::map and pop");
    check("call pop_popops_add_codelets", "call popops::addCodelets");
    check("pop_popops_scaled_add_by: the scale", "popops::scaledAddTo: the scale");
    check("pop_poprand_draw: the bounds", "poprand: the bounds");
    check("", "");
    return failures != 0;
  }
  for (std::string name; std::getline(std::cin, name);) std::cout << inCxxNames(name) << "\n";
  return 0;
}
