add_face_library(infiniop infinirt compat/infiniop/infinirt.cpp)
add_face_library(infiniop infiniop
    compat/infiniop/attention.cpp
    compat/infiniop/blas.cpp
    compat/infiniop/descriptor.cpp
    compat/infiniop/elementwise.cpp
    compat/infiniop/experts.cpp
    compat/infiniop/fp8.cpp
    compat/infiniop/functions.cpp
    compat/infiniop/image.cpp
    compat/infiniop/index.cpp
    compat/infiniop/layout.cpp
    compat/infiniop/loss.cpp
    compat/infiniop/marlin.cpp
    compat/infiniop/matmul.cpp
    compat/infiniop/norm.cpp
    compat/infiniop/pair_loss.cpp
    compat/infiniop/quant.cpp
    compat/infiniop/recurrent.cpp
    compat/infiniop/reduce.cpp
    compat/infiniop/sample.cpp
    compat/infiniop/shape.cpp
    compat/infiniop/sparse_attention.cpp)
target_link_libraries(infiniop PUBLIC infinirt)
add_face_library(infiniop infiniccl compat/infiniop/infiniccl.cpp)
target_link_libraries(infiniccl PUBLIC infinirt)

# Programs may include each group by itself, infiniop/ops/NAME.h. Groups that groups.h declares have no header
# of their own: these are made here, beside copies of the others.
set(infiniop_in_groups_h
    acos adaptive_avg_pool1d adaptive_avg_pool3d adaptive_max_pool1d addbmm addr affine_grid all argwhere
    asin asinh bitwise_right_shift block_diag broadcast_to causal_conv1d diff digamma dist embedding
    flash_attention flipud float_power floor floor_divide fmin fmod fp8_indexer_logits fp8_indexer_quant
    fp8_mla_rmsnorm_cache fp8_sparse_mla fused_moe_mxfp4 gaussian_nll_loss hinge_embedding_loss huber_loss
    hypot index_add index_copy inner interpolate kimi_delta_attention kron kthvalue ldexp lerp
    linear_mxfp4 logaddexp logaddexp2 logcumsumexp logdet mamba_selective_scan masked_select moe_align
    moe_fused_dense moe_fused_gate moe_sum moe_topk_sigmoid moe_topk_softmax mul_scalar multi_margin_loss
    pad prelu prepare_moe_input relu6 rwkv5_wkv scatter select_last_token_hidden selu sinh smooth_l1_loss
    softsign sum take tan tanhshrink topk triplet_margin_loss triplet_margin_with_distance_loss unfold
    upsample_bilinear upsample_nearest vander var var_mean)
set(infiniop_headers ${PROJECT_BINARY_DIR}/compat/infiniop/include)
if(IS_SYMLINK ${infiniop_headers})
    file(REMOVE ${infiniop_headers})
endif()
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/compat/infiniop/include
     compat/infiniop/include/*.h)
foreach(header IN LISTS headers)
    configure_file(${PROJECT_SOURCE_DIR}/compat/infiniop/include/${header} ${infiniop_headers}/${header} COPYONLY)
endforeach()
foreach(name IN LISTS infiniop_in_groups_h)
    file(CONFIGURE OUTPUT ${infiniop_headers}/infiniop/ops/${name}.h CONTENT "#include \"../groups.h\"\n" @ONLY)
endforeach()
if(TSR_INSTALL)
    install_with_face(infiniop ${infiniop_headers} compat/infiniop)
endif()

# libinfiniop and libinfiniccl find libinfinirt beside themselves, and libtessera where the build or the
# install put it.
set_target_properties(infiniop infinirt infiniccl PROPERTIES
    BUILD_RPATH "${own_place};${PROJECT_BINARY_DIR}/lib" INSTALL_RPATH "${own_place};${own_place}/../../../..")

add_face_tests(test_infiniop_* infiniop infiniccl)
list(APPEND faces infiniop)
