/* lapack.c - see lapack.h. */
#include "lapack.h"

#ifdef TSR_FREESTANDING

const tsri_lapack *tsri_lapack_get(tsr_dtype dtype)
{
    (void)dtype;
    return NULL;
}

#else

#include "factor/factor.h"
#include "core/library.h"
#include "core/env.h"
#include "core/lock.h"
#include "core/mem.h"

enum { TABLES = 4 };  /* f32, f64, c64, c128 */

static tsri_lapack tables[TABLES];
static bool found;
static tsri_once once = TSRI_ONCE_INIT;

/* Which member of tsri_lapack a routine fills, and its name for real and for complex elements. */
typedef struct routine {
    size_t      at;
    const char *real, *complex;
} routine;

static const routine routines[] = {
    { offsetof(tsri_lapack, getrf), "getrf", "getrf" }, { offsetof(tsri_lapack, getrs), "getrs", "getrs" },
    { offsetof(tsri_lapack, getri), "getri", "getri" }, { offsetof(tsri_lapack, potrf), "potrf", "potrf" },
    { offsetof(tsri_lapack, geqrf), "geqrf", "geqrf" }, { offsetof(tsri_lapack, ungqr), "orgqr", "ungqr" },
    { offsetof(tsri_lapack, gesdd), "gesdd", "gesdd" }, { offsetof(tsri_lapack, heevd), "syevd", "heevd" },
    { offsetof(tsri_lapack, geev), "geev", "geev" },
};

/* "dgetrf_" */
static void symbol_of(char out[16], char letter, const char *name)
{
    const size_t n = tsri_strlen(name);
    out[0] = letter;
    memcpy(out + 1, name, n);
    memcpy(out + 1 + n, "_", 2);
}

static bool fill_table(tsri_lapack *table, void *library, char letter)
{
    const bool is_complex = letter == 'c' || letter == 'z';
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        char symbol[16];
        symbol_of(symbol, letter, is_complex ? routines[i].complex : routines[i].real);
        void (*const function)(void) = tsri_library_find(library, symbol);
        if (!function) return false;
        memcpy((char *)table + routines[i].at, &function, sizeof function);
    }
    return true;
}

/* A library that lacks a routine (a BLAS alone) is none. */
static bool take(const char *name)
{
    void *library = tsri_library_open(1, &name);
    if (!library) return false;
    for (int i = 0; i < TABLES; i++)
        if (!fill_table(&tables[i], library, "sdcz"[i])) return false;
    return true;
}

static void find(void)
{
    static const char *const names[] = {
        "libopenblas.so.0", "libopenblas.so", "liblapacke.so.3", "liblapack.so.3", "liblapack.so",
        "libmkl_rt.so.2", "libmkl_rt.so", "libopenblas.dylib",
    };
    const char *wish = tsri_env("TSR_LAPACK");
    if (wish && *wish) {
        found = !tsri_streq(wish, "none") && take(wish);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) found = take(names[i]);
}

const tsri_lapack *tsri_lapack_get(tsr_dtype dtype)
{
    if (!tsri_libraries_used()) return tsri_factor_own(dtype);
    tsri_once_run(&once, find);
    if (!found) return tsri_factor_own(dtype);
    return &tables[dtype == TSR_F32 ? 0 : dtype == TSR_F64 ? 1 : dtype == TSR_C64 ? 2 : 3];
}

#endif
