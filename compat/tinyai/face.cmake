# The face of TinyAI: tiny::Tensor and tiny::Mat, and the C interface of its earlier version. The
# tensor is all in its header; what computes lies in libtinyai, shared and static.
set(tinyai_sources compat/tinyai/tensor_c.c compat/tinyai/kernels.c compat/tinyai/mat.cpp
    compat/tinyai/mat_linalg.cpp)
add_face_library(tinyai tinyai ${tinyai_sources})

add_library(tinyai_static STATIC ${tinyai_sources})
add_dependencies(faces tinyai_static)
target_link_libraries(tinyai_static PRIVATE tsr_face tessera)
target_include_directories(tinyai_static PUBLIC ${PROJECT_SOURCE_DIR}/compat/tinyai/include)
set_target_properties(tinyai_static PROPERTIES
    OUTPUT_NAME tinyai ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/compat/tinyai/lib
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)

add_face_tests(test_tinyai_* tinyai)
list(APPEND faces tinyai)
