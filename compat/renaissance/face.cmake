# The face of Tech Renaissance: tensors, backends and tools of namespace tr, in libtech_renaissance.
set(renaissance_sources)
foreach(name bridge data utils tensor print backend random device_memory device_math device_shape device_nn
        device_steps cpu_elements cpu_shape cpu_file window cuda)
    list(APPEND renaissance_sources compat/renaissance/${name}.cpp)
endforeach()
add_face_library(renaissance tech_renaissance ${renaissance_sources})
# Otherwise a square root may set errno, and is not done in vectors.
set_source_files_properties(compat/renaissance/device_steps.cpp PROPERTIES COMPILE_OPTIONS -fno-math-errno)
add_face_tests(test_renaissance_* tech_renaissance)

add_executable(bench-renaissance EXCLUDE_FROM_ALL bench/faces/mlp.cpp)
target_link_libraries(bench-renaissance PRIVATE tsr_face tech_renaissance tessera)
set_target_properties(bench-renaissance PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
list(APPEND faces tech_renaissance)
