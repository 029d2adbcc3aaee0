# cmake --install: headers, both libraries, pkg-config `tessera`, and the CMake package
# `tessera` with tessera::tessera and tessera::tessera_static. The tree can be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(TARGETS tessera tessera_static EXPORT tessera_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tessera_targets FILE tesseraTargets.cmake NAMESPACE tessera:: DESTINATION ${package_dir})

configure_package_config_file(cmake/tesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break programs.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
        DESTINATION ${package_dir})

# tessera.pc finds its prefix from where it lies.
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
set(pc_cflags)
foreach(definition IN LISTS tessera_public_definitions)
    string(APPEND pc_cflags " -D${definition}")
endforeach()
set(pc_private -lm)
if(NOT TSR_NO_THREADS)
    string(APPEND pc_private " -pthread")
endif()
configure_file(cmake/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
