/* kernels.c - portable first, then what the machine does better. */
#include "kernels.h"
#include "core/lock.h"

static tsri_cpu_kernels table;
static tsri_once once = TSRI_ONCE_INIT;

static void choose(void) { tsri_cpu_portable(&table); }

const tsri_cpu_kernels *tsri_cpu_kernels_get(void)
{
    tsri_once_run(&once, choose);
    return &table;
}
