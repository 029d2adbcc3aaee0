/* reduce_walk.c - from a block of outputs to strips in a layout that kernels can read.
 *
 *     pack         copy elements that are not contiguous to a buffer, a part at a time
 *     transpose    do the same for outputs with few elements each: runs become rows
 *     widen        convert short dtypes to ones that have kernels
 *     join         treat several short rows that are contiguous in memory as one long row
 *
 * LIMIT: rows of few outputs are not joined if their elements lie in several short dims.
 */
#include "reduce_run.h"
#include "core/sizes.h"

#ifndef TSR_FREESTANDING

enum {
    BUFFER  = 16 << 10,  /* bytes of packed elements, and of widened ones */
    STRIP   = 32 << 10,  /* bytes of a strip of one output, where the walk may stop early (any, all) */
    LONG    = 4 << 20,   /* the same where it never stops early */
    LONGEST = 4096,      /* elements of other strips */
    SHORT   = 256,       /* bytes of a run that is worth a strip of its own */
    RUNS    = 64,        /* outputs of a block by runs */
    PLAIN   = 256 << 10, /* bytes of a block of runs that are read where they are, one after the other */
    SHORT_RUNS = 64      /* runs with fewer elements: a block has TSRI_SIDE outputs */
};

typedef struct walk {
    const tsri_reduction *r;
    tsri_accumulate_fn    accumulate;
    tsri_acc_kind          kind;
    tsri_states          *g;
    const tsri_states *k;
    int64_t               width, across, first;
    const char           *next;     /* the first element that is read after this nest; NULL: unknown */
    tsri_strip            strip;
    char                 *packed, *widened;
} walk;

/* Elements that fit the buffers. */
static int64_t room(const tsri_reduction *r) { return BUFFER / (r->bytes > r->wide ? r->bytes : r->wide); }

/* Staging ------------------------------------------------------------------------------ */

/* rows x cols elements, contiguous within a row, in the dtype that kernels read. */
static const char *widen(const walk *w, const char *x, int64_t rows, int64_t row_step, int64_t cols)
{
    const tsri_reduction *r = w->r;
    if (row_step == cols * r->bytes) {
        cols *= rows;
        rows = 1;
    }
    if (r->cast) {
        const tsri_tile t = { .rows = rows, .cols = cols, .ptr = { w->widened, (char *)(uintptr_t)x },
                              .row_step = { cols * r->wide, row_step }, .col_step = { r->wide, r->bytes } };
        r->cast(&t, NULL);
        return w->widened;
    }
    for (int64_t i = 0; i < rows; i++)
        r->widen(w->widened + i * cols * r->wide, x + i * row_step, r->bytes, cols);
    return w->widened;
}

/* rows x cols elements, packed, in the dtype that kernels read. */
static const char *stage(const walk *w, const char *x, int64_t rows, int64_t row_step, int64_t cols,
                         int64_t col_step)
{
    const tsri_reduction *r = w->r;
    const int64_t packed = cols * r->bytes;
    if (col_step != r->bytes || (!r->widen && row_step != packed)) {
        const tsri_tile t = { .rows = rows, .cols = cols, .ptr = { w->packed, (char *)(uintptr_t)x },
                              .row_step = { packed, row_step }, .col_step = { r->bytes, col_step } };
        tsri_cpu_kernels_get()->copy[__builtin_ctz((unsigned)r->bytes)](&t, NULL);
        x = w->packed;
        row_step = packed;
    }
    return r->widen ? widen(w, x, rows, row_step, cols) : x;
}

/* Runs ---------------------------------------------------------------------------------- */

/* Is the result of any or all, or of a search among bools, known already? */
static bool is_decided(const walk *w)
{
    const int64_t count = w->g->i[0][0];
    if (w->width != 1) return false;
    if (w->kind == TSRI_ACC_FIND && w->r->bools) return count == 1;
    if (w->kind != TSRI_ACC_NONZERO) return false;
    if (w->r->op == TSR_OP_ANY || w->r->op == TSR_OP_MAX) return count > 0;
    return (w->r->op == TSR_OP_ALL || w->r->op == TSR_OP_MIN) && count < w->strip.at - w->first;
}

/* next: what is read after it, if that is known and is not staged. */
static bool accumulate_run(walk *w, const char *x, int64_t n, const char *next)
{
    w->strip.ahead = next ? next - x : 0;
    w->strip.x = x;
    w->strip.n = n;
    w->accumulate(w->g, &w->strip, w->k);
    w->strip.at += n;
    return !is_decided(w);
}

/* One run of each output. */
static bool accumulate_runs(walk *w, const char *x, int64_t n, int64_t step, const char *next)
{
    const bool plain = step == w->r->bytes && !w->r->widen;
    /* For integers a second pass over the strip looks for the index of the largest. */
    const bool again = w->kind == TSRI_ACC_FIND && w->r->numbers != TSRI_REALS;
    const bool stops = w->kind == TSRI_ACC_NONZERO || again;
    const int64_t longest = plain ? (stops ? STRIP : LONG) / step : least(LONGEST, room(w->r));
    if (w->width > 1) {
        w->strip.across = plain ? w->across : n * w->r->wide;
        return plain ? accumulate_run(w, x, n, next)
                     : accumulate_run(w, stage(w, x, w->width, w->across, n, step), n, NULL);
    }
    for (int64_t i = 0; i < n; i += longest) {
        const int64_t some = least(longest, n - i);
        const char *from = x + i * step;
        if (plain ? !accumulate_run(w, from, some, i + some < n ? from + some * step : next)
                  : !accumulate_run(w, stage(w, from, 1, 0, some, step), some, NULL))
            return false;
    }
    return true;
}

static bool accumulate_runs_of_tile(const tsri_tile *t, void *context)
{
    walk *w = context;
    const int64_t step = t->col_step[0], together = least(LONGEST, room(w->r)) / t->cols;
    const bool packs = t->rows > 1 && w->width == 1 && t->cols * w->r->bytes < SHORT;
    for (int64_t i = 0; i < t->rows; i += packs ? together : 1) {
        const char *x = t->ptr[0] + i * t->row_step[0];
        const int64_t rows = least(together, t->rows - i);
        if (packs ? !accumulate_run(w, stage(w, x, rows, t->row_step[0], t->cols, step), rows * t->cols, NULL)
                  : !accumulate_runs(w, x, t->cols, step, i + 1 < t->rows ? x + t->row_step[0] : w->next))
            return false;
    }
    return true;
}

/* Rows ---------------------------------------------------------------------------------- */

/* n contiguous rows. The first is element joined * at. */
static void accumulate_joined(const walk *w, tsri_states *g, const tsri_states *k, const char *x, int64_t n,
                           int64_t at)
{
    const int64_t joined = w->r->joined, row = joined * w->width, whole = n / joined, rest = n % joined;
    tsri_strip s = w->strip;
    s.ahead = 0;
    s.period = w->width;
    s.x = x;
    s.n = whole;
    s.step = row * w->r->wide;
    s.width = row;
    s.at = at;
    if (whole > 0) w->accumulate(g, &s, k);
    if (rest == 0) return;
    s.x += whole * s.step;
    s.n = 1;
    s.width = rest * w->width;
    s.at += whole;
    w->accumulate(g, &s, k);
}

/* Merges the states of all rows that were joined. */
static void merge_joined(const walk *w, const tsri_states *joined_states, int64_t at)
{
    const int64_t joined = w->r->joined, width = w->width;
    for (int64_t q = 0; q < joined; q++) {
        const tsri_states one = tsri_states_from(joined_states, q * width);
        for (int64_t j = 0; j < width && w->kind == TSRI_ACC_FIND; j++)
            if (one.i[1][j] >= 0) one.i[1][j] = at + one.i[1][j] * joined + q;
        tsri_states_merge(w->g, &one, w->kind, w->r->numbers, width);
    }
}

static void accumulate_by_joining(walk *w, const char *x, int64_t n, int64_t step)
{
    const tsri_reduction *r = w->r;
    const int64_t width = w->width, joined = r->joined;
    _Alignas(64) double words[2][TSRI_STATE_WORDS * TSRI_JOINED];
    tsri_states g = tsri_states_in(words[0], joined * width), k = tsri_states_in(words[1], joined * width);
    const bool plain = w->across == r->bytes && step == width * r->bytes && !r->widen;
    const int64_t some = (plain ? LONGEST : room(r) / (joined * width)) * joined;
    for (int slot = 0; slot < TSRI_STATE_WORDS && w->kind >= TSRI_ACC_SQUARES; slot++)
        for (int64_t i = 0; i < joined * width; i++) k.f[slot][i] = w->k->f[slot][i % width];
    tsri_states_begin(&g, w->kind, r->numbers, joined * width);
    for (int64_t i = 0; i < n; i += some) {
        const int64_t rows = least(some, n - i);
        const char *from = x + i * step;
        accumulate_joined(w, &g, &k, plain ? from : stage(w, from, rows, step, width, w->across), rows,
                          i / joined);
    }
    merge_joined(w, &g, w->strip.at);
    w->strip.at += n;
}

/* Outputs of the widest block, however threads share the outputs. */
static int64_t widest(const walk *w)
{
    const tsri_loop *outer = &w->r->outer;
    const int64_t n = outer->ndim ? outer->dim[outer->ndim - 1].n : 1;
    return most(w->width, least(n, tsri_walk_side(w->r)));
}

/* As many rows are staged at a time for a narrow block as for the widest: a strip is summed by itself, so
 * bits depend on its length. */
static void accumulate_rows(walk *w, const char *x, int64_t n, int64_t step)
{
    const bool plain = w->across == w->r->bytes && !w->r->widen;
    const int64_t some = plain ? LONGEST : room(w->r) / widest(w);
    for (int64_t i = 0; i < n; i += some) {
        const int64_t rows = least(some, n - i);
        w->strip.x = plain ? x + i * step : stage(w, x + i * step, rows, step, w->width, w->across);
        w->strip.n = rows;
        w->strip.step = plain ? step : w->width * w->r->wide;
        w->strip.ahead = plain && w->next && rows == n ? w->next - x : 0;
        w->accumulate(w->g, &w->strip, w->k);
        w->strip.at += rows;
    }
}

static bool accumulate_columns(const tsri_tile *t, void *context)
{
    walk *w = context;
    for (int64_t i = 0; i < t->rows; i++) {
        const char *x = t->ptr[0] + i * t->row_step[0];
        if (w->r->joined > 1) accumulate_by_joining(w, x, t->cols, t->col_step[0]);
        else                accumulate_rows(w, x, t->cols, t->col_step[0]);
    }
    return true;
}

/* The walk ------------------------------------------------------------------------------- */

/* Are the runs of outputs read where they are, one after the other? */
static bool is_read_in_order(const tsri_reduction *r)
{
    const tsri_dim *run = &r->reduced.dim[0];
    return !tsri_tuning_get()->reads_apart && !r->by_columns && !r->widen && r->reduced.ndim == 1 &&
           run->step[0] == r->bytes && run->n > 0 && 2 * run->n * r->bytes <= PLAIN;
}

int64_t tsri_walk_side(const tsri_reduction *r)
{
    const int64_t n = r->reduced.ndim ? r->reduced.dim[0].n : 1, held = room(r);
    if (r->by_columns) return least(TSRI_SIDE, held / 4);
    if (is_read_in_order(r) && 2 * n > held) return least(RUNS, PLAIN / (n * r->bytes));
    if (r->reduced.ndim > 1 || n > LONGEST || n > held || n == 0) return 1;
    /* Long runs that are not staged are read two at a time. */
    const bool plain = !r->widen && r->reduced.ndim && r->reduced.dim[0].step[0] == r->bytes;
    if (plain && 2 * n > held) return 2;
    return least(n < SHORT_RUNS ? TSRI_SIDE : RUNS, held / n);
}

void tsri_walk(tsri_states *g, const tsri_block *b, const tsri_loop *nest, int64_t at)
{
    _Alignas(64) char packed[BUFFER], widened[BUFFER];
    const tsri_reduction *r = b->r;
    const char *next = b->next && b->pass + 1 == r->passes && r->parts == 1 ? b->next + r->start : NULL;
    walk w = { r, r->accumulate[b->pass], r->kind[b->pass], g, b->k, b->width, b->across, at, next,
               { .width = b->width, .at = at, .by_runs = !r->by_columns, .least = r->least, .size = r->size,
                 .flip = r->flip }, packed, widened };
    tsri_states_begin(g, w.kind, r->numbers, b->width);
    (void)tsri_loop_visit(nest, r->by_columns ? accumulate_columns : accumulate_runs_of_tile, &w);
}

#endif
