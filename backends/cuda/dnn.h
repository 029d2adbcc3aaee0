/* dnn.h - cuDNN, opened by name if it is there, and graphs of its ops with plans that carry them out. */
#ifndef TSRC_DNN_H
#define TSRC_DNN_H

#include "cuda.h"
#include "library.h"

#if __has_include(<cudnn.h>)
#define TSRC_DNN 1

#include <mutex>

#include <cudnn.h>

namespace tsrc {

/* The library -------------------------------------------------------------------------------------- */

#define TSRC_DNN_FUNCTIONS(X) \
    X(cudnnCreate) X(cudnnGetVersion) X(cudnnSetStream) X(cudnnBackendCreateDescriptor) \
    X(cudnnBackendDestroyDescriptor) X(cudnnBackendSetAttribute) X(cudnnBackendGetAttribute) \
    X(cudnnBackendFinalize) X(cudnnBackendExecute)

struct Dnn {
    bool found = false;
    TSRC_DNN_FUNCTIONS(TSRC_POINTER)
    cudnnHandle_t handle[MOST_DEVICES] = {};
    std::mutex lock; /* a handle has one stream at a time */
    bool fast = false;   /* f32 is multiplied as TF32 */
    bool always = false; /* whatever it takes, however small */
};

extern Dnn dnn;

bool dnn_is_open();

/* The device's handle, with the stream of the work; dnn.lock is held. */
cudnnStatus_t dnn_handle(const Work &w, cudnnHandle_t *out);

bool dnn_type(tsr_dtype dtype, cudnnDataType_t *out);

/* Graphs -------------------------------------------------------------------------------------------- */

using DnnPart = cudnnBackendDescriptor_t;

/* What a tensor of a graph is: memory of the caller, a number of the caller's, or what ops pass on. */
enum DnnPlace { DNN_MEMORY, DNN_NUMBER, DNN_PASSED };

/* The plan of a graph; part is NULL: none. */
struct DnnPlan {
    DnnPart part = nullptr;
    int64_t room = 0; /* bytes that it needs meanwhile */
};

struct DnnWindows {
    int64_t spatial, pad_low[3], pad_high[3], stride[3], dilation[3];
};

/* A graph that is put together. After a failure what follows does nothing. */
class DnnGraph {
  public:
    DnnGraph() = default;
    ~DnnGraph();
    DnnGraph(const DnnGraph &) = delete;
    DnnGraph &operator=(const DnnGraph &) = delete;

    /* Tensors are known by `id` when the plan runs; numbers have as many dims as others. */
    DnnPart tensor(int64_t id, cudnnDataType_t type, int ndim, const int64_t *shape, const int64_t *stride,
                   DnnPlace place);
    void pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t math, DnnPart x, DnnPart b, DnnPart t,
                   DnnPart y, int64_t axis = -1);
    void matmul(DnnPart x, DnnPart y, DnnPart z);
    void reduce(cudnnReduceTensorOp_t how, DnnPart x, DnnPart z);
    void convolve(const DnnWindows &windows, DnnPart x, DnnPart w, DnnPart z);

    /* The first `most` plans that cuDNN proposes and that work; returns how many. None has a note
     * (a cudnnBackendNumericalNote_t) whose bit is in `avoid`. */
    int plans(cudnnHandle_t handle, DnnPlan *out, int most, uint32_t avoid);

  private:
    DnnPart make(cudnnBackendDescriptorType_t type);
    void set(DnnPart part, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
             const void *values);
    void link(DnnPart part, cudnnBackendAttributeName_t name, DnnPart to);
    void finish(DnnPart part);
    int proposals(cudnnHandle_t handle, cudnnBackendHeurMode_t mode, DnnPart graph, DnnPlan *out, int most,
                  uint32_t avoid);
    bool has_note(DnnPart config, uint32_t notes);
    enum { MOST_PARTS = 384, MOST_OPS = 24 };
    DnnPart parts[MOST_PARTS], ops[MOST_OPS];
    int part_count = 0, op_count = 0;
    bool good = true;
};

void dnn_forget(DnnPlan &plan);

/* Runs a plan on tensors by id. */
cudnnStatus_t dnn_run(cudnnHandle_t handle, const DnnPlan &plan, int count, const int64_t *ids,
                      void *const *data, void *room);

} // namespace tsrc

#else
#define TSRC_DNN 0
#endif

#endif
