# How everything is compiled.
include(CheckCCompilerFlag)

# -O3 in Release (CMake's default), because the portable kernels are plain loops: gcc
# vectorises those that need a run-time check, for overlap or for the tail, only from -O3.
# A sanitizer build is a debug build that runs fast enough: -O1.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    if(TSR_SANITIZE)
        set(CMAKE_BUILD_TYPE Debug)
    else()
        set(CMAKE_BUILD_TYPE Release)
    endif()
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# Where a program or library is, for what it looks for beside itself.
set(own_place $ORIGIN)
if(APPLE)
    set(own_place @loader_path)
endif()

if(NOT TSR_NO_THREADS)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
endif()

# tsr_common: what every target of ours shares. Fused multiply-add would make results
# depend on the compiler, so it is used only where a kernel asks for it by name.
add_library(tsr_common INTERFACE)
target_compile_options(tsr_common INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -ffp-contract=off -fno-math-errno
    $<$<BOOL:${TSR_WERROR}>:-Werror>)
target_compile_definitions(tsr_common INTERFACE $<$<CONFIG:Debug>:TSR_DEBUG>)

# What the address sanitizer notices anyway, an access outside its object or through NULL, is not
# checked twice: that doubles the time a build takes. Lines are enough to find what failed.
# A target's property SANITIZED_OPTIMIZATION is used in place of -O1.
if(TSR_SANITIZE)
    set(own_optimization $<TARGET_PROPERTY:SANITIZED_OPTIMIZATION>)
    set(tsr_sanitize_options
        -fsanitize=${TSR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
        $<IF:$<BOOL:${own_optimization}>,${own_optimization},-O1> -g1)
    if(TSR_SANITIZE MATCHES "address" AND TSR_SANITIZE MATCHES "undefined")
        list(APPEND tsr_sanitize_options -fno-sanitize=object-size,null)
    endif()
    target_compile_definitions(tsr_common INTERFACE $<$<NOT:$<CONFIG:Debug>>:TSR_DEBUG>)
    target_compile_options(tsr_common INTERFACE
        ${tsr_sanitize_options})
    target_link_options(tsr_common INTERFACE -fsanitize=${TSR_SANITIZE})
endif()
