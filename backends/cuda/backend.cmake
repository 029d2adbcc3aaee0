# The CUDA plugin: built wherever nvcc is found, for sm_80 and sm_90, with PTX for what comes after.
# cuBLASLt and cuDNN are looked for when they are first needed.

include(CheckCompilerFlag)
include(CheckLanguage)
if(NOT DEFINED TSR_CUDA)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        set(TSR_CUDA ON CACHE BOOL "Build the CUDA plugin")
    else()
        set(TSR_CUDA OFF CACHE BOOL "Build the CUDA plugin")
    endif()
endif()
if(NOT TSR_CUDA)
    return()
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90")
endif()
enable_language(CXX)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

file(GLOB tsr_cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c ${CMAKE_CURRENT_LIST_DIR}/*.cpp
     ${CMAKE_CURRENT_LIST_DIR}/*.cu)
add_backend(cuda ${tsr_cuda_sources})
target_include_directories(backend-cuda PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_compile_features(backend-cuda PRIVATE cxx_std_17)
set_target_properties(backend-cuda PROPERTIES
    CUDA_STANDARD 17 CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden
    CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}"
    BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}" INSTALL_RPATH "${CUDAToolkit_LIBRARY_DIR}")
# No fused multiply-adds but those that are written: random numbers have the CPU's bits.
target_compile_options(backend-cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>)
# Most of the file is code for devices: packed as small as nvcc can, where it has the choice (12.8 and later).
check_compiler_flag(CUDA -compress-mode=size TSR_CUDA_COMPRESSES)
if(TSR_CUDA_COMPRESSES)
    target_compile_options(backend-cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-compress-mode=size>)
endif()
target_link_libraries(backend-cuda PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
target_link_options(backend-cuda PRIVATE -Wl,--exclude-libs,ALL)
