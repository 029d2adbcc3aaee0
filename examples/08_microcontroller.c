/* 08_microcontroller.c - no heap: placed tensors, and an arena as the allocator.
 *
 * This is how the library runs where there is no malloc. A placed tensor lies in memory
 * of yours, struct and data; views of it can be placed too. What must be allocated comes
 * from a block you give, and printing goes to a sink of yours. */
#include <stdio.h>
#include <tessera/tessera.h>

static float samples[12];
static _Alignas(64) unsigned char block[256 * 1024]; /* a build for a board needs far less */

/* On a board: the serial port. */
static void serial(void *context, const char *text, size_t length)
{
    fwrite(text, 1, length, (FILE *)context);
}

static tsr_status placed(void)
{
    tsr_tensor frame, place;
    TSR_AUTO tsr_tensor *odd = tsr_place_none(&place);
    TSR_TRY(tsr_place(&frame, samples, TSR_DESC(TSR_F32, 3, 4)));
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 4; j++) TSR_AT(float, &frame, i, j) = (float)(i * 10 + j);
    TSR_TRY(tsr_slice(&odd, &frame, 1, 1, TSR_NONE, 2)); /* replaces `place`: no allocation */
    return tsr_print(odd, &(tsr_print_opts){ .name = "odd columns" });
}

int main(void)
{
    TSR_AUTO tsr_tensor *weights = NULL, *small = NULL, *huge = NULL;
    tsr_memory_stats stats;
    tsr_arena arena = { 0 };

    tsr_set_print_sink(serial, stdout);
    TSR_MUST(placed());
    tsr_memory_get_stats(&stats);
    printf("storages made so far: %lld\n", (long long)stats.allocations);

    TSR_MUST(tsr_arena_init(&arena, block, sizeof block));
    TSR_MUST(tsr_set_allocator(&(tsr_allocator){ &arena, tsr_arena_alloc, tsr_arena_free }));
    TSR_MUST(tsr_linspace(&weights, TSR_F32, TSR_SCALAR(-1), TSR_SCALAR(1), 5, true));
    TSR_MUST(tsr_cast(&small, weights, TSR_BF16)); /* half the memory */
    TSR_MUST(tsr_print(small, &(tsr_print_opts){ .name = "weights" }));
    printf("the arena holds them: %s\n", arena.used > 0 ? "yes" : "no");

    /* No room is a status. Nothing is lost. */
    if (tsr_zeros(&huge, TSR_F32, TSR_SHAPE(1000, 1000)) != TSR_OK) printf("%s\n", tsr_last_error());

    /* The arena is let go of when nothing lies in it any more. */
    tsr_release_all(&weights, &small, &huge);
    TSR_MUST(tsr_set_allocator(NULL));
    printf("in use at the end: %zu bytes\n", arena.used);
    return 0;
}

/* Output:
odd columns: f32(3, 2 | 4, 2)
[[ 1.  3.]
 [11. 13.]
 [21. 23.]]
storages made so far: 0
weights: bf16(5 | 1)
[-1.  -0.5  0.   0.5  1. ]
the arena holds them: yes
zeros: no room for 4000000 bytes of host memory
in use at the end: 0 bytes
*/
