# The workloads of bench-ops, which tsr bench runs too: add_workloads(TARGET) makes them part of a
# program.
file(GLOB bench_workload_sources CONFIGURE_DEPENDS bench/ops/*.c)
list(REMOVE_ITEM bench_workload_sources ${PROJECT_SOURCE_DIR}/bench/ops/main.c)
add_library(bench_workloads OBJECT EXCLUDE_FROM_ALL ${bench_workload_sources})
target_include_directories(bench_workloads PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(bench_workloads PRIVATE ${tessera_public_definitions})
target_link_libraries(bench_workloads PRIVATE tsr_common)

function(add_workloads target)
    find_package(Threads REQUIRED)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:bench_workloads>)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/bench/ops)
    target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()
