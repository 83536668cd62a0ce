# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# What an embedder gets: libinterlock.so with its headers and the package `interlock` (target interlock::interlock), the
# plugin beside it, the tools. Components: runtime (what a serving image needs), compiler (the plugin, and interlock-opt:
# may be left out where the cache is warm), development (headers and package files).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH interlock_lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(interlock_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/interlock)

if(TARGET interlock)
  # What the library is made of, and our warning flags, are not its user's business.
  get_target_property(interlock_links interlock INTERFACE_LINK_LIBRARIES)
  if(interlock_links)
    list(TRANSFORM interlock_links REPLACE "^(Interlock[A-Za-z]+)$" "$<BUILD_INTERFACE:\\1>")
    set_property(TARGET interlock PROPERTY INTERFACE_LINK_LIBRARIES ${interlock_links})
  endif()
  # The public headers name tl::expected and nothing else that is not the standard library's.
  target_include_directories(interlock INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(interlock INTERFACE $<INSTALL_INTERFACE:tl::expected>)
  target_compile_features(interlock INTERFACE cxx_std_20)
  set_target_properties(interlock PROPERTIES INSTALL_RPATH "$ORIGIN")
  if(NOT TARGET interlock::interlock)
    add_library(interlock::interlock ALIAS interlock)
  endif()
  install(TARGETS interlock EXPORT InterlockTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
  install(DIRECTORY runtime/include/interlock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT InterlockTargets NAMESPACE interlock:: FILE interlockTargets.cmake
    DESTINATION ${interlock_package_dir} COMPONENT development)
  configure_package_config_file(cmake/interlockConfig.cmake.in ${PROJECT_BINARY_DIR}/interlockConfig.cmake
    INSTALL_DESTINATION ${interlock_package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/interlockConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/interlockConfig.cmake ${PROJECT_BINARY_DIR}/interlockConfigVersion.cmake
    DESTINATION ${interlock_package_dir} COMPONENT development)
  set(interlock_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH interlock_prefix_from_pc /${interlock_pc_dir} /)
  configure_file(cmake/interlock.pc.in ${PROJECT_BINARY_DIR}/interlock.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/interlock.pc DESTINATION ${interlock_pc_dir} COMPONENT development)
endif()

# interlock_install_program(target component): into bin/, finding its libraries in the lib/ beside it.
function(interlock_install_program target component)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${interlock_lib_from_bin}")
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  endif()
endfunction()
interlock_install_program(interlock-tool runtime)
interlock_install_program(interlock-hiprtc runtime)
interlock_install_program(interlock-opt compiler)
install(TARGETS scope-lint RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)

if(TARGET interlock_compiler)
  # Not exported: nobody links it, libinterlock.so opens it.
  set_target_properties(interlock_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS interlock_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
endif()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
