# tsr-backend-check, in build/bin: does a backend do what the library asks of one? It links the
# static library, since it looks at a backend's own table too.

# Its tensors have up to eight dims.
if(TSR_MAX_NDIM AND TSR_MAX_NDIM LESS 8)
    return()
endif()
if(TSR_NO_THREADS)
    return()
endif()

file(GLOB backend_check_sources CONFIGURE_DEPENDS backend-check/*.c)
add_executable(tsr-backend-check ${backend_check_sources})
target_link_libraries(tsr-backend-check PRIVATE tsr_common opcheck tessera::tessera_static m ${CMAKE_DL_LIBS} Threads::Threads)
target_include_directories(tsr-backend-check PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(tsr-backend-check PRIVATE -Wconversion)
file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
target_compile_definitions(tsr-backend-check PRIVATE CHECK_LIB_FROM_BIN="${lib_from_bin}")
set_target_properties(tsr-backend-check PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(TSR_INSTALL)
    # Not there after a build of the libraries alone.
    install(TARGETS tsr-backend-check RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development OPTIONAL)
endif()
