/* products.c - matrix products. */
#include "ops.h"

tsr_status run_matmul(job *j) { return tsr_matmul(&j->z, j->x[0], j->x[1]); }
static tsr_status run_matmul_i8(job *j) { return tsr_matmul_i8(&j->z, j->x[0], j->x[1]); }
static tsr_status run_outer(job *j) { return tsr_outer(&j->z, j->x[0], j->x[1]); }

/* Operands transposed by the letters of `how`: n, t, or s for every second element of a larger one. */
static void make_operand(tsr_tensor **out, tsr_dtype dtype, int64_t b, int64_t r, int64_t c, char how)
{
    tsr_tensor *t = NULL;
    if (how == 't') VALUES(&t, dtype, b, c, r);
    else if (how == 's') VALUES(&t, dtype, b, 2 * r, 2 * c);
    else VALUES(&t, dtype, b, r, c);
    if (how == 't') must(tsr_transpose(out, t, 1, 2));
    else if (how == 's') {
        must(tsr_slice(out, t, 1, 0, 2 * r, 2));
        must(tsr_slice(out, *out, 2, 0, 2 * c, 2));
    } else *out = tsr_retain(t);
    if (b == 1) must(tsr_squeeze(out, *out, 0));
    tsr_release(&t);
}

static void make_product(job *j)
{
    make_operand(&j->x[0], j->dtype, j->n[0], j->n[1], j->n[2], "ntsn"[j->axis & 3]);
    make_operand(&j->x[1], j->dtype, j->n[0], j->n[2], j->n[3], "nt"[j->axis >> 2]);
}

static job *add_product(const char *name, tsr_dtype dtype, int64_t b, int64_t m, int64_t k, int64_t n,
                        const char *how, bool quick)
{
    const double result = dtype == TSR_I8 ? 4 : size_of(dtype);
    job *j = add((double)b * (double)(m * k + k * n) * size_of(dtype), (double)(b * m * n) * result,
                 2.0 * (double)b * (double)m * (double)k * (double)n, quick, "%s", name);
    j->make = make_product;
    j->run = dtype == TSR_I8 ? run_matmul_i8 : run_matmul;
    j->dtype = dtype;
    j->peak = dtype == TSR_I8 ? PEAK_I8 : dtype == TSR_F64 ? PEAK_F64 : PEAK_F32;
    j->axis = (how[0] == 't' ? 1 : how[0] == 's' ? 2 : 0) | (how[1] == 't' ? 4 : 0);
    j->n[0] = b;
    j->n[1] = m;
    j->n[2] = k;
    j->n[3] = n;
    return j;
}

static void make_pair(job *j)
{
    VALUES(&j->x[0], TSR_F32, j->n[0]);
    VALUES(&j->x[1], TSR_F32, j->n[0]);
}

void add_products(void)
{
    char name[64];
    for (int n = 8; n <= 4096; n *= 2) {
        snprintf(name, sizeof name, "d.mm.f32.%d", n);
        add_product(name, TSR_F32, 1, n, n, n, "nn", n <= 256 || n == 1024);
    }
    add_product("d.gemv.f32.1x4096x4096", TSR_F32, 1, 1, 4096, 4096, "nn", true);
    add_product("d.gemv_nt.f32.1x4096x4096", TSR_F32, 1, 1, 4096, 4096, "nt", false);
    add_product("d.mm.f32.128x4096x11008", TSR_F32, 1, 128, 4096, 11008, "nn", false);
    add_product("d.mm_nt.f32.128x4096x11008", TSR_F32, 1, 128, 4096, 11008, "nt", false);
    add_product("d.bmm.f32.64x64x64x64", TSR_F32, 64, 64, 64, 64, "nn", true);
    add_product("d.bmm.f32.4096x8x8x8", TSR_F32, 4096, 8, 8, 8, "nn", false);
    add_product("d.mm_nt.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "nt", false);
    add_product("d.mm_tn.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "tn", false);
    add_product("d.mm_tt.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "tt", false);
    add_product("d.mm_gs.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "sn", false);
    add_product("d.mm.f64.1024", TSR_F64, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.bf16.1024", TSR_BF16, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.f16.1024", TSR_F16, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.i8.1024", TSR_I8, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.i32.256", TSR_I32, 1, 256, 256, 256, "nn", false);
    add_product("d.mm.f32.2000x16x2000", TSR_F32, 1, 2000, 16, 2000, "nn", false);
    add_product("d.mm.f32.16x100000x16", TSR_F32, 1, 16, 100000, 16, "nn", false);
    add_product("d.mm.f32.1000000x8x8", TSR_F32, 1, 1000000, 8, 8, "nn", false);
    job *j = add(8.0 * (1 << 20), 4, 0, false, "d.dot.f32.1M");
    j->make = make_pair;
    j->run = run_matmul;
    j->n[0] = 1 << 20;
    j = add(2.0 * 4096 * 4, 4096.0 * 4096 * 4, 0, false, "d.outer.f32.4096");
    j->make = make_pair;
    j->run = run_outer;
    j->n[0] = 4096;
}
