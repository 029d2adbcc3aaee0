/* op.h - how an operator of InfiniOP becomes a call of Tessera.
 *
 * A descriptor (struct InfiniopDescriptor) is the same for all groups: a tag that says which group it
 * is of, the descs of its tensors, and a few numbers. Creating one goes
 *
 *     Draft draft(TAG_Add, handle, desc_ptr, 1, { c, a, b });    // results first; NULL is refused
 *     draft.need(all floating, one dtype, one shape ...);
 *     return draft.finish();
 *
 * where the first thing that is wrong decides the status. Running one wraps the caller's pointers in
 * tensors on the stack and calls the op:
 *
 *     return run(desc, TAG_Add, stream, { c, a, b }, [](tsr_tensor **t, const InfiniopDescriptor &) {
 *         return tsr_add(&t[0], t[1], t[2]);
 *     });
 *
 * Nothing is allocated on the way, except where a pointer is not aligned for its dtype: then the op
 * works on a copy. */
#ifndef COMPAT_INFINIOP_OP_H
#define COMPAT_INFINIOP_OP_H

#include <cstdint>
#include <exception>
#include <initializer_list>

#include <tessera/tessera.h>

#include "device.h"
#include "infiniop.h"
#include "live.h"

/* As the original's Python front end sees it: some releases of that read and write these fields. */
struct InfiniopTensorDescriptor {
    infiniDtype_t dtype;
    size_t        ndim;
    size_t       *shape;
    ptrdiff_t    *strides;
    size_t        own_shape[TSR_MAX_NDIM];
    ptrdiff_t     own_strides[TSR_MAX_NDIM];
};

struct InfiniopHandle {
    infiniDevice_t device;
    int            device_id;
    tsr_device     where;
};

namespace face {

enum Tag : uint32_t {
    TAG_HANDLE = 1,
    TAG_TENSOR,
#define X(Name) TAG_##Name,
#include "groups.def"
#undef X
};

extern Live live; /* handles, tensor descriptors and descriptors, each with its tag */

enum { MAX_TENSORS = 13 };

} // namespace face

struct InfiniopDescriptor {
    infiniDevice_t device_type;
    int            device_id;
    face::Tag      tag;
    int32_t        count;                      /* of tensors */
    int32_t        results;                    /* of those, the first so many are written */
    tsr_device     where;
    uint32_t       given;                      /* bit i: tensor i is there */
    tsr_tensor     tensor[face::MAX_TENSORS];  /* placed, but for the address of its data */
    uint8_t        align[face::MAX_TENSORS];   /* that the address must have, less 1 */
    infiniDtype_t  dtype[face::MAX_TENSORS];
    double         number[4];
    int64_t        integer[16];
};

namespace face {

/* Dtypes that operators ask for, as sets. */
using Dtypes = uint32_t;
constexpr Dtypes set_of(infiniDtype_t d) { return 1u << (unsigned)d; }
constexpr Dtypes FLOATS = set_of(INFINI_DTYPE_F16) | set_of(INFINI_DTYPE_BF16) | set_of(INFINI_DTYPE_F32) |
                          set_of(INFINI_DTYPE_F64);
constexpr Dtypes SHORT_FLOATS = FLOATS & ~set_of(INFINI_DTYPE_F64);
constexpr Dtypes INTEGERS = set_of(INFINI_DTYPE_I8) | set_of(INFINI_DTYPE_I16) | set_of(INFINI_DTYPE_I32) |
                            set_of(INFINI_DTYPE_I64) | set_of(INFINI_DTYPE_U8) | set_of(INFINI_DTYPE_U16) |
                            set_of(INFINI_DTYPE_U32) | set_of(INFINI_DTYPE_U64);
constexpr Dtypes BYTES = set_of(INFINI_DTYPE_BYTE) | set_of(INFINI_DTYPE_U8) | set_of(INFINI_DTYPE_I8);
constexpr Dtypes UNSIGNED_BYTES = set_of(INFINI_DTYPE_BYTE) | set_of(INFINI_DTYPE_U8);
constexpr Dtypes NUMBERS = FLOATS | INTEGERS;
constexpr Dtypes ANY = ~0u;

/* Short names for long parameter lists: a tensor's descriptor, results and operands. */
using Handle = infiniopHandle_t;
using Desc = InfiniopDescriptor *;
using T = infiniopTensorDescriptor_t;
using P = void *;
using C = const void *;

/* A tensor that lives to the end of the block; passes as a handle to make or to read. */
class Temp {
public:
    Temp() = default;
    Temp(const Temp &) = delete;
    Temp &operator=(const Temp &) = delete;
    ~Temp() { tsr_release(&t_); }
    operator tsr_tensor *() const { return t_; }
    tsr_tensor *operator->() const { return t_; }
    tsr_tensor **operator&() { return &t_; }

private:
    tsr_tensor *t_ = nullptr;
};

/* The same on the stack, for views: no allocation. */
class View {
public:
    View() : t_(tsr_place_none(&placed_)) {}
    View(const View &) = delete;
    View &operator=(const View &) = delete;
    ~View() { tsr_release(&t_); }
    operator tsr_tensor *() const { return t_; }
    tsr_tensor *operator->() const { return t_; }
    tsr_tensor **operator&() { return &t_; }

private:
    tsr_tensor  placed_;
    tsr_tensor *t_;
};

/* A descriptor in the making. The first failure stays; later checks then do nothing. */
class Draft {
public:
    /* optional: bit i says that tensor i may be NULL. */
    Draft(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out, int results,
          std::initializer_list<infiniopTensorDescriptor_t> tensors, uint32_t optional = 0);

    bool good() const { return status_ == INFINI_STATUS_SUCCESS; }
    bool has(int i) const { return op.given >> i & 1; }
    const tsr_desc &operator[](int i) const { return op.tensor[i].desc; }
    tsr_desc &operator[](int i) { return op.tensor[i].desc; }
    int64_t dim(int i, int axis) const; /* negative axes count from the end; 0 if there is none */
    int dims(int i) const { return good() && has(i) ? op.tensor[i].ndim : 0; }

    Draft &need(bool condition, infiniStatus_t otherwise);
    Draft &dtypes(int i, Dtypes allowed);             /* BAD_TENSOR_DTYPE; skips what is not given */
    Draft &all_dtypes(Dtypes allowed);
    Draft &one_dtype(std::initializer_list<int> which); /* all of them the same */
    Draft &one_shape(std::initializer_list<int> which); /* BAD_TENSOR_SHAPE; skips what is not given */
    Draft &rank(int i, int least, int most);
    Draft &shape(int i, std::initializer_list<int64_t> sizes);
    Draft &scalar(int i);                             /* one element; its dims are dropped */
    Draft &expand(int i, int like);                   /* broadcasts tensor i to the shape of another */
    Draft &axis(int i, int64_t axis);                 /* BAD_PARAM unless tensor i has it */

    /* Would Tessera's op give tensor 0 from these others? Its failure is the status. */
    Draft &infer(tsr_op_kind kind, std::initializer_list<int> operands, const void *params);

    infiniStatus_t finish(); /* hands the descriptor over */

    InfiniopDescriptor op;

private:
    infiniStatus_t       status_;
    InfiniopDescriptor **out_;
};

/* Makes tensor i of a descriptor one of this desc. */
infiniStatus_t set_tensor(InfiniopDescriptor *op, int i, const tsr_desc &desc);

/* The caller's memory as tensor i of a descriptor. */
class Operand {
public:
    Operand() = default;
    Operand(const Operand &) = delete;
    Operand &operator=(const Operand &) = delete;
    ~Operand() { if (copy_) tsr_release(&copy_); }

    infiniStatus_t bind(const InfiniopDescriptor &op, int i, const void *data)
    {
        if (!(op.given >> i & 1)) return INFINI_STATUS_SUCCESS;
        if (!data || ((uintptr_t)data & op.align[i])) return bind_unusual(op, i, const_cast<void *>(data));
        place(op.tensor[i], const_cast<void *>(data));
        return INFINI_STATUS_SUCCESS;
    }
    infiniStatus_t write_back() { return copy_ ? write_copy() : INFINI_STATUS_SUCCESS; }
    tsr_tensor *tensor() { return tensor_; }

private:
    infiniStatus_t bind_unusual(const InfiniopDescriptor &op, int i, void *data); /* NULL, or not aligned */
    infiniStatus_t write_copy();

    /* A placed tensor with another address, without its checks: those were made once. */
    void place(const tsr_tensor &model, void *data)
    {
        placed_.data = data;
        placed_.storage = nullptr;
        placed_.dtype = model.dtype;
        placed_.ndim = model.ndim;
        for (int d = 0; d < model.ndim; d++) {
            placed_.shape[d] = model.shape[d];
            placed_.stride[d] = model.stride[d];
        }
        placed_.count = model.count;
        placed_.flags = model.flags;
        placed_.device = model.device;
        placed_.memory = model.memory;
        tensor_ = &placed_;
    }

    tsr_tensor      placed_;
    tsr_tensor     *tensor_ = nullptr;
    tsr_tensor     *copy_ = nullptr; /* what the op works on where data is not aligned */
    void           *data_;
    const tsr_desc *desc_;
};

/* Elements moved byte by byte, on the host: no alignment needed, nothing allocated. */
tsr_status copy_bytes(void *dst, const tsr_desc *dst_desc, const void *src, const tsr_desc *src_desc);

/* Is this a descriptor of that group, and not destroyed? */
inline infiniStatus_t check(const InfiniopDescriptor *desc, Tag tag)
{
    if (!desc) return INFINI_STATUS_NULL_POINTER;
    return live.kind(desc) == tag ? INFINI_STATUS_SUCCESS : INFINI_STATUS_BAD_PARAM;
}

/* Ops of this thread go to the stream while it lives; NULL is the current one. */
class OnStream {
public:
  OnStream(const InfiniopDescriptor &op, void *stream)
  {
      if (stream && op.where != TSR_CPU) use(op.where, stream);
  }
    ~OnStream() { if (changed_) restore(); }

private:
    void use(tsr_device where, void *stream);
    void restore();

    void      *before_ = nullptr;
    bool       changed_ = false;
    tsr_device where_ = TSR_CPU;
};

/* What body() returns; TSR_ENOMEM where a container of its own has no room: no exception may leave here. */
template <class Body>
tsr_status guarded(Body &&body, tsr_tensor **t, const InfiniopDescriptor &op)
{
    try {
        return body(t, op);
    } catch (const std::exception &) {
        return TSR_ENOMEM;
    }
}

/* body(tensors, descriptor) -> tsr_status; tensors[i] is NULL where it was not given. The descriptor was
 * checked, or is a copy of one that was. */
template <int N, class Body>
infiniStatus_t run_checked(const InfiniopDescriptor *desc, void *stream, const void *const (&data)[N],
                           Body &&body)
{
    Operand operand[N];
    tsr_tensor *t[N];
    for (int i = 0; i < N; i++) {
        FACE_TRY(operand[i].bind(*desc, i, data[i]));
        t[i] = operand[i].tensor();
    }
    OnStream on(*desc, stream);
    FACE_TRY(status_of(guarded(body, t, *desc)));
    for (int i = 0; i < desc->results; i++) FACE_TRY(operand[i].write_back());
    return INFINI_STATUS_SUCCESS;
}

template <int N, class Body>
infiniStatus_t run(const InfiniopDescriptor *desc, Tag tag, void *stream, const void *const (&data)[N],
                   Body &&body)
{
    FACE_TRY(check(desc, tag));
    return run_checked(desc, stream, data, body);
}

/* A tensor of the device that an op runs on, from numbers of the host. */
tsr_status small_tensor(tsr_tensor **out, const tsr_tensor *beside, tsr_dtype dtype, int64_t n,
                        const void *data);

/* log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold; x is f32 or f64. */
tsr_status softplus(tsr_tensor **out, const tsr_tensor *x, double beta, double threshold);

/* Numbers (..., k) as f32 from nibbles (..., k / 2), low ones first, and a scale for each 32 of them. */
tsr_status expand_mxfp4(tsr_tensor **out, const tsr_tensor *packed, const tsr_tensor *scales);

/* f64 for f64, f32 for all other floats: what composed operators compute in. */
inline tsr_dtype wide(const tsr_tensor *t) { return t->dtype == TSR_F64 ? TSR_F64 : TSR_F32; }

} // namespace face

#endif
