/* test_results.c - results that are there: every op gives what it gives into memory of its own, bit for bit,
 * into one that overlaps an operand, that is described, of any strides, or placed; and refuses one that it
 * cannot write. */
#include "ops/dispatch.h"

#include "named_inputs.h"

enum { UNIT = 64 };  /* bytes; places are multiples of it, or one element further */

static tsr_tensor *block;  /* bytes that hold an operand and a result */

/* A tensor of this desc whose lowest byte is this one of the block. */
static tsr_tensor *placed(const tsr_desc *d, int64_t at)
{
    tsr_tensor *t = NULL;
    int64_t low, high;
    (void)tsr_desc_span(d, &low, &high);
    EXPECT_OK(tsr_wrap(&t, (char *)block->data + at - low, d));
    return t;
}

static int64_t span_of(const tsr_tensor *t) { return tsr_desc_span(&t->desc, NULL, NULL); }

static bool is_same(const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *p = NULL, *q = NULL;
    EXPECT_OK(tsr_contiguous(&p, a));
    EXPECT_OK(tsr_contiguous(&q, b));
    const bool same = tsr_desc_same_shape(&p->desc, &q->desc) && p->dtype == q->dtype &&
                      !memcmp(p->data, q->data, (size_t)tsr_byte_size(p));
    tsr_release_all(&p, &q);
    return same;
}

/* Strides may choose a kernel that sums in another order. */
static bool is_near(const tsr_tensor *a, const tsr_tensor *b)
{
    bool near = false;
    if (tsr_desc_same_shape(&a->desc, &b->desc) && a->dtype == b->dtype)
        EXPECT_OK(tsr_allclose(&near, a, b, &(tsr_close_opts){ .equal_nan = true }, NULL));
    return near;
}

static int written;

/* Call k, with result i at byte `at` of the memory of an operand. */
static void write_over(int k, const struct input *operand, int i, int64_t at, tsr_tensor *const *want)
{
    tsr_tensor *const had = *operand->t;
    const int64_t before = span_of(want[i]) / UNIT * UNIT + UNIT;
    EXPECT_OK(tsr_zeros(&block, TSR_U8, TSR_SHAPE(2 * before + span_of(had) + 2 * UNIT)));
    *operand->t = placed(&had->desc, before);
    EXPECT_OK(tsr_copy(*operand->t, had));
    out[i] = placed(&want[i]->desc, before + at);
    EXPECT_MSG(scenarios[k].run() == TSR_OK, "%s over %s: %s", texts[k], operand->name, tsr_last_error());
    for (int r = 0; r < OUTS; r++)
        EXPECT_MSG(!want[r] || is_same(out[r], want[r]), "%s: result %d, with result %d over %s at byte %lld",
                   texts[k], r, i, operand->name, (long long)at);
    written++;
    drop_results();
    tsr_release_all(operand->t, &block);
    *operand->t = had;
}

/* Result i at the operand's first byte, one element further, in its middle, and with half of it before. */
static void write_over_all(int k, const struct input *operand, int i, tsr_tensor *const *want)
{
    const int64_t begins[] = { 0, (int64_t)tsr_dtype_size(want[i]->dtype),
                               span_of(*operand->t) / 2 / UNIT * UNIT, -span_of(want[i]) / 2 / UNIT * UNIT };
    for (int p = 0; p < 4; p++)
        if (p == 0 || begins[p] != 0) write_over(k, operand, i, begins[p], want);
}

/* Every result of call k over every operand of it. */
static void write_over_operands(int k, int i, tsr_tensor *const *want)
{
    for (int j = 0; j < INPUT_COUNT; j++)
        if (has_word(texts[k], inputs[j].name)) write_over_all(k, &inputs[j], i, want);
}

/* Results that are described, column-major with gaps, and placed. */
static void write_described_and_placed(int k, int i, tsr_tensor *const *want)
{
    tsr_tensor place, *given = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init_column_major(&d, want[i]->dtype, want[i]->ndim, want[i]->shape));
    for (int n = 0; n < d.ndim; n++) d.stride[n] *= 2;
    EXPECT_OK(tsr_declare(&given, &d, TSR_CPU, TSR_MEMORY_HOST));
    for (int placed_one = 0; placed_one < 2; placed_one++) {
        tsr_tensor *const was = out[i] = placed_one ? tsr_place_none(&place) : given;
        EXPECT_MSG(scenarios[k].run() == TSR_OK && out[i] == was && is_near(out[i], want[i]) &&
                       (placed_one || tsr_desc_same(&out[i]->desc, &d)),
                   "%s, result %d: %s", texts[k], i, tsr_last_error());
        drop_results();
    }
}

/* The call says that it cannot write its result i, and leaves the handle as it was. */
static void expect_refused(int k, int i, tsr_tensor *given, tsr_status status)
{
    out[i] = given;
    tsr_clear_error();
    const tsr_status got = scenarios[k].run();
    EXPECT_MSG(got == status && out[i] == given && is_named(texts[k]), "%s, result %d: %s, not %s: %s",
               texts[k], i, tsr_status_name(got), tsr_status_name(status), tsr_last_error());
    drop_results();
}

/* Of another dtype, of another shape, read-only, and of which two elements share their memory. */
static void refuse_unfit(int k, int i, tsr_tensor *const *want)
{
    const tsr_tensor *w = want[i];
    tsr_tensor *given = NULL;
    int64_t more[TSR_MAX_NDIM];
    tsr_desc d = w->desc;
    EXPECT_OK(tsr_empty(&given, w->dtype == TSR_I16 ? TSR_I32 : TSR_I16, w->ndim, w->shape));
    expect_refused(k, i, given, TSR_EDTYPE);
    const int dims = w->ndim < TSR_MAX_NDIM ? w->ndim + 1 : w->ndim;
    memcpy(more, w->shape, sizeof more);
    more[dims - 1] = w->ndim < TSR_MAX_NDIM ? 2 : w->shape[dims - 1] + 1;
    given = NULL;
    EXPECT_OK(tsr_empty(&given, w->dtype, dims, more));
    expect_refused(k, i, given, TSR_ESHAPE);
    given = NULL;
    EXPECT_OK(tsr_wrap_const(&given, w->data, &d));
    expect_refused(k, i, given, TSR_EREADONLY);
    memset(d.stride, 0, sizeof d.stride);
    given = NULL;
    EXPECT_OK(tsr_wrap(&given, w->data, &d));
    if (tsr_numel(w) > 1) expect_refused(k, i, given, TSR_EOVERLAP);
    else                  tsr_release(&given);
}

/* Views and what may be one release the tensor in their handle, whatever it is. */
static bool is_written_into(int k, int i, const tsr_tensor *want)
{
    tsr_tensor *given = NULL;
    EXPECT_OK(tsr_clone(&given, want));
    out[i] = tsr_retain(given);
    EXPECT_OK(scenarios[k].run());
    const bool same = out[i] == given;
    drop_results();
    tsr_release(&given);
    return same;
}

static void each_result(void (*try)(int k, int i, tsr_tensor *const *want))
{
    make_inputs();
    for (int parts = 0; parts < 2; parts++) {
        tsri_prefer_parts(parts);
        for (int k = 0; k < SCENARIOS; k++) {
            tsr_tensor *want[OUTS];
            if (!texts[k]) continue;
            EXPECT_OK(scenarios[k].run());
            memcpy(want, out, sizeof want);
            memset(out, 0, sizeof out);
            for (int i = 0; i < OUTS; i++)
                if (want[i] && tsr_numel(want[i]) > 0 && is_written_into(k, i, want[i])) try(k, i, want);
            for (int i = 0; i < OUTS; i++) tsr_release(&want[i]);
        }
        tsri_prefer_parts(false);
    }
    drop_inputs();
}

TEST(test_every_op_writes_results_that_overlap_an_operand)
{
    each_result(write_over_operands);
    EXPECT_MSG(written > 8 * SCENARIOS, "%d", written);
}

TEST(test_every_op_writes_results_that_are_described_or_placed) { each_result(write_described_and_placed); }

TEST(test_every_op_refuses_results_that_do_not_fit) { each_result(refuse_unfit); }
