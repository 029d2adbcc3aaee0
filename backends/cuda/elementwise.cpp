/* elementwise.cpp - from an elementwise op to its kernel. */
#include "cuda.h"
#include "each.h"

namespace tsrc {

static EachTable tables[CLASS_COUNT];

static void fill_tables()
{
    fill_each_f8(tables[CLASS_F8]);
    fill_each_f16(tables[CLASS_F16]);
    fill_each_bf16(tables[CLASS_BF16]);
    fill_each_f32(tables[CLASS_F32]);
    fill_each_f64(tables[CLASS_F64]);
    fill_each_complex(tables[CLASS_C64], tables[CLASS_C128]);
    fill_each_bool(tables[CLASS_BOOL]);
    fill_each_integers(tables);
}

static const EachTable *get_tables()
{
    static const bool filled = (fill_tables(), true);
    (void)filled;
    return tables;
}

/* -1: there are no kernels. */
static int class_of(tsr_dtype dtype)
{
    static const signed char classes[TSR_DTYPE_COUNT] = {
        -1,        CLASS_BOOL, CLASS_I8,  CLASS_I16, CLASS_I32,  CLASS_I64, CLASS_U8,
        CLASS_U16, CLASS_U32,  CLASS_U64, CLASS_F8,  CLASS_F8,   CLASS_F16, CLASS_BF16,
        CLASS_F32, CLASS_F64,  -1,        CLASS_C64, CLASS_C128,
    };
    return static_cast<unsigned>(dtype) < TSR_DTYPE_COUNT ? classes[dtype] : -1;
}

static Each find_each(const tsr_op *op)
{
    if (op->kind == TSR_OP_WHERE) return where_each(0);
    const int c = class_of(op->in[0]->dtype);
    return c < 0 ? Each{ nullptr, 0 } : get_tables()[c][op->kind];
}

bool has_elementwise(const tsr_op *op) { return op->nin > 0 && op->in[0] && find_each(op).kernel; }

/* The slot of where's kernels: by size, and by parts where complex numbers are aligned so. */
static int where_slot(const tsr_loop *l, tsr_dtype dtype)
{
    const int size = tsrc_size(dtype);
    int slot = 0;
    while (1 << slot < size) slot++;
    if (kind_of(dtype) != TSR_COMPLEX || size == 16) return slot;
    for (int o = 0; o < 4; o++)
        if (o != 1 && !is_aligned(l, o, size)) return slot == 2 ? 5 : 6;
    return slot;
}

/* The operand of a loop is read across its memory, where long dims make that dear: its neighbours lie along
 * another dim than the result's do. */
static bool lies_across(const tsr_loop *l, int operand, int size)
{
    enum { LONG = 32, WORTH = 1 << 20 };
    const int inner = l->ndim - 1;
    if (inner < 1 || l->n[inner] < LONG || tsrc_count(l) < WORTH) return false;
    if (l->step[inner][operand] == size) return false;
    for (int d = 0; d < l->ndim; d++)
        if (l->step[d][operand] == 0) return false;
    for (int d = 0; d < inner; d++)
        if (l->step[d][operand] == size && l->n[d] >= LONG) return true;
    return false;
}

/* Packs operands that lie across: the copy reads them in tiles, and the op then in vectors. */
static tsr_status pack_across(const Work &w, tsr_loop *l, const tsr_tensor **tensors, tsr_tensor *views,
                              Scratch *const *rooms)
{
    bool some = false;
    for (int o = 1; o <= w.op->nin; o++) {
        const tsr_tensor *t = tensors[o];
        const int size = tsrc_size(t->dtype);
        if (!lies_across(l, o, size)) continue;
        if (rooms[o - 1]->take(size_t(numel(t)) * size_t(size)) != TSR_OK) continue; /* slower without */
        views[o] = packed(rooms[o - 1]->bytes(), t->dtype, t->ndim, t->shape);
        TSRC_TRY(copy(w, &views[o], t));
        tensors[o] = &views[o];
        some = true;
    }
    if (some) host->normalise(l, w.op->nin + 1, tensors);
    return TSR_OK;
}

struct Job {
    const Work *w;
    Each each;
    int size[TSRC_OPERANDS];
    EachArgs args;
};

static int run_part(const tsr_loop *part, void *context)
{
    Job *j = static_cast<Job *>(context);
    tsrc_nest_of(&j->args.nest, part, j->size, j->each.lanes);
    const uint32_t each = j->args.nest.per == 1 ? TSRC_EACH_AHEAD * TSRC_THREADS : TSRC_THREADS;
    return launch(*j->w, j->each.kernel, tsrc_blocks(j->args.nest.total, each), TSRC_THREADS, 0, j->args);
}

tsr_status run_elementwise(const Work &w)
{
    tsr_loop l;
    Job job;
    const tsr_op *op = w.op;
    const tsr_tensor *tensors[TSRC_OPERANDS];
    const tsr_pair_params *pair = static_cast<const tsr_pair_params *>(op->params);
    tsr_tensor views[TSRC_OPERANDS];
    Scratch first(w), second(w), third(w);
    Scratch *const rooms[] = { &first, &second, &third };
    tensors[0] = op->out[0];
    for (int i = 0; i < op->nin; i++) tensors[i + 1] = op->in[i];
    host->normalise(&l, op->nin + 1, tensors);
    if (l.ndim > 1) TSRC_TRY(pack_across(w, &l, tensors, views, rooms));
    job.w = &w;
    job.each = op->kind == TSR_OP_WHERE ? where_each(where_slot(&l, op->in[1]->dtype)) : find_each(op);
    for (int i = 0; i <= op->nin; i++) job.size[i] = tsrc_size(tensors[i]->dtype);
    job.args.a = pair ? pair->a : 0;
    job.args.b = pair ? pair->b : 0;
    job.args.flag = op->in[0]->dtype == TSR_F8E5M2;
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, run_part, &job));
}

} // namespace tsrc
