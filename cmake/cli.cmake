# The command tsr, in build/bin. It links the shared library and knows the public headers
# only, and finds the library by its own place, before and after it is installed.

# The expressions and the self-test have tensors of up to four dims.
if(TSR_MAX_NDIM AND TSR_MAX_NDIM LESS 4)
    return()
endif()

file(GLOB cli_sources CONFIGURE_DEPENDS cli/*.c cli/*/*.c)
add_executable(tsr ${cli_sources})
target_link_libraries(tsr PRIVATE tsr_common opcheck tessera::tessera m ${CMAKE_DL_LIBS})
add_workloads(tsr)

# Sums that may be made in any order are said to be so in their loops (cli/wide.h).
check_c_compiler_flag(-fopenmp-simd TSR_HAVE_OPENMP_SIMD)
if(TSR_HAVE_OPENMP_SIMD)
    set_property(SOURCE cli/contrast.c cli/sums.c APPEND PROPERTY COMPILE_OPTIONS -fopenmp-simd -DTSR_CLI_SIMD
        $<$<C_COMPILER_ID:Clang,AppleClang>:-Wno-pass-failed>)
endif()
target_compile_options(tsr PRIVATE -Wconversion)
file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(tsr PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH ${own_place}/${lib_from_bin})

if(TSR_INSTALL)
    # Not there after a build of the libraries alone.
    install(TARGETS tsr RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command OPTIONAL)
    install(FILES docs/man/tsr.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
    install(FILES cli/completion/tsr.bash RENAME tsr
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
    install(FILES cli/completion/_tsr DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
    install(FILES cli/completion/tsr.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
            COMPONENT command)
endif()
