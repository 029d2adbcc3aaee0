# cmake --install: headers, both libraries, pkg-config `tessera`, and the CMake package
# `tessera` with tessera::tessera and tessera::tessera_static. The tree can be moved. What was not built is not
# installed.
#
# cmake --install build --component NAME: runtime (the shared library), development, command, opencl, cuda, compat.
# Devices for tests are not installed, but that sim comes with the faces, where it stands in for a device.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(TARGETS tessera tessera_static EXPORT tessera_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT tessera_targets FILE tesseraTargets.cmake NAMESPACE tessera:: DESTINATION ${package_dir}
        COMPONENT development)

configure_package_config_file(cmake/tesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may break programs.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

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
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

# make docs, if that was done: man pages.
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT development
        OPTIONAL)

# make package: archives of what is installed, and of the sources.
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
    set(CPACK_GENERATOR TGZ)
    set(CPACK_SOURCE_GENERATOR TGZ)
    set(CPACK_PACKAGE_VENDOR "The Tessera maintainers")
    set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
    set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
    set(CPACK_SOURCE_IGNORE_FILES "/build/;/[.]git/;/[.]git$;__pycache__")
    set(CPACK_STRIP_FILES ON)
    string(TOLOWER "tessera-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
    set(CPACK_SOURCE_PACKAGE_FILE_NAME tessera-${PROJECT_VERSION})
    include(CPack)
endif()
