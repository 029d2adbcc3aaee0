# Every test program, one per source file, in build/tests/<kind>/<name>. They link the
# static library, so they reach internal (tsri_) functions too. The target tests-<kind>
# builds all of a kind.
#
# A test takes longer to build at -O3 than it then saves. With a sanitizer, building unit tests
# is most of the work, and in the others it is the loops that they compare with.
option(TSR_FUZZER "tests/fuzz are programs of clang's libFuzzer" OFF)
set(TSR_TEST_OPTIMIZATION -O1 CACHE STRING "How a release compiles test programs")
set(sanitized_optimization_unit -O0)
set(sanitized_optimization_property -O2)
set(sanitized_optimization_ops -O2)

function(add_test_programs kind pattern)
    add_custom_target(tests-${kind})
    file(GLOB sources CONFIGURE_DEPENDS tests/${kind}/${pattern})
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        set(target ${kind}-${name})
        add_executable(${target} ${source})
        target_link_libraries(${target} PRIVATE tsr_common opcheck tessera_static m)
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${TSR_TEST_OPTIMIZATION}>)
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR})
        set_target_properties(${target} PROPERTIES
            OUTPUT_NAME ${name}
            SANITIZED_OPTIMIZATION "${sanitized_optimization_${kind}}"
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${kind})
        target_compile_definitions(${target} PRIVATE ${tessera_isa_definitions} TEST_PLUGINS="${PROJECT_BINARY_DIR}/lib/tessera"
            $<$<BOOL:${TSR_COVERAGE}>:TEST_COVERAGE>)
        if(TARGET backend-sim)
            add_dependencies(${target} backend-sim)
        endif()
        if(kind STREQUAL "fuzz")
            target_sources(${target} PRIVATE tests/fuzz/fuzz.c)
            if(TSR_FUZZER)
                target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
                target_link_options(${target} PRIVATE -fsanitize=fuzzer)
            else()
                target_compile_definitions(${target} PRIVATE TSR_FUZZ_MAIN)
            endif()
        endif()
        add_dependencies(tests-${kind} ${target})
        add_test(NAME ${kind}/${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endforeach()
endfunction()

add_test_programs(unit "test_*.c")
add_test_programs(property "*.c")
add_test_programs(ops "test_*.c")
add_test_programs(oom "*.c")
add_test_programs(fuzz "fuzz_*.c")
add_test_programs(net "test_*.c")

target_sources(net-test_net PRIVATE tests/net/net.c)
target_sources(fuzz-fuzz_ops PRIVATE tests/net/net.c)
target_sources(fuzz-fuzz_files PRIVATE tests/fuzz/repair.c)
target_sources(unit-test_hdf5 PRIVATE tests/fuzz/repair.c)
target_sources(unit-test_hdf5_odd PRIVATE tests/fuzz/repair.c)

# What reads input is followed by libFuzzer, and each of its comparisons. Of what runs ops it only counts the
# branches: numbers that are compared there are mostly elements. Kernels of portable.c, which a table chooses, would
# slow it down.
if(TSR_FUZZER)
    file(GLOB followed_sources CONFIGURE_DEPENDS src/core/*.c src/io/*.c src/interop/*.c)
    set_property(SOURCE ${followed_sources} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
    file(GLOB_RECURSE counted_sources CONFIGURE_DEPENDS src/backend/*.c src/ops/*.c src/cpu/*.c)
    list(FILTER counted_sources EXCLUDE REGEX "portable.*[.]c$")
    set_property(SOURCE ${counted_sources} APPEND PROPERTY COMPILE_OPTIONS
        -fsanitize-coverage=inline-8bit-counters,pc-table)
endif()

# The expressions of tsr eval, which find ops by their names in the program.
file(GLOB eval_sources CONFIGURE_DEPENDS cli/eval/*.c)
target_sources(fuzz-fuzz_eval PRIVATE ${eval_sources} cli/command.c cli/names.c opcheck/op_facts.c cli/room.c cli/subscript.c
    cli/terminal.c)
target_link_libraries(fuzz-fuzz_eval PRIVATE ${CMAKE_DL_LIBS})
target_include_directories(fuzz-fuzz_eval PRIVATE ${PROJECT_SOURCE_DIR})
set_target_properties(fuzz-fuzz_eval PROPERTIES ENABLE_EXPORTS ON)

# The commands that read and write files.
set(file_commands convert info stats command disk filename format histogram json json_tensor listing names numbers rename
    room source subscript summary sums table terminal text ticker tree)
list(TRANSFORM file_commands PREPEND cli/)
list(TRANSFORM file_commands APPEND .c)
target_sources(oom-test_disk_faults_cli PRIVATE ${file_commands} cli/convert/plan.c cli/convert/write.c)
