# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# Run by ctest with BUILD, CONSUMER, ABI, EXAMPLE, GENERATOR, CC, CXX, PKG_CONFIG (may be empty) and
# WITH_COMPILER.

set(prefix ${BUILD}/install-test/prefix)
file(REMOVE_RECURSE ${BUILD}/install-test)

function(run what)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --strip)
run("configuring the consumer" ${CMAKE_COMMAND} -S ${CONSUMER} -B ${BUILD}/install-test/consumer -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${prefix})
run("building the consumer" ${CMAKE_COMMAND} --build ${BUILD}/install-test/consumer)
if(WITH_COMPILER)
  run("the consumer" ${BUILD}/install-test/consumer/consumer)
else()
  run("the consumer" ${BUILD}/install-test/consumer/consumer without-compiler)
endif()

# The C ABI: C11 and C++17 agree on every struct, and the guide's example runs.
run("configuring the C programs" ${CMAKE_COMMAND} -S ${ABI} -B ${BUILD}/install-test/abi -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC} -DCMAKE_PREFIX_PATH=${prefix} -DEXAMPLE=${EXAMPLE})
run("building the C programs" ${CMAKE_COMMAND} --build ${BUILD}/install-test/abi)
run("the C11 program" ${BUILD}/install-test/abi/abi_c)
set(sizes "${output}")
run("the C++17 program" ${BUILD}/install-test/abi/abi_cpp)
if(NOT sizes STREQUAL output OR sizes STREQUAL "")
  message(FATAL_ERROR "expected the structs of C11 and C++17 to have the same sizes, got\n${sizes}and\n${output}")
endif()
if(WITH_COMPILER)
  run("the guide's example" ${BUILD}/install-test/abi/embed)
endif()
if(PKG_CONFIG)
  file(GLOB_RECURSE pc ${prefix}/*/interlock.pc)
  cmake_path(GET pc PARENT_PATH pc)
  run("asking pkg-config" ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc} ${PKG_CONFIG} --cflags --libs interlock)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("building with pkg-config's flags" ${CC} -std=c11 ${ABI}/abi_c.c -o ${BUILD}/install-test/by-pc ${flags})
  file(GLOB_RECURSE library ${prefix}/*/libinterlock.so)
  cmake_path(GET library PARENT_PATH library)
  run("the program that pkg-config built" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library} ${BUILD}/install-test/by-pc)
endif()
run("the installed command" ${prefix}/bin/interlock targets)
if(WITH_COMPILER)
  run("the installed command with its plugin" ${CMAKE_COMMAND} -E env INTERLOCK_CACHE_DIR=${BUILD}/install-test/cache
    ${prefix}/bin/interlock compile --kernel dispatch --model deepseek-v3 --ranks 8 --tokens 64 --target sm_90a
    --emit ptx -o ${BUILD}/install-test/dispatch.ptx)
endif()

# A serving image with a warm cache takes this library alone.
file(GLOB_RECURSE library ${prefix}/*/libinterlock.so.*.*.*)
file(SIZE ${library} size)
if(size GREATER 5000000)
  message(FATAL_ERROR "expected a library of at most 5 MB without the compiler, got ${size} bytes")
endif()

# The installed files name neither the build's nor the source's folder.
file(GLOB_RECURSE package ${prefix}/*.cmake ${prefix}/*.pc)
foreach(file ${package})
  file(READ ${file} text)
  if(text MATCHES "${BUILD}/|${CONSUMER}")
    message(FATAL_ERROR "${file} names a folder of the build: an exported property needs BUILD_INTERFACE around it")
  endif()
endforeach()
file(REMOVE_RECURSE ${BUILD}/install-test)
