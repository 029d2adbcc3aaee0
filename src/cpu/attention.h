/* attention.h - attention on the CPU. */
#ifndef TSRI_CPU_ATTENTION_H
#define TSRI_CPU_ATTENTION_H

#include "tessera/backend.h"

/* A row of scores to be scaled and masked. */
typedef struct tsri_score_row {
    void          *scores;  /* readable and writable to a multiple of TSRI_SCORE_STEP scores */
    int64_t        seen;    /* how many of them count; the others, to that multiple, become -infinity */
    double         scale;   /* they are multiplied with it first */
    const uint8_t *may;     /* scores become -infinity where it is 0; NULL: none */
    const void    *add;     /* is added to scores; -infinity makes them -infinity; NULL: nothing */
} tsri_score_row;

enum { TSRI_SCORE_STEP = 16 };

/* Kernels on rows of scores, which are float or double. mask_and_max and weigh read and write multiples of
 * TSRI_SCORE_STEP of scores and of `add`; `may` and the other arguments are read to their exact length. */
typedef struct tsri_attention_rows {
    double (*mask_and_max)(const tsri_score_row *l);        /* returns the largest; NaNs are ignored */
    double (*weigh)(void *scores, int64_t n, double base);  /* to exp(score - base); returns the sum */
    void   (*scale_row)(void *x, int64_t n, double by);        /* multiplies */
    void   (*divide)(void *x, int64_t n, double by);        /* 0 if by is */
    bool   (*finite)(const void *x, int64_t n);
} tsri_attention_rows;

tsr_status tsri_cpu_attention(const tsr_op *op);

#endif
