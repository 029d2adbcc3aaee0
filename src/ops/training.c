/* training.c - steps of training on lists of tensors: all are checked, and then handed to the backend
 * at once, or one by one, or done with other ops. */
#include "training.h"
#include "backend/device_run.h"
#include "core/overlap.h"
#include "core/same_math.h"
#include "core/see.h"
#include "core/text.h"
#include "tessera/ops/training.h"

enum { LISTS = 4, GROUP = 64 }; /* ops that are handed over at once */

/* One call: `written` lists of results, which are operands too, and others. In the order of an op's operands;
 * result[i] is the operand that result i is. */
typedef struct stepping {
    tsr_op_kind kind;
    const char *name;
    int n, lists, nresults;
    int result[TSR_OP_MAX_OUT];
    const char *names[LISTS];
    tsr_tensor *const *list[LISTS];
    tsr_step_params params;
} stepping;

/* Checks --------------------------------------------------------------------------------- */

static bool is_written(const stepping *s, int list)
{
    for (int i = 0; i < s->nresults; i++)
        if (s->result[i] == list) return true;
    return false;
}

static tsr_status check_lists(const stepping *s)
{
    TSRI_CHECK(s->n >= 0, TSR_EINVAL, "%s: n is %d", s->name, s->n);
    for (int k = 0; k < s->lists; k++)
        TSRI_CHECK(s->list[k] || s->n == 0, TSR_ENULL, "%s: %s is NULL", s->name, s->names[k]);
    return TSR_OK;
}

static tsr_status check_written(const stepping *s, int k, int i)
{
    char what[40];
    const tsr_tensor *t = s->list[k][i];
    if (TSRI_LIKELY(!(t->flags & TSR_FLAG_READONLY) && tsri_is_packed(&t->desc))) return TSR_OK;
    tsri_text text = tsri_text_into(what, sizeof what);
    tsri_put(&text, "%s %d", s->names[k], i);
    return tsri_check_writable(s->name, what, t);
}

static tsr_status check_tensor(const stepping *s, int k, int i)
{
    const tsr_tensor *t = s->list[k][i];
    TSRI_TRY(tsri_check_of_list(s->name, s->names[k], i, t));
    TSRI_CHECK(t->dtype == TSR_F32 || t->dtype == TSR_F64 || t->dtype == TSR_F16 || t->dtype == TSR_BF16,
               TSR_EDTYPE, "%s: %s %d is %s; f16, bf16, f32 or f64 is needed (tsr_cast converts)", s->name,
               s->names[k], i, TSRI_DESC(&t->desc));
    return is_written(s, k) ? check_written(s, k, i) : TSR_OK;
}

/* Tensor i of list k beside those of the lists before it. */
static tsr_status check_beside(const stepping *s, int k, int i)
{
    const tsr_tensor *t = s->list[k][i], *first = s->list[0][i];
    TSRI_CHECK(tsr_desc_same_shape(&t->desc, &first->desc), TSR_ESHAPE, "%s: %s %d is %s and %s %d is %s",
               s->name, s->names[0], i, TSRI_DESC(&first->desc), s->names[k], i, TSRI_DESC(&t->desc));
    if (t->device != first->device) return tsri_fail_devices(s->name, first->device, t->device);
    for (int j = 0; j < k; j++) {
        const tsr_tensor *other = s->list[j][i];
        if (!is_written(s, j) && !is_written(s, k)) continue;
        TSRI_CHECK(!tsri_overlap(t->data, &t->desc, other->data, &other->desc), TSR_EOVERLAP,
                   "%s: %s %d and %s %d overlap", s->name, s->names[j], i, s->names[k], i);
    }
    return TSR_OK;
}

static tsr_status check_step(const stepping *s)
{
    TSRI_TRY(check_lists(s));
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->lists; k++) {
            TSRI_TRY(check_tensor(s, k, i));
            if (k > 0) TSRI_TRY(check_beside(s, k, i));
        }
    return TSR_OK;
}

/* In parts --------------------------------------------------------------------------------- */

/* A step in the wide dtype: operands converted, w[i] of operand i, and one more tensor. */
typedef struct wide_step {
    const tsr_step_params *p;
    tsr_tensor *w[LISTS], *more;
} wide_step;

static tsr_status with_number(tsr_tensor *out, tsr_op_kind kind, const tsr_tensor *x, double number)
{
    tsr_number n;
    const tsr_tensor *in[] = { x, tsr_number_init(&n, tsr_scalar_f64(number)) };
    return tsri_elementwise(&out, kind, NULL, 2, in);
}

static tsr_status times(tsr_tensor *out, const tsr_tensor *x, double factor)
{
    return with_number(out, TSR_OP_MUL, x, factor);
}

static tsr_status pair(tsr_tensor *out, tsr_op_kind kind, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsri_elementwise(&out, kind, NULL, 2, (const tsr_tensor *const[]){ x, y });
}

/* out = x * factor + y */
static tsr_status fma_number(tsr_tensor *out, const tsr_tensor *x, double factor, const tsr_tensor *y)
{
    tsr_number n;
    const tsr_tensor *in[] = { x, tsr_number_init(&n, tsr_scalar_f64(factor)), y };
    return tsri_elementwise(&out, TSR_OP_FMA, NULL, 3, in);
}

/* param = kept * param - rate * step */
static tsr_status move_param(const wide_step *s, const tsr_tensor *step)
{
    if (s->p->kept != 1) TSRI_TRY(times(s->w[0], s->w[0], s->p->kept));
    return fma_number(s->w[0], step, -s->p->rate, s->w[0]);
}

static tsr_status add_decay(const wide_step *s)
{
    return s->p->added != 0 ? fma_number(s->w[1], s->w[0], s->p->added, s->w[1]) : TSR_OK;
}

static tsr_status sgd(const wide_step *s)
{
    TSRI_TRY(add_decay(s));
    TSRI_TRY(fma_number(s->w[2], s->w[2], s->p->first, s->w[1]));
    if (s->p->nesterov) TSRI_TRY(fma_number(s->w[1], s->w[2], s->p->first, s->w[1]));
    return move_param(s, s->w[s->p->nesterov ? 1 : 2]);
}

static tsr_status add_moment(tsr_tensor *moment, double kept, const tsr_tensor *x)
{
    TSRI_TRY(times(moment, moment, kept));
    return fma_number(moment, x, 1 - kept, moment);
}

static tsr_status adam(const wide_step *s)
{
    tsr_tensor *g = s->w[1];
    TSRI_TRY(add_decay(s));
    TSRI_TRY(add_moment(s->w[2], s->p->first, g));
    TSRI_TRY(pair(g, TSR_OP_MUL, g, g));
    TSRI_TRY(add_moment(s->w[3], s->p->second, g));
    TSRI_TRY(times(g, s->w[3], s->p->scale));
    TSRI_TRY(tsri_elementwise(&g, TSR_OP_SQRT, NULL, 1, (const tsr_tensor *const[]){ g }));
    TSRI_TRY(with_number(g, TSR_OP_ADD, g, s->p->eps));
    TSRI_TRY(pair(g, TSR_OP_DIV, s->w[2], g));
    return move_param(s, g);
}

static tsr_status compute_wide(const wide_step *s, tsr_op_kind kind)
{
    switch (kind) {
    case TSR_OP_SCALE_EACH: return times(s->w[0], s->w[0], s->p->rate);
    case TSR_OP_AXPY_EACH:  return fma_number(s->w[0], s->w[1], s->p->rate, s->w[0]);
    case TSR_OP_SGD_STEP:   return sgd(s);
    default:                return adam(s);
    }
}

static tsr_dtype wide_dtype(const tsr_op *op)
{
    for (int i = 0; i < op->nin; i++)
        if (op->in[i]->dtype == TSR_F64) return TSR_F64;
    return TSR_F32;
}

static tsr_status widen(wide_step *s, const tsr_op *op)
{
    for (int i = 0; i < op->nin; i++) {
        tsr_desc d;
        TSRI_TRY(tsri_desc_packed(&d, "step", wide_dtype(op), op->in[i]->ndim, op->in[i]->shape));
        TSRI_TRY(tsri_make_beside(&s->w[i], "step", &d, op->in[i]));
        TSRI_TRY(tsri_copy_run(s->w[i], op->in[i]));
    }
    return TSR_OK;
}

/* The operand that a result is of: all but the gradient change. */
static int operand_of(int result) { return result ? result + 1 : 0; }

tsr_status tsri_step_parts(const tsr_op *op)
{
    wide_step s = { .p = op->params };
    tsr_status status = widen(&s, op);
    if (status == TSR_OK) status = compute_wide(&s, op->kind);
    for (int i = 0; i < op->nout && status == TSR_OK; i++)
        status = tsri_copy_run(op->out[i], s.w[operand_of(i)]);
    for (int i = 0; i < op->nin; i++) tsr_release(&s.w[i]);
    return status;
}

/* Results are as what they were made of. */
tsr_status tsri_infer_step(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params)
{
    static const int results[] = { [TSR_OP_SCALE_EACH - TSR_OP_SCALE_EACH] = 1,
                                   [TSR_OP_AXPY_EACH - TSR_OP_SCALE_EACH] = 1,
                                   [TSR_OP_SGD_STEP - TSR_OP_SCALE_EACH] = 2,
                                   [TSR_OP_ADAM_STEP - TSR_OP_SCALE_EACH] = 3 };
    const int n = results[kind - TSR_OP_SCALE_EACH], nin = kind == TSR_OP_SCALE_EACH ? 1 : n == 1 ? 2 : n + 1;
    (void)params;
    for (int i = 1; i < nin; i++)
        TSRI_CHECK(tsr_desc_same_shape(in[0], in[i]), TSR_ESHAPE, "%s: operands are %s and %s", name,
                   TSRI_DESC(in[0]), TSRI_DESC(in[i]));
    for (int i = 0; i < n; i++)
        TSRI_TRY(tsri_desc_packed(&out[i], name, in[operand_of(i)]->dtype, in[0]->ndim, in[0]->shape));
    return TSR_OK;
}

/* Running ------------------------------------------------------------------------------------ */

static tsr_status run_singly(const tsr_op *op)
{
    tsri_planned planned;
    if (!tsri_prefers_parts() && tsri_op_plan(&planned, op)) return tsri_planned_run(&planned, op);
    if (op->out[0]->device != TSR_CPU) tsri_count_in_parts(op->kind);
    return tsri_traits_of(op->kind)->parts(op);
}

static tsr_status run_group(int n, tsr_op *ops)
{
    tsr_status status = TSR_OK;
    if (n > 0 && !tsri_prefers_parts() && tsri_op_run_all(&status, n, ops)) return status;
    for (int i = 0; i < n && status == TSR_OK; i++) status = run_singly(&ops[i]);
    return status;
}

static void fill_op(tsr_op *op, const stepping *s, int i)
{
    *op = (tsr_op){ .kind = s->kind, .nin = s->lists, .nout = s->nresults, .params = &s->params };
    for (int k = 0; k < s->lists; k++) op->in[k] = s->list[k][i];
    for (int k = 0; k < s->nresults; k++) op->out[k] = s->list[s->result[k]][i];
}

/* Groups of those that have elements and lie on one device. */
static tsr_status run_step(const stepping *s)
{
    tsr_op ops[GROUP];
    int n = 0;
    TSRI_TRY(check_step(s));
    for (int i = 0; i < s->n; i++) {
        if (tsr_numel(s->list[0][i]) == 0) continue;
        if (n == GROUP || (n > 0 && ops[0].out[0]->device != s->list[0][i]->device)) {
            TSRI_TRY(tsri_as_of(s->name, run_group(n, ops)));
            n = 0;
        }
        fill_op(&ops[n++], s, i);
    }
    return tsri_as_of(s->name, run_group(n, ops));
}

/* The ops ---------------------------------------------------------------------------------------- */

/* Lists of tensors that are only read. */
static tsr_tensor *const *readable(const tsr_tensor *const *list)
{
    return (tsr_tensor *const *)(const void *)list;
}

tsr_status tsr_scale_each(int n, tsr_tensor *const *xs, double factor)
{
    return run_step(&(stepping){ .kind = TSR_OP_SCALE_EACH, .name = "scale_each", .n = n, .lists = 1,
                                 .nresults = 1, .names = { "xs" }, .list = { xs },
                                 .params = { .rate = factor } });
}

tsr_status tsr_axpy_each(int n, tsr_tensor *const *ys, const tsr_tensor *const *xs, double alpha)
{
    return run_step(&(stepping){ .kind = TSR_OP_AXPY_EACH, .name = "axpy_each", .n = n, .lists = 2,
                                 .nresults = 1, .names = { "ys", "xs" }, .list = { ys, readable(xs) },
                                 .params = { .rate = alpha } });
}

tsr_status tsr_sgd_step(int n, tsr_tensor *const *params, tsr_tensor *const *velocities,
                        const tsr_tensor *const *grads, double rate, double momentum, double decay,
                        bool nesterov, bool decoupled)
{
    return run_step(&(stepping){ .kind = TSR_OP_SGD_STEP, .name = "sgd_step", .n = n, .lists = 3,
                                 .nresults = 2, .result = { 0, 2 },
                                 .names = { "params", "grads", "velocities" },
                                 .list = { params, readable(grads), velocities },
                                 .params = { .rate = rate, .first = momentum, .nesterov = nesterov,
                                             .kept = decoupled ? 1 - rate * decay : 1,
                                             .added = decoupled ? 0 : decay } });
}

/* x to the n-th, n > 0. */
static double power(double x, int64_t n)
{
    double z = 1;
    for (; n > 0; n /= 2, x *= x)
        if (n % 2) z *= x;
    return z;
}

static tsr_status check_adam(int64_t step, double beta1, double beta2)
{
    TSRI_CHECK(step >= 1, TSR_EINVAL, "adam_step: step is %lld; steps are counted from 1", (long long)step);
    TSRI_CHECK(beta1 >= 0 && beta1 < 1, TSR_EINVAL, "adam_step: beta1 is %g, and must be from 0 to below 1",
               beta1);
    TSRI_CHECK(beta2 >= 0 && beta2 < 1, TSR_EINVAL, "adam_step: beta2 is %g, and must be from 0 to below 1",
               beta2);
    return TSR_OK;
}

tsr_status tsr_adam_step(int n, tsr_tensor *const *params, tsr_tensor *const *firsts,
                         tsr_tensor *const *seconds, const tsr_tensor *const *grads, int64_t step,
                         double rate, double beta1, double beta2, double eps, double decay, bool decoupled)
{
    TSRI_TRY(check_adam(step, beta1, beta2));
    return run_step(&(stepping){ .kind = TSR_OP_ADAM_STEP, .name = "adam_step", .n = n, .lists = 4,
                                 .nresults = 3, .result = { 0, 2, 3 },
                                 .names = { "params", "grads", "firsts", "seconds" },
                                 .list = { params, readable(grads), firsts, seconds },
                                 .params = { .rate = rate / (1 - power(beta1, step)), .first = beta1,
                                             .second = beta2, .scale = 1 / (1 - power(beta2, step)),
                                             .eps = eps, .kept = decoupled ? 1 - rate * decay : 1,
                                             .added = decoupled ? 0 : decay } });
}

/* The norm of all -------------------------------------------------------------------------------- */

static tsr_status norm_of(tsr_tensor *z, const tsr_tensor *x)
{
    const tsr_reduce_params params = { .axes = (uint32_t)((1ull << x->ndim) - 1), .a = 2 };
    return tsri_op_run(
        &(tsr_op){ .kind = TSR_OP_NORM, .nin = 1, .nout = 1, .in = { x }, .out = { z }, .params = &params });
}

/* By a norm of the same dtype, of a copy if need be. */
tsr_status tsri_joint_norm_parts(const tsr_op *op)
{
    tsr_tensor *copy = NULL;
    tsr_desc d;
    const tsr_tensor *x = op->in[0];
    if (x->dtype == op->out[0]->dtype) return norm_of(op->out[0], x);
    TSRI_TRY(tsri_desc_packed(&d, "joint_norm", op->out[0]->dtype, x->ndim, x->shape));
    TSRI_TRY(tsri_make_beside(&copy, "joint_norm", &d, x));
    tsr_status s = tsri_copy_run(copy, x);
    if (s == TSR_OK) s = norm_of(op->out[0], copy);
    tsr_release(&copy);
    return s;
}

tsr_status tsri_infer_joint_norm(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params)
{
    (void)kind; (void)params;
    return tsri_desc_packed(out, name, in[0]->dtype == TSR_F64 ? TSR_F64 : TSR_F32, 0, NULL);
}

/* Norms of n tensors, n <= GROUP, to elements of a vector from `first` on. */
static tsr_status norm_group(const tsr_tensor *norms, int64_t first, int n, const tsr_tensor *const *xs)
{
    tsr_tensor place[GROUP];
    tsr_op ops[GROUP];
    for (int i = 0; i < n; i++) {
        tsri_see_slice(&place[i], norms, 0, first + i, first + i + 1, 1);
        tsri_remove_dim(&place[i].desc, 0);
        ops[i] = (tsr_op){ .kind = TSR_OP_JOINT_NORM, .nin = 1, .nout = 1, .in = { xs[i] },
                           .out = { &place[i] } };
    }
    return run_group(n, ops);
}

static tsr_status norm_all(tsr_tensor *out, int n, const tsr_tensor *const *xs)
{
    tsr_tensor *norms = NULL;
    tsr_desc d;
    const int64_t count = n;
    tsr_status s = TSR_OK;
    TSRI_TRY(tsri_desc_packed(&d, "joint_norm", out->dtype, 1, &count));
    TSRI_TRY(tsri_make_beside(&norms, "joint_norm", &d, xs[0]));
    for (int i = 0; i < n && s == TSR_OK; i += GROUP)
        s = norm_group(norms, i, n - i < GROUP ? n - i : GROUP, xs + i);
    if (s == TSR_OK) s = norm_of(out, norms);
    tsr_release(&norms);
    return s;
}

static tsr_status check_norms(tsr_dtype *wide, int n, const tsr_tensor *const *xs)
{
    TSRI_CHECK(n >= 1, TSR_EINVAL, "joint_norm: %d tensors; at least one is needed", n);
    TSRI_CHECK(xs, TSR_ENULL, "joint_norm: xs is NULL");
    *wide = TSR_F32;
    for (int i = 0; i < n; i++) {
        TSRI_TRY(tsri_check_of_list("joint_norm", "xs", i, xs[i]));
        TSRI_CHECK(tsr_dtype_kind(xs[i]->dtype) == TSR_FLOATING, TSR_EDTYPE,
                   "joint_norm: xs %d is %s; a floating dtype is needed", i, TSRI_DESC(&xs[i]->desc));
        if (xs[i]->device != xs[0]->device)
            return tsri_fail_devices("joint_norm", xs[0]->device, xs[i]->device);
        if (xs[i]->dtype == TSR_F64) *wide = TSR_F64;
    }
    return TSR_OK;
}

tsr_status tsr_joint_norm(tsr_tensor **out, int n, const tsr_tensor *const *xs)
{
    tsr_dtype wide;
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "joint_norm: out is NULL");
    TSRI_TRY(check_norms(&wide, n, xs));
    TSRI_TRY(tsri_desc_packed(&d, "joint_norm", wide, 0, NULL));
    TSRI_TRY(tsri_result(out, &origin, "joint_norm", &d, xs[0]));
    return tsri_result_end(out, origin, tsri_as_of("joint_norm", norm_all(*out, n, xs)));
}
