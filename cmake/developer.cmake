# What the tests, examples and benchmarks share; a consumer of tev::tev meets none of it.

get_property(tev_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT tev_multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(TEV_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND TEV_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TEV_CCACHE})
endif()

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PCRE2 REQUIRED)
find_package(utf8proc REQUIRED)

# These two of g++ 12 misread std::string's own code (GCC bugs 105651 and 105329).
add_library(tev_warnings INTERFACE)
target_compile_options(tev_warnings INTERFACE -Wall -Wextra -Wno-psabi
                                              $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds>
                                              $<$<BOOL:${TEV_WARNINGS_AS_ERRORS}>:-Werror>)
