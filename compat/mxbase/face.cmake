# The face of MxBase: libmxbase.so.
add_face_library(mxbase mxbase
    compat/mxbase/config.cpp
    compat/mxbase/device.cpp
    compat/mxbase/error.cpp
    compat/mxbase/files.cpp
    compat/mxbase/init.cpp
    compat/mxbase/json.cpp
    compat/mxbase/log.cpp
    compat/mxbase/memory.cpp
    compat/mxbase/model.cpp
    compat/mxbase/model_postprocess.cpp
    compat/mxbase/nms.cpp
    compat/mxbase/ops_element.cpp
    compat/mxbase/ops_reduce.cpp
    compat/mxbase/ops_shape.cpp
    compat/mxbase/postprocess.cpp
    compat/mxbase/stream.cpp
    compat/mxbase/strings.cpp
    compat/mxbase/tensor.cpp
    compat/mxbase/tensor_base.cpp
    compat/mxbase/tensor_buffer.cpp)
add_face_tests(test_mxbase_* mxbase)
list(APPEND faces mxbase)
if(TARGET backend-sim)
    add_dependencies(mxbase backend-sim)  # device 0 where there is no other
endif()
