# examples/*.c and bench/*.c: each file is a program in build/bin. Examples link the
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
