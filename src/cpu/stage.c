/* stage.c - see stage.h. */
#include "stage.h"

#include "core/sizes.h"

enum {
    BUFFER = 64 << 10,  /* bytes, divided between the operands that are staged */
    RUN_COLS = 1024,    /* columns of a block, at least, if no operand is contiguous along columns */
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

/* How a tile is cut into blocks, and where operands are packed and converted; NULL: they are not. */
typedef struct plan {
    char   *packed[TSRI_MAX_OPERANDS], *converted[TSRI_MAX_OPERANDS];
    int64_t rows, cols;
} plan;

static bool is_cast(const tsri_stage *s, int o) { return s->cast && s->cast[o].fn; }

/* Operand o of a block as operand 1 of a copy. Of one that is converted and repeated along rows or columns
 * there is one row or column, and the column is seen as a row. */
static void read_operand(tsri_tile *t, const tsri_tile *block, int o, bool casts)
{
    const bool column = casts && block->col_step[o] == 0;
    const int64_t rows = casts && block->row_step[o] == 0 ? 1 : block->rows;
    t->stream = false;
    t->rows = column ? 1 : rows;
    t->cols = column ? rows : block->cols;
    t->ptr[1] = block->ptr[o];
    t->row_step[1] = block->row_step[o];
    t->col_step[1] = column ? block->row_step[o] : block->col_step[o];
}

static char *take(char **buffer, int64_t bytes)
{
    *buffer += bytes;
    return *buffer - bytes;
}

/* What the operands of a tile that go through the buffer have in common. */
typedef struct staging {
    bool    packs[TSRI_MAX_OPERANDS];
    int64_t largest, count;  /* element, and buffers */
    bool    transposed;      /* one is contiguous along columns */
    bool    cols, both;      /* one is not repeated along rows; nor along columns */
} staging;

static void find_staging(staging *n, const tsri_tile *t, const tsri_stage *s)
{
    *n = (staging){ .largest = 1 };
    for (int o = 0; o < s->nop; o++) {
        const bool casts = is_cast(s, o), along = t->col_step[o] != 0;
        n->packs[o] = !is_plain(o, casts && !along ? t->row_step[o] : t->col_step[o], s->size[o]);
        if (!n->packs[o] && !casts) continue;
        n->count += n->packs[o] + casts;
        n->largest = most(n->largest, most(s->size[o], casts ? s->cast[o].size : 0));
        n->transposed |= n->packs[o] && t->rows > 1 && t->row_step[o] != 0 &&
                         length(t->row_step[o]) < length(t->col_step[o]);
        n->cols |= along;
        n->both |= along && (t->rows == 1 || t->row_step[o] != 0 || !casts);
    }
}

static void make_plan(plan *p, const tsri_tile *t, const tsri_stage *s, char *buffer)
{
    staging n;
    find_staging(&n, t, s);
    const int64_t elements = BUFFER / n.largest / most(n.count, 1), bytes = elements * n.largest;
    const tsri_tuning_copies *tuning = &tsri_tuning_used->copies;
    const int64_t cols = s->cast ? tuning->staged_cast / n.largest
                                 : most(RUN_COLS, tuning->staged_run / n.largest);
    const int64_t run = !n.both ? elements : least(elements, cols);
    p->cols = n.cols ? least(t->cols, n.transposed ? tuning->staged_column / n.largest : run) : t->cols;
    p->rows = least(t->rows, n.both ? most((n.transposed ? elements : run) / p->cols, 1) : elements);
    for (int o = 0; o < s->nop; o++) {
        p->packed[o] = n.packs[o] ? take(&buffer, bytes) : NULL;
        p->converted[o] = is_cast(s, o) ? take(&buffer, bytes) : NULL;
    }
}

static void copy_tile(const tsri_tile *t, int64_t size)
{
    tsri_cpu_kernels_get()->copy[__builtin_ctz((unsigned)size)](t, NULL);
}

/* What a copy of the tile writes is packed in a buffer, */
static void write_packed(tsri_tile *t, char *buffer, int64_t size)
{
    t->ptr[0] = buffer;
    t->row_step[0] = t->cols * size;
    t->col_step[0] = size;
}

/* and is what is read next. */
static void read_written(tsri_tile *t)
{
    t->ptr[1] = t->ptr[0];
    t->row_step[1] = t->row_step[0];
    t->col_step[1] = t->col_step[0];
}

static void convert_tile(tsri_tile *t, const tsri_cast *cast, char *buffer)
{
    write_packed(t, buffer, cast->size);
    cast->fn(t, cast);
    read_written(t);
}

/* Operand o of a block goes to the buffer: packed, unless it is the result, and converted. */
static void stage_operand(tsri_tile *block, const plan *p, const tsri_stage *s, int o, bool continues)
{
    tsri_tile t;
    const bool casts = is_cast(s, o), one_row = casts && block->row_step[o] == 0;
    const bool column = casts && block->col_step[o] == 0;
    read_operand(&t, block, o, casts);
    if (p->packed[o]) {
        write_packed(&t, p->packed[o], s->size[o]);
        if (o > 0) copy_tile(&t, s->size[o]);
        read_written(&t);
    }
    if (casts) convert_tile(&t, &s->cast[o], p->converted[o]);
    block->ptr[o] = t.ptr[1];
    block->row_step[o] = continues || one_row ? 0 : column ? t.col_step[1] : t.row_step[1];
    block->col_step[o] = column ? 0 : t.col_step[1];
}

/* Rows that are contiguous in every operand become one. */
static void join_rows(tsri_tile *block, int nop)
{
    for (int o = 0; o < nop; o++)
        if (block->row_step[o] != block->cols * block->col_step[o]) return;
    block->cols *= block->rows;
    block->rows = 1;
}

/* One block, which is changed in place: a copy made with vector loads would have to wait for the stores of
 * its fields. */
static void run_block(const plan *p, const tsri_stage *s, tsri_tile *block)
{
    tsri_tile result;
    const bool continues = block->row_step[0] == TSRI_STAGE_CONTINUES;
    if (p->packed[0]) result = *block;
    for (int o = 0; o < s->nop; o++)
        if (p->packed[o] || p->converted[o]) stage_operand(block, p, s, o, continues);
    block->stream &= !p->packed[0];
    join_rows(block, s->nop);
    s->fn(block, s->params);
    if (!p->packed[0]) return;
    result.stream = false;
    result.ptr[1] = p->packed[0];
    result.row_step[1] = result.cols * s->size[0];
    result.col_step[1] = s->size[0];
    copy_tile(&result, s->size[0]);
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
            at.rows = least(p.rows, tile->rows - r);
            at.cols = least(p.cols, tile->cols - c);
            for (int o = 0; o < s->nop; o++) {
                at.ptr[o] += r * tile->row_step[o] + c * tile->col_step[o];
                if (long_row) at.row_step[o] = at.cols * tile->col_step[o];
            }
            if (long_row && c + p.cols < tile->cols) at.row_step[0] = TSRI_STAGE_CONTINUES;
            run_block(&p, s, &at);
        }
}
