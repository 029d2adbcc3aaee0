/* reduce.cpp - from a reduction to its passes. */
#include <cmath>
#include <cstring>

#include "cuda.h"
#include "reduce.h"

namespace tsrc {

/* What is accumulated ------------------------------------------------------------------------- */

struct Passes {
    int count;
    Accumulation kind[2];
    bool least, size;
    double p;
};

static void plan_norm(Passes &r, tsr_dtype dtype, double p)
{
    const bool wide = dtype == TSR_F64 || dtype == TSR_C128; /* the squares of the others fit f64 */
    r.p = p;
    r.size = true;
    r.least = p < 0;
    r.count = p == 0 || p == 1 || std::isinf(p) || (p == 2 && !wide) ? 1 : 2;
    r.kind[0] = p == 0            ? ACCUMULATE_NONZERO
                : p == 1          ? ACCUMULATE_ABS
                : p == 2 && !wide ? ACCUMULATE_SQUARES
                                  : ACCUMULATE_LARGEST;
    r.kind[1] = p == 2 ? ACCUMULATE_SQUARES : ACCUMULATE_POWERS;
}

static Passes passes_of(const tsr_op *op)
{
    const double a = static_cast<const tsr_reduce_params *>(op->params)->a;
    const bool truths = op->in[0]->dtype == TSR_BOOL;
    Passes r = {
        1, { ACCUMULATE_SUM, ACCUMULATE_SUM }, op->kind == TSR_OP_MIN || op->kind == TSR_OP_ARGMIN, false, 0
    };
    switch (op->kind) {
    case TSR_OP_PROD: r.kind[0] = ACCUMULATE_PROD; break;
    case TSR_OP_MAX:
    case TSR_OP_MIN: r.kind[0] = truths ? ACCUMULATE_NONZERO : ACCUMULATE_LARGEST; break;
    case TSR_OP_ANY:
    case TSR_OP_ALL:
    case TSR_OP_COUNT_NONZERO: r.kind[0] = ACCUMULATE_NONZERO; break;
    case TSR_OP_ARGMAX:
    case TSR_OP_ARGMIN: r.kind[0] = ACCUMULATE_FIND; break;
    case TSR_OP_NORM: plan_norm(r, op->in[0]->dtype, a); break;
    case TSR_OP_VAR:
    case TSR_OP_STD: /* f64 has no digits to spare for the mean on its way */
        r.count = kind_of(op->in[0]->dtype) == TSR_FLOATING && op->in[0]->dtype != TSR_F64 ? 1 : 2;
        r.p = a;
        r.kind[0] = r.count == 1 ? ACCUMULATE_MOMENTS : ACCUMULATE_SUM;
        r.kind[1] = ACCUMULATE_DEVIATIONS;
        break;
    case TSR_OP_LOGSUMEXP:
        r.count = 2;
        r.kind[0] = ACCUMULATE_LARGEST;
        r.kind[1] = ACCUMULATE_EXPS;
        break;
    default: break;
    }
    return r;
}

static Reducer reducer_for(Accumulation kind, tsr_dtype dtype)
{
    if (kind == ACCUMULATE_NONZERO) return nonzero_reducer(dtype);
    switch (kind_of(dtype)) {
    case TSR_FLOATING: return real_reducer(kind, dtype);
    case TSR_COMPLEX:
        return dtype == TSR_C32 ? Reducer{} : complex_reducer(kind, dtype);
    default: return integer_reducer(kind, dtype);
    }
}

/* Bits of an element, or of each part, that make it not zero: all but the signs of floats. */
static uint64_t mask_of(tsr_dtype dtype)
{
    const bool complex = kind_of(dtype) == TSR_COMPLEX, signs = complex || kind_of(dtype) == TSR_FLOATING;
    const int bits = 8 * tsrc_size(dtype) / (complex ? 2 : 1);
    const uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    return signs ? all >> 1 : all;
}

bool has_reduce(const tsr_op *op)
{
    if (op->nin < 1 || !op->in[0] || !op->params) return false;
    const Passes r = passes_of(op);
    for (int i = 0; i < r.count; i++)
        if (!reducer_for(r.kind[i], op->in[0]->dtype).accumulate) return false;
    return true;
}

/* Nests ---------------------------------------------------------------------------------------- */

/* x as its kept dims see it, and z beside it; or x as its reduced dims do. */
static void views_of(const tsr_op *op, tsr_tensor *z, tsr_tensor *kept, tsr_tensor *reduced)
{
    const tsr_reduce_params *p = static_cast<const tsr_reduce_params *>(op->params);
    const tsr_tensor *x = op->in[0], *out = op->out[0];
    int next = 0;
    *z = *out;
    *kept = *reduced = *x;
    z->ndim = kept->ndim = reduced->ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        tsr_tensor *t = p->axes >> d & 1 ? reduced : kept;
        t->shape[t->ndim] = x->shape[d];
        t->stride[t->ndim++] = x->stride[d];
        if (p->axes >> d & 1) {
            next += p->keepdims;
            continue;
        }
        z->shape[z->ndim] = x->shape[d];
        z->stride[z->ndim++] = out->stride[next++];
    }
}

/* Running ---------------------------------------------------------------------------------------- */

/* The kernel that accumulates as the plan says. */
static const void *kernel_of(const Reducer &reducer, const tsrc_reduction &r)
{
    return r.wide == 1 ? reducer.accumulate : r.wide == reducer.lanes ? reducer.columns : reducer.narrow;
}

static tsr_status queue_pass(const Work &w, const Reducer &reducer, ReduceArgs &a)
{
    Scratch states(w);
    const tsrc_reduction &r = a.plan;
    const size_t words = size_t(r.parts) * r.outputs * size_t(reducer.words);
    if (r.parts > 1) TSRC_TRY(states.take(words * sizeof(double)));
    a.states = r.parts > 1 ? states.as<double>() : nullptr;
    const uint32_t together = r.across * uint32_t(r.wide);
    const uint32_t blocks = tsrc_blocks(r.outputs, together) * r.parts;
    TSRC_TRY(launch(w, kernel_of(reducer, r), blocks, TSRC_THREADS, 0, a));
    if (r.parts == 1) return TSR_OK;
    const uint32_t each = r.parts <= TSRC_MOST_PARTS_BESIDE ? TSRC_MERGED_BESIDE : 1;
    return launch(w, reducer.merge, tsrc_blocks(r.outputs, each), TSRC_THREADS, 0, a);
}

/* Bytes of a result if `together` of them from any multiple of that on lie side by side, aligned; or 0. */
static int results_beside(const tsr_loop *kept, int size, int together)
{
    const int inner = kept->ndim - 1;
    if (together == 1 || inner < 0 || kept->step[inner][0] != size) return 0;
    uint64_t bits = reinterpret_cast<uintptr_t>(kept->data[0]);
    for (int d = 0; d < inner; d++) bits |= uint64_t(kept->step[d][0]);
    const int most = size * together < 16 ? size * together : 16;
    return bits % uint64_t(most) == 0 ? size : 0;
}

static tsr_status reduce_nests(const Work &w, const Passes &passes, const tsr_loop *kept,
                               const tsr_loop *reduced)
{
    const tsr_dtype dtype = w.op->in[0]->dtype;
    Scratch constants(w);
    ReduceArgs a;
    std::memset(&a, 0, sizeof a);
    a.op = w.op->kind;
    a.from = dtype;
    a.to = w.op->out[0]->dtype;
    a.flag = dtype == TSR_BF16 || dtype == TSR_F8E5M2 || kind_of(dtype) == TSR_SIGNED;
    a.least = passes.least;
    a.size = passes.size;
    a.p = passes.p;
    a.mask = mask_of(dtype);
    if (passes.count == 2) TSRC_TRY(constants.take(size_t(tsrc_count(kept)) * sizeof(Words)));
    for (int i = 0; i < passes.count; i++) {
        const Reducer reducer = reducer_for(passes.kind[i], dtype);
        a.kind = passes.kind[i];
        a.constants = i > 0 ? constants.as<Words>() : nullptr;
        a.next = i + 1 < passes.count ? constants.as<Words>() : nullptr;
        if (!tsrc_reduction_of(&a.plan, kept, reduced, tsrc_size(dtype), reducer.lanes))
            return say(TSR_EUNSUPPORTED, "%s: the operand's dims do not fit a kernel", w.name());
        a.beside = a.next ? 0 : results_beside(kept, tsrc_size(w.op->out[0]->dtype), a.plan.wide);
        TSRC_TRY(queue_pass(w, reducer, a));
    }
    return TSR_OK;
}

struct KeptJob {
    const Work *w;
    const Passes *passes;
    const tsr_loop *reduced;
};

/* A part of the outputs; their elements begin where the part's x does. */
static int reduce_part(const tsr_loop *part, void *context)
{
    const KeptJob *j = static_cast<const KeptJob *>(context);
    tsr_loop reduced = *j->reduced;
    const ptrdiff_t moved = static_cast<char *>(part->data[1]) - static_cast<char *>(j->w->op->in[0]->data);
    reduced.data[0] = static_cast<char *>(reduced.data[0]) + moved;
    return reduce_nests(*j->w, *j->passes, part, &reduced);
}

/* Can a loop of reduced dims go to a kernel? */
static bool fits(const tsr_loop *reduced)
{
    return reduced->ndim <= TSRC_DIMS && (reduced->ndim <= 1 || tsrc_count(reduced) <= TSRC_LIMIT);
}

/* x packed, so that its dims merge. */
static tsr_status reduce_packed(const Work &w)
{
    Scratch memory(w);
    const tsr_op *op = w.op;
    const tsr_reduce_params *p = static_cast<const tsr_reduce_params *>(op->params);
    const tsr_tensor *x = op->in[0];
    tsr_tensor view = *x;
    int order[TSR_MAX_NDIM], n = 0;
    int64_t shape[TSR_MAX_NDIM];
    for (int pass = 0; pass < 2; pass++) /* kept dims first, reduced ones behind */
        for (int d = 0; d < x->ndim; d++)
            if (int(p->axes >> d & 1) == pass) order[n++] = d;
    for (int i = 0; i < n; i++) {
        shape[i] = view.shape[i] = x->shape[order[i]];
        view.stride[i] = x->stride[order[i]];
    }
    TSRC_TRY(memory.take(size_t(numel(x)) * size_t(tsrc_size(x->dtype))));
    tsr_tensor all = packed(memory.bytes(), x->dtype, n, shape);
    TSRC_TRY(copy(w, &all, &view));
    tsr_tensor back = all;
    for (int i = 0; i < n; i++) {
        back.shape[order[i]] = all.shape[i];
        back.stride[order[i]] = all.stride[i];
    }
    tsr_op again = *op;
    again.in[0] = &back;
    const Work inner = { &again, w.device, w.stream };
    return run_reduce(inner);
}

tsr_status run_reduce(const Work &w)
{
    const tsr_op *op = w.op;
    tsr_tensor z, kept_x, reduced_x;
    tsr_loop kept, reduced;
    views_of(op, &z, &kept_x, &reduced_x);
    const tsr_tensor *const outputs[] = { &z, &kept_x };
    const tsr_tensor *const elements[] = { &reduced_x };
    host->normalise(&kept, 2, outputs);
    if (tsrc_count(&kept) == 0) return TSR_OK;
    if (kept.ndim == 1 && kept.n[0] == 1) kept.ndim = 0;
    if (op->kind == TSR_OP_ARGMAX || op->kind == TSR_OP_ARGMIN)
        tsrc_ordered(&reduced, 1, elements, 0);
    else
        host->normalise(&reduced, 1, elements);
    if (!fits(&reduced)) return reduce_packed(w);
    const Passes passes = passes_of(op);
    KeptJob job = { &w, &passes, &reduced };
    return static_cast<tsr_status>(tsrc_split(&kept, TSRC_DIMS, TSRC_LIMIT / 2, reduce_part, &job));
}

} // namespace tsrc
