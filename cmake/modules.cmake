# cdom_module, cdom_program and cdom_test: how a part of this project is declared.
#
# A module names its sources, its public headers, the modules of ours that it USES (the
# architecture: tools/check-includes holds every include against the same table) and the
# third-party libraries that it LINKS, which are always private. What nearly every file of a large
# module includes may be PRECOMPILED.
find_package(GTest REQUIRED)
include(GoogleTest)

add_library(cdom_options INTERFACE)
target_compile_options(cdom_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                              -Wno-sign-conversion -Wno-missing-field-initializers
                                              -Werror)
# Debian's cpprest defines U() and _XPLATSTR otherwise, which breaks other libraries.
target_compile_definitions(cdom_options INTERFACE _TURN_OFF_PLATFORM_STRING)
# Several sources compiled as one take half the time. A class of one of them then looks as if it came
# from a header.
if(CMAKE_UNITY_BUILD)
  target_compile_options(cdom_options INTERFACE -Wno-subobject-linkage)
endif()
# Sources compiled as one also come into a program as one: what of them it does not use is left out.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(cdom_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(cdom_options INTERFACE -Wl,--gc-sections)
endif()
if(CDOM_SANITIZE)
  # A look through a null pointer ends in the address sanitizer too, and these two checks cost the compiler a
  # quarter of its time. The check of vtables opens a pipe for each, and takes it for a wrong object
  # when the process has no file left.
  target_compile_options(cdom_options INTERFACE -fsanitize=${CDOM_SANITIZE} -fno-sanitize=null,alignment,vptr
                                                -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # A look into an optional without a value is inside its object, where no sanitizer minds.
  target_compile_definitions(cdom_options INTERFACE _GLIBCXX_ASSERTIONS)
  # What they add makes every program some 100 MB, over which ld takes its time.
  # mold 1.10 lets the part that becomes read-only begin a page too early where .tbss ends the page
  # before: such a program cannot be loaded ("cannot apply additional memory protection").
  target_link_options(cdom_options INTERFACE -fsanitize=${CDOM_SANITIZE} -fuse-ld=mold
                      -Wl,-z,norelro)
endif()

function(cdom_module name)
  cmake_parse_arguments(M "" "" "SOURCES;HEADERS;USES;LINKS;PRECOMPILED" ${ARGN})
  set(target cdom_${name})
  list(TRANSFORM M_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/compute_domain/${name}/)
  list(TRANSFORM M_USES PREPEND cdom_)
  add_library(${target} STATIC ${M_SOURCES})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                                  FILES ${M_HEADERS})
  # Every public header compiles alone: target all_verify_interface_header_sets.
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${M_USES} PRIVATE cdom_options ${M_LINKS})
  if(M_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${M_PRECOMPILED})
  endif()
endfunction()

function(cdom_program name)
  cmake_parse_arguments(P "" "" "SOURCES;USES;LINKS" ${ARGN})
  list(TRANSFORM P_USES PREPEND cdom_)
  add_executable(${name} ${P_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE cdom_options ${P_USES} ${P_LINKS} Threads::Threads)
  if(name MATCHES "^(compute-domain|kubectl)-")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endif()
endfunction()

# GCC 12 warns of strings that are neither uninitialized nor overlapping (GCC bugs 105562 and 105651).
add_library(cdom_optimised_test_options INTERFACE)
target_compile_options(cdom_optimised_test_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
target_link_libraries(cdom_optimised_test_options INTERFACE cdom_options GTest::gmock GTest::gtest
                                                            Threads::Threads)
# Few tests are waited for; all of them are compiled.
add_library(cdom_test_options INTERFACE)
target_compile_options(cdom_test_options INTERFACE -O0)
target_link_libraries(cdom_test_options INTERFACE cdom_optimised_test_options)

# What every test includes, compiled once.
file(CONFIGURE OUTPUT test_headers.cpp CONTENT "")
add_library(cdom_test_headers STATIC EXCLUDE_FROM_ALL
            ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(cdom_test_headers PRIVATE cdom_test_options)
target_precompile_headers(cdom_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <map> <optional>
                                                    <string> <vector>)

# The programs of tests, and those among them that have threads.
add_custom_target(all_tests)
add_custom_target(tsan_tests)
# What a GoogleTest program says whose filter finds nothing; it ends with 0 all the same.
set(CDOM_NO_TESTS "\\] 0 tests from")

# cdom_test(core SOURCES … USES core LINKS … LABELS tsan): the GoogleTest program test_core, each
# TEST a test of ctest; under a sanitizer, where a process takes long to start, the whole program is
# one. Label `tsan` is for what has threads. OPTIMISED: it computes for a while.
function(cdom_test name)
  cmake_parse_arguments(T "OPTIMISED" "TIMEOUT" "SOURCES;USES;LINKS;LABELS" ${ARGN})
  list(TRANSFORM T_USES PREPEND cdom_)
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${T_SOURCES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                  ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE ${T_USES} ${T_LINKS} cdom_source_tree GTest::gtest_main)
  if(T_OPTIMISED)
    target_link_libraries(test_${name} PRIVATE cdom_optimised_test_options)
  else()
    target_link_libraries(test_${name} PRIVATE cdom_test_options)
    target_precompile_headers(test_${name} REUSE_FROM cdom_test_headers)
  endif()
  add_dependencies(all_tests test_${name})
  if("tsan" IN_LIST T_LABELS)
    add_dependencies(tsan_tests test_${name})
  endif()
  # One label each: gtest_discover_tests keeps the first of a list only.
  string(JOIN "-" label ${name} ${T_LABELS})
  if(CDOM_SANITIZE)
    add_test(NAME test_${name} COMMAND test_${name} --gtest_brief=1)
    set_tests_properties(test_${name} PROPERTIES TIMEOUT 1500 LABELS ${label})
    if(T_OPTIMISED)
      set_tests_properties(test_${name} PROPERTIES COST 2)  # the longest begin first
    endif()
  else()
    gtest_discover_tests(test_${name} DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS ${label})
  endif()
endfunction()
