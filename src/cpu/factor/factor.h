/* factor.h - factorisations of our own, with the interface of LAPACK (cpu/lapack.h).
 *
 * They serve where no LAPACK is found. Each routine is written once, for f32, f64, c64 and c128 (factor.c
 * includes the templates four times):
 *
 *     factor_scalar.inc  numbers: conjugate, product, quotient, size; vectors; products of matrices
 *     reflector.inc   Householder reflectors, one and in blocks
 *     triangle.inc    getrf, getrs, getri, potrf
 *     orthogonal.inc  geqrf, ungqr
 *     hermitian.inc   heevd: to a tridiagonal matrix, then implicit QL steps
 *     singular.inc    gesdd: QR, then rotations of pairs of columns (one-sided Jacobi)
 *     general.inc     geev: to a Hessenberg matrix, Francis's QR steps, then back substitution
 *
 * Matrices are column-major. Work that grows with n^3 is done by products of blocks where it can be;
 * those that fail for want of memory are done by plain loops, so no routine fails for that. A routine
 * whose lwork is -1 says how many elements of work it needs, which may be more than LAPACK's.
 */
#ifndef TSRI_FACTOR_H
#define TSRI_FACTOR_H

#include "cpu/lapack.h"

/* The routines for f32, f64, c64 or c128. */
const tsri_lapack *tsri_factor_own(tsr_dtype dtype);

#endif
