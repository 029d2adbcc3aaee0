/* rows_writer.h - short rows with values ahead of them and behind, one after the other into memory.
 *
 * Rows rarely begin at a cache line. They are put together in a buffer that stays in the L1 cache, and are
 * written from there as whole lines. */
#ifndef TSRI_CPU_ROWS_WRITER_H
#define TSRI_CPU_ROWS_WRITER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TSRI_WRITER_ROW  = 2048,  /* bytes of the longest row */
    TSRI_WRITER_FULL = 8192,  /* bytes in the buffer: lines are written */
    TSRI_WRITER_ROOM = TSRI_WRITER_FULL + TSRI_WRITER_ROW + 256
};

/* What all rows have in common, in bytes. */
typedef struct tsri_row_shape {
    const char *values;  /* the value over and over: TSRI_WRITER_ROW bytes */
    int64_t     ahead, middle, behind;  /* of values, of what is given, of values */
} tsri_row_shape;

typedef struct tsri_rows_writer {
    char   *z;      /* where the buffer's first byte belongs */
    int64_t first;  /* bytes at the beginning of the buffer that are not written */
    int64_t have;   /* bytes in the buffer */
    bool    stream; /* with non-temporal stores */
    _Alignas(64) char room[TSRI_WRITER_ROOM];
} tsri_rows_writer;

/* begin; rows, again and again; end. Row k of n is at x + k * step; x NULL: values from end to end. */
typedef struct tsri_rows_writing {
    void (*begin)(tsri_rows_writer *w, char *z, bool stream);
    void (*rows)(tsri_rows_writer *w, const tsri_row_shape *s, const char *x, int64_t step, int64_t n);
    void (*end)(tsri_rows_writer *w);
} tsri_rows_writing;

/* For this machine. */
const tsri_rows_writing *tsri_cpu_rows_writing(void);

/* Where a set of kernels enters its own (kernels.h). */
extern tsri_rows_writing tsri_cpu_rows_writing_table;

#endif
