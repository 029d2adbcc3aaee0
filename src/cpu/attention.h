/* attention.h - attention on the CPU. */
#ifndef TSRI_CPU_ATTENTION_H
#define TSRI_CPU_ATTENTION_H

#include "tessera/backend.h"

/* A row of scores as it is looked at. */
typedef struct tsri_look {
    void          *scores;  /* can be read and written to a whole number of TSRI_LOOK scores */
    int64_t        seen;    /* how many of them count; the others, to the whole number, become -infinity */
    double         scale;   /* that they are multiplied with first, if it is not 1 */
    const uint8_t *may;     /* those that are 0 here become -infinity; NULL: none */
    const void    *add;     /* is added, where it is not -infinity, which is a 0 as above; NULL: nothing */
} tsri_look;

enum { TSRI_LOOK = 16 };

/* What is done with rows of scores, which are float or double. look and weigh read and write whole numbers of
 * TSRI_LOOK, of scores and of `add`; `may`, and what the others are given, end where they end. */
typedef struct tsri_attention_rows {
    double (*look)(const tsri_look *l);                     /* returns the largest; a NaN is none */
    double (*weigh)(void *scores, int64_t n, double base);  /* exp(score - base), and their sum; n as above */
    void   (*shrink)(void *x, int64_t n, double by);        /* multiplies */
    void   (*divide)(void *x, int64_t n, double by);        /* 0 if by is */
    bool   (*finite)(const void *x, int64_t n);
} tsri_attention_rows;

tsr_status tsri_cpu_attention(const tsr_op *op);

#endif
