/* stage.c - see stage.h. */
#include "stage.h"

enum {
    BUFFER = 64 << 10,  /* bytes, divided between the operands that are staged */
    RUN_COLS = 1024,    /* columns of a block if no operand is contiguous along columns */
    TRANSPOSE_BYTES = 512, /* of a row of a block with an operand that is contiguous along columns: short
                              runs are slow to read, both along rows and along columns */
    LONG_ROW = 16       /* blocks of a row that is long: copies may prefetch beyond them */
};

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

static bool is_plain(int o, int64_t step, int64_t size) { return step == size || (o > 0 && step == 0); }

bool tsri_stage_is_plain(const tsri_loop *loop, const int64_t *size)
{
    if (loop->ndim == 0) return true;
    const tsri_dim *inner = &loop->dim[loop->ndim - 1];
    for (int o = 0; o < loop->nop; o++)
        if (!is_plain(o, inner->step[o], size[o])) return false;
    return true;
}

void tsri_stage_order(tsri_loop *loop, const int64_t *size)
{
    const int inner = loop->ndim - 1;
    for (int o = 1; o < loop->nop; o++) {
        if (is_plain(o, loop->dim[inner].step[o], size[o])) continue;
        for (int d = 0; d < inner - 1; d++) {
            if (length(loop->dim[d].step[o]) != size[o]) continue;
            const tsri_dim dense = loop->dim[d];
            for (int i = d; i < inner - 1; i++) loop->dim[i] = loop->dim[i + 1];
            loop->dim[inner - 1] = dense;
            return;
        }
    }
}

/* How a tile is cut into blocks, and which operands are copied to the buffer. */
typedef struct plan {
    bool    staged[TSRI_MAX_OPERANDS];
    char   *buffer[TSRI_MAX_OPERANDS];
    int64_t rows, cols;
} plan;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void make_plan(plan *p, const tsri_tile *t, const tsri_stage *s, char *buffer)
{
    int64_t largest = 1, count = 0;
    bool transposed = false;
    for (int o = 0; o < s->nop; o++) {
        p->staged[o] = !is_plain(o, t->col_step[o], s->size[o]);
        if (!p->staged[o]) continue;
        count++;
        if (s->size[o] > largest) largest = s->size[o];
        transposed |= t->rows > 1 && t->row_step[o] != 0 && length(t->row_step[o]) < length(t->col_step[o]);
    }
    const int64_t elements = BUFFER / largest / (count ? count : 1);
    p->cols = smaller(t->cols, transposed ? TRANSPOSE_BYTES / largest : smaller(elements, RUN_COLS));
    p->rows = smaller(t->rows, (transposed ? elements : smaller(elements, RUN_COLS)) / p->cols);
    if (p->rows == 0) p->rows = 1;
    for (int o = 0, i = 0; o < s->nop; o++)
        if (p->staged[o]) p->buffer[o] = buffer + i++ * elements * largest;
}

static void copy_block(char *z, int64_t dz_row, int64_t dz, const char *x, int64_t dx_row, int64_t dx,
                       int64_t size, const tsri_tile *block)
{
    const tsri_tile t = { .rows = block->rows, .cols = block->cols, .ptr = { z, (char *)(uintptr_t)x },
                          .row_step = { dz_row, dx_row }, .col_step = { dz, dx } };
    tsri_cpu_kernels_get()->copy[__builtin_ctz((unsigned)size)](&t, NULL);
}

/* Rows that are contiguous in every operand become one. */
static void join_rows(tsri_tile *block, int nop)
{
    for (int o = 0; o < nop; o++)
        if (block->row_step[o] != block->cols * block->col_step[o]) return;
    block->cols *= block->rows;
    block->rows = 1;
}

/* One block; `at` is its part of the tile. */
static void run_block(const plan *p, const tsri_stage *s, const tsri_tile *at)
{
    tsri_tile block = *at;
    for (int o = 0; o < s->nop; o++) {
        const int64_t size = s->size[o];
        if (!p->staged[o]) continue;
        block.ptr[o] = p->buffer[o];
        block.row_step[o] = at->row_step[0] == TSRI_STAGE_CONTINUES ? 0 : block.cols * size;
        block.col_step[o] = size;
        if (o > 0)
            copy_block(p->buffer[o], block.cols * size, size, at->ptr[o], at->row_step[o], at->col_step[o],
                       size, at);
    }
    block.stream = at->stream && !p->staged[0];
    join_rows(&block, s->nop);
    s->fn(&block, s->params);
    if (p->staged[0])
        copy_block(at->ptr[0], at->row_step[0], at->col_step[0], p->buffer[0], at->cols * s->size[0],
                   s->size[0], s->size[0], at);
}

void tsri_stage_tile(const tsri_tile *tile, const void *params)
{
    _Alignas(64) char buffer[BUFFER];
    const tsri_stage *s = params;
    plan p;
    make_plan(&p, tile, s, buffer);
    const bool long_row = p.rows == 1 && tile->cols >= LONG_ROW * p.cols;
    for (int64_t r = 0; r < tile->rows; r += p.rows)
        for (int64_t c = 0; c < tile->cols; c += p.cols) {
            tsri_tile at = *tile;
            at.rows = smaller(p.rows, tile->rows - r);
            at.cols = smaller(p.cols, tile->cols - c);
            for (int o = 0; o < s->nop; o++) {
                at.ptr[o] += r * tile->row_step[o] + c * tile->col_step[o];
                if (long_row) at.row_step[o] = at.cols * tile->col_step[o];
            }
            if (long_row && c + p.cols < tile->cols) at.row_step[0] = TSRI_STAGE_CONTINUES;
            run_block(&p, s, &at);
        }
}
