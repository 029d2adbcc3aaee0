/* 14_transformer_block.c - one block of a language model, as LLaMA and its kin have it.
 *
 *     a = x + attention(rms_norm(x)), with rotary positions, causal, grouped heads
 *     z = a + swiglu(rms_norm(a))
 *
 * Heads are views: (seq, heads * d) is seen as (seq, heads, d), and nothing is moved. At
 * the end the last token is changed, and the rows before it must not notice. */
#include <stdio.h>
#include <tessera/tessera.h>

#define CHECK(call) do { if ((s = (call)) != TSR_OK) goto done; } while (0)

enum { SEQ = 6, EMBED = 32, HEADS = 4, KV_HEADS = 2, D = EMBED / HEADS, WIDE = 64 };

typedef struct block {
    tsr_tensor *norm1, *wq, *wk, *wv, *wo, *norm2, *gate, *up, *down, *positions;
} block;

static tsr_status make_weights(tsr_tensor **w, int64_t out, int64_t in, uint64_t seed)
{
    const tsr_status s = tsr_randn(w, TSR_F32, TSR_SHAPE(out, in), seed);
    return s == TSR_OK ? tsr_mul(w, *w, TSR_NUMBER(0.2)) : s;
}

static tsr_status make_block(block *b)
{
    tsr_status s;
    CHECK(tsr_ones(&b->norm1, TSR_F32, TSR_SHAPE(EMBED)));
    CHECK(tsr_ones(&b->norm2, TSR_F32, TSR_SHAPE(EMBED)));
    CHECK(make_weights(&b->wq, EMBED, EMBED, 1));
    CHECK(make_weights(&b->wk, KV_HEADS * D, EMBED, 2));
    CHECK(make_weights(&b->wv, KV_HEADS * D, EMBED, 3));
    CHECK(make_weights(&b->wo, EMBED, EMBED, 4));
    CHECK(make_weights(&b->gate, WIDE, EMBED, 5));
    CHECK(make_weights(&b->up, WIDE, EMBED, 6));
    CHECK(make_weights(&b->down, EMBED, WIDE, 7));
    CHECK(tsr_arange(&b->positions, TSR_I64, TSR_SCALAR(0), TSR_SCALAR(SEQ), TSR_SCALAR(1)));
done:
    return s;
}

/* x @ w^T, seen as heads. */
static tsr_status project(tsr_tensor **heads, const tsr_tensor *x, const tsr_tensor *w, int64_t count)
{
    tsr_status s = tsr_linear(heads, x, w, NULL);
    return s == TSR_OK ? tsr_view(heads, *heads, TSR_SHAPE(SEQ, count, D)) : s;
}

static tsr_status attend(tsr_tensor **out, const block *b, const tsr_tensor *x)
{
    tsr_tensor *n = NULL, *q = NULL, *k = NULL, *v = NULL, *mixed = NULL;
    tsr_status s;
    CHECK(tsr_rms_norm(&n, x, b->norm1, 1e-6));
    CHECK(project(&q, n, b->wq, HEADS));
    CHECK(project(&k, n, b->wk, KV_HEADS));
    CHECK(project(&v, n, b->wv, KV_HEADS));
    CHECK(tsr_rope(&q, q, b->positions, 10000, TSR_ROPE_HALVES));  /* in place */
    CHECK(tsr_rope(&k, k, b->positions, 10000, TSR_ROPE_HALVES));
    CHECK(tsr_self_attention(&mixed, q, k, v, 0));
    CHECK(tsr_view(&mixed, mixed, TSR_SHAPE(SEQ, EMBED)));
    CHECK(tsr_linear(out, mixed, b->wo, NULL));
    CHECK(tsr_add(out, *out, x));
done:
    tsr_release(&mixed);
    tsr_release(&v);
    tsr_release(&k);
    tsr_release(&q);
    tsr_release(&n);
    return s;
}

static tsr_status feed_forward(tsr_tensor **out, const block *b, const tsr_tensor *x)
{
    tsr_tensor *n = NULL, *gate = NULL, *up = NULL;
    tsr_status s;
    CHECK(tsr_rms_norm(&n, x, b->norm2, 1e-6));
    CHECK(tsr_linear(&gate, n, b->gate, NULL));
    CHECK(tsr_linear(&up, n, b->up, NULL));
    CHECK(tsr_swiglu(&gate, gate, up));
    CHECK(tsr_linear(out, gate, b->down, NULL));
    CHECK(tsr_add(out, *out, x));
done:
    tsr_release(&up);
    tsr_release(&gate);
    tsr_release(&n);
    return s;
}

static tsr_status run_block(tsr_tensor **out, const block *b, const tsr_tensor *x)
{
    tsr_tensor *a = NULL;
    tsr_status s;
    CHECK(attend(&a, b, x));
    CHECK(feed_forward(out, b, a));
done:
    tsr_release(&a);
    return s;
}

int main(void)
{
    block b = { 0 };
    tsr_tensor *x = NULL, *z = NULL, *token = NULL, *again = NULL, *before = NULL, *now = NULL;
    bool same = false;
    tsr_status s;

    CHECK(make_block(&b));
    CHECK(tsr_randn(&x, TSR_F32, TSR_SHAPE(SEQ, EMBED), 8));
    CHECK(run_block(&z, &b, x));
    printf("in  %s (%d, %d)\nout %s (%d, %d)\n", tsr_dtype_name(x->dtype), SEQ, EMBED,
           tsr_dtype_name(z->dtype), (int)z->shape[0], (int)z->shape[1]);

    CHECK(tsr_select(&token, x, 0, -1));
    CHECK(tsr_fill(token, TSR_SCALAR(3)));
    CHECK(run_block(&again, &b, x));
    CHECK(tsr_slice(&before, z, 0, 0, SEQ - 1, 1));
    CHECK(tsr_slice(&now, again, 0, 0, SEQ - 1, 1));
    CHECK(tsr_equal(&same, before, now));
    printf("earlier rows see a later token: %s\n", same ? "no" : "yes");
    CHECK(tsr_equal(&same, z, again));
    printf("its own row does: %s\n", same ? "no" : "yes");

done:
    if (s != TSR_OK) fprintf(stderr, "%s\n", tsr_last_error());
    tsr_tensor **all[] = { &x,    &z,    &token, &again,   &before, &now,  &b.norm1, &b.wq,
                           &b.wk, &b.wv, &b.wo,  &b.norm2, &b.gate, &b.up, &b.down,  &b.positions };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tsr_release(all[i]);
    return s != TSR_OK;
}

/* Output:
in  f32 (6, 32)
out f32 (6, 32)
earlier rows see a later token: no
its own row does: yes
*/
