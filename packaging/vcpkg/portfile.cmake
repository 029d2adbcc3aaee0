# An overlay port of the tree that it is in: vcpkg install tessera --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES tool TSR_BUILD_CLI)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS ${options} -DTSR_CUDA=OFF -DTSR_BUILD_COMPAT=OFF -DTSR_BUILD_PYTHON=OFF -DTSR_BUILD_BACKENDS=OFF -DTSR_BUILD_TESTS=OFF
            -DTSR_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tessera)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES tsr AUTO_CLEAN)
endif()

# Both libraries are made of one build; the port has that of the triplet.
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    file(GLOB shared "${CURRENT_PACKAGES_DIR}/lib/libtessera.so*" "${CURRENT_PACKAGES_DIR}/debug/lib/libtessera.so*")
    file(REMOVE ${shared})
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
