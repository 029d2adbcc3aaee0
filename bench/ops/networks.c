/* networks.c - convolution, attention, pooling. */
#include "ops.h"

static tsr_status run_conv2d(job *j)
{
    const int64_t pad = j->n[4] / 2;
    return tsr_conv2d(&j->z, j->x[0], j->x[1], NULL,
                      &(tsr_conv){ .padding = { pad, pad }, .groups = j->axis == 1 ? j->n[1] : 1 });
}
static tsr_status run_conv1d(job *j)
{
    return tsr_conv1d(&j->z, j->x[0], j->x[1], NULL, &(tsr_conv){ .padding = { 1 } });
}
static tsr_status run_attention(job *j)
{
    return tsr_attention(&j->z, j->x[0], j->x[1], j->x[2], NULL,
                         &(tsr_attention_options){ .causal = j->axis == 1 });
}
static tsr_status run_max_pool(job *j)
{
    const int64_t k = j->axis;
    return tsr_max_pool2d(&j->z, NULL, j->x[0],
                          &(tsr_pool){ .kernel = { k, k }, .stride = { 2, 2 }, .padding = { k / 3, k / 3 } });
}
static tsr_status run_avg_pool(job *j)
{
    return tsr_avg_pool2d(&j->z, j->x[0], &(tsr_pool){ .kernel = { 2, 2 } });
}

static void make_conv2d(job *j)
{
    const int64_t k = j->n[4];
    VALUES(&j->x[0], TSR_F32, j->n[0], j->n[1], j->n[2], j->n[3]);
    VALUES(&j->x[1], TSR_F32, j->n[1], j->axis == 1 ? 1 : j->n[1], k, k);
    if (j->axis == 2) {  /* channels last in memory */
        tsr_tensor *t = NULL;
        must(tsr_permute(&t, j->x[0], TSR_AXES(0, 2, 3, 1)));
        must(tsr_rearrange(&j->x[2], t));
        must(tsr_permute(&j->x[0], j->x[2], TSR_AXES(0, 3, 1, 2)));
        must(tsr_empty_like(&j->z, j->x[0]));
        tsr_release(&t);
    }
}

static void make_conv1d(job *j)
{
    VALUES(&j->x[0], TSR_F32, 32, 64, 1024);
    VALUES(&j->x[1], TSR_F32, 64, 64, 3);
}

static void make_heads(job *j)
{
    for (int i = 0; i < 3; i++) VALUES(&j->x[i], TSR_F32, 1, 32, 1024, 128);
}

void make_image(job *j) { VALUES(&j->x[0], TSR_F32, 32, 64, 56, 56); }

static void add_conv(const char *name, int64_t batch, int64_t k, int kind, bool quick)
{
    const double x = (double)batch * 64 * 56 * 56, inputs = kind == 1 ? 1 : 64;
    job *j = add((x + 64 * inputs * (double)(k * k)) * 4, x * 4, 2 * x * inputs * (double)(k * k), quick,
                 "%s", name);
    const int64_t n[5] = { batch, 64, 56, 56, k };
    j->make = make_conv2d;
    j->run = run_conv2d;
    j->axis = kind;
    memcpy(j->n, n, sizeof n);
}

void add_networks(void)
{
    const double x = 32.0 * 64 * 56 * 56, q = 32.0 * 1024 * 128;
    job *j;
    add_conv("e.conv2d.f32.32x64x56x56.k3", 32, 3, 0, true);
    add_conv("e.conv2d.f32.1x64x56x56.k3", 1, 3, 0, false);
    add_conv("e.conv2d_nhwc.f32.32x64x56x56.k3", 32, 3, 2, false);
    add_conv("e.conv2d_1x1.f32.32x64x56x56", 32, 1, 0, false);
    add_conv("e.dwconv2d.f32.32x64x56x56.k3", 32, 3, 1, false);
    j = add((32.0 * 64 * 1024 + 64 * 64 * 3) * 4, 32.0 * 64 * 1024 * 4, 2.0 * 32 * 64 * 1024 * 64 * 3, false,
            "e.conv1d.f32.32x64x1024.k3");
    j->make = make_conv1d;
    j->run = run_conv1d;
    j = add(3 * q * 4, q * 4, 4.0 * 32 * 1024 * 1024 * 128, true, "e.attn.f32.1x32x1024x128");
    j->make = make_heads;
    j->run = run_attention;
    j = add(3 * q * 4, q * 4, 2.0 * 32 * 1024 * 1024 * 128, false, "e.attn_causal.f32.1x32x1024x128");
    j->make = make_heads;
    j->run = run_attention;
    j->axis = 1;
    j = add(x * 4, x, 0, true, "e.maxpool2x2.f32.32x64x56x56");
    j->make = make_image;
    j->run = run_max_pool;
    j->axis = 2;
    j = add(x * 4, x, 0, false, "e.avgpool2x2.f32.32x64x56x56");
    j->make = make_image;
    j->run = run_avg_pool;
    j = add(x * 4, x, 0, false, "e.maxpool3x3s2.f32.32x64x56x56");
    j->make = make_image;
    j->run = run_max_pool;
    j->axis = 3;
}
