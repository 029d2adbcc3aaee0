# The checks of every op (opcheck/): `tsr selftest`, tests/net and tsr-backend-check are made of them.
# They know the public headers only, so that they serve programs with either library.
file(GLOB opcheck_sources CONFIGURE_DEPENDS opcheck/*.c)
add_library(opcheck STATIC EXCLUDE_FROM_ALL ${opcheck_sources})
target_link_libraries(opcheck PRIVATE tsr_common)
target_include_directories(opcheck PUBLIC ${PROJECT_SOURCE_DIR} PRIVATE $<TARGET_PROPERTY:tessera,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(opcheck PRIVATE $<TARGET_PROPERTY:tessera,INTERFACE_COMPILE_DEFINITIONS>)
target_compile_options(opcheck PRIVATE -Wconversion $<$<CONFIG:Release>:-O2>)
# gcc 13 at -O2 gives NaN for members of a struct of long doubles that were set to 0, where it converts a branch of
# the references' exact sums.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(opcheck PRIVATE -fno-if-conversion)
endif()
