# The face of LLAISYS: libllaisys.so, which its Python package loads by name.
add_face_library(llaisys llaisys
    compat/llaisys/runtime.cpp compat/llaisys/tensor.cpp compat/llaisys/ops.cpp compat/llaisys/qwen2.cpp)
add_face_tests(test_llaisys_* llaisys)
list(APPEND faces llaisys)
