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
    target_link_libraries(bench-${name} PRIVATE opcheck tessera_static)
    target_include_directories(bench-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()

add_program(bench-ops bench/ops/main.c tessera_static)
add_workloads(bench-ops)

file(GLOB picture_sources CONFIGURE_DEPENDS cli/picture/*.c)
target_sources(bench-roofline PRIVATE ${picture_sources})

# What bench/peers/compare.py compares with, where it is installed: bench/peers/<name>.c.
function(add_peer name header library)
    find_path(TSR_PEER_${name}_INCLUDE ${header} PATH_SUFFIXES openblas-pthread openblas)
    find_library(TSR_PEER_${name}_LIBRARY NAMES ${library} PATH_SUFFIXES openblas-pthread)
    if(NOT TSR_PEER_${name}_INCLUDE OR NOT TSR_PEER_${name}_LIBRARY)
        message(STATUS "bench-peers: no headers of ${name}, left out")
        return()
    endif()
    add_executable(bench-peer-${name} EXCLUDE_FROM_ALL bench/peers/${name}.c)
    target_include_directories(bench-peer-${name} SYSTEM PRIVATE ${TSR_PEER_${name}_INCLUDE})
    target_compile_options(bench-peer-${name} PRIVATE -O2 ${ARGN})
    target_link_libraries(bench-peer-${name} PRIVATE ${TSR_PEER_${name}_LIBRARY} ${ARGN})
    set_target_properties(bench-peer-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    set_property(GLOBAL APPEND PROPERTY tsr_peers bench-peer-${name})
endfunction()
add_peer(openblas cblas.h openblas)
# oneDNN's dims are arrays of twelve; it reads as many as a desc has.
add_peer(onednn dnnl.h dnnl -fopenmp -Wno-stringop-overread)
get_property(peers GLOBAL PROPERTY tsr_peers)
add_custom_target(bench-peers DEPENDS bench-ops ${peers})
