/* test_ops_threads.c - every op family with one thread and with several, and from several threads
 * at once: the same bits. Meant for the thread sanitizer too. */
#include "test.h"

#include "tessera/threads.h"

/* Operands that all calls read. */
static struct {
    tsr_tensor *x, *y, *matrix, *image, *window, *index, *bytes, *wave, *heads;
} given;

typedef tsr_status (*call_fn)(tsr_tensor **out);

static tsr_status call_add(tsr_tensor **z)        { return tsr_add(z, given.x, given.y); }
static tsr_status call_exp(tsr_tensor **z)        { return tsr_exp(z, given.x); }
static tsr_status call_where(tsr_tensor **z)      { return tsr_where(z, given.bytes, given.x, given.y); }
static tsr_status call_cast(tsr_tensor **z)       { return tsr_cast(z, given.x, TSR_BF16); }
static tsr_status call_sum(tsr_tensor **z)        { return tsr_sum(z, given.x, TSR_AXES(0), false); }
static tsr_status call_sum_all(tsr_tensor **z)    { return tsr_sum(z, given.x, 0, NULL, false); }
static tsr_status call_argmax(tsr_tensor **z)     { return tsr_argmax(z, given.x, 1, false); }
static tsr_status call_cumsum(tsr_tensor **z)     { return tsr_cumsum(z, given.x, 0); }
static tsr_status call_matmul(tsr_tensor **z)     { return tsr_matmul(z, given.x, given.matrix); }
static tsr_status call_einsum(tsr_tensor **z)
{
    return tsr_einsum(z, "ij,jk->ki", 2, (const tsr_tensor *const[]){ given.x, given.matrix });
}
static tsr_status call_sort(tsr_tensor **z)       { return tsr_sort(z, given.x, 1, false); }
static tsr_status call_take(tsr_tensor **z)       { return tsr_take(z, given.x, given.index, 0); }
static tsr_status call_index_add(tsr_tensor **z)
{
    return tsr_index_add(z, given.x, given.index, given.x, 0);
}
static tsr_status call_pad(tsr_tensor **z)
{
    return tsr_pad(z, given.x, 2, (const int64_t[]){ 1, 2 }, (const int64_t[]){ 3, 4 }, TSR_PAD_EDGE,
                   TSR_SCALAR(0));
}
static tsr_status call_softmax(tsr_tensor **z)    { return tsr_softmax(z, given.x, 0); }
static tsr_status call_layer_norm(tsr_tensor **z) { return tsr_layer_norm(z, given.x, 1, NULL, NULL, 1e-5); }
static tsr_status call_conv(tsr_tensor **z) { return tsr_conv2d(z, given.image, given.window, NULL, NULL); }
static tsr_status call_pool(tsr_tensor **z)
{
    return tsr_max_pool2d(z, NULL, given.image, &(tsr_pool){ .kernel = { 3, 3 }, .stride = { 2, 2 } });
}
static tsr_status call_attention(tsr_tensor **z)
{
    return tsr_attention(z, given.heads, given.heads, given.heads, NULL,
                         &(tsr_attention_options){ .causal = true });
}
static tsr_status call_fft(tsr_tensor **z)        { return tsr_fft(z, given.wave, 0, -1, TSR_FFT_BACKWARD); }
static tsr_status call_dropout(tsr_tensor **z)    { return tsr_dropout(z, given.x, 0.3, 5); }
static tsr_status call_randn(tsr_tensor **z)      { return tsr_randn(z, TSR_F32, TSR_SHAPE(300, 211), 9); }
static tsr_status call_integers(tsr_tensor **z)
{
    return tsr_integers(z, TSR_I32, TSR_SHAPE(301, 97), -5, 1000, 9);
}
static tsr_status call_dynamic(tsr_tensor **z)
{
    tsr_tensor *scale = NULL, *zero = NULL;
    const tsr_status s = tsr_quantise_dynamic(z, &scale, &zero, given.x, 1, TSR_I8, false);
    tsr_release_all(&scale, &zero);
    return s;
}

static const struct { const char *name; call_fn run;
} calls[] = {
    { "add", call_add },
    { "exp", call_exp },
    { "where", call_where },
    { "cast", call_cast },
    { "sum", call_sum },
    { "sum of all", call_sum_all },
    { "argmax", call_argmax },
    { "cumsum", call_cumsum },
    { "matmul", call_matmul },
    { "einsum", call_einsum },
    { "sort", call_sort },
    { "take", call_take },
    { "index_add", call_index_add },
    { "pad", call_pad },
    { "softmax", call_softmax },
    { "layer_norm", call_layer_norm },
    { "conv2d", call_conv },
    { "max_pool2d", call_pool },
    { "attention", call_attention },
    { "fft", call_fft },
    { "dropout", call_dropout },
    { "randn", call_randn },
    { "integers", call_integers },
    { "quantise", call_dynamic },
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static tsr_tensor *expected[CALLS];

static void make_given(void)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_randn(&t, TSR_F32, TSR_SHAPE(257, 401), 1));
    EXPECT_OK(tsr_transpose(&given.x, t, 0, 1));             /* (401, 257), walked across */
    tsr_release(&t);
    EXPECT_OK(tsr_randn(&given.y, TSR_F32, TSR_SHAPE(401, 257), 2));
    EXPECT_OK(tsr_randn(&given.matrix, TSR_F32, TSR_SHAPE(257, 130), 3));
    EXPECT_OK(tsr_randn(&given.image, TSR_F32, TSR_SHAPE(3, 8, 40, 37), 4));
    EXPECT_OK(tsr_randn(&given.window, TSR_F32, TSR_SHAPE(16, 8, 3, 3), 5));
    EXPECT_OK(tsr_integers(&given.index, TSR_I64, TSR_SHAPE(401), 0, 401, 6));
    EXPECT_OK(tsr_bernoulli(&given.bytes, TSR_SHAPE(401, 257), 0.5, 7));
    EXPECT_OK(tsr_randn(&given.wave, TSR_C64, TSR_SHAPE(200, 360), 8));
    EXPECT_OK(tsr_randn(&given.heads, TSR_F32, TSR_SHAPE(2, 3, 150, 16), 9));
}

static void release_given(void)
{
    tsr_tensor **all[] = { &given.x,     &given.y,     &given.matrix, &given.image, &given.window,
                           &given.index, &given.bytes, &given.wave,   &given.heads };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tsr_release(all[i]);
}

static bool same_bits(const tsr_tensor *a, const tsr_tensor *b)
{
    return tsr_same_desc(a, b) &&
           memcmp(a->data, b->data, (size_t)tsr_numel(a) * tsr_dtype_size(a->dtype)) == 0;
}

static void make_expected(void)
{
    EXPECT_OK(tsr_set_threads(1));
    for (int i = 0; i < CALLS; i++) {
        expected[i] = NULL;
        EXPECT_MSG(calls[i].run(&expected[i]) == TSR_OK, "%s: %s", calls[i].name, tsr_last_error());
    }
}

static void release_expected(void)
{
    for (int i = 0; i < CALLS; i++) tsr_release(&expected[i]);
}

TEST(test_ops_give_the_same_bits_for_every_number_of_threads)
{
    make_given();
    make_expected();
    for (int threads = 2; threads <= 5; threads++) {
        EXPECT_OK(tsr_set_threads(threads));
        for (int i = 0; i < CALLS; i++) {
            tsr_tensor *z = NULL;
            EXPECT_MSG(calls[i].run(&z) == TSR_OK, "%s: %s", calls[i].name, tsr_last_error());
            EXPECT_MSG(z && same_bits(z, expected[i]), "%s with %d threads", calls[i].name, threads);
            tsr_release(&z);
        }
    }
    EXPECT_OK(tsr_set_threads(0));
    release_expected();
    release_given();
}

#ifndef TSR_NO_THREADS
#include <pthread.h>

#include "core/atomic.h"

static int32_t wrong;

/* Every op, each thread beginning with another one. */
static void *call_all(void *context)
{
    const int first = *(const int *)context;
    for (int i = 0; i < CALLS; i++) {
        const int k = (first + i) % CALLS;
        tsr_tensor *z = NULL;
        if (calls[k].run(&z) != TSR_OK || !same_bits(z, expected[k])) (void)tsri_fetch_add(&wrong, 1);
        tsr_release(&z);
    }
    return NULL;
}

TEST(test_ops_run_from_many_threads_at_once)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int first[THREADS];
    make_given();
    make_expected();
    EXPECT_OK(tsr_set_threads(3));
    wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        first[i] = i * CALLS / THREADS;
        EXPECT(pthread_create(&threads[i], NULL, call_all, &first[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(wrong == 0);
    EXPECT_OK(tsr_set_threads(0));
    release_expected();
    release_given();
}
#endif
