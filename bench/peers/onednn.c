/* onednn.c - products, convolutions, functions, rows, pools and rearrangements through oneDNN 2.
 *
 * Convolutions and pools run on the layouts that oneDNN likes best, with the operands already
 * in them: what a program pays that keeps its tensors that way. */
#define _POSIX_C_SOURCE 200809L
#include <dnnl.h>
#include <omp.h>

#include "serve.h"

enum { MOST_ARGS = 6 };

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static struct {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t  args[MOST_ARGS];
    void            *data[MOST_ARGS];
    int              nargs;
} job;

typedef dnnl_memory_desc_t desc;

/* Dims in row-major order, or in the order of memory that `order` lists from outer to inner. */
static desc plain(int n, const int64_t *dims, dnnl_data_type_t dtype, const char *order)
{
    desc d;
    dnnl_dims_t strides;
    int64_t step = 1;
    for (int i = n - 1; i >= 0; i--) {
        const int axis = order ? order[i] - '0' : i;
        strides[axis] = step;
        step *= dims[axis];
    }
    dnnl_memory_desc_init_by_strides(&d, n, dims, dtype, strides);
    return d;
}

static desc any(int n, const int64_t *dims)
{
    desc d;
    dnnl_memory_desc_init_by_tag(&d, n, dims, dnnl_f32, dnnl_format_tag_any);
    return d;
}

static void add_argument(int which, const desc *d)
{
    const size_t bytes = dnnl_memory_desc_get_size(d);
    dnnl_memory_t memory;
    void *data = floats(bytes);
    dnnl_memory_create(&memory, d, engine, data);
    job.data[job.nargs] = data;
    job.args[job.nargs++] = (dnnl_exec_arg_t){ which, memory };
}

/* The primitive for `op`, with memory for those of its operands that `which` lists (0 ends it). */
static bool make_primitive(dnnl_primitive_desc_t pd, const int *which)
{
    static const struct { int argument; dnnl_query_t query; int index; } queries[] = {
        { DNNL_ARG_SRC, dnnl_query_src_md, 0 },         { DNNL_ARG_SRC_1, dnnl_query_src_md, 1 },
        { DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0 }, { DNNL_ARG_DST, dnnl_query_dst_md, 0 },
    };
    for (; *which; which++)
        for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
            if (queries[i].argument == *which)
                add_argument(*which, dnnl_primitive_desc_query_md(pd, queries[i].query, queries[i].index));
    const bool made = dnnl_primitive_create(&job.primitive, pd) == dnnl_success;
    dnnl_primitive_desc_destroy(pd);
    return made;
}

static bool make_op(const void *op, const int *which)
{
    dnnl_primitive_desc_t pd;
    return dnnl_primitive_desc_create(&pd, op, NULL, engine, NULL) == dnnl_success &&
           make_primitive(pd, which);
}

static const int in_out[] = { DNNL_ARG_SRC, DNNL_ARG_DST, 0 };
static const int weighted[] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, 0 };

static bool product(const words *w)
{
    int64_t n[8];
    const int count = sizes(w->part[3], n), rank = count == 4 ? 3 : 2;
    const char *how = strchr(w->part[1], '_');
    const bool i8 = !strcmp(w->part[2], "i8");
    if ((how && !strcmp(how, "_gs")) || (!i8 && strcmp(w->part[2], "f32") != 0)) return false;
    const int64_t b = n[0], m = count == 4 ? n[1] : n[0], k = count == 4 ? n[2] : count == 3 ? n[1] : n[0],
                  c = count == 4 ? n[3] : count == 3 ? n[2] : n[0];
    const int64_t x[] = { b, m, k }, y[] = { b, k, c }, z[] = { b, m, c };
    const int skip = 3 - rank;
    const char *transposed = rank == 3 ? "021" : "10";
    const desc xd = plain(rank, x + skip, i8 ? dnnl_u8 : dnnl_f32, how && how[1] == 't' ? transposed : NULL);
    const desc yd = plain(rank, y + skip, i8 ? dnnl_s8 : dnnl_f32, how && how[2] == 't' ? transposed : NULL);
    const desc zd = plain(rank, z + skip, i8 ? dnnl_s32 : dnnl_f32, NULL);
    dnnl_matmul_desc_t op;
    return dnnl_matmul_desc_init(&op, &xd, &yd, NULL, &zd) == dnnl_success && make_op(&op, weighted);
}

/* (n, 64, h, w) with a 3 x 3 kernel, 1 x 1, or one filter a channel; or (32, 64, 1024) by 3. */
static bool convolution(const words *w)
{
    const bool line = !strcmp(w->part[1], "conv1d"), deep = !strcmp(w->part[1], "dwconv2d");
    const int64_t k = !strcmp(w->part[1], "conv2d_1x1") ? 1 : 3, pad = k / 2;
    int64_t x[8];
    const int rank = sizes(w->part[3], x);
    const int64_t weights[] = { 64, 64, k, k }, grouped[] = { 64, 1, 1, k, k }, ones[] = { 1, 1 },
                  pads[] = { pad, pad };
    const bool last = !strcmp(w->part[1], "conv2d_nhwc");
    const desc xd = last ? plain(rank, x, dnnl_f32, "0231") : any(rank, x);
    const desc wd = deep ? any(5, grouped) : any(line ? 3 : 4, weights);
    dnnl_convolution_desc_t op;
    return dnnl_convolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_convolution_direct, &xd, &wd,
                                              NULL, &xd, ones, pads, pads) == dnnl_success &&
           make_op(&op, weighted);
}

static bool pool(const words *w)
{
    const bool max = !strncmp(w->part[1], "max", 3), three = strstr(w->part[1], "3x3") != NULL;
    const int64_t x[] = { 32, 64, 56, 56 }, z[] = { 32, 64, 28, 28 }, two[] = { 2, 2 },
                  kernel[] = { three ? 3 : 2, three ? 3 : 2 }, before[] = { three, three },
                  after[] = { 0, 0 };
    const desc xd = plain(4, x, dnnl_f32, NULL), zd = any(4, z);
    dnnl_pooling_desc_t op;
    return dnnl_pooling_forward_desc_init(&op, dnnl_forward_inference,
                                          max ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding, &xd, &zd,
                                          two, kernel, before, after) == dnnl_success &&
           make_op(&op, in_out);
}

static bool function(const words *w)
{
    static const struct { const char *name; dnnl_alg_kind_t kind;
    } kinds[] = {
        { "exp", dnnl_eltwise_exp },       { "tanh", dnnl_eltwise_tanh },
        { "gelu", dnnl_eltwise_gelu_erf }, { "log", dnnl_eltwise_log },
        { "sqrt", dnnl_eltwise_sqrt },     { "gelu_tanh", dnnl_eltwise_gelu_tanh },
        { "relu", dnnl_eltwise_relu },     { "sigmoid", dnnl_eltwise_logistic },
        { "silu", dnnl_eltwise_swish },
    };
    const int64_t n = !strcmp(w->part[3], "1K") ? 1024 : 1 << 24;
    const desc d = plain(1, &n, dnnl_f32, NULL);
    if (strcmp(w->part[2], "f32") != 0) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        dnnl_eltwise_desc_t op;
        if (strcmp(kinds[i].name, w->part[1]) != 0) continue;
        return dnnl_eltwise_forward_desc_init(&op, dnnl_forward_inference, kinds[i].kind, &d,
                                              kinds[i].kind == dnnl_eltwise_swish, 0) == dnnl_success &&
               make_op(&op, in_out);
    }
    return false;
}

static bool softmax(const words *w)
{
    int64_t n[8];
    sizes(w->part[3], n);
    const desc d = plain(2, n, dnnl_f32, NULL);
    dnnl_softmax_desc_t op;
    return dnnl_softmax_forward_desc_init(&op, dnnl_forward_inference, &d, 1) == dnnl_success &&
           make_op(&op, in_out);
}

static bool layer_norm(const words *w)
{
    int64_t n[8];
    sizes(w->part[3], n);
    const desc d = plain(2, n, dnnl_f32, NULL), columns = plain(1, n + 1, dnnl_f32, NULL);
    dnnl_layer_normalization_desc_t op;
    if (dnnl_layer_normalization_forward_desc_init(&op, dnnl_forward_inference, &d, NULL, 1e-5f,
                                                   dnnl_use_scale | dnnl_use_shift) != dnnl_success)
        return false;
    add_argument(DNNL_ARG_SCALE, &columns);
    add_argument(DNNL_ARG_SHIFT, &columns);
    return make_op(&op, in_out);
}

static bool rearrange(const words *w)
{
    int64_t n[8];
    const int count = sizes(w->part[w->count - 1], n);
    const dnnl_data_type_t dtype = !strcmp(w->part[2], "u8") ? dnnl_u8 : dnnl_f32;
    const char *order = !strcmp(w->part[1], "T") ? "10" : !strcmp(w->part[1], "nchw2nhwc") ? "0231"
                      : !strcmp(w->part[1], "p4") ? "0213" : NULL;
    if (!order || (strcmp(w->part[2], "u8") != 0 && strcmp(w->part[2], "f32") != 0 && w->part[1][0] != 'p'))
        return false;
    if (count == 1) n[1] = n[0];
    const int rank = count == 1 ? 2 : count;
    const desc from = plain(rank, n, dtype, NULL), to = plain(rank, n, dtype, order);
    dnnl_primitive_desc_t pd;
    return dnnl_reorder_primitive_desc_create(&pd, &from, engine, &to, engine, NULL) == dnnl_success &&
           make_primitive(pd, in_out);
}

static bool open_job(const char *name)
{
    words w;
    cut(&w, name);
    memset(&job, 0, sizeof job);
    if (w.count < 4 || !strcmp(w.part[w.count - 1], "alloc")) return false;
    if (!strncmp(name, "a.", 2)) return rearrange(&w);
    if (!strncmp(name, "b.", 2)) return function(&w);
    if (!strncmp(name, "c.softmax", 9)) return softmax(&w);
    if (!strncmp(name, "c.layernorm", 11)) return layer_norm(&w);
    if (!strncmp(name, "d.", 2) && strcmp(w.part[1], "dot") != 0 && strcmp(w.part[1], "outer") != 0)
        return product(&w);
    if (!strncmp(name, "s.mm.", 5)) return product(&w);
    if (strstr(w.part[1], "pool")) return pool(&w);
    if (strstr(w.part[1], "conv")) return convolution(&w);
    return false;
}

static void run(void)
{
    dnnl_primitive_execute(job.primitive, stream, job.nargs, job.args);
    dnnl_stream_wait(stream);
}

static void close_job(void)
{
    dnnl_primitive_destroy(job.primitive);
    for (int i = 0; i < job.nargs; i++) {
        dnnl_memory_destroy(job.args[i].memory);
        free(job.data[i]);
    }
}

static void set_threads(int n) { omp_set_num_threads(n); }

int main(void)
{
    char name[64];
    const dnnl_version_t *v = dnnl_version();
    snprintf(name, sizeof name, "onednn %d.%d.%d", v->major, v->minor, v->patch);
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success) return 1;
    return serve(&(peer){ name, set_threads, open_job, run, close_job });
}
