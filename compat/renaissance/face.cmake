# The face of Tech Renaissance: tensors, backends and tools of namespace tr, in libtech_renaissance.
set(renaissance_sources)
foreach(name bridge data utils tensor print backend random device_memory device_math device_shape device_nn
        cpu_elements cpu_shape cpu_file window cuda)
    list(APPEND renaissance_sources compat/renaissance/${name}.cpp)
endforeach()
add_face_library(renaissance tech_renaissance ${renaissance_sources})
add_face_tests(test_renaissance_* tech_renaissance)
list(APPEND faces tech_renaissance)
