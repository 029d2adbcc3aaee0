/* fftw.h - FFTW, where the machine has it: one lane at a time, between buffers that are
 * packed and aligned alike.
 *
 * The library is opened when it is first asked for (core/library.h). Its planner is
 * called under a lock, with FFTW_ESTIMATE; the last few plans are cached. A program that
 * itself plans with FFTW while another of its threads is here must make that safe. */
#ifndef TSRI_FFTW_H
#define TSRI_FFTW_H

#include "core/status_int.h"

typedef enum tsri_fftw_kind {
    TSRI_FFTW_FORWARD, TSRI_FFTW_BACKWARD, /* complex to complex */
    TSRI_FFTW_R2C,                         /* exponent -1; n reals to n / 2 + 1 complex */
    TSRI_FFTW_C2R                          /* exponent +1; destroys its input */
} tsri_fftw_kind;

typedef struct tsri_fftw_plan {
    tsri_fftw_kind kind;
    bool           is_double;
    int64_t        n;
    void          *plan;
    int            slot;    /* of the cache; -1: not cached */
} tsri_fftw_plan;

/* Is the library there, for float or for double? */
bool tsri_fftw_is_here(bool is_double);

/* Fills *out in; false if there is no library or it has no plan. */
bool tsri_fftw_get(tsri_fftw_plan *out, tsri_fftw_kind kind, bool is_double, int64_t n);
void tsri_fftw_put(const tsri_fftw_plan *plan);

/* May a plan read or write here? Scratch memory always may. */
bool tsri_fftw_is_aligned(const tsri_fftw_plan *plan, const void *data);

/* From any thread. In and out must differ. */
void tsri_fftw_run(const tsri_fftw_plan *plan, void *in, void *out);

#endif
