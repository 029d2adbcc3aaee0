/* 13_k_means.c - three clouds of points are found again.
 *
 * Distances of all points to all centres are one broadcast subtraction, (n, 1, 2) - (3, 2),
 * and the new centres are sums by index. */
#include <stdio.h>
#include <tessera/tessera.h>

#define CHECK(call) do { if ((s = (call)) != TSR_OK) goto done; } while (0)

enum { EACH = 200, CLOUDS = 3, POINTS = EACH * CLOUDS };

int main(void)
{
    static const float middles[CLOUDS][2] = { { 0, 0 }, { 6, 1 }, { 2, 7 } };
    tsr_tensor *truth = NULL, *points = NULL, *lifted = NULL, *first = NULL, *centres = NULL, *apart = NULL,
               *distance = NULL;
    tsr_tensor *nearest = NULL, *before = NULL, *none = NULL, *sums = NULL, *hot = NULL, *counts = NULL;
    tsr_status s;
    bool same = false;
    int rounds = 0;

    /* Points around each middle, one cloud after the other. */
    CHECK(tsr_from_data(&truth, TSR_F32, TSR_SHAPE(CLOUDS, 1, 2), middles));
    CHECK(tsr_randn(&points, TSR_F32, TSR_SHAPE(CLOUDS, EACH, 2), 5));
    CHECK(tsr_add(&points, points, truth));
    CHECK(tsr_view(&points, points, TSR_SHAPE(POINTS, 2)));
    CHECK(tsr_unsqueeze(&lifted, points, 1));

    /* Begin at three of them. */
    CHECK(tsr_slice(&first, points, 0, 0, POINTS, EACH));
    CHECK(tsr_clone(&centres, first));
    CHECK(tsr_zeros(&none, TSR_F32, TSR_SHAPE(CLOUDS, 2)));

    while (!same && rounds < 50) {
        CHECK(tsr_sub(&apart, lifted, centres));
        CHECK(tsr_norm(&distance, apart, TSR_AXES(2), false, 2));
        CHECK(tsr_argmin(&nearest, distance, 1, false));
        if (before) CHECK(tsr_equal(&same, nearest, before));
        if (!before) CHECK(tsr_clone(&before, nearest));
        CHECK(tsr_copy(before, nearest));

        CHECK(tsr_index_add(&sums, none, nearest, points, 0));
        CHECK(tsr_one_hot(&hot, nearest, CLOUDS, TSR_F32));
        CHECK(tsr_sum(&counts, hot, TSR_AXES(0), false));
        CHECK(tsr_view(&counts, counts, TSR_SHAPE(CLOUDS, 1)));
        CHECK(tsr_div(&centres, sums, counts));
        CHECK(tsr_view(&counts, counts, TSR_SHAPE(CLOUDS)));
        rounds++;
    }

    printf("settled: %s\n", same ? "yes" : "no");
    CHECK(tsr_print(centres, &(tsr_print_opts){ .name = "centres", .precision = 1 }));
    CHECK(tsr_print(counts, &(tsr_print_opts){ .name = "points" }));

done:
    if (s != TSR_OK) fprintf(stderr, "%s\n", tsr_last_error());
    tsr_tensor **all[] = { &truth,   &points, &lifted, &first, &centres, &apart, &distance,
                           &nearest, &before, &none,   &sums,  &hot,     &counts };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tsr_release(all[i]);
    return s != TSR_OK;
}

/* Output:
settled: yes
centres: f32(3, 2 | 2, 1)
[[ 0.  -0.1]
 [ 6.   1.1]
 [ 2.   7.1]]
points: f32(3 | 1)
[200. 200. 200.]
*/
