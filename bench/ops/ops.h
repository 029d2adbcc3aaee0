/* ops.h - workloads of bench-ops: what they are, and how a file adds its own.
 *
 * A workload is a job: what it reads, writes and computes, a function that makes its
 * operands and one that runs it. Each file of this folder adds the jobs of one family
 * (add_moving, ...); main.c measures them beside the limits of limits.h. */
#ifndef BENCH_OPS_H
#define BENCH_OPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

enum { N16M = 1 << 24, JOB_LIST = 64 };

/* What binds a job's flops. */
typedef enum peak { PEAK_F32, PEAK_F64, PEAK_I8, PEAKS } peak;

typedef struct job {
    char name[64]; /* family, op, dtype, size; ends in .alloc where the result is made anew */
    double      read, written, flops;   /* compulsory: each operand read once, each result written once */
    peak        peak;
    bool        quick;
    void      (*make)(struct job *j);
    tsr_status (*run)(struct job *j);
    int64_t     n[5];
    int         axis;                   /* an axis, or which of several kinds */
    tsr_dtype   dtype, to;
    tsr_tensor *x[4], *z;
    tsr_tensor *list[JOB_LIST];
} job;

/* Ends the program with the library's words. */
void must(tsr_status s);

double bench_now(void);

/* Values in [-1, 1), small integers, or a random yes and no. */
void values(tsr_tensor **t, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed);

#define VALUES(t, dtype, ...) values((t), (dtype), TSR_SHAPE(__VA_ARGS__), 1)
#define ROOM(t, dtype, ...) must(tsr_zeros((t), (dtype), TSR_SHAPE(__VA_ARGS__)))

static inline double size_of(tsr_dtype d) { return (double)tsr_dtype_size(d); }
static inline const char *dtype_name(tsr_dtype d) { return tsr_dtype_name(d); }

/* A job of this name, f32, to be filled in. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
job *add(double read, double written, double flops, bool quick, const char *name, ...);

void add_moving(void);
void add_elementwise(void);
void add_reductions(void);
void add_products(void);
void add_networks(void);
void add_calls(void);
void add_others(void);
void add_chains(void);
void add_all_sizes(void);

/* Shared by families. */
tsr_status run_copy(job *j);
tsr_status run_matmul(job *j);
tsr_status run_sum(job *j);   /* over j->axis, or over all with axis 2 */
void make_image(job *j);      /* x[0]: (32, 64, 56, 56) */

#endif
