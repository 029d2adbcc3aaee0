# Plugins, backends/<name>: <name>/backend.cmake builds it with add_backend below, into
# build/lib/tessera/libtessera-<name>.so, where the library looks for it. A plugin includes
# tessera/backend.h and links nothing of the library.

# add_backend(name source...): the target is backend-<name>.
function(add_backend name)
    add_library(backend-${name} MODULE ${ARGN})
    target_include_directories(backend-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    if(NOT "${ARGN}" MATCHES "[.]c(u|pp)(;|$)")
        target_link_libraries(backend-${name} PRIVATE tsr_common)
    endif()
    set_target_properties(backend-${name} PROPERTIES
        OUTPUT_NAME tessera-${name} PREFIX lib
        POSITION_INDEPENDENT_CODE ON
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tessera)
    target_compile_definitions(backend-${name} PRIVATE ${tessera_public_definitions})
    if(TSR_SANITIZE)
        target_link_options(backend-${name} PRIVATE -fsanitize=${TSR_SANITIZE})
    endif()
    add_dependencies(backends backend-${name})
    # Not null and sim, which are devices for tests.
    if(TSR_INSTALL AND NOT name MATCHES "^(null|sim)$")
        install(TARGETS backend-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera COMPONENT ${name} OPTIONAL)
    endif()
endfunction()

add_custom_target(backends)
file(GLOB backend_files CONFIGURE_DEPENDS backends/*/backend.cmake)
foreach(file IN LISTS backend_files)
    include(${file})
endforeach()
