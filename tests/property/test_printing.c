/* test_printing.c - a tensor prints as its elements do, however they lie in memory.
 *
 * The elements are gathered one by one from their addresses into packed memory;
 * the packed tensor must print the same text. (That packed tensors print as
 * NumPy prints them is unit/test_print.c's business.) */
#include "reference.h"

enum { TEXT = 1 << 19 };

static unsigned char memory[REF_BYTES + 64], packed[REF_ELEMENTS * 16];
static char shown[TEXT], expected[TEXT];

static tsr_print_opts random_options(ref_case *c)
{
    return (tsr_print_opts){
        .precision         = (int)ref_between(c, -1, 10),
        .line_width        = ref_once_in(c, 3) ? 0 : (int)ref_between(c, 10, 120),
        .threshold         = ref_once_in(c, 3) ? 0 : ref_between(c, 1, 300),
        .edge_items        = ref_once_in(c, 2) ? 0 : ref_between(c, 1, 4),
        .suppress_exponent = ref_once_in(c, 4),
        .name              = ref_once_in(c, 4) ? "x" : NULL,
        .no_header         = true,
    };
}

static void gather(const ref_view *v, const unsigned char *from)
{
    const int64_t size = ref_size(v->dtype);
    for (int64_t k = 0; k < v->n; k++) memcpy(packed + k * size, from + v->at[k], (size_t)size);
}

static void print_case(ref_case *c)
{
    static ref_view v;
    tsr_desc d, flat;
    int64_t shape[TSR_MAX_NDIM], low, span, high;
    size_t length = 0, wanted = 0;
    const tsr_dtype dtype = ref_random_dtype(c);
    const int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    ref_random_desc(c, &d, &v, &low, dtype, ndim, shape, false, REF_BYTES / 2);
    ref_span(&v, &span, &high);
    ref_random_bytes(c, memory, sizeof memory);
    if (dtype == TSR_BOOL) for (size_t i = 0; i < sizeof memory; i++) memory[i] &= 1;
    const int64_t at = -low + 16 - (-low) % 16;
    if (!ref_make(c, 0, memory, at, &d, at + low, at + high)) return;
    gather(&v, memory + at);
    MUST(tsr_desc_init(&flat, dtype, ndim, shape, NULL) == TSR_OK);
    MUST(tsr_wrap(&c->t[1], packed, &flat) == TSR_OK);
    const tsr_print_opts opts = random_options(c);
    ref_say(c, "    precision %d, width %d, threshold %lld, edge %lld\n", opts.precision, opts.line_width,
            (long long)opts.threshold, (long long)opts.edge_items);
    MUST(tsr_to_string(shown, TEXT, &length, c->t[0], &opts) == TSR_OK);
    MUST(tsr_to_string(expected, TEXT, &wanted, c->t[1], &opts) == TSR_OK);
    MUST(length == wanted && length < TEXT);
    MUST(strcmp(shown, expected) == 0);

    /* Cut anywhere, the text is a prefix and the length still whole. */
    const size_t room = (size_t)ref_between(c, 1, (int64_t)length + 1);
    size_t again = 0;
    MUST(tsr_to_string(expected, room, &again, c->t[0], &opts) == TSR_OK);
    MUST(again == length && strlen(expected) == room - 1 && strncmp(shown, expected, room - 1) == 0);
}

TEST(test_printing_shows_the_elements_wherever_they_lie) { ref_cases(25000, print_case); }
