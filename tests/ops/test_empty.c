/* Tensors without elements may have any strides: no op multiplies, adds or follows them. */
#include "test.h"

static const int64_t FAR = INT64_MAX / 2;

static tsr_tensor *empty_with(int ndim, const int64_t *shape, const int64_t *stride)
{
    static float nothing;
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, ndim, shape, stride));
    EXPECT_OK(tsr_wrap(&t, &nothing, &d));
    return t;
}

static void expect_filled(tsr_tensor **t, int64_t n, double with)
{
    EXPECT_MSG(*t && tsr_numel(*t) == n, "%lld elements", *t ? (long long)tsr_numel(*t) : -1);
    for (int64_t i = 0; *t && i < tsr_numel(*t); i++) EXPECT(((const float *)(*t)->data)[i] == (float)with);
    tsr_release(t);
}

/* x is (0, 5): what is reduced is empty, and what is kept is not. */
static void check_reductions(tsr_tensor *x)
{
    tsr_tensor *z = NULL;
    const int first[] = { 0 };
    EXPECT_OK(tsr_sum(&z, x, 1, first, false));
    expect_filled(&z, 5, 0);
    EXPECT_OK(tsr_prod(&z, x, 1, first, true));
    expect_filled(&z, 5, 1);
    EXPECT_OK(tsr_norm(&z, x, 1, first, false, 2));
    expect_filled(&z, 5, 0);
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    expect_filled(&z, 1, 0);
    EXPECT_OK(tsr_mean(&z, x, 1, first, false));
    EXPECT(z && tsr_numel(z) == 5);
    tsr_release(&z);
}

static void check_lanes(tsr_tensor *x)
{
    tsr_tensor *z = NULL;
    for (int axis = 0; axis < 2; axis++) {
        EXPECT_OK(tsr_cumsum(&z, x, axis));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_sort(&z, x, axis, false));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_softmax(&z, x, axis));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_diff(&z, x, axis, 0));
        expect_filled(&z, 0, 0);
    }
    EXPECT_OK(tsr_exp(&z, x));
    expect_filled(&z, 0, 0);
    EXPECT_OK(tsr_clone(&z, x));
    expect_filled(&z, 0, 0);
}

static void test_empty_tensors_with_any_strides(void)
{
    const int64_t strides[][2] = { { 1, FAR }, { FAR, FAR }, { -FAR, -FAR }, { FAR, -FAR }, { INT64_MIN, INT64_MIN } };
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        tsr_tensor *x = empty_with(TSR_SHAPE(0, 5), strides[i]);
        check_reductions(x);
        check_lanes(x);
        tsr_release(&x);
    }
}

/* Dims whose product is no number, beside one that is 0. */
static void test_empty_tensors_with_huge_dims(void)
{
    tsr_tensor *x = empty_with(TSR_SHAPE(FAR, 0, 16, FAR), (const int64_t[]){ 1, 1, 1, 1 }), *z = NULL;
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    expect_filled(&z, 1, 0);
    EXPECT_OK(tsr_sum(&z, x, 2, (const int[]){ 0, 3 }, false));
    expect_filled(&z, 0, 0);
    tsr_release(&x);
}

static void test_frequencies_of_no_length_are_refused(void)
{
    tsr_tensor *z = NULL;
    EXPECT_FAILS(tsr_fftfreq(&z, INT64_MIN, 1, TSR_F32), TSR_EINVAL, "n is");
    EXPECT_FAILS(tsr_rfftfreq(&z, INT64_MIN, 1, TSR_F32), TSR_EINVAL, "n is");
    EXPECT(!z);
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    RUN(test_empty_tensors_with_any_strides);
    RUN(test_empty_tensors_with_huge_dims);
    RUN(test_frequencies_of_no_length_are_refused);
    return TEST_END();
}
