# The plugin opencl, where OpenCL's headers are. OpenCL itself is found at run time.
find_path(TSR_OPENCL_HEADERS CL/cl.h)
if(TSR_OPENCL_HEADERS)
    set(opencl_folder ${CMAKE_CURRENT_LIST_DIR})
    file(GLOB opencl_sources CONFIGURE_DEPENDS ${opencl_folder}/*.c)
    file(GLOB opencl_kernels CONFIGURE_DEPENDS ${opencl_folder}/kernels/*.cl)
    set(opencl_embedded ${PROJECT_BINARY_DIR}/generated/opencl_sources.c)
    add_custom_command(
        OUTPUT ${opencl_embedded}
        COMMAND ${CMAKE_COMMAND} -DOUT=${opencl_embedded} "-DFOLDER=${opencl_folder}/kernels"
                -P ${opencl_folder}/embed.cmake
        DEPENDS ${opencl_kernels} ${opencl_folder}/embed.cmake
        VERBATIM)
    add_backend(opencl ${opencl_sources} ${opencl_embedded})
    target_compile_definitions(backend-opencl PRIVATE _GNU_SOURCE)
    target_include_directories(backend-opencl PRIVATE ${opencl_folder})
    target_include_directories(backend-opencl SYSTEM PRIVATE ${TSR_OPENCL_HEADERS})
    target_link_libraries(backend-opencl PRIVATE ${CMAKE_DL_LIBS} m Threads::Threads)
else()
    message(STATUS "OpenCL's headers are not there: no opencl backend")
endif()
