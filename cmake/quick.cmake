# The first values of a build that takes seconds: cmake -C cmake/quick.cmake -B build/quick. Little
# optimisation, kernels in plain C, the CPU alone. `make demo` and `make check` use it.
set(CMAKE_C_FLAGS_RELEASE -O1 CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELEASE -O0 CACHE STRING "")
set(TSR_TEST_OPTIMIZATION -O0 CACHE STRING "")
foreach(isa AVX2 AVX512 VNNI BF16 AMX)
    set(TSR_HAVE_${isa} OFF CACHE BOOL "")
endforeach()
set(TSR_CUDA OFF CACHE BOOL "")
set(TSR_BUILD_COMPAT OFF CACHE BOOL "")
set(TSR_BUILD_PYTHON OFF CACHE BOOL "")
