# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# LLVM and MLIR 22, linked statically and hidden inside the plugin and interlock-opt.

set(INTERLOCK_LLVM_HINTS /usr/lib/llvm-22 CACHE STRING "Where LLVM and MLIR 22 are installed")
find_package(MLIR CONFIG HINTS ${INTERLOCK_LLVM_HINTS}/lib/cmake/mlir)
if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM and MLIR 22 were not found: run scripts/quickstart, which installs them, or set "
    "INTERLOCK_LLVM_HINTS, or build without the compiler by -DINTERLOCK_BUILD_COMPILER=OFF")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The packaged static MLIR archives name the shared LLVM as a dependency, which would put two LLVMs into one process.
# Point that target at a static archive; the component libraries below supply the rest.
foreach(config RELWITHDEBINFO RELEASE DEBUG NOCONFIG)
  set_target_properties(LLVM PROPERTIES IMPORTED_LOCATION_${config} ${LLVM_LIBRARY_DIR}/libLLVMSupport.a)
endforeach()
set_target_properties(LLVM PROPERTIES IMPORTED_LOCATION ${LLVM_LIBRARY_DIR}/libLLVMSupport.a)
foreach(library LLVMPasses LLVMExtensions LLVMLTO)
  get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
  string(REGEX REPLACE "(^|;)(Polly|PollyISL)" "" links "${links}")
  set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
endforeach()

# Every call of mlir_tablegen finds the headers of MLIR and ours.
list(APPEND LLVM_TABLEGEN_FLAGS -I ${MLIR_INCLUDE_DIRS} -I ${PROJECT_SOURCE_DIR})

find_program(INTERLOCK_LLD NAMES ld.lld HINTS ${INTERLOCK_LLVM_HINTS}/bin NO_DEFAULT_PATH)

# interlock_link_mlir(target LIBS MLIRx … COMPONENTS nvptxcodegen …): links them statically, unused parts dropped.
function(interlock_link_mlir target)
  cmake_parse_arguments(ARG "" "" "LIBS;COMPONENTS" ${ARGN})
  llvm_map_components_to_libnames(llvm_libs ${ARG_COMPONENTS})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} -Wl,--start-group ${llvm_libs} -Wl,--end-group)
  if(INTERLOCK_LLD)
    target_link_options(${target} PRIVATE -fuse-ld=lld -B${INTERLOCK_LLVM_HINTS}/bin)
  endif()
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
endfunction()

add_library(InterlockMLIRCommon INTERFACE)
# Before MLIR's own headers: see dialects/compat/mlir/Support/TypeID.h.
target_include_directories(InterlockMLIRCommon BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/dialects/compat)
target_include_directories(InterlockMLIRCommon SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(InterlockMLIRCommon INTERFACE ${PROJECT_BINARY_DIR})
target_compile_options(InterlockMLIRCommon INTERFACE -fno-rtti -fno-exceptions -Wno-unused-parameter)
target_link_libraries(InterlockMLIRCommon INTERFACE InterlockCommon)

# What the compiler uses of MLIR and LLVM; everything that links it names these.
set(INTERLOCK_MLIR_LIBS
  MLIRArithDialect MLIRArithToLLVM MLIRBuiltinToLLVMIRTranslation MLIRControlFlowDialect MLIRControlFlowToLLVM
  MLIRFuncDialect MLIRFuncInlinerExtension MLIRFuncToLLVM MLIRLLVMCommonConversion MLIRLLVMDialect
  MLIRLLVMToLLVMIRTranslation MLIRMathDialect MLIRMathToLLVM MLIRNVVMDialect MLIRNVVMToLLVMIRTranslation MLIRParser
  MLIRPass MLIRROCDLDialect MLIRROCDLToLLVMIRTranslation MLIRReconcileUnrealizedCasts MLIRSCFDialect MLIRSCFToControlFlow MLIRTransforms MLIRTransformUtils
  MLIRVectorDialect MLIRVectorToLLVM)
set(INTERLOCK_LLVM_COMPONENTS core nvptxcodegen nvptxdesc nvptxinfo amdgpuasmparser amdgpucodegen amdgpudesc amdgpudisassembler
  amdgpuinfo amdgpuutils binaryformat dtlto lto mc mcparser object option passes support target)

# lld as a library, by the archives' names: its exported targets name the shared LLVM.
add_library(InterlockLLD INTERFACE)
target_link_libraries(InterlockLLD INTERFACE ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a)
