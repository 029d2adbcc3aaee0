/* 03_memory.c - who owns the bytes.
 *
 * A storage owns memory; tensors share it and the last one to let go frees it, by the way
 * it came: allocated here, borrowed, or adopted with a function to free it. A tensor may
 * also be only described, until the first write. */
#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>

static void describe(const char *caption, const tsr_tensor *t)
{
    char text[128];
    tsr_describe(text, sizeof text, t);
    printf("%-10s %s\n", caption, text);
}

static void give_back(void *context, void *data, size_t bytes)
{
    (void)context;
    printf("%zu adopted bytes are freed\n", bytes);
    free(data);
}

int main(void)
{
    static float samples[4] = { 1, 2, 3, 4 };
    TSR_AUTO tsr_tensor *owned = NULL, *later = NULL, *borrowed = NULL, *adopted = NULL, *copy = NULL;
    const tsr_desc *four = TSR_DESC(TSR_F32, 4);

    TSR_MUST(tsr_ones(&owned, TSR_F32, TSR_SHAPE(4)));
    describe("owned", owned);

    /* Described: no memory yet. The first call that writes to it allocates it. */
    TSR_MUST(tsr_declare(&later, four, TSR_CPU, TSR_MEMORY_ALIGNED));
    describe("described", later);
    TSR_MUST(tsr_copy(later, owned));
    describe("written", later);

    /* Borrowed: your memory, which must outlive the tensor. Nothing is copied or freed. */
    TSR_MUST(tsr_wrap(&borrowed, samples, four));
    TSR_MUST(tsr_fill(borrowed, TSR_SCALAR(9)));
    printf("samples[3] is now %g\n", samples[3]);
    describe("borrowed", borrowed);

    /* Adopted: your memory until now. */
    TSR_MUST(tsr_adopt(&adopted, calloc(4, sizeof(float)), four, give_back, NULL));
    describe("adopted", adopted);

    /* One more owner of the same tensor, and a deep copy. */
    TSR_AUTO tsr_tensor *again = tsr_retain(adopted);
    TSR_MUST(tsr_clone(&copy, again));
    describe("cloned", copy);
    return 0;
}

/* Output:
owned      f32(4 | 1) on cpu:0, host memory, owned, 16 bytes
described  f32(4 | 1) on cpu:0, aligned memory, not allocated, 16 bytes
written    f32(4 | 1) on cpu:0, aligned memory, owned, 16 bytes
samples[3] is now 9
borrowed   f32(4 | 1) on cpu:0, host memory, borrowed, 16 bytes
adopted    f32(4 | 1) on cpu:0, host memory, adopted, 16 bytes
cloned     f32(4 | 1) on cpu:0, host memory, owned, 16 bytes
16 adopted bytes are freed
*/
