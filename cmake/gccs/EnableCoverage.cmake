# ENABLE_COVERAGE: compiles everything below with counters of what runs (gcov).
option(ENABLE_COVERAGE "count what runs" OFF)
if(ENABLE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
