# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# What every target of ours has in common, and the two functions that make one.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# -g1: line tables are enough for a backtrace and keep static LLVM links quick.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1" CACHE STRING "" FORCE)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

find_program(INTERLOCK_CCACHE ccache)
if(INTERLOCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${INTERLOCK_CCACHE})
endif()

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(zstd REQUIRED)
find_path(INTERLOCK_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)

# How everything is compiled; InterlockCommon adds what everything links.
add_library(InterlockFlags INTERFACE)
target_compile_features(InterlockFlags INTERFACE cxx_std_20)
target_include_directories(InterlockFlags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
  ${INTERLOCK_EXPECTED_INCLUDE})
target_compile_options(InterlockFlags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers -fvisibility=hidden -fvisibility-inlines-hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections -fdata-sections>)
target_link_options(InterlockFlags INTERFACE -Wl,--gc-sections)
target_link_libraries(InterlockFlags INTERFACE nlohmann_json::nlohmann_json)
add_library(InterlockCommon INTERFACE)
target_link_libraries(InterlockCommon INTERFACE InterlockFlags fmt::fmt)

# interlock_add_library(InterlockFoo SOURCES a.cpp … [LINK InterlockBar …]): a static library with its alias
# interlock::Foo, position independent because libinterlock.so and the plugin are made of these.
function(interlock_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC InterlockCommon ${ARG_LINK})
  string(REGEX REPLACE "^Interlock" "" short ${name})
  add_library(interlock::${short} ALIAS ${name})
endfunction()

# interlock_add_gtest(name SOURCES a.cpp … [LINK …]): a GoogleTest program that ctest runs as one test.
function(interlock_add_gtest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE InterlockCommon ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()
