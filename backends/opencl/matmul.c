/* matmul.c - products of matrices: by CLBlast where it suits, else by matmul.cl. */
#include "clblast.h"
#include "launch.h"
#include "numbers.h"

enum {
    TILE = 32, SIDE = 8, BLOCK = 256,  /* as in matmul.cl */
    SMALL_RESULT = 256,            /* results that do not fill tiles */
    MOST_BATCHES = 64,     /* that CLBlast is called for, one by one */
    PANELS = 1 << 17,     /* products that are worth laying operands out for */
    SCRATCH = 256 << 20   /* bytes of operands that are laid out at once */
};

static const char *can(const ocl_device *d, const tsr_op *op) { return ocl_lacks(d, op->out[0]->dtype); }

/* A batch of products. Operands in the order z, a, b, c; c may be without a buffer. */
typedef struct product {
    ocl_operand operands[4];
    ocl_nest    t;
    int64_t     m, n, k;
    int64_t     row[4], col[4];
    tsr_scalar  alpha, beta;
    bool        has_c, is_plain;
} product;

static const char *sums_option(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F64:  return "-DSUMS_DOUBLE";
    case TSR_I64:
    case TSR_U64:  return "-DSUMS_U64";
    case TSR_C64:  return "-DSUMS_CFLOAT";
    case TSR_C128: return "-DSUMS_CDOUBLE";
    default:       return ocl_is_floating(dtype) ? "-DSUMS_FLOAT" : "-DSUMS_U32";
    }
}

static bool is_one(tsr_scalar s) { return ocl_scalar_real(s) == 1 && ocl_scalar_imaginary(s) == 0; }
static bool is_zero(tsr_scalar s) { return ocl_scalar_real(s) == 0 && ocl_scalar_imaginary(s) == 0; }

static tsr_status see(product *p, const tsr_op *op)
{
    const tsr_matmul_params *scale = op->params;
    const tsr_tensor *z = op->out[0], *c = op->nin > 2 ? op->in[2] : NULL;
    const int last = z->ndim - 1;
    p->alpha = scale ? scale->alpha : tsr_scalar_i64(1);
    p->beta = scale ? scale->beta : tsr_scalar_i64(0);
    p->has_c = c && !is_zero(p->beta);
    p->is_plain = is_one(p->alpha) && !p->has_c;
    p->m = z->shape[last - 1];
    p->n = z->shape[last];
    p->k = op->in[0]->shape[last];
    OCL_TRY(ocl_see(&p->operands[0], z));
    OCL_TRY(ocl_see(&p->operands[1], op->in[0]));
    OCL_TRY(ocl_see(&p->operands[2], op->in[1]));
    OCL_TRY(ocl_see(&p->operands[3], p->has_c ? c : z));
    for (int i = 0; i < 4; i++) {
        p->row[i] = p->operands[i].stride[last - 1];
        p->col[i] = p->operands[i].stride[last];
    }
    ocl_nest_in_order(&p->t, last - 1, z->shape, 4, p->operands);
    return TSR_OK;
}

/* By CLBlast ------------------------------------------------------------------------------- */

static ocl_product product_at(const product *p, int64_t batch)
{
    int64_t at[4];
    for (int i = 0; i < 4; i++) at[i] = p->t.base[i];
    for (int d = p->t.ndim - 1; d >= 0; d--) {
        for (int i = 0; i < 4; i++) at[i] += batch % p->t.n[d] * p->t.step[i][d];
        batch /= p->t.n[d];
    }
    return (ocl_product){
        .dtype = p->operands[0].dtype, .m = p->m, .n = p->n, .k = p->k,
        .z = p->operands[0].mem, .a = p->operands[1].mem, .b = p->operands[2].mem,
        .z_base = at[0], .a_base = at[1], .b_base = at[2], .z_row = p->row[0], .z_col = p->col[0],
        .a_row = p->row[1], .a_col = p->col[1], .b_row = p->row[2], .b_col = p->col[2],
        .alpha = { ocl_scalar_real(p->alpha), ocl_scalar_imaginary(p->alpha) },
        .beta = { p->has_c ? ocl_scalar_real(p->beta) : 0, p->has_c ? ocl_scalar_imaginary(p->beta) : 0 },
    };
}

static bool suits_blast(const product *p)
{
    bool yes = p->t.count <= MOST_BATCHES;
    for (int64_t i = 0; i < p->t.count && yes; i++) {
        const ocl_product one = product_at(p, i);
        yes = ocl_clblast_suits(&one);
    }
    return yes;
}

/* CLBlast computes z = alpha a b + beta z. So c is copied to z first; without c, z is filled with zeros, as 0
 * times a NaN in z would be NaN. */
static tsr_status prepare(const ocl_call *call, const product *p)
{
    const tsr_fill_params zero = { tsr_scalar_i64(0) };
    tsr_op op = { .kind = TSR_OP_FILL, .nout = 1, .out = { call->op->out[0] }, .params = &zero };
    ocl_call part = *call;
    part.op = &op;
    if (!p->has_c) return ocl_runner_fill.run(&part);
    op.kind = TSR_OP_COPY;
    op.nin = 1;
    op.in[0] = call->op->in[2];
    return ocl_runner_copy.run(&part);
}

static tsr_status run_blast(const ocl_call *call, const product *p)
{
    OCL_TRY(prepare(call, p));
    for (int64_t i = 0; i < p->t.count; i++) {
        const ocl_product one = product_at(p, i);
        OCL_TRY(ocl_clblast_run(call, &one));
    }
    return TSR_OK;
}

/* By kernels of our own ----------------------------------------------------------------------- */

/* As in matmul.cl. */
typedef struct scale_wide {
    cl_double2 alpha, beta;
    cl_ulong   int_alpha, int_beta;
    cl_int     is_plain, has_c;
} scale_wide;

typedef struct scale_narrow {
    cl_float2 alpha, beta;
    cl_ulong  int_alpha, int_beta;
    cl_int    is_plain, has_c;
} scale_narrow;

static void set_scale(ocl_launch *l, const product *p)
{
    const double a = ocl_scalar_real(p->alpha), ai = ocl_scalar_imaginary(p->alpha);
    const double b = ocl_scalar_real(p->beta), bi = ocl_scalar_imaginary(p->beta);
    const uint64_t whole_a = ocl_scalar_whole(p->alpha), whole_b = ocl_scalar_whole(p->beta);
    const scale_wide wide = { { { a, ai } }, { { b, bi } }, whole_a, whole_b, p->is_plain, p->has_c };
    const scale_narrow narrow = { { { (float)a, (float)ai } }, { { (float)b, (float)bi } }, whole_a, whole_b,
                                  p->is_plain, p->has_c };
    if (l->call->device->has_f64) ocl_arg(l, sizeof wide, &wide);
    else ocl_arg(l, sizeof narrow, &narrow);
}

/* A group for each result: where few rows or columns would leave tiles empty, and both operands are read
 * along k, which is long. */
static bool is_thin(const product *p)
{
    const int64_t size = (int64_t)ocl_size_of(p->operands[1].dtype);
    if (p->k <= BLOCK) return false;
    if (p->m * p->n <= SMALL_RESULT) return true;
    return (p->n == 1 && p->col[1] == size) || (p->m == 1 && p->row[2] == size);
}

static size_t sum_size(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_C128: return 16;
    case TSR_F64: case TSR_I64: case TSR_U64: case TSR_C64: return 8;
    default: return 4;
    }
}

static tsr_status run_batches(const ocl_call *call, const product *p, int64_t first, int64_t batches)
{
    ocl_launch l;
    const bool thin = is_thin(p);
    OCL_TRY(ocl_begin(&l, call, "matmul", thin ? "thin" : "tiled", sums_option(p->operands[0].dtype)));
    for (int i = 0; i < 4; i++) ocl_arg_mem(&l, p->operands[i].mem);
    ocl_arg_nest(&l, &p->t);
    ocl_arg_long(&l, first);
    ocl_arg_long(&l, p->m);
    ocl_arg_long(&l, p->n);
    ocl_arg_long(&l, p->k);
    for (int i = 0; i < 4; i++) {
        ocl_arg_long(&l, p->row[i]);
        ocl_arg_long(&l, p->col[i]);
    }
    set_scale(&l, p);
    if (!thin) {
        const size_t groups[3] = { (size_t)(p->n + TILE - 1) / TILE, (size_t)(p->m + TILE - 1) / TILE,
                                   (size_t)batches };
        return ocl_end_groups(&l, 3, groups, (const size_t[]){ SIDE, SIDE, 1 });
    }
    const size_t group = ocl_group_for(&l, p->k, sum_size(p->operands[0].dtype));
    ocl_arg_local(&l, group * sum_size(p->operands[0].dtype));
    return ocl_end_groups(&l, 3, (const size_t[]){ (size_t)(p->m * p->n), 1, (size_t)batches },
                          (const size_t[]){ group, 1, 1 });
}

/* By panels --------------------------------------------------------------------------------------- */

typedef struct layout {
    int64_t rows, cols;    /* panels of a and of b */
    int     height, width; /* of one, as in matmul.cl */
    size_t  part;          /* bytes of all parts of an element */
} layout;

static layout layout_of(const product *p)
{
    layout l = { .height = 8, .width = 16, .part = sum_size(p->operands[0].dtype) };
    if (ocl_is_complex(p->operands[0].dtype)) l.height = 4;
    if (l.part == 8 && p->operands[0].dtype != TSR_C64) l.width = 8;
    if (l.part == 16) l.width = 8;
    l.rows = (p->m + l.height - 1) / l.height;
    l.cols = (p->n + l.width - 1) / l.width;
    return l;
}

/* Lays out operand 1 or 2. */
static tsr_status pack(const ocl_call *call, const product *p, const layout *y, cl_mem to, int which,
                       int64_t first, int64_t batches)
{
    ocl_launch l;
    const bool left = which == 1;
    const int64_t panels = left ? y->rows : y->cols;
    OCL_TRY(ocl_begin(&l, call, "matmul", "pack", sums_option(p->operands[0].dtype)));
    size_t group = 16;
    while (group > l.kernel->group) group /= 2;
    ocl_arg_mem(&l, to);
    ocl_arg_mem(&l, p->operands[which].mem);
    ocl_arg_nest(&l, &p->t);
    ocl_arg_long(&l, first);
    ocl_arg_int(&l, which);
    ocl_arg_long(&l, left ? p->m : p->n);
    ocl_arg_long(&l, p->k);
    ocl_arg_long(&l, left ? p->row[1] : p->col[2]);
    ocl_arg_long(&l, left ? p->col[1] : p->row[2]);
    ocl_arg_int(&l, left ? y->height : y->width);
    return ocl_end_groups(
        &l, 3, (const size_t[]){ ((size_t)p->k + group - 1) / group, (size_t)panels, (size_t)batches },
        (const size_t[]){ group, 1, 1 });
}

static tsr_status multiply_panels(const ocl_call *call, const product *p, const layout *y, cl_mem a, cl_mem b,
                                  int64_t first, int64_t batches)
{
    ocl_launch l;
    OCL_TRY(pack(call, p, y, a, 1, first, batches));
    OCL_TRY(pack(call, p, y, b, 2, first, batches));
    OCL_TRY(ocl_begin(&l, call, "matmul", "panels", sums_option(p->operands[0].dtype)));
    ocl_arg_mem(&l, p->operands[0].mem);
    ocl_arg_mem(&l, a);
    ocl_arg_mem(&l, b);
    ocl_arg_mem(&l, p->operands[3].mem);
    ocl_arg_nest(&l, &p->t);
    ocl_arg_long(&l, first);
    ocl_arg_long(&l, p->m);
    ocl_arg_long(&l, p->n);
    ocl_arg_long(&l, p->k);
    ocl_arg_long(&l, p->row[0]);
    ocl_arg_long(&l, p->col[0]);
    ocl_arg_long(&l, p->row[3]);
    ocl_arg_long(&l, p->col[3]);
    set_scale(&l, p);
    return ocl_end_groups(&l, 3, (const size_t[]){ (size_t)y->cols, (size_t)y->rows, (size_t)batches },
                          (const size_t[]){ 1, 1, 1 });
}

static tsr_status run_panels(const ocl_call *call, const product *p)
{
    const layout y = layout_of(p);
    const size_t a_bytes = (size_t)(y.rows * y.height * p->k) * y.part,
                 b_bytes = (size_t)(y.cols * y.width * p->k) * y.part;
    int64_t at_once = (int64_t)(SCRATCH / (a_bytes + b_bytes));
    cl_mem a = NULL, b = NULL;
    if (at_once < 1) at_once = 1;
    if (at_once > p->t.count) at_once = p->t.count;
    tsr_status s = ocl_scratch(&a, call, (size_t)at_once * a_bytes);
    if (s == TSR_OK) s = ocl_scratch(&b, call, (size_t)at_once * b_bytes);
    for (int64_t first = 0; first < p->t.count && s == TSR_OK; first += at_once) {
        const int64_t rest = p->t.count - first;
        s = multiply_panels(call, p, &y, a, b, first, rest < at_once ? rest : at_once);
    }
    if (a) (void)ocl.clReleaseMemObject(a);
    if (b) (void)ocl.clReleaseMemObject(b);
    return s;
}

static tsr_status run(const ocl_call *call)
{
    product p;
    OCL_TRY(see(&p, call->op));
    if (suits_blast(&p)) return run_blast(call, &p);
    if (call->device->is_processor && p.m >= 4 && p.n >= 8 &&
        (double)p.m * (double)p.n * (double)p.k >= PANELS)
        return run_panels(call, &p);
    for (int64_t first = 0; first < p.t.count; first += OCL_LANES_AT_ONCE) {
        const int64_t rest = p.t.count - first;
        OCL_TRY(run_batches(call, &p, first, rest < OCL_LANES_AT_ONCE ? rest : OCL_LANES_AT_ONCE));
    }
    return TSR_OK;
}

const ocl_runner ocl_runner_matmul = { can, run };
