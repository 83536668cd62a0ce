# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# Run by ctest with BUILD, CONSUMER, GENERATOR, CXX and WITH_COMPILER.

set(prefix ${BUILD}/install-test/prefix)
file(REMOVE_RECURSE ${BUILD}/install-test)

function(run what)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
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
run("the installed command" ${prefix}/bin/interlock targets)
if(WITH_COMPILER)
  run("the installed command with its plugin" ${CMAKE_COMMAND} -E env INTERLOCK_CACHE_DIR=${BUILD}/install-test/cache
    ${prefix}/bin/interlock compile --kernel dispatch --model deepseek-v3 --ranks 8 --tokens 64 --target sm_90a
    --emit ptx -o ${BUILD}/install-test/dispatch.ptx)
endif()

# The installed files name neither the build's nor the source's folder.
file(GLOB_RECURSE package ${prefix}/*.cmake)
foreach(file ${package})
  file(READ ${file} text)
  if(text MATCHES "${BUILD}/|${CONSUMER}")
    message(FATAL_ERROR "${file} names a folder of the build: an exported property needs BUILD_INTERFACE around it")
  endif()
endforeach()
file(REMOVE_RECURSE ${BUILD}/install-test)
