/* parts.c - see parts.h.
 *
 * A lane that is contiguous in the tensor is strided in scratch memory, and vice versa. A few elements of all
 * lanes at a time keep both sides in the L1 cache. */
#include "parts.h"

enum { BLOCK = 32 };

typedef void (*run_fn)(const tsri_fft_move *m, int64_t scratch, int64_t scratch_step, int64_t tensor,
                       int64_t tensor_step, int64_t n, bool both);

static int64_t size_of(int64_t step) { return step < 0 ? -step : step; }

/* Elements begin .. end - 1 of all lanes. The inner loop has the smaller step in the tensor. */
static void walk_block(const tsri_fft_move *m, run_fn run, int64_t begin, int64_t end, bool both)
{
    const tsri_fft_steps s = m->in_scratch, t = m->in_tensor;
    if (m->lanes == 1 || size_of(t.along) <= size_of(t.lane)) {
        for (int64_t v = 0; v < m->lanes; v++)
            run(m, begin * s.along + v * s.lane, s.along, begin * t.along + v * t.lane, t.along, end - begin,
                both);
    } else {
        for (int64_t k = begin; k < end; k++)
            run(m, k * s.along, s.lane, k * t.along, t.lane, m->lanes, both);
    }
}

static void walk_range(const tsri_fft_move *m, run_fn run, int64_t begin, int64_t end, bool both)
{
    const int64_t step = m->lanes == 1 ? end - begin : BLOCK;
    for (int64_t k = begin; k < end; k += step) walk_block(m, run, k, k + step < end ? k + step : end, both);
}

static void walk(const tsri_fft_move *m, run_fn run)
{
    walk_range(m, run, 0, m->stream[1].count, true);
    walk_range(m, run, m->stream[1].count, m->stream[0].count, false);
}

#define S float
#define T float
#define NAME(x) x##_f32
#include "parts.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f32_wide
#include "parts.inc"
#undef S
#undef T
#undef NAME

#define S double
#define T double
#define NAME(x) x##_f64
#include "parts.inc"
#undef S
#undef T
#undef NAME
