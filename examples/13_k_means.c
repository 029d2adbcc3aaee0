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
    tsr_tensor *truth = NULL, *points = NULL, *lifted = NULL, *centres = NULL, *none = NULL;
    tsr_tensor *apart = NULL, *distance = NULL, *nearest = NULL, *before = NULL;
    tsr_tensor *sums = NULL, *hot = NULL, *counts = NULL, *column = NULL;
    bool same = false;
    TSR_SCOPE(scope); /* what is made from here on is released where the block is left */

    /* Points around each middle, one cloud after the other. */
    TSR_MUST(tsr_from_data(&truth, TSR_F32, TSR_SHAPE(CLOUDS, 1, 2), middles));
    TSR_MUST(tsr_randn(&points, TSR_F32, TSR_SHAPE(CLOUDS, EACH, 2), 5));
    TSR_MUST(tsr_add(&points, points, truth));
    TSR_MUST(tsr_view(&points, points, TSR_SHAPE(POINTS, 2)));
    TSR_MUST(tsr_unsqueeze(&lifted, points, 1));

    /* Begin at three of them. */
    TSR_MUST(tsr_slice(&centres, points, 0, 0, POINTS, EACH));
    TSR_MUST(tsr_zeros(&none, TSR_F32, TSR_SHAPE(CLOUDS, 2)));

    for (int round = 0; round < 50 && !same; round++) {
        TSR_MUST(tsr_sub(&apart, lifted, centres));
        TSR_MUST(tsr_norm(&distance, apart, TSR_AXES(2), false, 2));
        TSR_MUST(tsr_argmin(&nearest, distance, 1, false));
        if (before) TSR_MUST(tsr_equal(&same, nearest, before));
        TSR_MUST(TSR_REPLACE(&before, tsr_clone, nearest));

        TSR_MUST(tsr_index_add(&sums, none, nearest, points, 0));
        TSR_MUST(tsr_one_hot(&hot, nearest, CLOUDS, TSR_F32));
        TSR_MUST(tsr_sum(&counts, hot, TSR_AXES(0), false));
        TSR_MUST(tsr_unsqueeze(&column, counts, 1));
        TSR_MUST(TSR_REPLACE(&centres, tsr_div, sums, column)); /* not into the points it is a view of */
    }

    printf("converged: %s\n", same ? "yes" : "no");
    TSR_MUST(tsr_print(centres, &(tsr_print_opts){ .name = "centres", .precision = 1 }));
    TSR_MUST(tsr_print(counts, &(tsr_print_opts){ .name = "points" }));
    return 0;
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
