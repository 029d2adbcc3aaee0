/* dnn.cpp - cuDNN, opened by name if it is there; its graphs through the interface of its backend. */
#include "dnn.h"

#if TSRC_DNN

#include <cstring>


namespace tsrc {

/* The library -------------------------------------------------------------------------------------- */

Dnn dnn;

/* TSR_CUDA_DNN: 0, it is not used; 1, it is used for whatever it takes. */
static void open_dnn()
{
    const char *use = setting("TSR_CUDA_DNN"), *fast = setting("TSR_CUDA_TF32");
    if (use && use[0] == '0') return;
    dnn.fast = fast && fast[0] == '1';
    dnn.always = use && use[0] == '1';
#define X(function) TSRC_FUNCTION_OF(dnn, function)
    dnn.found = open_library("cudnn", CUDNN_MAJOR, { TSRC_DNN_FUNCTIONS(X) });
#undef X
}

bool dnn_is_open()
{
    static const bool tried = (open_dnn(), true);
    return tried && dnn.found;
}

cudnnStatus_t dnn_handle(const Work &w, cudnnHandle_t *out)
{
    cudnnHandle_t &handle = dnn.handle[w.device];
    if (!handle) {
        const Beside beside;
        const cudnnStatus_t e = dnn.cudnnCreate(&handle);
        if (e != CUDNN_STATUS_SUCCESS) return e;
    }
    *out = handle;
    return dnn.cudnnSetStream(handle, w.stream);
}

bool dnn_type(tsr_dtype dtype, cudnnDataType_t *out)
{
    switch (dtype) {
    case TSR_F32: *out = CUDNN_DATA_FLOAT; return true;
    case TSR_F16: *out = CUDNN_DATA_HALF; return true;
    case TSR_BF16: *out = CUDNN_DATA_BFLOAT16; return true;
    default: return false;
    }
}

/* Parts ---------------------------------------------------------------------------------------------- */

DnnGraph::~DnnGraph()
{
    while (part_count > 0) (void)dnn.cudnnBackendDestroyDescriptor(parts[--part_count]);
}

DnnPart DnnGraph::make(cudnnBackendDescriptorType_t type)
{
    DnnPart part = nullptr;
    good = good && part_count < MOST_PARTS &&
           dnn.cudnnBackendCreateDescriptor(type, &part) == CUDNN_STATUS_SUCCESS;
    if (good) parts[part_count++] = part;
    return part;
}

void DnnGraph::set(DnnPart part, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                   int64_t count, const void *values)
{
    good = good && dnn.cudnnBackendSetAttribute(part, name, type, count, values) == CUDNN_STATUS_SUCCESS;
}

void DnnGraph::link(DnnPart part, cudnnBackendAttributeName_t name, DnnPart to)
{
    if (to) set(part, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
}

void DnnGraph::finish(DnnPart part) { good = good && dnn.cudnnBackendFinalize(part) == CUDNN_STATUS_SUCCESS; }

DnnPart DnnGraph::tensor(int64_t id, cudnnDataType_t type, int ndim, const int64_t *shape,
                         const int64_t *stride, DnnPlace place)
{
    const DnnPart t = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const bool passed = place == DNN_PASSED, number = place == DNN_NUMBER;
    const int64_t alignment = number ? 4 : 16;
    set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, ndim, shape);
    set(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, ndim, stride);
    set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    set(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &passed);
    set(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &number);
    finish(t);
    return t;
}

/* Ops ------------------------------------------------------------------------------------------------ */

void DnnGraph::pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t math, DnnPart x, DnnPart b, DnnPart t,
                         DnnPart y, int64_t axis)
{
    const DnnPart how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &math);
    if (axis >= 0) set(how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &axis);
    finish(how);
    const DnnPart op = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    link(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    link(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    link(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    link(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
    link(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    finish(op);
    ops[op_count++] = op;
}

void DnnGraph::matmul(DnnPart x, DnnPart y, DnnPart z)
{
    const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    const DnnPart how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    finish(how);
    const DnnPart op = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    link(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    link(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, x);
    link(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, y);
    link(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, z);
    finish(op);
    ops[op_count++] = op;
}

void DnnGraph::reduce(cudnnReduceTensorOp_t kind, DnnPart x, DnnPart z)
{
    const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    const DnnPart how = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set(how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &kind);
    set(how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    finish(how);
    const DnnPart op = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    link(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    link(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    link(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, z);
    finish(op);
    ops[op_count++] = op;
}

void DnnGraph::convolve(const DnnWindows &windows, DnnPart x, DnnPart w, DnnPart z)
{
    const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const float one = 1, none = 0;
    const int64_t n = windows.spatial;
    const DnnPart how = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n);
    set(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n, windows.pad_low);
    set(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n, windows.pad_high);
    set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n, windows.stride);
    set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n, windows.dilation);
    finish(how);
    const DnnPart op = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    set(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &none);
    link(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
    link(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    link(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    link(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, z);
    finish(op);
    ops[op_count++] = op;
}

/* Plans ---------------------------------------------------------------------------------------------- */

void dnn_forget(DnnPlan &plan)
{
    if (plan.part) (void)dnn.cudnnBackendDestroyDescriptor(plan.part);
    plan = DnnPlan();
}

static bool put(DnnPart part, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                const void *value)
{
    return dnn.cudnnBackendSetAttribute(part, name, type, 1, value) == CUDNN_STATUS_SUCCESS;
}

/* The plan of one engine that cuDNN proposes. */
static bool plan_of(cudnnHandle_t handle, DnnPart config, DnnPlan &plan)
{
    const cudnnBackendAttributeType_t part = CUDNN_TYPE_BACKEND_DESCRIPTOR;
    int64_t count = 0;
    bool good = dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan.part) ==
                CUDNN_STATUS_SUCCESS;
    good = good && put(plan.part, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &handle) &&
           put(plan.part, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, part, &config) &&
           dnn.cudnnBackendFinalize(plan.part) == CUDNN_STATUS_SUCCESS &&
           dnn.cudnnBackendGetAttribute(plan.part, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                        1, &count, &plan.room) == CUDNN_STATUS_SUCCESS;
    if (!good) dnn_forget(plan);
    return good;
}

/* Is one of the notes on an engine? Also where that cannot be said. */
bool DnnGraph::has_note(DnnPart config, uint32_t notes)
{
    enum { MOST = 32 };
    cudnnBackendNumericalNote_t of[MOST];
    DnnPart engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t count = 0;
    bool known = good && dnn.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                                      &engine) == CUDNN_STATUS_SUCCESS;
    known = known && dnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                  CUDNN_TYPE_NUMERICAL_NOTE, MOST, &count,
                                                  of) == CUDNN_STATUS_SUCCESS;
    for (int i = 0; known && i < count && i < MOST; i++)
        if (of[i] < 32 && notes >> of[i] & 1) return true;
    return !known;
}

int DnnGraph::proposals(cudnnHandle_t handle, cudnnBackendHeurMode_t mode, DnnPart graph, DnnPlan *out,
                        int most, uint32_t avoid)
{
    enum { MOST = 64 };
    DnnPart configs[MOST];
    int64_t count = 0;
    int found = 0;
    const DnnPart guess = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(guess, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(guess, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finish(guess);
    for (int i = 0; i < MOST; i++) configs[i] = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (!good || dnn.cudnnBackendGetAttribute(guess, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST, &count,
                                              configs) != CUDNN_STATUS_SUCCESS)
        return 0;
    for (int i = 0; i < count && i < MOST && found < most; i++)
        found += (!avoid || !has_note(configs[i], avoid)) && plan_of(handle, configs[i], out[found]);
    return found;
}

int DnnGraph::plans(cudnnHandle_t handle, DnnPlan *out, int most, uint32_t avoid)
{
    const DnnPart graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, op_count, ops);
    finish(graph);
    if (!good) return 0;
    const int found = proposals(handle, CUDNN_HEUR_MODE_A, graph, out, most, avoid);
    if (found == most) return found;
    return found + proposals(handle, CUDNN_HEUR_MODE_FALLBACK, graph, out + found, most - found, avoid);
}

cudnnStatus_t dnn_run(cudnnHandle_t handle, const DnnPlan &plan, int count, const int64_t *ids,
                      void *const *data, void *room)
{
    DnnPart pack = nullptr;
    cudnnStatus_t e = dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (e != CUDNN_STATUS_SUCCESS) return e;
    e = dnn.cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
    if (e == CUDNN_STATUS_SUCCESS)
        e = dnn.cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                                         count, data);
    if (e == CUDNN_STATUS_SUCCESS)
        e = dnn.cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                                         &room);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnBackendFinalize(pack);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnBackendExecute(handle, plan.part, pack);
    (void)dnn.cudnnBackendDestroyDescriptor(pack);
    return e;
}

} // namespace tsrc

#endif
