/* edges.c - see edges.h. */
#include "edges.h"
#include "kernels.h"

#ifndef TSR_FREESTANDING

typedef struct edge_list {
    int64_t *edges;
    int      count, most;
} edge_list;

static void add_edge(edge_list *l, int64_t n)
{
    for (int i = 0; i < l->count; i++)
        if (l->edges[i] == n) return;
    if (n > 1 && l->count < l->most) l->edges[l->count++] = n;
}

/* Vectors, cache lines, pages and blocks of all of them, in elements of any size. */
static void add_powers(edge_list *l)
{
    for (int64_t n = 2; n <= 4096; n *= 2) add_edge(l, n);
}

static void add_products(edge_list *l)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    for (int c = 0; c < TSRI_GEMM_CLASSES; c++) {
        const tsri_gemm_kernels *u = &k->gemm[c];
        const int64_t own[] = { u->mr, u->nr, u->block, u->panel, u->writes };
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) add_edge(l, own[i]);
        for (const tsri_gemm_microkernels *s = u->microkernels; s && s->cols; s++) {
            add_edge(l, s->cols);
            add_edge(l, s->rows);
        }
    }
}

/* Block sizes and thresholds in rows, columns, channels or elements, of the family of processors in use. */
static void add_tuning(edge_list *l)
{
    const tsri_tuning_products *p = &tsri_tuning_get()->products;
    const tsri_tuning_conv *c = &tsri_tuning_get()->conv;
    const int64_t own[] = { p->small_m, p->small_n, p->short_k, p->chunk, p->cached_rows, p->large_m,
                            p->tile_rows, c->kernels, c->chunk, c->band, c->packed };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) add_edge(l, own[i]);
}

int tsri_cpu_edges(int64_t *edges, int most)
{
#define X(name) tsri_edges_##name,
    static const int64_t *const lists[] = {
#include "edges.def"
    };
#undef X
    edge_list l = { edges, 0, most };
    add_powers(&l);
    add_products(&l);
    add_tuning(&l);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const int64_t *n = lists[i]; *n; n++) add_edge(&l, *n);
    return l.count;
}

#endif
