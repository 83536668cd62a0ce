# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# What the two dialects' build has in common: generated declarations, and reference pages made of the same ODS.

# interlock_dialect(Sync sync): generates Sync{Dialect,Enums,Attrs,Types,Ops}.{h,cpp}.inc from SyncOps.td beside it.
function(interlock_dialect name dialect)
  foreach(kind Dialect Enum Attr Type Op)
    set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
    set(suffix s)
    set(select "")
    if(kind STREQUAL Dialect)
      set(suffix "")
      set(select -dialect=${dialect})
    elseif(kind STREQUAL Enum AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}Enums.td)
      set(LLVM_TARGET_DEFINITIONS ${name}Enums.td) # enumerations cannot be selected by dialect
    elseif(kind STREQUAL Attr)
      set(select -attrdefs-dialect=${dialect})
    elseif(kind STREQUAL Type)
      set(select -typedefs-dialect=${dialect})
    endif()
    string(TOLOWER ${kind} flag)
    if(kind MATCHES "Attr|Type")
      set(flag ${flag}def)
    endif()
    mlir_tablegen(${name}${kind}${suffix}.h.inc -gen-${flag}-decls ${select})
    mlir_tablegen(${name}${kind}${suffix}.cpp.inc -gen-${flag}-defs ${select})
  endforeach()
  add_public_tablegen_target(Interlock${name}IncGen)
endfunction()

# The pages are committed in docs/dialects; a test compares them with what this target makes in build/docs/dialects.
function(interlock_dialect_docs)
  set(pages "")
  foreach(pair Sync=sync EP=ep)
    string(REGEX REPLACE "=.*" "" name ${pair})
    string(REGEX REPLACE ".*=" "" dialect ${pair})
    set(page ${PROJECT_BINARY_DIR}/docs/dialects/${name}.md)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.td)
    add_custom_command(
      OUTPUT ${page}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/docs/dialects
      COMMAND ${MLIR_TABLEGEN_EXE} -gen-dialect-doc -dialect=${dialect} ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}Ops.td
              -I ${MLIR_INCLUDE_DIRS} -I ${PROJECT_SOURCE_DIR} -o ${page}
      DEPENDS ${sources} VERBATIM)
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(interlock-dialect-docs ALL DEPENDS ${pages})
endfunction()
