# examples/*.c and bench/*.c: each file is a program in build/bin; bench/ops/*.c are one. Examples link the
# shared library, which proves that what it exports is enough.

function(add_program target source library)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE tsr_common ${library} m)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source IN LISTS example_sources)
    get_filename_component(name ${source} NAME_WE)
    add_program(${name} ${source} tessera)
endforeach()

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
foreach(source IN LISTS bench_sources)
    get_filename_component(name ${source} NAME_WE)
    add_program(bench-${name} ${source} tessera_static)
    target_include_directories(bench-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()

file(GLOB bench_ops_sources CONFIGURE_DEPENDS bench/ops/*.c)
add_program(bench-ops "${bench_ops_sources}" tessera_static)
if(NOT TSR_NO_THREADS)
    target_link_libraries(bench-ops PRIVATE Threads::Threads)
endif()

# bench-accuracy takes its exact values from MPFR and MPC where both are found.
find_path(TSR_MPC_INCLUDE mpc.h)
find_library(TSR_MPC_LIBRARY mpc)
find_library(TSR_MPFR_LIBRARY mpfr)
find_library(TSR_GMP_LIBRARY gmp)
if(TSR_MPC_INCLUDE AND TSR_MPC_LIBRARY AND TSR_MPFR_LIBRARY AND TSR_GMP_LIBRARY)
    target_compile_definitions(bench-accuracy PRIVATE TSR_MPFR)
    target_include_directories(bench-accuracy SYSTEM PRIVATE ${TSR_MPC_INCLUDE})
    target_link_libraries(bench-accuracy PRIVATE ${TSR_MPC_LIBRARY} ${TSR_MPFR_LIBRARY} ${TSR_GMP_LIBRARY})
else()
    message(STATUS "bench-accuracy: no MPFR and MPC, exact values from wider C types")
endif()
