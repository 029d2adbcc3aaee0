/* kernels.c - portable first, then what the machine does better. */
#include "kernels.h"
#include "core/atomic.h"
#include "core/lock.h"

static tsri_cpu_kernels table;
static tsri_once once = TSRI_ONCE_INIT;

static bool chosen;

static void choose(void)
{
    tsri_cpu_portable(&table);
    for (int i = 0; i < TSRI_GEMM_CLASSES; i++) table.gemm[i] = tsri_gemm_ukr_portable[i];
    tsri_cpu_elementwise_portable(&table);
    tsri_cpu_reduce_portable(&table);
    tsri_cpu_index_portable(&table);
    tsri_store_release(&chosen, true);
}

const tsri_cpu_kernels *tsri_cpu_kernels_get(void)
{
    if (!TSRI_LIKELY(tsri_load_acquire(&chosen))) tsri_once_run(&once, choose);
    return &table;
}
