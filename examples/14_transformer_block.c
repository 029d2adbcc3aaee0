/* 14_transformer_block.c - one block of a language model, as LLaMA and its kin have it.
 *
 *     a = x + attention(rms_norm(x)), with rotary positions, causal, grouped heads
 *     z = a + swiglu(rms_norm(a))
 *
 * Heads are views: (seq, heads * d) is seen as (seq, heads, d), and nothing is moved. At
 * the end the last token is changed, and the rows before it must not notice. */
#include <stdio.h>
#include <tessera/tessera.h>

enum { SEQ = 6, EMBED = 32, HEADS = 4, KV_HEADS = 2, D = EMBED / HEADS, WIDE = 64 };

typedef struct block {
    tsr_tensor *norm1, *wq, *wk, *wv, *wo, *norm2, *gate, *up, *down, *positions;
} block;

static tsr_status make_weights(tsr_tensor **w, int64_t out, int64_t in, uint64_t seed)
{
    TSR_TRY(tsr_randn(w, TSR_F32, TSR_SHAPE(out, in), seed));
    return tsr_mul(w, *w, TSR_NUMBER(0.2));
}

static tsr_status make_block(block *b)
{
    TSR_TRY(tsr_ones(&b->norm1, TSR_F32, TSR_SHAPE(EMBED)));
    TSR_TRY(tsr_ones(&b->norm2, TSR_F32, TSR_SHAPE(EMBED)));
    TSR_TRY(make_weights(&b->wq, EMBED, EMBED, 1));
    TSR_TRY(make_weights(&b->wk, KV_HEADS * D, EMBED, 2));
    TSR_TRY(make_weights(&b->wv, KV_HEADS * D, EMBED, 3));
    TSR_TRY(make_weights(&b->wo, EMBED, EMBED, 4));
    TSR_TRY(make_weights(&b->gate, WIDE, EMBED, 5));
    TSR_TRY(make_weights(&b->up, WIDE, EMBED, 6));
    TSR_TRY(make_weights(&b->down, EMBED, WIDE, 7));
    TSR_TRY(tsr_arange(&b->positions, TSR_I64, TSR_SCALAR(0), TSR_SCALAR(SEQ), TSR_SCALAR(1)));
    return TSR_OK;
}

/* x @ w^T, seen as heads. */
static tsr_status project(tsr_tensor **heads, const tsr_tensor *x, const tsr_tensor *w, int64_t count)
{
    TSR_TRY(tsr_linear(heads, x, w, NULL));
    return tsr_view(heads, *heads, TSR_SHAPE(SEQ, count, D));
}

static tsr_status attend(tsr_tensor **out, const block *b, const tsr_tensor *x)
{
    TSR_AUTO tsr_tensor *n = NULL, *q = NULL, *k = NULL, *v = NULL, *mixed = NULL;
    TSR_TRY(tsr_rms_norm(&n, x, b->norm1, 1e-6));
    TSR_TRY(project(&q, n, b->wq, HEADS));
    TSR_TRY(project(&k, n, b->wk, KV_HEADS));
    TSR_TRY(project(&v, n, b->wv, KV_HEADS));
    TSR_TRY(tsr_rope(&q, q, b->positions, 10000, TSR_ROPE_HALVES));  /* in place */
    TSR_TRY(tsr_rope(&k, k, b->positions, 10000, TSR_ROPE_HALVES));
    TSR_TRY(tsr_self_attention(&mixed, q, k, v, 0));
    TSR_TRY(tsr_view(&mixed, mixed, TSR_SHAPE(SEQ, EMBED)));
    TSR_TRY(tsr_linear(out, mixed, b->wo, NULL));
    return tsr_add(out, *out, x);
}

static tsr_status feed_forward(tsr_tensor **out, const block *b, const tsr_tensor *x)
{
    TSR_AUTO tsr_tensor *n = NULL, *gate = NULL, *up = NULL;
    TSR_TRY(tsr_rms_norm(&n, x, b->norm2, 1e-6));
    TSR_TRY(tsr_linear(&gate, n, b->gate, NULL));
    TSR_TRY(tsr_linear(&up, n, b->up, NULL));
    TSR_TRY(tsr_swiglu(&gate, gate, up));
    TSR_TRY(tsr_linear(out, gate, b->down, NULL));
    return tsr_add(out, *out, x);
}

static tsr_status run_block(tsr_tensor **out, const block *b, const tsr_tensor *x)
{
    TSR_AUTO tsr_tensor *a = NULL;
    TSR_TRY(attend(&a, b, x));
    return feed_forward(out, b, a);
}

int main(void)
{
    block b = { 0 };
    tsr_tensor *x = NULL, *z = NULL, *token = NULL, *again = NULL, *before = NULL, *now = NULL;
    bool same = false;

    TSR_SCOPE(scope);
    TSR_MUST(make_block(&b));
    TSR_MUST(tsr_randn(&x, TSR_F32, TSR_SHAPE(SEQ, EMBED), 8));
    TSR_MUST(run_block(&z, &b, x));
    printf("in  %s (%d, %d)\nout %s (%d, %d)\n", tsr_dtype_name(x->dtype), SEQ, EMBED,
           tsr_dtype_name(z->dtype), (int)z->shape[0], (int)z->shape[1]);

    TSR_MUST(tsr_select(&token, x, 0, -1));
    TSR_MUST(tsr_fill(token, TSR_SCALAR(3)));
    TSR_MUST(run_block(&again, &b, x));
    TSR_MUST(tsr_slice(&before, z, 0, 0, SEQ - 1, 1));
    TSR_MUST(tsr_slice(&now, again, 0, 0, SEQ - 1, 1));
    TSR_MUST(tsr_equal(&same, before, now));
    printf("earlier rows see a later token: %s\n", same ? "no" : "yes");
    TSR_MUST(tsr_equal(&same, z, again));
    printf("its own row does: %s\n", same ? "no" : "yes");
    return 0;
}

/* Output:
in  f32 (6, 32)
out f32 (6, 32)
earlier rows see a later token: no
its own row does: yes
*/
