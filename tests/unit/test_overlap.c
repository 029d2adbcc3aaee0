/* test_overlap.c - the exact overlap tests against marking every byte. */
#include "test.h"

#include "core/overlap.h"

enum { BYTES = 1 << 15 };

static unsigned char memory[BYTES];

/* Marks the bytes of every element, counted from memory + at, with `mark`.
 * Returns true if one of them was marked with `seen` before. */
static bool mark_bytes(const tsr_desc *d, int64_t at, unsigned char mark, unsigned char seen)
{
    int64_t index[TSR_MAX_NDIM] = { 0 };
    const int64_t size = (int64_t)tsr_dtype_size(d->dtype);
    bool met = false;
    for (int64_t left = tsr_desc_numel(d); left > 0; left--) {
        int64_t byte = at;
        for (int i = 0; i < d->ndim; i++) if (d->shape[i] > 1) byte += index[i] * d->stride[i] * size;
        for (int64_t b = byte; b < byte + size; b++) {
            met |= memory[b] == seen;
            memory[b] = mark;
        }
        for (int i = d->ndim - 1; i >= 0 && ++index[i] == d->shape[i]; i--) index[i] = 0;
    }
    return met;
}

static bool self_overlaps_by_marking(const tsr_desc *d)
{
    int64_t lo;
    (void)tsr_desc_span(d, &lo, NULL);
    memset(memory, 0, sizeof memory);
    return mark_bytes(d, -lo, 1, 1);
}

static bool overlap_by_marking(int64_t at_a, const tsr_desc *a, int64_t at_b, const tsr_desc *b)
{
    memset(memory, 0, sizeof memory);
    (void)mark_bytes(a, at_a, 1, 0xff);
    return mark_bytes(b, at_b, 2, 1);
}

static int64_t random_stride(uint64_t *r, int64_t size, int64_t largest)
{
    if (size == 1 && test_below(r, 3) == 0) return INT64_MIN + test_below(r, 9); /* junk */
    if (test_below(r, 12) == 0) return 0;
    return test_below(r, 2 * largest + 1) - largest;
}

/* Row-major with a gap and a permutation, or any strides at all. */
static void random_desc(tsr_desc *d, uint64_t *r)
{
    static const tsr_dtype dtypes[] = { TSR_BOOL, TSR_I16, TSR_F32, TSR_F64, TSR_C128, TSR_BF16, TSR_C64,
                                        TSR_U8 };
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    for (;;) {
        const int ndim = (int)test_below(r, 6);
        const bool packed = test_below(r, 2);
        const int64_t longest = 2 + test_below(r, 9), largest = 1 + test_below(r, test_below(r, 2) ? 8 : 120);
        int64_t step = 1 + test_below(r, 3);
        for (int i = 0; i < ndim; i++) {
            shape[i] = test_below(r, 25) ? 1 + test_below(r, longest) : 0;
            stride[i] = packed && shape[i] > 1 ? step : random_stride(r, shape[i], largest);
            const int64_t gap = test_below(r, 2) - (test_below(r, 30) == 0);
            if (shape[i] == 1 || !packed)
                step = 1 + test_below(r, largest); /* a stride may be anything then */
            else                          step = stride[i] * (shape[i] > 0 ? shape[i] : 1) + gap;
        }
        for (int i = ndim - 1; i > 0; i--) {
            const int64_t j = test_below(r, i + 1), n = shape[i], s = stride[i];
            shape[i] = shape[j]; stride[i] = stride[j];
            shape[j] = n; stride[j] = s;
        }
        for (int i = 0; i < ndim; i++) if (shape[i] != 1 && test_below(r, 4) == 0) stride[i] = -stride[i];
        EXPECT_OK(tsr_desc_init(d, dtypes[test_below(r, 8)], ndim, shape, stride));
        if (tsr_desc_span(d, NULL, NULL) <= BYTES / 3 && tsr_desc_numel(d) <= 2000) return;
    }
}

static const char *text_of(char text[TSRI_DESC_TEXT], const tsr_desc *d)
{
    (void)tsr_desc_to_string(text, TSRI_DESC_TEXT, d);
    return text;
}

TEST(test_self_overlap_agrees_with_marking_every_byte)
{
    uint64_t r = 1;
    int yes = 0, cases = 40000;
    for (int i = 0; i < cases; i++) {
        tsr_desc d;
        char text[TSRI_DESC_TEXT];
        random_desc(&d, &r);
        const bool want = self_overlaps_by_marking(&d);
        yes += want;
        EXPECT_MSG(tsr_desc_self_overlaps(&d) == want, "case %d: %s, marking says %d", i, text_of(text, &d),
                   want);
    }
    EXPECT_MSG(yes > cases / 5 && yes < cases * 4 / 5, "%d of %d overlap: hardly two-sided", yes, cases);
}

TEST(test_overlap_agrees_with_marking_every_byte)
{
    uint64_t r = 2;
    int yes = 0, cases = 60000;
    for (int i = 0; i < cases; i++) {
        tsr_desc a, b;
        char text_a[TSRI_DESC_TEXT], text_b[TSRI_DESC_TEXT];
        int64_t lo_a, lo_b;
        random_desc(&a, &r);
        random_desc(&b, &r);
        if (test_below(&r, 3) == 0) b = a; /* the same grid, shifted */
        const int64_t span_a = tsr_desc_span(&a, &lo_a, NULL), span_b = tsr_desc_span(&b, &lo_b, NULL);
        /* Ranges that mostly meet; any byte offset, aligned or not. */
        const int64_t start_a = span_b, start_b = test_below(&r, span_a + span_b + 1);
        const int64_t at_a = start_a - lo_a, at_b = start_b - lo_b;
        const bool want = overlap_by_marking(at_a, &a, at_b, &b);
        const bool got = tsri_overlap(memory + at_a, &a, memory + at_b, &b);
        yes += want;
        EXPECT_MSG(got == want, "case %d: %s at %lld and %s at %lld, marking says %d", i, text_of(text_a, &a),
                   (long long)at_a, text_of(text_b, &b), (long long)at_b, want);
        EXPECT(tsri_overlap(memory + at_b, &b, memory + at_a, &a) == want);
    }
    EXPECT_MSG(yes > cases / 5 && yes < cases * 4 / 5, "%d of %d overlap: hardly two-sided", yes, cases);
}

static bool self_overlaps(int ndim, const int64_t *shape, const int64_t *stride)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_I8, ndim, shape, stride));
    return tsr_desc_self_overlaps(&d);
}

TEST(test_self_overlap_of_known_cases)
{
    EXPECT(!self_overlaps(0, NULL, NULL));
    EXPECT(!self_overlaps(1, (int64_t[]){ 5 }, (int64_t[]){ -1 }));
    EXPECT(self_overlaps(1, (int64_t[]){ 2 }, (int64_t[]){ 0 }));
    EXPECT(!self_overlaps(1, (int64_t[]){ 1 }, (int64_t[]){ 0 }));
    EXPECT(!self_overlaps(2, (int64_t[]){ 0, 5 }, (int64_t[]){ 1, 0 }));
    EXPECT(self_overlaps(2, (int64_t[]){ 4, 3 }, (int64_t[]){ 1, 1 }));  /* sliding windows */
    EXPECT(!self_overlaps(2, (int64_t[]){ 3, 4 }, (int64_t[]){ 4, 3 })); /* 4x = 3y needs x of 3 */
    EXPECT(self_overlaps(2, (int64_t[]){ 4, 5 }, (int64_t[]){ 4, 3 }));
    EXPECT(!tsr_desc_self_overlaps(NULL));
}

TEST(test_self_overlap_is_exact_for_huge_dims)
{
    /* a * x = b * y first at x = b, y = a: the edge, a million indices away. */
    EXPECT(!self_overlaps(2, (int64_t[]){ 1000001, 2000000 }, (int64_t[]){ 1000003, 1000001 }));
    EXPECT(self_overlaps(2, (int64_t[]){ 1000002, 1000004 }, (int64_t[]){ -1000003, 1000001 }));
    EXPECT(!self_overlaps(2, (int64_t[]){ 1000002, 1000003 }, (int64_t[]){ -1000003, 1000001 }));
    /* Steps and sums as large as they can be. */
    EXPECT(!self_overlaps(2, (int64_t[]){ 2, 2 }, (int64_t[]){ INT64_MAX / 2, INT64_MAX / 2 - 1 }));
    EXPECT(self_overlaps(3, (int64_t[]){ 2, 2, 2 },
                         (int64_t[]){ INT64_MAX / 2, INT64_MAX / 2 - 1, 1 }));
    EXPECT(!self_overlaps(3, (int64_t[]){ 2, 3, 2 },
                          (int64_t[]){ INT64_MAX / 4, INT64_MAX / 8, INT64_MAX / 4 - 7 }));
    EXPECT(!self_overlaps(1, (int64_t[]){ INT64_MAX }, (int64_t[]){ 1 }));
}

/* Do two of the 2 * 2 * 2 * 2 places meet? */
static bool sixteen_meet(const int64_t stride[4])
{
    int64_t at[16];
    for (int i = 0; i < 16; i++) {
        at[i] = 0;
        for (int d = 0; d < 4; d++) at[i] += (i >> d & 1) * stride[d];
        for (int j = 0; j < i; j++) if (at[i] == at[j]) return true;
    }
    return false;
}

/* Steps whose remainders take more than 32 bits. */
TEST(test_self_overlap_is_exact_for_strides_of_many_bits)
{
    uint64_t r = 11;
    int meet = 0;
    for (int k = 0; k < 4000; k++) {
        const int64_t p = ((int64_t)1 << (33 + test_below(&r, 8))) + test_below(&r, 1000),
                      b = test_below(&r, 4), c = 1 + test_below(&r, 3),
                      s = p * (4 + test_below(&r, 5)) + 1 + test_below(&r, 9);
        const int64_t stride[4] = { s + (b - c) * p + test_below(&r, 2), s, (b + 1) * p, (c + 1) * p };
        tsr_desc d;
        EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(2, 2, 2, 2), stride));
        EXPECT(tsr_desc_self_overlaps(&d) == sixteen_meet(stride));
        meet += sixteen_meet(stride);
    }
    EXPECT_MSG(meet > 500 && meet < 3500, "%d", meet);
}

TEST(test_overlap_of_huge_interleaved_views_is_exact)
{
    const int64_t n = (int64_t)1 << 30;
    tsr_desc even, third;
    char *const base = (char *)memory; /* an address to count from; nothing is read */
    EXPECT_OK(tsr_desc_init(&even, TSR_F32, 2, (int64_t[]){ 1000, n / 2 }, (int64_t[]){ n, 2 }));
    EXPECT(!tsri_overlap(base, &even, base + 4, &even));
    EXPECT(!tsri_overlap(base + 4, &even, base, &even));
    EXPECT(tsri_overlap(base, &even, base + 8, &even));
    EXPECT(tsri_overlap(base, &even, base + 3, &even)); /* by single bytes */
    EXPECT_OK(tsr_desc_init(&third, TSR_F32, 1, (int64_t[]){ n }, (int64_t[]){ 6 }));
    EXPECT(!tsri_overlap(base, &even, base + 4, &third));
    EXPECT(tsri_overlap(base, &even, base + 8, &third));
}

/* Strides with no factor in common in many dims: the search ends, and never says no. */
TEST(test_overlap_gives_up_with_true)
{
    static const int64_t stride[] = { 982451653, 961748941, 941083987, 920419823, 899809363, 879190841,
                                      858599509 };
    int64_t shape[7];
    tsr_desc d;
    for (int i = 0; i < 7; i++) shape[i] = 13;
    EXPECT_OK(tsr_desc_init(&d, TSR_I8, 7, shape, stride));
    EXPECT(tsr_desc_self_overlaps(&d));
    for (int64_t at = 1; at < (int64_t)4000000000; at = at * 3 + 1)
        EXPECT(tsri_overlap(memory, &d, (char *)memory + at, &d));
    for (int i = 0; i < 7; i++) shape[i] = 2;
    EXPECT_OK(tsr_desc_init(&d, TSR_I8, 7, shape, stride));
    EXPECT(!tsr_desc_self_overlaps(&d));
}

TEST(test_overlap_of_tensors)
{
    tsr_tensor *t = NULL, *row = NULL, *column = NULL, *declared = NULL, *wide = NULL, *none = NULL;
    tsr_tensor zeroed = { 0 };
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_select(&row, t, 0, 1));
    EXPECT_OK(tsr_select(&column, t, 1, 2));
    EXPECT(tsr_may_overlap(t, t));
    EXPECT(tsr_may_overlap(row, column));
    EXPECT(tsr_may_overlap(t, row));
    EXPECT_OK(tsr_select(&column, t, 0, 2));
    EXPECT(!tsr_may_overlap(row, column));
    EXPECT_OK(tsr_slice(&column, t, 0, 1, 1, 1));
    EXPECT(!tsr_may_overlap(t, column));
    EXPECT_OK(tsr_declare(&declared, &t->desc, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(!tsr_may_overlap(declared, declared));
    EXPECT(!tsr_self_overlaps(declared));
    EXPECT(!tsr_may_overlap(t, none));
    EXPECT(!tsr_may_overlap(&zeroed, t));
    EXPECT(!tsr_self_overlaps(none));
    EXPECT(!tsr_self_overlaps(&zeroed));
    EXPECT(!tsr_self_overlaps(t));
    EXPECT_OK(tsr_unsqueeze(&wide, row, 0));
    EXPECT_OK(tsr_expand(&wide, wide, TSR_SHAPE(5, 4)));
    EXPECT(tsr_self_overlaps(wide));
    tsr_release_all(&wide, &declared, &column, &row, &t);
}
