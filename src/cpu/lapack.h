/* lapack.h - LAPACK, found when it is first needed.
 *
 * Matrices are column-major, integers are 32 bits wide, and every argument is an
 * address, as Fortran has it. Fortran passes the lengths of texts behind the last
 * argument: a size_t of 1 for each.
 *
 * The library that is taken is the first of these that opens and has every routine:
 * the path in TSR_LAPACK, where that is set ("none": no library at all); or else
 * OpenBLAS, the reference LAPACK and MKL by the names they are installed under. Where none is found or
 * none may be opened, routines of our own serve (factor/factor.h).
 */
#ifndef TSRI_LAPACK_H
#define TSRI_LAPACK_H

#include "tessera/dtype.h"

typedef const int32_t *tsri_in; /* an integer argument */

/* Elements, tau and work are of the matrix's dtype, rwork and s of its real dtype. */
typedef struct tsri_lapack {
    void (*getrf)(tsri_in m, tsri_in n, void *a, tsri_in lda, int32_t *pivots, int32_t *info);
    void (*getrs)(const char *trans, tsri_in n, tsri_in k, const void *a, tsri_in lda, const int32_t *pivots,
                  void *b, tsri_in ldb, int32_t *info, size_t);
    void (*getri)(tsri_in n, void *a, tsri_in lda, const int32_t *pivots, void *work, tsri_in lwork,
                  int32_t *info);
    void (*potrf)(const char *uplo, tsri_in n, void *a, tsri_in lda, int32_t *info, size_t);
    void (*geqrf)(tsri_in m, tsri_in n, void *a, tsri_in lda, void *tau, void *work, tsri_in lwork,
                  int32_t *info);
    /* orgqr; ungqr for complex elements. */
    void (*ungqr)(tsri_in m, tsri_in n, tsri_in k, void *a, tsri_in lda, const void *tau, void *work,
                  tsri_in lwork, int32_t *info);

    /* The rest take one argument more for complex elements. */
    union {
        void (*of_real)(const char *jobz, tsri_in m, tsri_in n, void *a, tsri_in lda, void *s,
                        void *u, tsri_in ldu, void *vt, tsri_in ldvt, void *work, tsri_in lwork,
                        int32_t *iwork, int32_t *info, size_t);
        void (*of_complex)(const char *jobz, tsri_in m, tsri_in n, void *a, tsri_in lda, void *s,
                           void *u, tsri_in ldu, void *vt, tsri_in ldvt, void *work, tsri_in lwork,
                           void *rwork, int32_t *iwork, int32_t *info, size_t);
    } gesdd;
    union { /* syevd; heevd for complex elements */
        void (*of_real)(const char *jobz, const char *uplo, tsri_in n, void *a, tsri_in lda, void *w,
                        void *work, tsri_in lwork, int32_t *iwork, tsri_in liwork, int32_t *info,
                        size_t, size_t);
        void (*of_complex)(const char *jobz, const char *uplo, tsri_in n, void *a, tsri_in lda, void *w,
                           void *work, tsri_in lwork, void *rwork, tsri_in lrwork, int32_t *iwork,
                           tsri_in liwork, int32_t *info, size_t, size_t);
    } heevd;
    union {
        void (*of_real)(const char *jobvl, const char *jobvr, tsri_in n, void *a, tsri_in lda,
                        void *wr, void *wi, void *vl, tsri_in ldvl, void *vr, tsri_in ldvr,
                        void *work, tsri_in lwork, int32_t *info, size_t, size_t);
        void (*of_complex)(const char *jobvl, const char *jobvr, tsri_in n, void *a, tsri_in lda,
                           void *w, void *vl, tsri_in ldvl, void *vr, tsri_in ldvr,
                           void *work, tsri_in lwork, void *rwork, int32_t *info, size_t, size_t);
    } geev;
} tsri_lapack;

/* The routines for f32, f64, c64 or c128: a library's, or those of factor/factor.h. NULL on a
 * microcontroller. */
const tsri_lapack *tsri_lapack_get(tsr_dtype dtype);

#endif
