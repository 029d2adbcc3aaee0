/* 00_hello.c - make a tensor, set an element, print it, release it.
 *
 * Every call that can fail returns a tsr_status, and TSR_OK is 0. The pattern below is
 * the one the rest of this course uses: handles start as NULL; TSR_MUST says what went wrong
 * and leaves main; TSR_AUTO releases a handle where its block is left, made or not. With a
 * compiler that has no cleanup attribute: TSR_GO and tsr_release_all, as in 15_files.c. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    TSR_AUTO tsr_tensor *a = NULL;

    /* The result comes first. If the handle is NULL, a tensor is allocated. */
    TSR_MUST(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3)));

    /* Element (1, 2), checked: a wrong index or dtype is a status, not a crash. */
    TSR_MUST(tsr_set_f32(a, TSR_INDEX(1, 2), 5.0f));

    /* The handle is a plain pointer to a public struct. Read its fields freely. */
    printf("%d dims, %lld by %lld, %lld elements\n", (int)a->ndim, (long long)a->shape[0],
           (long long)a->shape[1], (long long)tsr_numel(a));

    /* dtype(shape | strides), then the values. */
    TSR_MUST(TSR_SHOW(a));
    return 0;
}

/* Output:
2 dims, 2 by 3, 6 elements
a: f32(2, 3 | 3, 1)
[[0. 0. 0.]
 [0. 0. 5.]]
*/
