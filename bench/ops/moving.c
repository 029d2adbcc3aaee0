/* moving.c - rearranging: transposes, permutations, flips, slices, broadcasts. */
#include "ops.h"

tsr_status run_copy(job *j) { return tsr_copy(j->z, j->x[0]); }
static tsr_status run_fresh_copy(job *j)
{
    tsr_tensor *t = NULL;
    const tsr_status s = tsr_rearrange(&t, j->x[0]);
    tsr_release(&t);
    return s;
}

/* n[0 .. axis - 1] permuted by a list of digits. */
static const char *permutations[] = { "10", "102", "021", "210", "0231", "0312", "0213", "43210", "543210" };

static void make_permuted(job *j)
{
    int axes[6];
    const char *digits = permutations[j->to];
    const int n = (int)strlen(digits);
    int64_t shape[6] = { j->n[0], j->n[1], j->n[2], j->n[3], j->n[4], 7 };
    for (int i = 0; i < n; i++) axes[i] = digits[i] - '0';
    values(&j->x[1], j->dtype, n, shape, 1);
    must(tsr_permute(&j->x[0], j->x[1], n, axes));
    must(tsr_zeros(&j->z, j->dtype, n, j->x[0]->shape));
}

static void add_permuted(const char *name, tsr_dtype dtype, int which, const int64_t *n, bool quick,
                         bool alloc)
{
    double count = 1;
    const int rank = (int)strlen(permutations[which]);
    for (int i = 0; i < rank; i++) count *= i == 5 ? 7 : (double)n[i];
    job *j = add(count * size_of(dtype), count * size_of(dtype), 0, quick, "%s", name);
    j->make = make_permuted;
    j->run = alloc ? run_fresh_copy : run_copy;
    j->dtype = dtype;
    j->to = (tsr_dtype)which;
    for (int i = 0; i < 5 && i < rank; i++) j->n[i] = n[i];
}

enum view { FLIP0, FLIP1, STEP0, STEP1, INNER, WHOLE, ROWS, COLUMNS };

static void make_view(job *j)
{
    const int64_t r = j->n[0], c = j->n[1];
    const int a0 = 0, a1 = 1;
    switch ((enum view)j->axis) {
    case FLIP0: VALUES(&j->x[1], TSR_F32, r, c); must(tsr_flip(&j->x[0], j->x[1], 1, &a0)); break;
    case FLIP1: VALUES(&j->x[1], TSR_F32, r, c); must(tsr_flip(&j->x[0], j->x[1], 1, &a1)); break;
    case STEP0:
        VALUES(&j->x[1], TSR_F32, 2 * r, c);
        must(tsr_slice(&j->x[0], j->x[1], 0, 0, 2 * r, 2));
        break;
    case STEP1:
        VALUES(&j->x[1], TSR_F32, r, 2 * c);
        must(tsr_slice(&j->x[0], j->x[1], 1, 0, 2 * c, 2));
        break;
    case INNER:
        VALUES(&j->x[1], TSR_F32, r + 200, c + 200);
        must(tsr_slice(&j->x[0], j->x[1], 0, 100, r + 100, 1));
        must(tsr_slice(&j->x[0], j->x[0], 1, 100, c + 100, 1));
        break;
    case WHOLE: VALUES(&j->x[0], TSR_F32, r, c); break;
    case ROWS: VALUES(&j->x[1], TSR_F32, 1, c); must(tsr_expand(&j->x[0], j->x[1], TSR_SHAPE(r, c))); break;
    case COLUMNS:
        VALUES(&j->x[1], TSR_F32, r, 1);
        must(tsr_expand(&j->x[0], j->x[1], TSR_SHAPE(r, c)));
        break;
    }
    ROOM(&j->z, TSR_F32, r, c);
}

static void add_view(const char *name, enum view view, int64_t r, int64_t c, bool quick)
{
    const double all = 4.0 * (double)(r * c);
    const double read = view == STEP1     ? 2 * all
                        : view == ROWS    ? 4.0 * (double)c
                        : view == COLUMNS ? 4.0 * (double)r
                                          : all;
    job *j = add(read, all, 0, quick, "%s", name);
    j->make = make_view;
    j->run = run_copy;
    j->axis = view;
    j->n[0] = r;
    j->n[1] = c;
}

void add_moving(void)
{
    static const int64_t sides[] = { 100, 1000, 2000, 2001, 4096, 8192 };
    static const tsr_dtype others[] = { TSR_F16, TSR_U8, TSR_F64 };
    char name[64];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "a.T.f32.%d", (int)sides[i]);
        add_permuted(name, TSR_F32, 0, (const int64_t[]){ sides[i], sides[i] }, i == 0 || i == 2 || i == 4,
                     false);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "a.T.%s.2000", dtype_name(others[i]));
        add_permuted(name, others[i], 0, (const int64_t[]){ 2000, 2000 }, i == 1, false);
    }
    add_permuted("a.T.f32.2000.alloc", TSR_F32, 0, (const int64_t[]){ 2000, 2000 }, false, true);
    for (int i = 1; i < 4; i++) {
        snprintf(name, sizeof name, "a.p3.%s.f32.4x6x64", permutations[i]);
        add_permuted(name, TSR_F32, i, (const int64_t[]){ 4, 6, 64 }, i == 2, false);
    }
    add_permuted("a.nchw2nhwc.f32.32x64x56x56", TSR_F32, 4, (const int64_t[]){ 32, 64, 56, 56 }, true, false);
    add_permuted("a.nhwc2nchw.f32.32x64x56x56", TSR_F32, 5, (const int64_t[]){ 32, 56, 56, 64 }, false,
                 false);
    add_permuted("a.nchw2nhwc.f32.32x64x56x56.alloc", TSR_F32, 4, (const int64_t[]){ 32, 64, 56, 56 }, false,
                 true);
    add_permuted("a.nchw2nhwc.u8.32x3x224x224", TSR_U8, 4, (const int64_t[]){ 32, 3, 224, 224 }, false,
                 false);
    add_permuted("a.nhwc2nchw.u8.32x3x224x224", TSR_U8, 5, (const int64_t[]){ 32, 224, 224, 3 }, false,
                 false);
    add_permuted("a.p4.0213.f32.8x128x16x64", TSR_F32, 6, (const int64_t[]){ 8, 128, 16, 64 }, true, false);
    add_permuted("a.rev5.f32.3x4x7x53x9", TSR_F32, 7, (const int64_t[]){ 3, 4, 7, 53, 9 }, false, false);
    add_permuted("a.rev6.f32.3x4x50x50x5x7", TSR_F32, 8, (const int64_t[]){ 3, 4, 50, 50, 5 }, true, false);
    add_view("a.bcast_row.f32.15x10752", ROWS, 15, 10752, true);
    add_view("a.bcast_col.f32.15x10752", COLUMNS, 15, 10752, false);
    add_view("a.bcast_row.f32.4096x4096", ROWS, 4096, 4096, false);
    add_view("a.bcast_col.f32.4096x4096", COLUMNS, 4096, 4096, false);
    add_view("a.flip0.f32.2000", FLIP0, 2000, 2000, false);
    add_view("a.flip1.f32.2000", FLIP1, 2000, 2000, true);
    add_view("a.slice2_first.f32.2000", STEP0, 2000, 2000, false);
    add_view("a.slice2_last.f32.2000", STEP1, 2000, 2000, true);
    add_view("a.copy.f32.2000", WHOLE, 2000, 2000, true);
    add_view("a.copy.f32.8192", WHOLE, 8192, 8192, false);
    add_view("a.slice_inner.f32.2000", INNER, 2000, 2000, false);
}
