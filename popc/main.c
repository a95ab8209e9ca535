#include <populus/popc.h>

int main(int argc, char **argv)
{
  return popc_main(argc, argv);
}
