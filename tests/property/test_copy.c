/* test_copy.c - copy, convert, fill, load and store between any strides and any dtypes.
 *
 * Tensors lie in one block of memory, which is compared as a whole afterwards:
 * the elements that had to change hold what the reference says, and no other
 * byte has changed. Sources and destinations overlap in some cases; what must
 * come out is worked out from a copy of the block.
 */
#include "reference.h"

static _Alignas(64) unsigned char memory[REF_BYTES], before[REF_BYTES];
static unsigned char wanted[REF_ELEMENTS][16]; /* elements, in row-major order */

/* Making cases --------------------------------------------------------------------- */

/* Moves a view so that its lowest byte is at `lowest` or just above, aligned. Returns where
 * its first element then lies. */
static int64_t move_to(ref_view *v, int64_t lowest, int64_t align)
{
    int64_t low, high;
    ref_span(v, &low, &high);
    const int64_t first = (lowest - low + align - 1) / align * align;
    for (int64_t k = 0; k < v->n; k++) v->at[k] += first;
    return first;
}

/* A tensor of this dtype and shape with its lowest byte near `lowest`, in c->t[handle]. */
static bool make_tensor(ref_case *c, int handle, ref_view *v, tsr_dtype dtype, int ndim, const int64_t *shape,
                        bool writable, int64_t lowest, int64_t most)
{
    tsr_desc d;
    int64_t low, high;
    ref_random_desc(c, &d, v, &low, dtype, ndim, shape, writable, most);
    if (v->n == 0 && ndim > 0 && ref_once_in(c, 3)) d.stride[ref_below(c, ndim)] = ref_junk(c);
    const int64_t first = move_to(v, lowest, ref_align(dtype));
    ref_span(v, &low, &high);
    return ref_make(c, handle, memory, first, &d, v->n ? low : first, v->n ? high : first);
}

static void fill_with_values(ref_case *c, const ref_view *v)
{
    for (int64_t k = 0; k < v->n; k++) ref_random_element(c, v->dtype, memory + v->at[k]);
}

/* What the elements of src must become as `to`. */
static void want_converted(const ref_view *src, tsr_dtype to)
{
    for (int64_t k = 0; k < src->n; k++) ref_convert(to, wanted[k], src->dtype, before + src->at[k]);
}

static void say_element(ref_case *c, const char *what, tsr_dtype dtype, const void *element)
{
    ref_say(c, " %s ", what);
    for (int64_t i = ref_size(dtype) - 1; i >= 0; i--)
        ref_say(c, "%02x", ((const unsigned char *)element)[i]);
}

/* Judging ------------------------------------------------------------------------ */

/* Each element at its address is as wanted, come from dtype `from`. */
static bool elements_are(ref_case *c, const unsigned char *base, const ref_view *v, tsr_dtype from,
                         const ref_view *src)
{
    for (int64_t k = 0; k < v->n; k++) {
        const bool is_right = ref_element_is(v->dtype, base + v->at[k], wanted[k], from);
        if (is_right) continue;
        ref_say(c, "    element %lld, %s to %s:", (long long)k, tsr_dtype_name(from),
                tsr_dtype_name(v->dtype));
        if (src) say_element(c, "from", from, before + src->at[k]);
        say_element(c, "wanted", v->dtype, wanted[k]);
        say_element(c, "got", v->dtype, base + v->at[k]);
        MUST_TRUE(is_right);
    }
    return true;
}

/* And nothing else in memory has changed. */
static bool memory_is(ref_case *c, const ref_view *dst, tsr_dtype from, const ref_view *src)
{
    if (!elements_are(c, memory, dst, from, src)) return false;
    for (int64_t k = 0; k < dst->n; k++)
        memcpy(before + dst->at[k], memory + dst->at[k], (size_t)ref_size(dst->dtype));
    MUST_TRUE(!memcmp(before, memory, sizeof memory));
    return true;
}

static bool memory_is_as_before(ref_case *c)
{
    MUST_TRUE(!memcmp(before, memory, sizeof memory));
    return true;
}

/* Copy --------------------------------------------------------------------------- */

typedef struct pair {
    tsr_dtype from, to;
    int       ndim;
    int64_t   shape[TSR_MAX_NDIM];
    ref_view  src, dst;  /* c->t[1] and c->t[0] */
} pair;

static pair p;

/* The dtypes go through all pairs; the rest is random. Overlapping pairs lie in each other. */
static bool make_pair(ref_case *c, bool overlap)
{
    p.from = (tsr_dtype)(1 + c->number % 18);
    p.to = (tsr_dtype)(1 + c->number / 18 % 18);
    p.ndim = ref_random_shape(c, p.shape, REF_RANK, REF_SOURCE);
    ref_random_bytes(c, memory, sizeof memory);
    const int64_t half = REF_BYTES / 2, most = overlap ? half : half - 128;
    const int64_t near = overlap ? ref_below(c, 64) : 32, far = overlap ? ref_below(c, 64) : half + 32;
    const bool swap = ref_once_in(c, 2);
    if (!make_tensor(c, 1, &p.src, p.from, p.ndim, p.shape, false, swap ? far : near, most)) return false;
    if (!make_tensor(c, 0, &p.dst, p.to, p.ndim, p.shape, true, swap ? near : far, most)) return false;
    fill_with_values(c, &p.src);
    memcpy(before, memory, sizeof memory);
    want_converted(&p.src, p.to);
    return true;
}

static void overlap_case(ref_case *c)
{
    if (!make_pair(c, true)) return;
    MUST(tsr_copy(c->t[0], c->t[1]) == TSR_OK);
    (void)memory_is(c, &p.dst, p.from, &p.src);
}

TEST(test_copy_between_overlapping_tensors_is_as_if_the_source_was_copied_first)
{
    ref_cases(40000, overlap_case);
}

/* The same memory seen as another dtype of the same size, in place. */
static void in_place_case(ref_case *c)
{
    const tsr_dtype from = (tsr_dtype)(1 + c->number % 18);
    tsr_dtype to = ref_random_dtype(c);
    while (ref_size(to) != ref_size(from) || ref_align(to) > ref_align(from)) to = ref_random_dtype(c);
    p.ndim = ref_random_shape(c, p.shape, REF_RANK, REF_SOURCE);
    ref_random_bytes(c, memory, sizeof memory);
    if (!make_tensor(c, 1, &p.src, from, p.ndim, p.shape, true, 64, REF_BYTES - 256)) return;
    fill_with_values(c, &p.src);
    memcpy(before, memory, sizeof memory);
    want_converted(&p.src, to);
    tsr_desc d = c->t[1]->desc;
    d.dtype = to;
    p.dst = p.src;
    p.dst.dtype = to;
    c->t[0] = &c->place[0];
    MUST(tsr_place(c->t[0], c->t[1]->data, &d) == TSR_OK);
    ref_say(c, "    as %s\n", tsr_dtype_name(to));
    MUST(tsr_copy(c->t[0], c->t[1]) == TSR_OK);
    (void)memory_is(c, &p.dst, from, &p.src);
}

TEST(test_copy_converts_in_place) { ref_cases(20000, in_place_case); }

/* Load and store ------------------------------------------------------------------- */

/* Host buffers at any address, in the same block: they may overlap the tensor. */
static void load_case(ref_case *c)
{
    const bool store = ref_once_in(c, 2), overlap = ref_once_in(c, 4);
    const tsr_dtype dtype = (tsr_dtype)(1 + c->number % 18);
    const int64_t size = ref_size(dtype);
    p.ndim = ref_random_shape(c, p.shape, REF_RANK, REF_SOURCE);
    ref_random_bytes(c, memory, sizeof memory);
    if (!make_tensor(c, 0, &p.dst, dtype, p.ndim, p.shape, !store, 64, REF_BYTES / 2 - 256)) return;
    const size_t bytes = (size_t)(p.dst.n * size);
    unsigned char *buffer = memory + (overlap ? ref_below(c, 100) : REF_BYTES / 2) + ref_below(c, 17);
    ref_say(c, "    %s, buffer at %lld\n", store ? "store" : "load", (long long)(buffer - memory));
    memcpy(before, memory, sizeof memory);
    const tsr_status s = store ? tsr_store(buffer, bytes, c->t[0]) : tsr_load(c->t[0], buffer, bytes);
    MUST(s == TSR_OK);
    for (int64_t k = 0; k < p.dst.n; k++) {
        const int64_t in_buffer = buffer - memory + k * size;
        memcpy(wanted[k], before + (store ? p.dst.at[k] : in_buffer), (size_t)size);
        if (store) p.dst.at[k] = in_buffer;
    }
    (void)memory_is(c, &p.dst, dtype, NULL);
}

TEST(test_load_and_store_reach_host_buffers_at_any_address) { ref_cases(20000, load_case); }

/* Described destinations ------------------------------------------------------------ */

/* The first write allocates a described tensor with the strides it was described with. */
static void described_case(ref_case *c)
{
    tsr_desc d;
    int64_t low;
    static ref_view own;
    p.from = (tsr_dtype)(1 + c->number % 18);
    p.to = (tsr_dtype)(1 + c->number / 18 % 18);
    p.ndim = ref_random_shape(c, p.shape, REF_RANK, REF_SOURCE);
    ref_random_bytes(c, memory, sizeof memory);
    if (!make_tensor(c, 1, &p.src, p.from, p.ndim, p.shape, false, 32, REF_BYTES - 128)) return;
    ref_random_desc(c, &d, &own, &low, p.to, p.ndim, p.shape, true, REF_BYTES);
    fill_with_values(c, &p.src);
    memcpy(before, memory, sizeof memory);
    want_converted(&p.src, p.to);
    ref_say(c, "    described as ");
    ref_say_desc(c, &d);
    MUST(tsr_declare(&c->t[0], &d, TSR_CPU, TSR_MEMORY_HOST) == TSR_OK && !tsr_is_allocated(c->t[0]));
    MUST(tsr_copy(c->t[0], c->t[1]) == TSR_OK && tsr_is_allocated(c->t[0]) && tsr_check(c->t[0]) == TSR_OK);
    MUST(tsr_desc_same(&c->t[0]->desc, &d));
    MUST((int64_t)tsr_storage_bytes(c->t[0]->storage) == tsr_desc_span(&d, NULL, NULL));
    for (int64_t k = 0; k < own.n; k++) own.at[k] -= low;
    (void)elements_are(c, (const unsigned char *)c->t[0]->data + low, &own, p.from, &p.src);
}

TEST(test_the_first_write_allocates_a_described_tensor) { ref_cases(5000, described_case); }

/* Refusals ------------------------------------------------------------------------ */

/* A destination that repeats an element, or is read-only, or has another shape. */
static void refusal_case(ref_case *c)
{
    static ref_view repeated;
    tsr_desc d;
    int64_t low;
    tsr_status want = TSR_EOVERLAP, got = TSR_OK;
    p.ndim = ref_random_shape(c, p.shape, REF_RANK, REF_SOURCE);
    ref_random_bytes(c, memory, sizeof memory);
    if (!make_tensor(c, 1, &p.src, TSR_I16, p.ndim, p.shape, false, 64, REF_BYTES / 2 - 256)) return;
    ref_random_desc(c, &d, &repeated, &low, TSR_I16, p.ndim, p.shape, false, REF_BYTES / 2 - 256);
    unsigned char *at = memory + REF_BYTES / 2 - low;
    if (ref_once_in(c, 3)) {
        want = TSR_EREADONLY;
        MUST(tsr_wrap_const(&c->t[0], at, &d) == TSR_OK && tsr_is_readonly(c->t[0]));
    } else {
        if (!ref_repeats(&repeated)) return;
        MUST(tsr_wrap(&c->t[0], at, &d) == TSR_OK && tsr_self_overlaps(c->t[0]));
    }
    memcpy(before, memory, sizeof memory);
    ref_say_desc(c, &d);
    const tsr_tensor *one[] = { c->t[1] };
    int64_t index[TSR_MAX_NDIM] = { 0 };
    switch (ref_below(c, 9)) {
    case 0: got = tsr_copy(c->t[0], c->t[1]); break;
    case 1: got = tsr_fill(c->t[0], TSR_SCALAR(3)); break;
    case 2: got = tsr_zero(c->t[0]); break;
    case 3: got = tsr_rearrange(&c->t[0], c->t[1]); break;
    case 4: got = tsr_cast(&c->t[0], c->t[1], TSR_I16); break;
    case 5: got = tsr_load(c->t[0], memory, (size_t)tsr_byte_size(c->t[0])); break;
    case 6: got = p.ndim ? tsr_concat(&c->t[0], 1, one, 0) : want; break;
    case 7: got = tsr_full(&c->t[0], TSR_I16, p.ndim, p.shape, TSR_SCALAR(1)); break;
    default: got = tsr_set_i16(c->t[0], p.ndim, index, 5); break;
    }
    MUST(got == want);
    (void)memory_is_as_before(c);
}

TEST(test_a_destination_that_repeats_elements_or_is_read_only_is_refused)
{
    ref_cases(20000, refusal_case);
}

/* All short values ------------------------------------------------------------------ */

/* Every pattern of every dtype of at most two bytes, to every dtype. */
static void every_value_case(ref_case *c)
{
    static uint16_t patterns[1 << 16];
    static unsigned char want[(1 << 16) * 16], *got;
    const tsr_dtype to = (tsr_dtype)(1 + c->number % 18), from = (tsr_dtype)(1 + c->number / 18);
    const int64_t size = ref_size(from);
    if (size > 2) return;
    const int64_t n = from == TSR_BOOL ? 2 : (int64_t)1 << 8 * size;
    tsr_desc d;
    for (int64_t i = 0; i < n; i++) ref_store_bits((char *)patterns + i * size, size, (uint64_t)i);
    MUST(tsr_desc_init(&d, from, 1, &n, NULL) == TSR_OK);
    MUST(tsr_wrap(&c->t[0], patterns, &d) == TSR_OK && tsr_cast(&c->t[1], c->t[0], to) == TSR_OK);
    got = c->t[1]->data;
    for (int64_t i = 0; i < n; i++) {
        ref_convert(to, want, from, (char *)patterns + i * size);
        const bool is_right = ref_element_is(to, got + i * ref_size(to), want, from);
        if (is_right) continue;
        ref_say(c, "%s %04llx to %s", tsr_dtype_name(from), (long long)i, tsr_dtype_name(to));
        MUST(is_right);
    }
}

TEST(test_every_value_of_the_short_dtypes_converts_as_by_hand)
{
    ref_cases(18 * 18, every_value_case);
}
