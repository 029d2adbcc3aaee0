# What a release compiles for fewer bytes: where -O3 adds copies of loops, and little speed or none.
# A build with less optimisation to begin with keeps that.
if(NOT CMAKE_C_FLAGS_RELEASE MATCHES "-O3")
    return()
endif()

function(compile_compact)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
endfunction()

# What happens once per call and is not weighed in nanoseconds, and readers of files: for size, which saves
# a fifth. Those that walk elements or bytes themselves are not, nor is what every small product passes.
file(GLOB front_sources CONFIGURE_DEPENDS src/ops/*.c src/io/*.c src/interop/*.c)
list(REMOVE_ITEM front_sources ${per_call_sources})
list(FILTER front_sources EXCLUDE REGEX "ops/(compare|count|index|isin|mask|matmul)\\.c$|io/gguf_blocks\\.c$")
foreach(name columns cpus digits format log match match_parse match_text print)
    list(APPEND front_sources src/core/${name}.c)
endforeach()
set(byte_sources ${front_sources})
list(FILTER byte_sources INCLUDE REGEX "io/(crc|csv|decimal|deflate|hdf5_chunks|inflate|png|pnm|words)\\.c$")
list(REMOVE_ITEM front_sources ${byte_sources})
compile_compact(${byte_sources})
set_property(SOURCE ${front_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)

# The others that run once per call: their loops over dims end after one or two, so that sixteen copies
# of the body, one for each dim there could be, only push other code out of the caches.
set(compact_flags --param=max-completely-peel-times=4 -fno-unswitch-loops -fno-split-loops -fno-ipa-cp-clone)
check_c_compiler_flag("${compact_flags}" TSR_HAVE_COMPACT_FLAGS)
if(TSR_HAVE_COMPACT_FLAGS)
    set_property(SOURCE ${per_call_sources} src/ops/matmul.c
                 APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${compact_flags}>")
endif()
compile_compact(src/core/element.c)

# Kernels in plain C walk runs of known length, which become vectors at -O2 too; casts through a
# wide type are the exception, and small.
compile_compact(src/cpu/elementwise.c src/cpu/portable.c src/cpu/reduce.c src/cpu/gemm/pack.c src/cpu/index.c)
file(GLOB thick_isa_sources src/cpu/x86/elementwise_*.c src/cpu/x86/integer_*.c src/cpu/x86/cast_*.c
     src/cpu/x86/reduce_*.c src/cpu/x86/fft_*.c src/cpu/fft/fft_portable.c)
compile_compact(${thick_isa_sources})

# Rows of few elements: a pair of pointers that is loaded as one vector waits for the stores of both.
file(GLOB row_walk_sources src/cpu/x86/elementwise_*.c src/cpu/x86/integer_*.c src/cpu/x86/cast_*.c)
check_c_compiler_flag(-fno-tree-slp-vectorize TSR_HAVE_SCALAR_PAIRS)
if(TSR_HAVE_SCALAR_PAIRS AND row_walk_sources)
    set_property(SOURCE ${row_walk_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-tree-slp-vectorize)
endif()

# These have runs of unknown length too, which gcc leaves scalar at -O2 unless asked. Portable products of
# f32 are three times as fast so as at -O3, which mixes rows up in its vectors, and random numbers up to twice;
# rows of networks are a third smaller, and in AVX2 3 % slower where they are in the nearest cache.
file(GLOB row_sources src/cpu/x86/nn_*.c)
set(run_sources src/ops/compare.c src/ops/count.c src/ops/index.c src/ops/isin.c src/ops/mask.c src/io/gguf_blocks.c src/cpu/order.c src/cpu/linalg.c src/cpu/stage.c
    src/cpu/reduce_states.c src/cpu/draw.c src/cpu/conv/direct.c src/cpu/fft/parts.c src/cpu/fft/plan.c
    src/cpu/gemm/panels.c src/cpu/gemm/small.c src/cpu/gemm/gemm_portable.c
    ${row_sources}
    src/cpu/nn/class_loss.c src/cpu/nn/dropout.c src/cpu/nn/norm.c src/cpu/nn/rope.c src/cpu/nn/rows_portable.c
    src/cpu/nn/rows_run.c)
set(vector_runs -ftree-vectorize -fvect-cost-model=dynamic)
check_c_compiler_flag("${vector_runs}" TSR_HAVE_VECTOR_RUNS)
compile_compact(${run_sources})
if(TSR_HAVE_VECTOR_RUNS)
    set_property(SOURCE ${run_sources} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${vector_runs}>")
endif()

# Micro-kernels are unrolled by hand, but rows beside each other are loops of known length that have to be unrolled,
# and distances of prefetches that are 0 leave their loops. This much of -O3 is as fast, and an eighth smaller;
# factorisations are a seventh.
file(GLOB product_sources src/cpu/x86/gemm_avx2.c src/cpu/x86/gemm_avx512.c src/cpu/x86/gemm_vnni.c
     src/cpu/factor/factor.c)
set(unrolled_runs -fpeel-loops -funswitch-loops -fvect-cost-model=dynamic)
check_c_compiler_flag("${unrolled_runs}" TSR_HAVE_UNROLLED_RUNS)
if(TSR_HAVE_UNROLLED_RUNS AND product_sources)
    compile_compact(${product_sources})
    set_property(SOURCE ${product_sources} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${unrolled_runs}>")
endif()
