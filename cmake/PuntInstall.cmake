# `cmake --install` puts the program, the library, its headers and a CMake package in place, so that
#   find_package(punt REQUIRED)
#   target_link_libraries(mine PRIVATE punt::punt)
# is all that an outside program needs.
include(CMakePackageConfigHelpers)

if(PUNT_BUILD_PROGRAM)
  install(TARGETS punt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Beside the program, where it looks for them (src/model/bundled_models.h).
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/punt OPTIONAL)
endif()
install(TARGETS punt_lib EXPORT punt-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/punt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The static library leaves ggml and libllama to its users, so they come along.
install(DIRECTORY ${PUNT_LLAMA_PREFIX}/lib ${PUNT_LLAMA_PREFIX}/include
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/punt/llama PATTERN pkgconfig EXCLUDE)
install(EXPORT punt-targets NAMESPACE punt:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/punt)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/punt-config.cmake.in
  ${PROJECT_BINARY_DIR}/punt-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/punt)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/punt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/punt-config.cmake ${PROJECT_BINARY_DIR}/punt-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/punt)
