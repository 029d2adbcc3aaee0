/* 11_train_a_network.c - a small network learns which points lie inside a circle.
 *
 * Two layers: h = tanh(x W1 + b1), p = softmax(h W2 + b2). The backward pass is the chain
 * rule written out, one op a line; every result is given, so that after the first step
 * nothing is allocated any more. */
#include <stdio.h>
#include <tessera/tessera.h>

enum { POINTS = 512, HIDDEN = 16, STEPS = 1000 };

/* Weights and what belongs to them. */
typedef struct layer {
    tsr_tensor *w, *b;    /* (in, out), (out) */
    tsr_tensor *dw, *db;  /* gradients */
} layer;

static tsr_status make_layer(layer *l, int64_t in, int64_t out, uint64_t seed)
{
    TSR_TRY(tsr_randn(&l->w, TSR_F32, TSR_SHAPE(in, out), seed));
    TSR_TRY(tsr_mul(&l->w, l->w, TSR_NUMBER(0.5)));
    return tsr_zeros(&l->b, TSR_F32, TSR_SHAPE(out));
}

/* w -= rate * dw, and the same for b. */
static tsr_status descend(layer *l, double rate)
{
    TSR_TRY(tsr_axpy(&l->w, TSR_SCALAR(-rate), l->dw, l->w));
    return tsr_axpy(&l->b, TSR_SCALAR(-rate), l->db, l->b);
}

int main(void)
{
    layer one = { 0 }, two = { 0 };
    tsr_tensor *x = NULL, *radius = NULL, *inside = NULL, *target = NULL, *hot = NULL;
    tsr_tensor *h = NULL, *logits = NULL, *dz = NULL, *dh = NULL, *slope = NULL;
    tsr_tensor *xt = NULL, *ht = NULL, *w2t = NULL;
    tsr_tensor *loss = NULL, *guess = NULL, *right = NULL, *share = NULL;
    double value = 0;
    TSR_SCOPE(scope); /* what is made from here on is released where the block is left */

    /* Points in a square, and the class of each. */
    TSR_MUST(tsr_uniform(&x, TSR_F32, TSR_SHAPE(POINTS, 2), -1, 1, 1));
    TSR_MUST(tsr_norm(&radius, x, TSR_AXES(1), false, 2));
    TSR_MUST(tsr_lt(&inside, radius, TSR_NUMBER(0.75)));
    TSR_MUST(tsr_cast(&target, inside, TSR_I64));
    TSR_MUST(tsr_one_hot(&hot, target, 2, TSR_F32));

    TSR_MUST(make_layer(&one, 2, HIDDEN, 2));
    TSR_MUST(make_layer(&two, HIDDEN, 2, 3));
    TSR_MUST(tsr_transpose(&xt, x, 0, 1));

    for (int step = 0; step <= STEPS; step++) {
        /* Forward. */
        TSR_MUST(tsr_addmm(&h, one.b, x, one.w));
        TSR_MUST(tsr_tanh(&h, h));
        TSR_MUST(tsr_addmm(&logits, two.b, h, two.w));
        if (step % 250 == 0) {
            TSR_MUST(tsr_cross_entropy(&loss, logits, target, NULL, TSR_REDUCTION_MEAN, -1, 0));
            TSR_MUST(tsr_item_f64(&value, loss));
            printf("step %4d   loss %.1f\n", step, value);
        }

        /* Backward. Of the summed cross entropy, the slope at the logits is p - hot. */
        TSR_MUST(tsr_softmax(&dz, logits, 1));
        TSR_MUST(tsr_sub(&dz, dz, hot));
        TSR_MUST(tsr_transpose(&ht, h, 0, 1));
        TSR_MUST(tsr_matmul(&two.dw, ht, dz));
        TSR_MUST(tsr_sum(&two.db, dz, TSR_AXES(0), false));
        TSR_MUST(tsr_transpose(&w2t, two.w, 0, 1));
        TSR_MUST(tsr_matmul(&dh, dz, w2t));
        TSR_MUST(tsr_square(&slope, h));                          /* of tanh: 1 - h^2 */
        TSR_MUST(tsr_sub(&slope, TSR_NUMBER(1), slope));
        TSR_MUST(tsr_mul(&dh, dh, slope));
        TSR_MUST(tsr_matmul(&one.dw, xt, dh));
        TSR_MUST(tsr_sum(&one.db, dh, TSR_AXES(0), false));

        TSR_MUST(descend(&one, 2.0 / POINTS));
        TSR_MUST(descend(&two, 2.0 / POINTS));
    }

    TSR_MUST(tsr_argmax(&guess, logits, 1, false));
    TSR_MUST(tsr_eq(&right, guess, target));
    TSR_MUST(tsr_count_nonzero(&share, right, 0, NULL, false));
    TSR_MUST(tsr_item_f64(&value, share));
    printf("more than 95 %% right: %s\n", value > 0.95 * POINTS ? "yes" : "no");
    return 0;
}

/* Output:
step    0   loss 0.8
step  250   loss 0.1
step  500   loss 0.1
step  750   loss 0.1
step 1000   loss 0.1
more than 95 % right: yes
*/
