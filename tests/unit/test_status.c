/* How calls end: names, texts, and the words each thread keeps of its own latest failure. */
#include "test.h"
#include "core/status_int.h"

#ifndef TSR_NO_THREADS
#include <pthread.h>
#endif

TEST(test_status_names_and_texts_come_from_the_list)
{
#define X(ID, number, text)                                        \
    EXPECT((int)TSR_##ID == number);                               \
    EXPECT(!strcmp(tsr_status_name(TSR_##ID), "TSR_" #ID));        \
    EXPECT(!strcmp(tsr_status_text(TSR_##ID), text));
#include "tessera/status.def"
#undef X
    EXPECT(TSR_OK == 0 && sizeof(tsr_status) == 4);
}

TEST(test_status_numbers_that_are_none_have_names_too)
{
    const int numbers[] = { -1, 18, 1000, 0x7fffffff };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        EXPECT(!strcmp(tsr_status_name((tsr_status)numbers[i]), "TSR_?"));
        EXPECT(tsr_status_text((tsr_status)numbers[i])[0] != '\0');
    }
}

TEST(test_status_of_a_failure_is_kept_with_its_words)
{
    tsr_tensor *t = NULL;
    EXPECT(tsr_last_status() == TSR_OK && !strcmp(tsr_last_error(), ""));
    EXPECT_STATUS(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, -3)), TSR_ESHAPE);
    EXPECT(tsr_last_status() == TSR_ESHAPE);
    EXPECT(strstr(tsr_last_error(), "-3") && strstr(tsr_last_error(), "dim 1"));
}

TEST(test_status_words_name_the_op_the_argument_and_what_was_expected)
{
    tsr_tensor *t = NULL, *v = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_FAILS(tsr_slice(&v, t, 3, 0, 1, 1), TSR_EINDEX,
                 "slice: axis 3 of f32(2, 3 | 3, 1), which has 2 dims");
    EXPECT_FAILS(tsr_view(&v, NULL, TSR_SHAPE(6)), TSR_ENULL, "view: t is NULL");
    EXPECT_FAILS(tsr_view(NULL, t, TSR_SHAPE(6)), TSR_ENULL, "view: out is NULL");
    EXPECT_FAILS(tsr_copy(t, NULL), TSR_ENULL, "copy: src is NULL");
    tsr_release(&t);
}

TEST(test_status_words_survive_calls_that_succeed)
{
    tsr_tensor *t = NULL, *v = NULL;
    bool same;
    char text[64];
    EXPECT(tsri_fail(TSR_EBUSY, "kept %d", 7) == TSR_EBUSY);
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(6)));
    EXPECT_OK(tsr_equal(&same, t, t));
    EXPECT_OK(tsr_to_string(text, sizeof text, NULL, t, NULL));
    tsr_release_all(&v, &t);
    EXPECT(tsr_last_status() == TSR_EBUSY && !strcmp(tsr_last_error(), "kept 7"));
}

TEST(test_status_is_forgotten_on_demand)
{
    (void)tsri_fail(TSR_EIO, "something");
    tsr_clear_error();
    EXPECT(tsr_last_status() == TSR_OK && !strcmp(tsr_last_error(), ""));
    tsr_clear_error();
    EXPECT(tsr_last_status() == TSR_OK);
}

TEST(test_status_words_are_cut_to_fit)
{
    char longer[3 * TSRI_MESSAGE];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    EXPECT(tsri_fail(TSR_EINVAL, "%s", longer) == TSR_EINVAL);
    EXPECT(strlen(tsr_last_error()) == TSRI_MESSAGE - 1);
    EXPECT(tsri_fail(TSR_EINVAL, "%.*s!", TSRI_MESSAGE - 2, longer) == TSR_EINVAL);
    EXPECT(strlen(tsr_last_error()) == TSRI_MESSAGE - 1 && tsr_last_error()[TSRI_MESSAGE - 2] == '!');
    EXPECT(tsri_fail_text(TSR_EINVAL, longer) == TSR_EINVAL);
    EXPECT(strlen(tsr_last_error()) == TSRI_MESSAGE - 1);

    /* A name of the caller's cannot push it over either. */
    tsr_device device;
    EXPECT_STATUS(tsr_device_parse(&device, longer), TSR_EDEVICE);
    EXPECT(strlen(tsr_last_error()) == TSRI_MESSAGE - 1);
}

TEST(test_status_words_may_quote_the_words_before)
{
    (void)tsri_fail(TSR_EIO, "inner");
    (void)tsri_fail(TSR_EFORMAT, "outer: %s", tsr_last_error());
    EXPECT(tsr_last_status() == TSR_EFORMAT && !strcmp(tsr_last_error(), "outer: inner"));
}

TEST(test_status_failures_allocate_nothing)
{
    tsr_memory_stats before, after;
    tsr_tensor *t = NULL;
    tsr_memory_get_stats(&before);
    for (int i = 0; i < 100; i++) EXPECT_STATUS(tsr_zeros(&t, TSR_F32, TSR_SHAPE(-i - 1)), TSR_ESHAPE);
    tsr_memory_get_stats(&after);
    EXPECT(!memcmp(&before, &after, sizeof before));
}

static tsr_status fails_twice(int *steps)
{
    ++*steps;
    TSR_TRY(TSR_OK);
    ++*steps;
    TSR_TRY(TSR_EINDEX);
    ++*steps;
    return TSR_OK;
}

TEST(test_status_try_returns_at_the_first_failure)
{
    int steps = 0;
    EXPECT_STATUS(fails_twice(&steps), TSR_EINDEX);
    EXPECT(steps == 2);
}

#ifdef TSR_NO_THREADS

TEST(test_status_words_of_threads_do_not_mix) { SKIP("a build without threads"); }

#else

enum { THREADS = 6, ROUNDS = 2000 };

typedef struct speaker { int id, mixed; } speaker;

static void *speak(void *context)
{
    speaker *me = context;
    if (tsr_last_status() != TSR_OK || tsr_last_error()[0]) me->mixed++;  /* a new thread has no failure */
    for (int i = 0; i < ROUNDS; i++) {
        char want[64];
        tsr_tensor *t = NULL;
        const int64_t dim = -(me->id * 1000000 + i + 1);
        if (tsr_zeros(&t, TSR_F32, TSR_SHAPE(dim)) != TSR_ESHAPE) me->mixed++;
        (void)snprintf(want, sizeof want, "dim 0 is %lld in", (long long)dim);
        if (!strstr(tsr_last_error(), want) || tsr_last_status() != TSR_ESHAPE) me->mixed++;
    }
    return NULL;
}

TEST(test_status_words_of_threads_do_not_mix)
{
    pthread_t threads[THREADS];
    speaker speakers[THREADS] = { { 0, 0 } };
    (void)tsri_fail(TSR_EBUSY, "mine");
    for (int i = 0; i < THREADS; i++) {
        speakers[i].id = i;
        EXPECT(pthread_create(&threads[i], NULL, speak, &speakers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
        EXPECT(speakers[i].mixed == 0);
    }
    EXPECT(tsr_last_status() == TSR_EBUSY && !strcmp(tsr_last_error(), "mine"));
}

#endif
