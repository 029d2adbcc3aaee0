/* 13_k_means.c - three clouds of points are found again.
 *
 * Distances of all points to all centres are one broadcast subtraction, (n, 1, 2) - (3, 2),
 * and the new centres are sums by index. */
#include <stdio.h>
#include <tessera/tessera.h>

enum { EACH = 200, CLOUDS = 3, POINTS = EACH * CLOUDS };

int main(void)
{
    static const float middles[CLOUDS][2] = { { 0, 0 }, { 6, 1 }, { 2, 7 } };
    tsr_tensor *truth = NULL, *points = NULL, *lifted = NULL, *first = NULL, *centres = NULL, *apart = NULL,
               *distance = NULL;
    tsr_tensor *nearest = NULL, *before = NULL, *none = NULL, *sums = NULL, *hot = NULL, *counts = NULL;
    tsr_scope scope;
    tsr_status s;
    bool same = false;
    int rounds = 0;

    tsr_scope_begin(&scope);  /* what is made from here on is released at its end */

    /* Points around each middle, one cloud after the other. */
    TSR_GO(tsr_from_data(&truth, TSR_F32, TSR_SHAPE(CLOUDS, 1, 2), middles));
    TSR_GO(tsr_randn(&points, TSR_F32, TSR_SHAPE(CLOUDS, EACH, 2), 5));
    TSR_GO(tsr_add(&points, points, truth));
    TSR_GO(tsr_view(&points, points, TSR_SHAPE(POINTS, 2)));
    TSR_GO(tsr_unsqueeze(&lifted, points, 1));

    /* Begin at three of them. */
    TSR_GO(tsr_slice(&first, points, 0, 0, POINTS, EACH));
    TSR_GO(tsr_clone(&centres, first));
    TSR_GO(tsr_zeros(&none, TSR_F32, TSR_SHAPE(CLOUDS, 2)));

    while (!same && rounds < 50) {
        TSR_GO(tsr_sub(&apart, lifted, centres));
        TSR_GO(tsr_norm(&distance, apart, TSR_AXES(2), false, 2));
        TSR_GO(tsr_argmin(&nearest, distance, 1, false));
        if (before) TSR_GO(tsr_equal(&same, nearest, before));
        TSR_GO(TSR_REPLACE(&before, tsr_clone, nearest));

        TSR_GO(tsr_index_add(&sums, none, nearest, points, 0));
        TSR_GO(tsr_one_hot(&hot, nearest, CLOUDS, TSR_F32));
        TSR_GO(tsr_sum(&counts, hot, TSR_AXES(0), false));
        TSR_GO(tsr_view(&counts, counts, TSR_SHAPE(CLOUDS, 1)));
        TSR_GO(tsr_div(&centres, sums, counts));
        TSR_GO(tsr_view(&counts, counts, TSR_SHAPE(CLOUDS)));
        rounds++;
    }

    printf("converged: %s\n", same ? "yes" : "no");
    TSR_GO(tsr_print(centres, &(tsr_print_opts){ .name = "centres", .precision = 1 }));
    TSR_GO(tsr_print(counts, &(tsr_print_opts){ .name = "points" }));

done:
    if (s != TSR_OK) fprintf(stderr, "%s\n", tsr_last_error());
    tsr_scope_end(&scope);
    return s != TSR_OK;
}

/* Output:
converged: yes
centres: f32(3, 2 | 2, 1)
[[ 0.  -0.1]
 [ 6.   1.1]
 [ 2.   7.1]]
points: f32(3 | 1)
[200. 200. 200.]
*/
