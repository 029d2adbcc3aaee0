/* fftw.c - see fftw.h. Types and numbers are those of FFTW's interface, version 3. */
#include "fftw.h"
#include "core/library.h"
#include "core/lock.h"

/* The functions used ------------------------------------------------------------------- */

enum { PLAN_C2C, PLAN_R2C, PLAN_C2R, RUN_C2C, RUN_R2C, RUN_C2R, DESTROY, ALIGNMENT, FUNCTIONS };

static const char *const names[2][FUNCTIONS] = { /* for float, for double */
    { "fftwf_plan_guru64_dft", "fftwf_plan_guru64_dft_r2c", "fftwf_plan_guru64_dft_c2r", "fftwf_execute_dft",
      "fftwf_execute_dft_r2c", "fftwf_execute_dft_c2r", "fftwf_destroy_plan", "fftwf_alignment_of" },
    { "fftw_plan_guru64_dft", "fftw_plan_guru64_dft_r2c", "fftw_plan_guru64_dft_c2r", "fftw_execute_dft",
      "fftw_execute_dft_r2c", "fftw_execute_dft_c2r", "fftw_destroy_plan", "fftw_alignment_of" },
};

typedef struct dim { ptrdiff_t n, in_stride, out_stride; } dim;

typedef void *(*plan_c2c_fn)(int rank, const dim *dims, int many, const dim *many_dims, void *in, void *out,
                             int sign, unsigned flags);
typedef void *(*plan_real_fn)(int rank, const dim *dims, int many, const dim *many_dims, void *in, void *out,
                              unsigned flags);
typedef void (*run_fn)(void *plan, void *in, void *out);
typedef void (*destroy_fn)(void *plan);
typedef int (*alignment_fn)(void *data);

enum { ESTIMATE = 1 << 6, SIGN_FORWARD = -1, SIGN_BACKWARD = 1 };

static void (*functions[2][FUNCTIONS])(void);
static bool here[2];
static tsri_once opened = TSRI_ONCE_INIT;

static void open_one(int which, int n, const char *const *files)
{
    void *library = tsri_library_open(n, files);
    here[which] = library != NULL;
    for (int i = 0; i < FUNCTIONS && library; i++) {
        functions[which][i] = tsri_library_find(library, names[which][i]);
        if (!functions[which][i]) here[which] = false;
    }
}

static void open_both(void)
{
    open_one(0, 3, (const char *const[]){ "libfftw3f.so.3", "libfftw3f.so", "libfftw3f.3.dylib" });
    open_one(1, 3, (const char *const[]){ "libfftw3.so.3", "libfftw3.so", "libfftw3.3.dylib" });
}

bool tsri_fftw_is_here(bool is_double)
{
    if (!tsri_libraries_used()) return false;
    tsri_once_run(&opened, open_both);
    return here[is_double];
}

/* Plans -------------------------------------------------------------------------------- */

enum { SLOTS = 16 };

typedef struct slot {
    tsri_fftw_plan plan;  /* n is 0 if the slot is empty */
    int            users;
    uint64_t       used;  /* when, in calls */
} slot;

static tsri_mutex lock = TSRI_MUTEX_INIT; /* also for FFTW's planner, so it may be held for long */
static slot slots[SLOTS];
static uint64_t calls;

/* The child lacks the other threads, so that nobody uses a slot there. */
TSRI_HELD_AT_FORK(lock, for (int i = 0; i < SLOTS; i++) slots[i].users = 0);

static bool is_for(const tsri_fftw_plan *cached, const tsri_fftw_plan *wanted)
{
    return cached->n == wanted->n && cached->kind == wanted->kind && cached->is_double == wanted->is_double;
}

static slot *find_slot(const tsri_fftw_plan *wanted)
{
    slot *oldest = NULL;
    for (int i = 0; i < SLOTS; i++) {
        slot *s = &slots[i];
        if (is_for(&s->plan, wanted)) return s;
        if (s->users == 0 && (!oldest || s->used < oldest->used)) oldest = s;
    }
    return oldest;
}

/* FFTW_ESTIMATE does not touch the data: only its alignment counts, and that in and out differ. */
static void *make(const tsri_fftw_plan *p)
{
    static _Alignas(64) char places[128];
    void *in = places, *out = places + 64;
    const dim d = { (ptrdiff_t)p->n, 1, 1 };
    void (*const *f)(void) = functions[p->is_double];
    if (p->kind == TSRI_FFTW_R2C) return ((plan_real_fn)f[PLAN_R2C])(1, &d, 0, NULL, in, out, ESTIMATE);
    if (p->kind == TSRI_FFTW_C2R) return ((plan_real_fn)f[PLAN_C2R])(1, &d, 0, NULL, in, out, ESTIMATE);
    const int sign = p->kind == TSRI_FFTW_FORWARD ? SIGN_FORWARD : SIGN_BACKWARD;
    return ((plan_c2c_fn)f[PLAN_C2C])(1, &d, 0, NULL, in, out, sign, ESTIMATE);
}

static void destroy(const tsri_fftw_plan *p) { ((destroy_fn)functions[p->is_double][DESTROY])(p->plan); }

/* The lock is held. */
static void get_locked(tsri_fftw_plan *p)
{
    slot *s = find_slot(p);
    if (!s || !is_for(&s->plan, p)) {
        p->plan = make(p);
        if (!s || !p->plan) return;
        if (s->plan.n > 0) destroy(&s->plan);
        p->slot = (int)(s - slots);
        s->plan = *p;
    }
    s->users++;
    s->used = ++calls;
    *p = s->plan;
}

bool tsri_fftw_get(tsri_fftw_plan *out, tsri_fftw_kind kind, bool is_double, int64_t n)
{
    *out = (tsri_fftw_plan){ kind, is_double, n, NULL, -1 };
    if (!tsri_fftw_is_here(is_double) || n > PTRDIFF_MAX) return false;
    tsri_lock(&lock);
    get_locked(out);
    tsri_unlock(&lock);
    return out->plan != NULL;
}

void tsri_fftw_put(const tsri_fftw_plan *plan)
{
    tsri_lock(&lock);
    if (plan->slot < 0) destroy(plan);
    else                slots[plan->slot].users--;
    tsri_unlock(&lock);
}

bool tsri_fftw_is_aligned(const tsri_fftw_plan *plan, const void *data)
{
    return ((alignment_fn)functions[plan->is_double][ALIGNMENT])((void *)(uintptr_t)data) == 0;
}

void tsri_fftw_run(const tsri_fftw_plan *plan, void *in, void *out)
{
    static const int run_of[] = { [TSRI_FFTW_FORWARD] = RUN_C2C, [TSRI_FFTW_BACKWARD] = RUN_C2C,
                                  [TSRI_FFTW_R2C] = RUN_R2C, [TSRI_FFTW_C2R] = RUN_C2R };
    ((run_fn)functions[plan->is_double][run_of[plan->kind]])(plan->plan, in, out);
}
