/* plan_join.c - see plan_join.h. */
#include "plan_join.h"

/* Rows of bytes; what is not contiguous has rows of one element. */
static bool rows_of(tsrc_piece *p, const tsr_loop *l, int size)
{
    const int inner = l->ndim - 1;
    const bool runs = inner >= 0 && l->step[inner][0] == size && l->step[inner][1] == size;
    const int outer = runs ? inner - 1 : inner;
    if (outer > 0) return false;
    const int64_t run = runs ? l->n[inner] * size : size, rows = outer < 0 ? 1 : l->n[0];
    if (run * rows > TSRC_LIMIT) return false;
    p->dst = l->data[0];
    p->src = l->data[1];
    for (int o = 0; o < 2; o++) p->step[o] = outer < 0 ? 0 : l->step[0][o];
    p->run = (uint32_t)run;
    p->total = (uint32_t)(run * rows);
    return true;
}

bool tsrc_join_add(tsrc_join *join, const tsr_loop *l, int size)
{
    if (join->n == TSRC_PIECES || !rows_of(&join->piece[join->n], l, size)) return false;
    join->n++;
    return true;
}

/* The widest word that all pieces consist of, aligned. */
static int widest_of_all(const tsrc_join *join)
{
    int64_t bits = 0;
    int width = 16;
    for (int i = 0; i < join->n; i++) {
        const tsrc_piece *p = &join->piece[i];
        bits |= p->step[0] | p->step[1] | p->run | (int64_t)((uintptr_t)p->dst | (uintptr_t)p->src);
    }
    while (bits % width) width /= 2;
    return width;
}

void tsrc_join_end(tsrc_join *join)
{
    join->width = widest_of_all(join);
    join->blocks = 0;
    join->even = true;
    for (int i = 0; i < join->n; i++) {
        tsrc_piece *p = &join->piece[i];
        p->run /= (uint32_t)join->width;
        p->total /= (uint32_t)join->width;
        p->by_run = tsrc_div_by(p->run);
        p->first = join->blocks;
        join->blocks += tsrc_blocks(p->total, TSRC_THREADS * tsrc_words(join->width));
        join->even = join->even && join->blocks == (uint32_t)(i + 1) * (join->blocks - p->first);
    }
}
