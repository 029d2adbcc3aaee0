/* test_cuda_plans.c - how the CUDA plugin lays out work: the part of it that needs no GPU. */
#include "test.h"

#include "../../backends/cuda/plan.c"
#include "../../backends/cuda/plan_copy.c"
#include "../../backends/cuda/plan_join.c"
#include "../../backends/cuda/plan_mix.c"
#include "../../backends/cuda/plan_range.c"

#include "core/random_values.h"

/* Dividing ------------------------------------------------------------------------------------ */

TEST(test_division_by_multiplication_is_exact)
{
    static const uint32_t divisors[] = { 1,     2,     3,       5,          7,          10,
                                         24,    50,    127,     128,        1000,       16001,
                                         65535, 65537, 1000003, 0x3fffffff, 0x40000000, 0x7fffffff };
    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        const uint32_t d = divisors[i];
        const tsrc_div by = tsrc_div_by(d);
        for (uint64_t k = 0; k < 2000; k++) {
            const uint64_t near[] = { k, k * d, k * d + d - 1, 0x7fffffff - k, k * 1048573 };
            for (size_t j = 0; j < 5; j++)
                if (near[j] < 0x80000000u)
                    EXPECT(tsrc_divide((uint32_t)near[j], by) == (uint32_t)near[j] / d);
        }
    }
}

/* Loops ----------------------------------------------------------------------------------------- */

TEST(test_sizes_are_the_librarys)
{
    for (int d = 0; d < TSR_DTYPE_COUNT; d++)
        EXPECT((size_t)tsrc_size((tsr_dtype)d) == tsr_dtype_size((tsr_dtype)d));
}

TEST(test_ordered_loop_keeps_the_order_and_merges)
{
    tsr_tensor t;
    tsr_loop l;
    const tsr_tensor *all[] = { &t };
    memset(&t, 0, sizeof t);
    t.dtype = TSR_F32;
    t.ndim = 4;
    const int64_t shape[] = { 2, 3, 1, 4 }, stride[] = { 12, 4, 99, 1 };
    memcpy(t.shape, shape, sizeof shape);
    memcpy(t.stride, stride, sizeof stride);
    tsrc_ordered(&l, 1, all, 0);
    EXPECT(l.ndim == 1 && l.n[0] == 24 && l.step[0][0] == 4);
    t.stride[0] = 1;
    t.stride[1] = 8;
    t.stride[3] = 2;
    tsrc_ordered(&l, 1, all, 0);
    EXPECT(l.ndim == 2 && l.n[0] == 2 && l.n[1] == 12 && l.step[0][0] == 4 && l.step[1][0] == 8);
    tsrc_ordered(&l, 1, all, 1u << 0 | 1u << 3);
    EXPECT(l.ndim == 1 && l.n[0] == 3 && l.step[0][0] == 32);
}

typedef struct covered {
    char *base;
    int64_t elements, parts;
    unsigned char seen[4096];
} covered;

static int cover(const tsr_loop *part, void *context)
{
    covered *c = context;
    int64_t index[TSR_MAX_NDIM] = { 0 };
    c->parts++;
    EXPECT(part->ndim <= 3 && tsrc_count(part) <= 40);
    for (int64_t i = 0; i < tsrc_count(part); i++, c->elements++) {
        int64_t at = (char *)part->data[0] - c->base, rest = i;
        for (int d = part->ndim - 1; d >= 0; d--) {
            index[d] = rest % part->n[d];
            rest /= part->n[d];
            at += index[d] * part->step[d][0];
        }
        c->seen[at]++;
    }
    return 0;
}

TEST(test_parts_of_a_loop_cover_it_once)
{
    static char memory[4096];
    covered c = { memory, 0, 0, { 0 } };
    tsr_loop l = { .ndim = 5, .noperands = 1, .n = { 5, 2, 3, 2, 7 }, .data = { memory } };
    int64_t step = 1;
    for (int d = 4; d >= 0; d--) {
        l.step[d][0] = step;
        step *= l.n[d];
    }
    EXPECT(tsrc_split(&l, 3, 40, cover, &c) == 0);
    EXPECT(c.elements == 420 && c.parts > 10);
    for (int i = 0; i < 420; i++) EXPECT(c.seen[i] == 1);
}

/* Nests ------------------------------------------------------------------------------------------- */

TEST(test_nest_takes_neighbours_only_where_they_are_aligned)
{
    tsrc_nest n;
    const int size[] = { 4, 4 };
    tsr_loop l = { .ndim = 2,
                   .noperands = 2,
                   .n = { 10, 64 },
                   .step = { { 256, 256 }, { 4, 4 } },
                   .data = { (void *)4096, (void *)8192 } };
    tsrc_nest_of(&n, &l, size, 4);
    EXPECT(n.per == 4 && n.total == 160 && n.div[0].d == 16 && n.len == 64);
    l.step[1][1] = 0; /* one number for all */
    tsrc_nest_of(&n, &l, size, 4);
    EXPECT(n.per == 4);
    l.step[1][1] = 8;
    tsrc_nest_of(&n, &l, size, 4);
    EXPECT(n.per == 1 && n.total == 640);
    l.step[1][1] = 4;
    l.data[1] = (void *)8196;
    tsrc_nest_of(&n, &l, size, 4);
    EXPECT(n.per == 1);
    l.data[1] = (void *)8192;
    l.n[1] = 62; /* rows end inside a group; the next still begins aligned */
    tsrc_nest_of(&n, &l, size, 4);
    EXPECT(n.per == 4 && n.total == 160 && n.len == 62);
}

TEST(test_nest_of_a_scalar_is_one_thread)
{
    tsrc_nest n;
    const int size[] = { 8 };
    const tsr_loop l = { .ndim = 0, .noperands = 1, .data = { (void *)64 } };
    tsrc_nest_of(&n, &l, size, 2);
    EXPECT(n.total == 1 && n.len == 1 && n.per == 1);
}

/* Copies -------------------------------------------------------------------------------------------- */

static tsrc_copy plan_2d(int64_t rows, int64_t columns, int64_t ds0, int64_t ds1, int64_t ss0, int64_t ss1,
                         int size)
{
    tsrc_copy c;
    const tsr_loop l = { .ndim = 2,
                         .noperands = 2,
                         .n = { rows, columns },
                         .step = { { ds0 * size, ss0 * size }, { ds1 * size, ss1 * size } },
                         .data = { (void *)(1 << 20), (void *)(1 << 21) } };
    tsrc_copy_of(&c, &l, size);
    return c;
}

TEST(test_copies_are_done_in_the_way_that_suits_them)
{
    EXPECT(plan_2d(1000, 1000, 1000, 1, 1, 1000, 4).kind == TSRC_COPY_WIDE);
    EXPECT(plan_2d(1000, 1000, 1000, 1, 1, 1000, 1).kind == TSRC_COPY_WIDE);
    EXPECT(plan_2d(1000, 1000, 1000, 1, 1, 1000, 8).kind == TSRC_COPY_TILE);
    EXPECT(plan_2d(1001, 1001, 1001, 1, 1, 1001, 4).kind == TSRC_COPY_TILE);
    EXPECT(plan_2d(1000, 500, 500, 1, 1000, 2, 4).kind == TSRC_COPY_EACH);
    const tsrc_copy rows = plan_2d(1000, 500, 500, 1, 1000, 1, 4);
    EXPECT(rows.kind == TSRC_COPY_ROWS && rows.width == 16 && rows.as.runs.run == 125);
    const tsrc_copy odd = plan_2d(1000, 501, 501, 1, 1000, 1, 4);
    EXPECT(odd.kind == TSRC_COPY_ROWS && odd.width == 4);
}

TEST(test_one_run_is_copied_in_words)
{
    tsrc_copy c;
    tsr_loop l = {
        .ndim = 1, .noperands = 2, .n = { 1003 }, .step = { { 2, 2 } }, .data = { (void *)64, (void *)128 }
    };
    tsrc_copy_of(&c, &l, 2);
    EXPECT(c.kind == TSRC_COPY_FLAT && c.width == 16 && c.bytes == 2006);
    l.data[1] = (void *)130;
    tsrc_copy_of(&c, &l, 2);
    EXPECT(c.width == 2);
    l.n[0] = 0;
    tsrc_copy_of(&c, &l, 2);
    EXPECT(c.kind == TSRC_COPY_NOTHING);
}

/* Reads and writes what a tile plan says, as the kernel does. */
static void play_tile(const tsrc_copy *c, int size)
{
    const tsrc_tile *t = &c->as.tile;
    for (uint32_t block = 0; block < c->blocks; block++) {
        uint32_t id = block;
        const uint32_t ca = id % t->a.chunks, cb = id / t->a.chunks % t->b.chunks;
        id = id / t->a.chunks / t->b.chunks;
        int64_t d = ca * t->a.to_next[0] + cb * t->b.to_next[0],
                s = ca * t->a.to_next[1] + cb * t->b.to_next[1];
        for (int i = 0; i < t->outer.nd; i++) {
            const uint32_t q = tsrc_divide(id, t->outer.n[i]), r = id - q * t->outer.n[i].d;
            d += r * t->outer.step[i][0];
            s += r * t->outer.step[i][1];
            id = q;
        }
        const uint32_t left_a = t->a.rest - ca * t->a.chunk, left_b = t->b.rest - cb * t->b.chunk;
        const uint32_t na = t->a.count / t->a.chunk * (left_a < t->a.chunk ? left_a : t->a.chunk);
        const uint32_t nb = t->b.count / t->b.chunk * (left_b < t->b.chunk ? left_b : t->b.chunk);
        for (uint32_t a = 0; a < na; a++)
            for (uint32_t b = 0; b < nb; b++) {
                int64_t to = d + (int64_t)b * size, from = s + (int64_t)a * size;
                uint32_t rest = a;
                for (int i = 0; i < t->a.nd; i++) {
                    const uint32_t q = i + 1 < t->a.nd ? rest / t->a.n[i].d : 0;
                    to += (rest - q * t->a.n[i].d) * t->a.step[i];
                    rest = q;
                }
                rest = b;
                for (int i = 0; i < t->b.nd; i++) {
                    const uint32_t q = i + 1 < t->b.nd ? rest / t->b.n[i].d : 0;
                    from += (rest - q * t->b.n[i].d) * t->b.step[i];
                    rest = q;
                }
                memcpy(c->dst + to, c->src + from, (size_t)size);
            }
    }
}

static void check_reversal(int n, const int64_t *shape, int size)
{
    static char src[1 << 20], dst[1 << 20], want[1 << 20];
    tsr_loop l = { .ndim = n, .noperands = 2, .data = { dst, src } };
    tsrc_copy c;
    int64_t count = 1, step = size;
    for (int d = 0; d < n; d++) count *= shape[d];
    for (int64_t i = 0; i < count * size; i++) src[i] = (char)(i * 7 + i / 251);
    for (int d = n - 1; d >= 0; d--) { /* dst has the dims reversed */
        l.n[d] = shape[n - 1 - d];
        l.step[d][0] = step;
        step *= l.n[d];
    }
    step = size;
    for (int d = 0; d < n; d++) {
        l.step[d][1] = step;
        step *= l.n[d];
    }
    tsrc_copy_of(&c, &l, size);
    EXPECT_MSG(c.kind == TSRC_COPY_TILE, "kind %d", (int)c.kind);
    if (c.kind != TSRC_COPY_TILE) return;
    EXPECT(c.shared <= 48 << 10);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, from = 0;
        for (int d = n - 1; d >= 0; d--) {
            from += rest % l.n[d] * l.step[d][1];
            rest /= l.n[d];
        }
        memcpy(want + i * size, src + from, (size_t)size);
    }
    memset(dst, 0, sizeof dst);
    play_tile(&c, size);
    EXPECT(!memcmp(dst, want, (size_t)(count * size)));
}

TEST(test_tiles_move_every_element_to_its_place)
{
    check_reversal(2, (int64_t[]){ 130, 77 }, 4);
    check_reversal(3, (int64_t[]){ 40, 30, 20 }, 8);
    check_reversal(6, (int64_t[]){ 5, 4, 7, 6, 3, 7 }, 4);
    check_reversal(4, (int64_t[]){ 9, 1, 33, 50 }, 2);
    check_reversal(3, (int64_t[]){ 3, 200, 100 }, 1);
    check_reversal(2, (int64_t[]){ 100, 100 }, 16);
}

TEST(test_short_runs_are_moved_in_tiles)
{
    tsrc_copy c;
    const tsr_loop l = { .ndim = 4,
                         .noperands = 2,
                         .n = { 64, 16, 1024, 64 },
                         .step = { { 2097152, 2097152 }, { 131072, 128 }, { 128, 2048 }, { 2, 2 } },
                         .data = { (void *)(1 << 20), (void *)(1 << 21) } };
    tsrc_copy_of(&c, &l, 2);
    EXPECT(c.kind == TSRC_COPY_RUNS && c.width == 16 && c.as.runs.run == 8);
    EXPECT(c.as.runs.tile[0] == 16 && c.as.runs.tile[1] == 2 && c.as.runs.size[1] == 1024);
    EXPECT(c.blocks == 64 * 512);
}

/* Reads and writes what a plan of runs says, as the kernel does. */
static void play_runs(const tsrc_copy *c)
{
    const tsrc_runs *r = &c->as.runs;
    for (uint32_t block = 0; block < c->blocks; block++)
        for (uint32_t i = 0; i < TSRC_THREADS * tsrc_words(c->width); i++) {
            uint32_t id = block / r->tiles[0] / r->tiles[1];
            const uint32_t t0 = block % r->tiles[0] * r->tile[0];
            const uint32_t t1 = block / r->tiles[0] % r->tiles[1] * r->tile[1];
            const uint32_t row = tsrc_divide(i, r->by_tile), in_row = i - row * r->by_tile.d;
            const uint32_t run = tsrc_divide(in_row, r->by_run), word = in_row - run * r->run;
            if (row >= r->tile[1] || t0 + run >= r->size[0] || t1 + row >= r->size[1]) continue;
            int64_t at[2];
            for (int o = 0; o < 2; o++)
                at[o] = (int64_t)word * c->width + (t0 + run) * r->step[0][o] + (t1 + row) * r->step[1][o];
            for (int d = 0; d < r->outer.nd; d++) {
                const uint32_t q = tsrc_divide(id, r->outer.n[d]);
                for (int o = 0; o < 2; o++) at[o] += (id - q * r->outer.n[d].d) * r->outer.step[d][o];
                id = q;
            }
            memcpy(c->dst + at[0], c->src + at[1], (size_t)c->width);
        }
}

TEST(test_runs_that_share_sectors_have_neighbours_on_both_sides)
{
    enum { A = 37, B = 50, RUN = 17 };
    static float src[A][B][RUN], dst[B][A][RUN];
    tsrc_copy c;
    const tsr_loop l = { .ndim = 3,
                         .noperands = 2,
                         .n = { B, A, RUN },
                         .step = { { sizeof dst[0], sizeof src[0][0] },
                                   { sizeof dst[0][0], sizeof src[0] },
                                   { 4, 4 } },
                         .data = { dst, src } };
    for (int i = 0; i < A * B * RUN; i++) (&src[0][0][0])[i] = (float)i;
    tsrc_copy_of(&c, &l, 4);
    EXPECT(c.kind == TSRC_COPY_RUNS && c.as.runs.tile[0] == 8 && c.as.runs.tile[1] == 7);
    play_runs(&c);
    for (int b = 0; b < B; b++)
        for (int a = 0; a < A; a++) EXPECT(!memcmp(dst[b][a], src[a][b], sizeof src[a][b]));
}

TEST(test_images_are_taken_for_images)
{
    tsrc_mix m;
    tsr_loop l = { .ndim = 3,
                   .noperands = 2,
                   .n = { 512, 3, 50176 },
                   .step = { { 150528, 150528 }, { 50176, 1 }, { 1, 3 } },
                   .data = { (void *)(1 << 20), (void *)(1 << 21) } };
    EXPECT(tsrc_mix_of(&m, &l, 1));
    EXPECT(!m.join && m.channels == 3 && m.groups == 3136 && m.plane == 50176 && m.outer.count == 512);
    EXPECT(m.planes == l.data[0] && m.pixels == l.data[1]);
    const tsr_loop back = { .ndim = 3,
                            .noperands = 2,
                            .n = { 512, 50176, 3 },
                            .step = { { 150528, 150528 }, { 3, 1 }, { 1, 50176 } },
                            .data = { (void *)(1 << 20), (void *)(1 << 21) } };
    EXPECT(tsrc_mix_of(&m, &back, 1));
    EXPECT(m.join && m.pixels == back.data[0] && m.planes == back.data[1]);
    l.data[1] = (char *)l.data[1] + 1;
    EXPECT(!tsrc_mix_of(&m, &l, 1));
    l.data[1] = (char *)l.data[1] - 1;
    l.n[1] = 5;
    EXPECT(!tsrc_mix_of(&m, &l, 1));
}

/* Joins ------------------------------------------------------------------------------------------------- */

/* What join_kernel does with a piece. */
static void move_piece(const tsrc_piece *p, int width)
{
    for (uint32_t i = 0; i < p->total; i++) {
        const uint32_t row = tsrc_divide(i, p->by_run);
        const int64_t word = (int64_t)(i - row * p->run) * width;
        memcpy(p->dst + word + row * p->step[0], p->src + word + row * p->step[1], (size_t)width);
    }
}

/* Parts of so many columns of an array of two bytes, from rows that may be longer. */
static void join_columns(const int64_t *columns, int n, int64_t longer, int width, bool even)
{
    enum { ROWS = 7, COLUMNS = 400 };
    static _Alignas(16) uint16_t from[4][ROWS * COLUMNS], to[ROWS * COLUMNS];
    tsrc_join join = { .n = 0 };
    int64_t all = 0, begin = 0;
    for (int i = 0; i < n; i++) all += columns[i];
    memset(to, 0, sizeof to);
    for (int i = 0; i < n; begin += columns[i++]) {
        const tsr_loop l = { .ndim = 2,
                             .noperands = 2,
                             .n = { ROWS, columns[i] },
                             .step = { { all * 2, (columns[i] + longer) * 2 }, { 2, 2 } },
                             .data = { to + begin, from[i] } };
        for (int e = 0; e < ROWS * COLUMNS; e++) from[i][e] = (uint16_t)(i * 10000 + e);
        EXPECT(tsrc_join_add(&join, &l, 2));
    }
    tsrc_join_end(&join);
    EXPECT(join.width == width && join.even == even);
    for (int i = 0; i < n; i++) move_piece(&join.piece[i], join.width);
    begin = 0;
    for (int i = 0; i < n; begin += columns[i++])
        for (int64_t r = 0; r < ROWS; r++)
            for (int64_t c = 0; c < columns[i]; c++)
                EXPECT(to[r * all + begin + c] == from[i][r * (columns[i] + longer) + c]);
}

TEST(test_joined_pieces_come_to_their_places)
{
    join_columns((const int64_t[]){ 8, 16, 24 }, 3, 0, 16, true);
    join_columns((const int64_t[]){ 8, 16, 24 }, 3, 2, 4, true);
    join_columns((const int64_t[]){ 5, 301, 3 }, 3, 0, 2, false);
    join_columns((const int64_t[]){ 64, 64, 64, 64 }, 4, 0, 16, true);
}

TEST(test_single_elements_are_joined_as_rows_and_the_rest_is_refused)
{
    tsrc_join join = { .n = 0 };
    const tsr_loop steps = { .ndim = 1, .noperands = 2, .n = { 100 }, .step = { { 12, 4 } },
                             .data = { (void *)4096, (void *)8196 } };
    EXPECT(tsrc_join_add(&join, &steps, 4));
    tsrc_join_end(&join);
    EXPECT(join.width == 4 && join.piece[0].run == 1 && join.piece[0].total == 100 && join.blocks == 1);
    const tsr_loop twice = { .ndim = 2, .noperands = 2, .n = { 10, 10 }, .step = { { 120, 4 }, { 8, 40 } } };
    EXPECT(!tsrc_join_add(&join, &twice, 4));
    const tsr_loop scalar = { .ndim = 0, .noperands = 2 };
    while (join.n < TSRC_PIECES) EXPECT(tsrc_join_add(&join, &scalar, 4));
    EXPECT(!tsrc_join_add(&join, &scalar, 4));
}

/* Reductions ------------------------------------------------------------------------------------------- */

TEST(test_reductions_of_odd_sizes_keep_their_vectors)
{
    tsrc_reduction r;
    const tsr_loop rows = { .ndim = 1, .noperands = 2, .n = { 64 }, .step = { { 2, 2002 } } };
    const tsr_loop along = { .ndim = 1, .noperands = 1, .n = { 1001 }, .step = { { 2 } } };
    EXPECT(tsrc_reduction_of(&r, &rows, &along, 2, 8));
    EXPECT(r.lanes_first && r.ragged && r.per == 8 && r.groups == 126 && r.lanes == 128);
    const tsr_loop columns = { .ndim = 1, .noperands = 2, .n = { 700 }, .step = { { 2, 2 } } };
    const tsr_loop down = { .ndim = 1, .noperands = 1, .n = { 300 }, .step = { { 1400 } } };
    EXPECT(tsrc_reduction_of(&r, &columns, &down, 2, 8));
    EXPECT(!r.lanes_first && !r.ragged && r.wide == 2);
    const tsr_loop odd = { .ndim = 1, .noperands = 2, .n = { 701 }, .step = { { 2, 2 } } };
    EXPECT(tsrc_reduction_of(&r, &odd, &down, 2, 8) && r.wide == 1);
}

TEST(test_reductions_share_out_rows_columns_and_totals)
{
    tsrc_reduction r;
    const tsr_loop rows = { .ndim = 1, .noperands = 2, .n = { 16384 }, .step = { { 4, 65536 } } };
    const tsr_loop along = { .ndim = 1, .noperands = 1, .n = { 16384 }, .step = { { 4 } } };
    EXPECT(tsrc_reduction_of(&r, &rows, &along, 4, 4));
    EXPECT(r.lanes_first && r.per == 4 && r.lanes == 256 && r.across == 1 && r.parts == 1);
    const tsr_loop columns = { .ndim = 1, .noperands = 2, .n = { 16384 }, .step = { { 4, 4 } } };
    const tsr_loop down = { .ndim = 1, .noperands = 1, .n = { 16384 }, .step = { { 65536 } } };
    EXPECT(tsrc_reduction_of(&r, &columns, &down, 4, 4));
    EXPECT(!r.lanes_first && r.per == 1 && r.wide == 4 && r.across == 32 && r.lanes == 8 && r.parts >= 1);
    const tsr_loop many = { .ndim = 1, .noperands = 2, .n = { 1 << 22 }, .step = { { 4, 4 } } };
    const tsr_loop few = { .ndim = 1, .noperands = 1, .n = { 8 }, .step = { { 1 << 24 } } };
    EXPECT(tsrc_reduction_of(&r, &many, &few, 4, 4));
    EXPECT(!r.lanes_first && r.wide == 4 && r.across == 256 && r.lanes == 1 && r.parts == 1);
    const tsr_loop one = { .ndim = 0, .noperands = 2 };
    const tsr_loop all = { .ndim = 1, .noperands = 1, .n = { (int64_t)1 << 33 }, .step = { { 4 } } };
    EXPECT(tsrc_reduction_of(&r, &one, &all, 4, 4));
    EXPECT(r.parts > 500 && r.part * r.parts >= r.groups && r.part * (r.parts - 1) < r.groups);
    const tsr_loop none = { .ndim = 1, .noperands = 1, .n = { 0 } };
    EXPECT(tsrc_reduction_of(&r, &one, &none, 4, 4));
    EXPECT(r.parts == 1 && r.groups == 0);
}

/* Products ----------------------------------------------------------------------------------------------- */

static tsrc_matrix matrix(int64_t b, int64_t m, int64_t n, int64_t sb, int64_t sm, int64_t sn)
{
    tsr_tensor t;
    memset(&t, 0, sizeof t);
    t.ndim = 3;
    t.shape[0] = b;
    t.shape[1] = m;
    t.shape[2] = n;
    t.stride[0] = sb;
    t.stride[1] = sm;
    t.stride[2] = sn;
    return tsrc_matrix_of(&t);
}

TEST(test_matrices_are_seen_as_cublas_sees_them)
{
    tsrc_matrix m = matrix(3, 4, 5, 20, 5, 1);
    EXPECT(m.fits && m.transposed && m.lead == 5 && m.batch == 20);
    m = matrix(3, 4, 5, 20, 1, 4);
    EXPECT(m.fits && !m.transposed && m.lead == 4);
    m = matrix(3, 4, 5, 0, 8, 1);
    EXPECT(m.fits && m.lead == 8 && m.batch == 0);
    EXPECT(!matrix(3, 4, 5, 20, 10, 2).fits);
    EXPECT(!matrix(3, 4, 5, 20, -5, 1).fits);
    EXPECT(!matrix(3, 4, 5, -20, 5, 1).fits);
    EXPECT(!matrix(3, 4, 5, 20, 0, 1).fits);
    m = matrix(1, 1, 5, 77, -3, 1); /* strides of dims of size 1 do not count */
    EXPECT(m.fits && m.transposed && m.lead == 5);
}

/* Random numbers ---------------------------------------------------------------------------------------- */

TEST(test_ranges_are_the_cpus)
{
    static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    static const double ends[][2] = { { 0, 1 },        { -1, 1 },   { -3.3, -3.2 }, { 0.1, 0.1 },
                                      { -1e-7, 1e-7 }, { 5, 447 },  { -400, 400 },  { 1e-9, 1e-8 },
                                      { -0.0, 0.3 },   { 7, 7.001 } };
    for (size_t d = 0; d < 6; d++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            const tsri_range a = tsri_range_of(dtypes[d], ends[i][0], ends[i][1]);
            const tsrc_range b = tsrc_range_of(dtypes[d], ends[i][0], ends[i][1]);
            EXPECT_MSG(a.low == b.low && a.width == b.width && a.unit == b.unit && a.first == b.first &&
                           a.last == b.last,
                       "%s from %g to %g: first %g, not %g; last %g, not %g", tsr_dtype_name(dtypes[d]),
                       ends[i][0], ends[i][1], b.first, a.first, b.last, a.last);
        }
    const tsri_range a = tsri_range_of(TSR_F64, -1.7e308, 1.7e308);
    const tsrc_range b = tsrc_range_of(TSR_F64, -1.7e308, 1.7e308);
    EXPECT(a.unit == 2 && b.unit == 2 && a.width == b.width && a.last == b.last);
}
