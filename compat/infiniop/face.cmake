add_face_library(infiniop infinirt compat/infiniop/infinirt.cpp)
add_face_library(infiniop infiniop
    compat/infiniop/attention.cpp
    compat/infiniop/blas.cpp
    compat/infiniop/descriptor.cpp
    compat/infiniop/elementwise.cpp
    compat/infiniop/loss.cpp
    compat/infiniop/matmul.cpp
    compat/infiniop/missing.cpp
    compat/infiniop/norm.cpp
    compat/infiniop/quant.cpp
    compat/infiniop/sample.cpp
    compat/infiniop/shape.cpp)
target_link_libraries(infiniop PUBLIC infinirt)

# libinfiniop finds libinfinirt beside itself, and libtessera where the build or the install put it.
set_target_properties(infiniop infinirt PROPERTIES
    BUILD_RPATH "${own_place};${PROJECT_BINARY_DIR}/lib" INSTALL_RPATH "${own_place};${own_place}/../../../..")

add_face_tests(test_infiniop_* infiniop)
list(APPEND faces infiniop)
