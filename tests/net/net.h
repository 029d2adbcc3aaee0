/* net.h - one trial, run as everything that breaks kernels would have it.
 *
 * It is run with one thread and compared with the references, in memory between pages that cannot be
 * accessed, the library's own blocks included. The same trial is run again with several threads, every loop
 * split as finely and unevenly as its function allows: the bits must be the same, and nothing but the results
 * may have been written.
 */
#ifndef TESTS_NET_H
#define TESTS_NET_H

#include "opcheck/trial.h"

/* What is the same for all runs of a trial. */
typedef struct net_trial {
    const check         *check;
    uint64_t             random;
    const unsigned char *bytes, *bytes_end;  /* as in struct trial */
    int64_t              elements;           /* of a tensor, at most */
    bool                 edges;              /* dims are drawn from around the sizes at which kernels end */
    int                  threads;            /* of the second run; 1: there is none */
    bool                 streams;            /* results are written around the caches, as large ones are */
    bool                 external;           /* libraries of others may be used */
    bool                 parts;              /* ops are made of others, where they can be */
    uint64_t             tuning;             /* other numbers than suit this processor; 0: those that do */
} net_trial;

typedef struct verdict {
    bool failed, skipped;
    char why[800];
} verdict;

/* Before the first trial. Exits with words if it cannot be. */
void net_begin(check_list *list);

/* How many sizes there are at which the kernels of this instruction set end. */
int net_edges(void);

verdict net_try(const net_trial *what);

#endif
