# libtessera.so and libtessera.a, from one set of position-independent objects.
include(CheckLinkerFlag)
include(CheckCSourceCompiles)

file(GLOB library_sources CONFIGURE_DEPENDS
     src/core/*.c src/backend/*.c src/ops/*.c src/cpu/*.c src/cpu/gemm/*.c src/cpu/nn/*.c src/cpu/conv/*.c src/cpu/fft/*.c
     src/cpu/factor/*.c src/cpu/image/*.c src/cpu/tuning/*.c src/io/*.c src/interop/*.c)

# What runs once per call loops over a handful of dims. Vector code for such loops, or a
# call of memcpy, costs more than it saves: stores of single dims do not forward to wide loads.
file(GLOB per_call_sources CONFIGURE_DEPENDS
     src/core/*.c src/backend/*.c src/ops/op.c src/ops/move.c src/ops/create.c
     src/ops/dispatch.c src/ops/elementwise.c src/ops/operands.c src/ops/reduce.c src/cpu/cpu_run.c src/cpu/reduce_run.c)
check_c_compiler_flag("-fno-tree-vectorize -fno-tree-loop-distribute-patterns" TSR_HAVE_SCALAR_LOOPS)
if(TSR_HAVE_SCALAR_LOOPS)
    set_source_files_properties(${per_call_sources} PROPERTIES
        COMPILE_OPTIONS "-fno-tree-vectorize;-fno-tree-loop-distribute-patterns")
endif()

include(cmake/isa.cmake)
include(cmake/compact.cmake)
add_library(tessera_objects OBJECT ${library_sources} ${isa_sources})
# Nothing is thrown through the library: a release needs no tables to unwind by. With debug
# information, debuggers have their own.
if(NOT TSR_SANITIZE)
    target_compile_options(tessera_objects PRIVATE $<$<CONFIG:Release>:-fno-asynchronous-unwind-tables>)
endif()
add_library(tessera SHARED $<TARGET_OBJECTS:tessera_objects>)
add_library(tessera_static STATIC $<TARGET_OBJECTS:tessera_objects>)
add_library(tessera::tessera ALIAS tessera)
add_library(tessera::tessera_static ALIAS tessera_static)

target_link_libraries(tessera_objects PRIVATE tsr_common)
target_compile_options(tessera_objects PRIVATE -Wconversion)
target_include_directories(tessera_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
set_target_properties(tessera_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden)

# Counters of lines and branches, for tools/coverage.sh. Whoever links the library links their runtime too.
# Kernels are optimized, or no test would end; elsewhere each condition is two branches, as it is written.
if(TSR_COVERAGE)
    set(plain_sources ${library_sources})
    list(FILTER plain_sources EXCLUDE REGEX "src/cpu/")
    set_property(SOURCE ${plain_sources} APPEND PROPERTY COMPILE_OPTIONS -O0)
    target_compile_options(tessera_objects PRIVATE --coverage -fprofile-update=prefer-atomic)
    foreach(target tessera tessera_static)
        target_link_options(${target} PUBLIC --coverage)
    endforeach()
endif()

# The library calls its own functions directly: nobody replaces them by preloading.
check_c_compiler_flag(-fno-semantic-interposition TSR_HAVE_NO_INTERPOSITION)
if(TSR_HAVE_NO_INTERPOSITION)
    target_compile_options(tessera_objects PRIVATE -fno-semantic-interposition)
endif()

# What headers and library must agree on is part of the installed package.
set(tessera_public_definitions)
if(TSR_MAX_NDIM)
    list(APPEND tessera_public_definitions TSR_MAX_NDIM=${TSR_MAX_NDIM})
endif()
if(TSR_NO_THREADS)
    list(APPEND tessera_public_definitions TSR_NO_THREADS)
endif()
target_compile_definitions(tessera_objects PRIVATE ${tessera_public_definitions} ${tessera_isa_definitions})
if(TSR_BLAS)
    set_property(SOURCE src/cpu/gemm/blas.c APPEND PROPERTY COMPILE_DEFINITIONS TSRI_BLAS_NAME="${TSR_BLAS}")
endif()

if(NOT TSR_EXTERNAL)
    set_property(SOURCE src/core/library.c APPEND PROPERTY COMPILE_DEFINITIONS TSRI_NO_EXTERNAL)
endif()

foreach(target tessera tessera_static)
    target_compile_definitions(${target} PUBLIC ${tessera_public_definitions})
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE
        $<BUILD_INTERFACE:tsr_common> m ${CMAKE_DL_LIBS} $<$<NOT:$<BOOL:${TSR_NO_THREADS}>>:Threads::Threads>)
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME tessera
        LINKER_LANGUAGE C
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endforeach()

# Versions with the same interface share a SONAME: before 1.0 those of one minor version, from then on those of
# one major version.
set(tessera_interface ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(tessera_interface 0.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(tessera PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${tessera_interface})

# Only tsr_ names leave the shared library.
set(version_script ${PROJECT_BINARY_DIR}/generated/tessera.map)
configure_file(src/tessera.map.in ${version_script} @ONLY)
check_linker_flag(C -Wl,--version-script=${version_script} TSR_HAVE_VERSION_SCRIPT)
if(TSR_HAVE_VERSION_SCRIPT)
    target_link_options(tessera PRIVATE -Wl,--version-script=${version_script})
    set_target_properties(tessera PROPERTIES LINK_DEPENDS ${version_script})
endif()

# Tables of kernels are pointers that move with the library: their relocations take 3 bytes packed, 24 if not.
check_linker_flag(C -Wl,-z,pack-relative-relocs TSR_HAVE_PACKED_RELOCATIONS)
if(TSR_HAVE_PACKED_RELOCATIONS)
    target_link_options(tessera PRIVATE -Wl,-z,pack-relative-relocs)
endif()

# Nothing is left undefined; with a sanitizer its runtime is, until the program is linked.
check_linker_flag(C -Wl,--no-undefined TSR_HAVE_NO_UNDEFINED)
if(TSR_HAVE_NO_UNDEFINED AND NOT TSR_SANITIZE)
    target_link_options(tessera PRIVATE -Wl,--no-undefined)
endif()
