# Builds and runs consumer/ with tev taken in by `way`; what it prints has to be `version`, the
# version that CMake knows.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure_consumer wanted result)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/build -G ${generator} -D
      CMAKE_CXX_COMPILER=${compiler} -D WAY=${way} -D TEV_SOURCE=${source} -D
      TEV_WANTED=${wanted} -D CMAKE_PREFIX_PATH=${work}/moved
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  set(${result} ${status} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${work})
string(REGEX MATCH "^[0-9]+\\.[0-9]+" series ${version})

if(way STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/installed)
  # A package must not remember where it was installed.
  file(RENAME ${work}/installed ${work}/moved)
  file(GLOB_RECURSE scripts ${work}/moved/*.cmake)
  foreach(script IN LISTS scripts)
    file(STRINGS ${script} remembered REGEX "${source}|${work}")
    if(remembered)
      message(FATAL_ERROR "${script} names a folder of this machine: ${remembered}")
    endif()
  endforeach()

  foreach(other IN ITEMS 0.0 0.2 1.0)
    configure_consumer(${other} status)
    if(status EQUAL 0)
      message(FATAL_ERROR "version ${version} was accepted where ${other} was asked for")
    elseif(NOT output MATCHES "compatible[ \n]+with requested")
      message(FATAL_ERROR "asking for ${other} failed for another reason:\n${output}")
    endif()
  endforeach()
endif()

configure_consumer(${series} status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the consumer could not be configured:\n${output}")
endif()
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)
if(NOT output STREQUAL "${version}\n")
  message(FATAL_ERROR "the headers say ${output}, CMake says ${version}")
endif()

# Nothing but the consumer is built: no test, no example, no benchmark.
file(GLOB_RECURSE objects ${work}/build/*.o)
list(LENGTH objects count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "2 objects expected: ${objects}")
endif()
