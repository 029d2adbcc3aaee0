/* plan.h - how work is laid out for a GPU, decided on the host: plain C, without CUDA.
 *
 * A plan is a struct that goes to a kernel by value. Counts in it are below TSRC_LIMIT, so
 * that kernels divide 32-bit numbers; what is larger is done in parts (tsrc_split). Steps
 * are in bytes, 64 bits, of any sign. Dims in a plan stand innermost first.
 */
#ifndef TSRC_PLAN_H
#define TSRC_PLAN_H

#include <tessera/backend.h>

#ifdef __CUDACC__
    #define TSRC_CONSTANT constexpr __host__ __device__
#else
    #define TSRC_CONSTANT
#endif

TSR_BEGIN_C

enum {
    TSRC_DIMS = 8, /* dims of a plan; loops with more are done in parts */
    TSRC_OPERANDS = 4,
    TSRC_THREADS = 256,  /* of a block, where nothing else is said */
    TSRC_LIMIT = 1 << 30 /* elements of a plan, at most */
};

/* n / d for n < 2^31: (high half of n * m + n) >> s. */
typedef struct tsrc_div {
    uint32_t d, m, s;
} tsrc_div;

tsrc_div tsrc_div_by(uint32_t d);

/* The same on the host, for tests. */
uint32_t tsrc_divide(uint32_t n, tsrc_div by);

/* Bytes of an element; 0 for what is no dtype. */
static inline int tsrc_size(tsr_dtype dtype)
{
    static const unsigned char sizes[TSR_DTYPE_COUNT] = {
        0,
#define X(ID, suffix, S, kind, name) sizeof(S),
#include <tessera/dtype.def>
#undef X
    };
    return (unsigned)dtype < TSR_DTYPE_COUNT ? sizes[dtype] : 0;
}

/* Loops ---------------------------------------------------------------------------------- */

int64_t tsrc_count(const tsr_loop *loop);

/* As the host's normalise, but dims stay in the order they have: element i of the walk is
 * element i in row-major order. `skip` has bits of dims to leave out. */
void tsrc_ordered(tsr_loop *out, int n, const tsr_tensor *const *tensors, uint32_t skip);

/* Calls fn with parts of the loop that have at most `dims` dims and `limit` elements, in an
 * order that a walk would meet them in. Stops at the first that does not return 0. */
typedef int (*tsrc_part_fn)(const tsr_loop *part, void *context);
int tsrc_split(const tsr_loop *loop, int dims, int64_t limit, tsrc_part_fn fn, void *context);

/* Dims of a loop, but for those in `skip`, as a thread or block finds its place in them. */
typedef struct tsrc_place {
    int32_t nd;
    uint32_t count; /* product of the dims */
    tsrc_div n[TSRC_DIMS];
    int64_t step[TSRC_DIMS][2];
} tsrc_place;

void tsrc_place_of(tsrc_place *out, const tsr_loop *loop, uint32_t skip);

/* Nests ---------------------------------------------------------------------------------- */

/* A loop over up to four operands: thread i does `per` neighbours of the innermost dim. */
typedef struct tsrc_nest {
    char *data[TSRC_OPERANDS];
    uint32_t total; /* threads */
    uint32_t len;   /* elements along the innermost dim */
    int32_t nd;
    int32_t per;             /* more than 1: operands' elements lie side by side, aligned, or are all one */
    tsrc_div div[TSRC_DIMS]; /* div[0]: threads along the innermost dim */
    int64_t step[TSRC_DIMS][TSRC_OPERANDS];
} tsrc_nest;

/* The loop has at most TSRC_DIMS dims and TSRC_LIMIT elements; size has the bytes of an element
 * of each operand; most is how many neighbours a thread can do. */
void tsrc_nest_of(tsrc_nest *out, const tsr_loop *loop, const int *size, int most);

/* Words of a width that a thread moves: of short ones a few, so that enough bytes are under way. */
static inline TSRC_CONSTANT uint32_t tsrc_words(int width) { return width <= 4 ? 4 : width == 8 ? 2 : 1; }

static inline uint32_t tsrc_blocks(uint64_t n, uint32_t each) { return (uint32_t)((n + each - 1) / each); }

/* Copies ----------------------------------------------------------------------------------- */

typedef enum tsrc_copy_kind {
    TSRC_COPY_NOTHING,
    TSRC_COPY_FLAT, /* one run */
    TSRC_COPY_ROWS, /* runs on both sides, in the result's order */
    TSRC_COPY_RUNS, /* runs on both sides, in tiles that lie close together on both */
    TSRC_COPY_WIDE, /* a transpose of long dims, several elements an access */
    TSRC_COPY_TILE, /* any permutation, through shared memory */
    TSRC_COPY_EACH  /* element by element */
} tsrc_copy_kind;

/* Runs: `run` words of `width` bytes, contiguous on both sides. In tiles: a block does tile[0]
 * of one outer dim (side by side in src) times tile[1] of another (side by side in dst). */
typedef struct tsrc_runs {
    uint32_t run, total;
    tsrc_div by_run;
    tsrc_place outer;
    uint32_t tile[2], size[2], tiles[2];
    tsrc_div by_tile;   /* run * tile[0] words: a row of a tile */
    int64_t step[2][2]; /* of the two tiled dims: dst, src */
} tsrc_runs;

/* Dim a has unit stride in src, dim b in dst. */
typedef struct tsrc_wide {
    uint32_t tiles_a, tiles_b;
    int64_t na, nb;
    int64_t src_b, dst_a; /* bytes to the next index of b in src, of a in dst */
    tsrc_place outer;
} tsrc_wide;

/* Some dims of a tile, innermost first; the last is cut into chunks. */
typedef struct tsrc_side {
    int32_t nd;
    uint32_t count; /* elements of a full tile along these dims */
    tsrc_div by_count;
    uint32_t chunks, chunk, rest; /* of the last dim: how many, how long, the dim's size */
    int64_t to_next[2];           /* bytes to the next chunk: dst, src */
    tsrc_div n[TSRC_DIMS];
    int64_t step[TSRC_DIMS]; /* of side a in dst, of side b in src */
} tsrc_side;

/* Side a has unit stride in src, side b in dst. */
typedef struct tsrc_tile {
    tsrc_side a, b;
    tsrc_place outer;
    uint32_t pitch; /* elements from row to row of shared memory */
} tsrc_tile;

typedef struct tsrc_copy {
    tsrc_copy_kind kind;
    int width; /* bytes of the words that kernels move */
    char *dst, *src;
    uint64_t bytes; /* flat */
    uint32_t blocks, shared;
    union {
        tsrc_runs runs;
        tsrc_wide wide;
        tsrc_tile tile;
        tsrc_nest nest; /* each */
    } as;
} tsrc_copy;

/* The loop is of dst and src, elements of `size` bytes on both sides (1, 2, 4, 8 or 16), which are
 * aligned to it. It has at most TSRC_DIMS dims, and TSRC_LIMIT elements unless it is one run. */
void tsrc_copy_of(tsrc_copy *out, const tsr_loop *loop, int size);

/* Reductions ------------------------------------------------------------------------------- */

/* Outputs are the dims that are kept, elements those that are reduced. A block does `across`
 * outputs (or groups of `wide`) with `lanes` threads for each; lanes take every lanes-th element
 * (or group of `per` that lie side by side) of a part. */
typedef struct tsrc_reduction {
    const char *x;
    char *z;
    uint32_t outputs, lanes, across;
    uint32_t parts; /* shares that the elements of an output are cut into */
    int32_t per;
    int32_t ragged;        /* elements lie side by side, but begin or end inside a group of per */
    int32_t lanes_first;   /* neighbouring threads are lanes of one output, not outputs */
    int32_t wide;          /* outputs that a thread does at once: their elements lie side by side */
    uint64_t count;        /* elements of an output */
    uint64_t groups, part; /* groups of per; of a part */
    tsrc_place kept;       /* steps of z, x */
    int32_t nd;            /* reduced dims; the innermost in groups */
    tsrc_div n[TSRC_DIMS];
    int64_t step[TSRC_DIMS];
} tsrc_reduction;

/* kept is a loop of z and x over the dims that are kept, reduced one of x over the others (of
 * its first operand). per: neighbours that a lane can take at once; outputs beside each other are done per at
 * once, or as many as have 4 bytes, or one. False: too many dims, or too many outputs. */
bool tsrc_reduction_of(tsrc_reduction *out, const tsr_loop *kept, const tsr_loop *reduced, int size, int per);

/* Products ------------------------------------------------------------------------------- */

/* How a matrix lies, as cuBLAS wants it: column-major with a leading dim, and batches apart. */
typedef struct tsrc_matrix {
    bool fits;       /* or it must be packed first */
    bool transposed; /* its rows have unit stride: seen column-major it is the transpose */
    int64_t lead;    /* elements */
    int64_t batch;   /* elements from matrix to matrix; 0: the same one */
} tsrc_matrix;

/* The last two dims are the matrix, those before it batches. */
tsrc_matrix tsrc_matrix_of(const tsr_tensor *t);

/* Random numbers --------------------------------------------------------------------------- */

/* [low, high) in one floating dtype: a value is (low + width * u) * unit, held to first .. last. All
 * numbers are exact in the type that the dtype is computed in, f32 or f64. */
typedef struct tsrc_range {
    double low, width, unit, first, last;
} tsrc_range;

/* low <= high, and both are finite when rounded to the dtype. */
tsrc_range tsrc_range_of(tsr_dtype dtype, double low, double high);

TSR_END_C

#endif
