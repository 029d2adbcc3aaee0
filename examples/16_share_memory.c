/* 16_share_memory.c - the same memory for two libraries: DLPack.
 *
 * What stands for the other library here only knows DLPack's structs; with the real dlpack.h the
 * pointers are cast to its names. */
#include <stdio.h>
#include <tessera/tessera.h>

/* The other library: it owns a matrix, of which it gives away the transpose. */
static float   numbers[6] = { 1, 2, 3, 4, 5, 6 };
static int64_t shape[2] = { 3, 2 }, strides[2] = { 1, 3 };

static void let_go(tsr_dl_managed_versioned *self)
{
    (void)self;
    printf("the other library: nobody uses my matrix any more\n");
}

static tsr_dl_managed_versioned theirs = {
    .version = { TSR_DLPACK_MAJOR, TSR_DLPACK_MINOR },
    .deleter = let_go,
    .dl_tensor = { numbers, { TSR_DL_CPU, 0 }, 2, { 2, 32, 1 }, shape, strides, 0 }, /* 2, 32, 1: a float */
};

int main(void)
{
    TSR_AUTO tsr_tensor *t = NULL, *row = NULL, *mine = NULL;
    tsr_dl_managed_versioned *given = NULL;

    /* In: no copy, whatever the strides. */
    TSR_MUST(tsr_from_dlpack(&t, &theirs));
    TSR_MUST(tsr_print(t, &(tsr_print_opts){ .name = "theirs" }));
    TSR_MUST(tsr_select(&row, t, 0, 0));
    TSR_MUST(tsr_fill(row, TSR_SCALAR(0)));
    printf("their numbers now: %g %g %g %g %g %g\n", numbers[0], numbers[1], numbers[2], numbers[3],
           numbers[4], numbers[5]);

    /* The last view lets go. */
    tsr_release(&t);
    printf("a row is left\n");
    tsr_release(&row);

    /* Out: our memory lives until their deleter call. */
    TSR_MUST(tsr_full(&mine, TSR_F64, TSR_SHAPE(2, 2), TSR_SCALAR(0.5)));
    TSR_MUST(tsr_to_dlpack(&given, mine, NULL));
    tsr_release(&mine);
    printf("given: %d dims, %d bits, element (1, 1) is %g\n", (int)given->dl_tensor.ndim,
           given->dl_tensor.dtype.bits, ((double *)given->dl_tensor.data)[3]);
    given->deleter(given);
    return 0;
}

/* Output:
theirs: f32(3, 2 | 1, 3)
[[1. 4.]
 [2. 5.]
 [3. 6.]]
their numbers now: 0 2 3 0 5 6
a row is left
the other library: nobody uses my matrix any more
given: 2 dims, 64 bits, element (1, 1) is 0.5
*/
