# What an installed Populus needs so that others can build on it: the CMake package and pkg-config files.
