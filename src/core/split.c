/* split.c - how a loop is split into parts (threads_int.h). */
#include "threads_int.h"
#include "atomic.h"
#include "env.h"
#include "mem.h"
#include "sizes.h"
#include "status_int.h"

enum { UNKNOWN, USUAL, FINE };  /* UNKNOWN: not asked yet whether loops are split finely */
static uint32_t split_mode;
static uint32_t fine_loops;     /* so many were */

static uint32_t ask_split_mode(void)
{
    const char *wish = tsri_env("TSR_SPLIT");
    const uint32_t mode = wish && tsri_streq(wish, "fine") ? FINE : USUAL;
    tsri_store_relaxed(&split_mode, mode);
    return mode;
}

static uint32_t get_split_mode(void)
{
    const uint32_t mode = tsri_load_relaxed(&split_mode);
    return TSRI_LIKELY(mode != UNKNOWN) ? mode : ask_split_mode();
}

void tsri_split_finely(bool finely) { tsri_store_relaxed(&split_mode, finely ? FINE : USUAL); }

bool tsri_worth_sharing(int64_t size, int64_t least) { return size >= least || get_split_mode() == FINE; }

static int64_t thread_work = 256 << 10;

void tsri_set_thread_work(int64_t work) { tsri_store_relaxed(&thread_work, work); }

int64_t tsri_grain(double work)
{
    const double grain = (double)tsri_load_relaxed(&thread_work) / (work > 1 ? work : 1);
    return grain > 1 ? (int64_t)grain : 1;
}

/* A last unit that is too short for a part belongs to the one before it. */
static int64_t count_units(int64_t n, int64_t multiple, int64_t shortest)
{
    const int64_t whole = n / multiple, rest = n % multiple;
    return whole + (rest > 0 && (rest >= shortest || whole == 0));
}

static void choose_parts(tsri_split *s, int64_t grain, int threads)
{
    const int64_t room = (int64_t)threads * TSRI_PARTS_PER_THREAD;
    const int64_t units = most(s->least, grain / s->multiple + (grain % s->multiple > 0));
    s->parts = threads <= 1 || s->units / 2 < units ? 1 : (int)least(s->units / units, room);
}

/* Parts of different lengths, the longest last in every other loop. */
static void choose_fine_parts(tsri_split *s, int threads)
{
    s->uneven = tsri_fetch_add(&fine_loops, 1) % 2 ? TSRI_LONG_LAST : TSRI_LONG_FIRST;
    choose_parts(s, 1, threads);
}

tsri_split tsri_split_loop(int64_t n, int64_t grain, tsri_needs needs, int threads)
{
    const int64_t multiple = most(needs.multiple, 1), shortest = most(needs.least, 1);
    tsri_split s = { .n = n, .multiple = multiple };
    s.units = multiple == 1 ? n : count_units(n, multiple, shortest);
    s.least = multiple == 1 ? shortest : pieces(shortest, multiple);
    if (TSRI_LIKELY(get_split_mode() == USUAL)) choose_parts(&s, most(grain, 1), threads);
    else                                        choose_fine_parts(&s, threads);
    return s;
}

/* Where part i begins. Each part has s->least; of the rest, the parts before i have a share that grows with
 * the square of i, counted from either end. */
static int64_t uneven_begin(const tsri_split *s, int64_t i)
{
    const double spare = (double)(s->units - s->least * s->parts), parts = (double)s->parts;
    const bool last = s->uneven == TSRI_LONG_LAST;
    const double share = last ? (double)i / parts : 1 - (double)i / parts;
    const int64_t before = (int64_t)(spare * share * share);
    return i * s->least + (last ? before : (int64_t)spare - before);
}

int64_t tsri_split_begin(const tsri_split *s, int i)
{
    const int64_t rest = s->units % s->parts;
    const int64_t unit = s->uneven ? uneven_begin(s, i) : s->units / s->parts * i + least(i, rest);
    return i == s->parts ? s->n : unit * s->multiple;
}
