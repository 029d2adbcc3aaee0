/* test_promotion.c - where kinds mix: an error, or NumPy's answers if the thread asks for them. */
#include "test.h"

#ifndef TSR_NO_THREADS
#include <pthread.h>
#endif

static tsr_tensor *full(tsr_dtype dtype, double value)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_full(&t, dtype, TSR_SHAPE(2, 3), TSR_SCALAR(value)));
    return t;
}

/* The result has this dtype, and is `value` everywhere. Releases it. */
static void expect_full(tsr_tensor **z, tsr_dtype dtype, double value)
{
    tsr_tensor *want = NULL;
    bool same = false;
    EXPECT_MSG(*z && (*z)->dtype == dtype, "is %s, not %s", *z ? tsr_dtype_name((*z)->dtype) : "nothing",
               tsr_dtype_name(dtype));
    EXPECT_OK(tsr_full_like(&want, *z, TSR_SCALAR(value)));
    EXPECT_OK(tsr_equal(&same, *z, want));
    EXPECT(same);
    tsr_release_all(z, &want);
}

TEST(test_kinds_do_not_mix_unless_asked)
{
    tsr_tensor *i = full(TSR_I32, 3), *f = full(TSR_F32, 2), *z = NULL;
    EXPECT(tsr_get_promotion() == TSR_PROMOTE_STANDARD);
    EXPECT_STATUS(tsr_add(&z, i, f), TSR_EDTYPE);
    EXPECT_STATUS(tsr_div(&z, i, i), TSR_EDTYPE);
    EXPECT_STATUS(tsr_mean(&z, i, 0, NULL, false), TSR_EDTYPE);
    EXPECT_STATUS(tsr_matmul(&z, i, f), TSR_EDTYPE);
    EXPECT_STATUS(tsr_mul(&z, i, TSR_NUMBER(0.5)), TSR_EDTYPE);
    EXPECT_FAILS(tsr_set_promotion((tsr_promotion)7), TSR_EINVAL, "set_promotion: 7");
    EXPECT(z == NULL && tsr_get_promotion() == TSR_PROMOTE_STANDARD);
    tsr_release_all(&i, &f);
}

TEST(test_mixed_kinds_are_promoted_as_numpy_does)
{
    tsr_tensor *b = full(TSR_BOOL, 1), *i8 = full(TSR_I8, 4), *i32 = full(TSR_I32, 3);
    tsr_tensor *u64 = full(TSR_U64, 5), *f16 = full(TSR_F16, 2), *f32 = full(TSR_F32, 2),
               *c = full(TSR_C64, 2), *z = NULL, *t = NULL;
    EXPECT_OK(tsr_set_promotion(TSR_PROMOTE_MIXED));
    EXPECT_OK(tsr_add(&z, i32, f32));
    expect_full(&z, TSR_F64, 5);
    EXPECT_OK(tsr_add(&z, i8, f16));
    expect_full(&z, TSR_F16, 6);
    EXPECT_OK(tsr_add(&z, f32, i8));
    expect_full(&z, TSR_F32, 6);
    EXPECT_OK(tsr_sub(&z, u64, i32));
    expect_full(&z, TSR_F64, 2);
    EXPECT_OK(tsr_add(&z, b, i32));
    expect_full(&z, TSR_I32, 4);
    EXPECT_OK(tsr_add(&z, f32, b));
    expect_full(&z, TSR_F32, 3);
    EXPECT_OK(tsr_mul(&z, i8, c));
    expect_full(&z, TSR_C64, 8);
    EXPECT_OK(tsr_div(&z, i32, i8));
    expect_full(&z, TSR_F64, 0.75);
    EXPECT_OK(tsr_sqrt(&z, i8));
    expect_full(&z, TSR_F16, 2);
    EXPECT_OK(tsr_mean(&z, i32, 0, NULL, false));
    expect_full(&z, TSR_F64, 3);
    EXPECT_OK(tsr_softmax(&z, b, 0));
    expect_full(&z, TSR_F16, 0.5);
    EXPECT_OK(tsr_mul(&z, i32, TSR_NUMBER(0.5)));
    expect_full(&z, TSR_F64, 1.5);
    EXPECT_OK(tsr_add(&z, b, TSR_NUMBER(2)));
    expect_full(&z, TSR_I64, 3);
    EXPECT_OK(tsr_transpose(&t, i32, 0, 1));
    EXPECT_OK(tsr_matmul(&z, f32, t));
    expect_full(&z, TSR_F64, 18);
    EXPECT_OK(tsr_axpy(&z, TSR_SCALAR(0.5), i32, f32));
    expect_full(&z, TSR_F64, 3.5);
    EXPECT_OK(tsr_add(&z, i32, i32));  /* what needs no promotion is as ever */
    expect_full(&z, TSR_I32, 6);
    EXPECT_OK(tsr_set_promotion(TSR_PROMOTE_STANDARD));
    EXPECT_STATUS(tsr_add(&z, i32, f32), TSR_EDTYPE);
    tsr_release_all(&b, &i8, &i32, &u64, &f16, &f32, &c, &t);
}

TEST(test_mixed_kinds_infer_what_they_give)
{
    tsr_tensor *i = full(TSR_I32, 3), *f = full(TSR_F32, 2), *z = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_set_promotion(TSR_PROMOTE_MIXED));
    EXPECT_OK(tsr_infer(&d, TSR_OP_ADD, 2, (const tsr_desc *[]){ &i->desc, &f->desc }, NULL));
    EXPECT(d.dtype == TSR_F64);
    EXPECT_OK(tsr_infer(&d, TSR_OP_SQRT, 1, (const tsr_desc *[]){ &i->desc }, NULL));
    EXPECT(d.dtype == TSR_F64);
    EXPECT_OK(tsr_set_promotion(TSR_PROMOTE_STANDARD));
    tsr_release_all(&i, &f, &z);
}

TEST(test_floats_for_integers)
{
    EXPECT(tsr_dtype_floating(TSR_BOOL) == TSR_F16 && tsr_dtype_floating(TSR_U8) == TSR_F16);
    EXPECT(tsr_dtype_floating(TSR_I16) == TSR_F32 && tsr_dtype_floating(TSR_U32) == TSR_F64);
    EXPECT(tsr_dtype_floating(TSR_BF16) == TSR_BF16 && tsr_dtype_floating(TSR_C64) == TSR_C64);
    EXPECT(tsr_dtype_floating(TSR_DTYPE_INVALID) == TSR_DTYPE_INVALID);
}

#ifndef TSR_NO_THREADS
static void *rule_of_a_thread(void *context)
{
    *(tsr_promotion *)context = tsr_get_promotion();
    return NULL;
}

TEST(test_the_rule_is_the_threads_own)
{
    pthread_t thread;
    tsr_promotion other = TSR_PROMOTE_MIXED;
    EXPECT_OK(tsr_set_promotion(TSR_PROMOTE_MIXED));
    EXPECT(pthread_create(&thread, NULL, rule_of_a_thread, &other) == 0 && pthread_join(thread, NULL) == 0);
    EXPECT(other == TSR_PROMOTE_STANDARD && tsr_get_promotion() == TSR_PROMOTE_MIXED);
    EXPECT_OK(tsr_set_promotion(TSR_PROMOTE_STANDARD));
}
#endif
