/* test_ops_threads.c - every op from several threads at once, each loop split: the bits of one thread alone.
 * Meant for the thread sanitizer too. That an op has the same bits for every number of threads is checked by
 * tests/net. */
#include "oom/op_inputs.h"

#ifndef TSR_NO_THREADS

#include <pthread.h>

#include "core/atomic.h"
#include "core/threads_int.h"

/* The results of each call; a call that makes none, or views, leaves some empty. */
static tsr_tensor *expected[SCENARIOS][OUTS];

static bool same_bits(const tsr_tensor *a, const tsr_tensor *b)
{
    if (!a || !b) return a == b;
    return tsr_same_desc(a, b) &&
           memcmp(a->data, b->data, (size_t)tsr_numel(a) * tsr_dtype_size(a->dtype)) == 0;
}

/* What call k makes, packed. */
static bool make_results(tsr_tensor **made, int k)
{
    bool ok = scenarios[k].run() == TSR_OK;
    for (int i = 0; i < OUTS; i++) {
        made[i] = NULL;
        if (ok && out[i]) ok = tsr_contiguous(&made[i], out[i]) == TSR_OK;
    }
    drop_results();
    return ok;
}

static void release_results(tsr_tensor **made)
{
    for (int i = 0; i < OUTS; i++) tsr_release(&made[i]);
}

static void make_expected(void)
{
    EXPECT_OK(tsr_set_threads(1));
    for (int k = 0; k < SCENARIOS; k++)
        if (scenarios[k].does == MAKES)
            EXPECT_MSG(make_results(expected[k], k), "%s: %s", scenarios[k].name, tsr_last_error());
}

static int32_t wrong;  /* the number of a call that was, from 1 on */

enum { THREADS = 4, TIMES = 2 };

/* Every op several times. Two threads begin with one op, two with another. */
static void *call_all(void *context)
{
    const int first = *(const int *)context;
    for (int i = 0; i < SCENARIOS * TIMES; i++) {
        const int k = (first + i / TIMES) % SCENARIOS;
        tsr_tensor *made[OUTS];
        if (scenarios[k].does != MAKES) continue;
        bool same = make_results(made, k);
        for (int j = 0; j < OUTS; j++) same = same && same_bits(made[j], expected[k][j]);
        if (!same) tsri_store_relaxed(&wrong, k + 1);
        release_results(made);
    }
    return NULL;
}

TEST(test_ops_run_from_many_threads_at_once)
{
    pthread_t threads[THREADS];
    int first[THREADS];
    make_inputs();
    make_expected();
    EXPECT_OK(tsr_set_threads(3));
    tsri_split_finely(true);
    for (int i = 0; i < THREADS; i++) {
        first[i] = i / 2 * (SCENARIOS / 2);
        EXPECT(pthread_create(&threads[i], NULL, call_all, &first[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT_MSG(wrong == 0, "%s", scenarios[wrong ? wrong - 1 : 0].name);
    tsri_split_finely(false);
    EXPECT_OK(tsr_set_threads(0));
    for (int k = 0; k < SCENARIOS; k++) release_results(expected[k]);
    drop_inputs();
}
#endif
