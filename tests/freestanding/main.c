/* The library on a microcontroller: no operating system, no C library, no malloc.
 *
 * Tensors placed in static memory, views of them, copies and casts between strides and
 * dtypes, text through a sink, and an arena as the allocator.
 */
#include <tessera/tessera.h>

#include "board.h"

static int failures;

static void say(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0') n++;
    board_write(text, n);
}

static void expect(bool holds, const char *what)
{
    if (holds) return;
    failures++;
    say("FAILED ");
    say(what);
    say("\n    ");
    say(tsr_last_error());
    say("\n");
}

#define EXPECT(cond) expect((cond), #cond)
#define EXPECT_OK(call) expect((call) == TSR_OK, #call)

/* What tsr_print wrote, kept and passed on. */
static char   printed[512];
static size_t printed_length;

static void sink(void *context, const char *text, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length && printed_length < sizeof printed - 1; i++)
        printed[printed_length++] = text[i];
    board_write(text, length);
}

static bool printed_contains(const char *part)
{
    for (size_t at = 0; at < printed_length; at++) {
        size_t n = 0;
        while (part[n] != '\0' && printed[at + n] == part[n]) n++;
        if (part[n] == '\0') return true;
    }
    return false;
}

/* Tensor structs and their data are all static; nothing is allocated. */
static void placed_tensors(void)
{
    static float samples[6] = { 0, 1, 2, 3, 4, 5 };
    static float transposed[6];
    static int8_t bytes[6];
    static tsr_tensor frame, view_place, target, small;
    tsr_tensor *view = tsr_place_none(&view_place);
    tsr_desc desc;

    EXPECT_OK(tsr_desc_init(&desc, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_place(&frame, samples, &desc));
    EXPECT_OK(tsr_transpose(&view, &frame, 0, 1));
    EXPECT(view == &view_place && view->data == samples && !tsr_is_contiguous(view));
    EXPECT(TSR_AT(float, view, 2, 1) == 5.0f);

    EXPECT_OK(tsr_desc_init(&desc, TSR_F32, TSR_SHAPE(3, 2), NULL));
    EXPECT_OK(tsr_place(&target, transposed, &desc));
    EXPECT_OK(tsr_copy(&target, view));
    EXPECT(transposed[0] == 0 && transposed[1] == 3 && transposed[2] == 1 && transposed[5] == 5);

    EXPECT_OK(tsr_slice(&view, &frame, 1, TSR_NONE, TSR_NONE, -1));
    EXPECT_OK(tsr_desc_init(&desc, TSR_I8, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_place(&small, bytes, &desc));
    EXPECT_OK(tsr_copy(&small, view));
    EXPECT(bytes[0] == 2 && bytes[2] == 0 && bytes[3] == 5);

    EXPECT_OK(tsr_fill(&frame, TSR_SCALAR(1.5)));
    EXPECT(samples[0] == 1.5f && samples[5] == 1.5f);
    samples[5] = -2;
    tsr_set_print_sink(sink, NULL);
    EXPECT_OK(tsr_print(&frame, NULL));
    EXPECT(printed_contains("1.5") && printed_contains("-2"));

    EXPECT(tsr_slice(&view, &frame, 3, 0, 1, 1) == TSR_EINDEX);
    EXPECT(tsr_last_error()[0] != '\0');
    tsr_release(&view);
}

/* Without malloc there is no memory until the program gives some. */
static void an_arena(void)
{
    static _Alignas(64) unsigned char block[64 * 1024];
    static tsr_arena arena;
    tsr_allocator allocator = { &arena, tsr_arena_alloc, tsr_arena_free };
    tsr_tensor *a = NULL, *b = NULL, *half = NULL, *huge = NULL;
    double value = 0;

    EXPECT(tsr_zeros(&a, TSR_F32, TSR_SHAPE(4, 4)) == TSR_ENOMEM && a == NULL);

    EXPECT_OK(tsr_arena_init(&arena, block, sizeof block));
    EXPECT_OK(tsr_set_allocator(&allocator));
    EXPECT_OK(tsr_arange(&a, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(24), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&b, a, TSR_SHAPE(2, 3, 4)));
    EXPECT_OK(tsr_permute(&b, b, TSR_AXES(2, 0, 1)));
    EXPECT_OK(tsr_cast(&half, b, TSR_F16));
    EXPECT_OK(tsr_select(&b, half, 0, 3));
    EXPECT_OK(tsr_at_prefix(&b, b, TSR_INDEX(1, 2)));
    EXPECT_OK(tsr_item_f64(&value, b));
    EXPECT(value == 23);

    EXPECT(tsr_zeros(&huge, TSR_F64, TSR_SHAPE(1024, 1024)) == TSR_ENOMEM && huge == NULL);
    tsr_release(&half);
    tsr_release(&b);
    tsr_release(&a);
    (void)tsr_pool_trim(0);
    EXPECT_OK(tsr_set_allocator(NULL));
}

int main(void)
{
    placed_tensors();
    an_arena();
    say(failures ? "freestanding: failed\n" : "freestanding: ok\n");
    return failures ? 1 : 0;
}
