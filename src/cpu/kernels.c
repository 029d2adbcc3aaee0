/* kernels.c - fills the table: portable kernels first, then those of the machine's instruction sets. */
#include "kernels.h"
#include "conv/pooling.h"
#include "image/image.h"
#include "training.h"
#include "core/alloc.h"
#include "core/env.h"
#include "core/lock.h"
#include "core/threads_int.h"
#include "core/wait.h"

tsri_cpu_kernels tsri_cpu_table;
bool tsri_cpu_table_chosen;
static tsri_once once = TSRI_ONCE_INIT;

static tsri_machine machine;

/* Sets of this build (sets.def). */
typedef struct kernel_set {
    tsri_isa isa;
    uint32_t extras;
    void   (*fill)(tsri_cpu_kernels *k);
} kernel_set;

#define X(LEVEL, extras, name) void tsri_cpu_##name(tsri_cpu_kernels *k);
#include "sets.def"
#undef X

static const kernel_set sets[] = {
#define X(LEVEL, extras, name) { TSRI_ISA_##LEVEL, extras, tsri_cpu_##name },
#include "sets.def"
#undef X
    { TSRI_ISA_COUNT, 0, NULL }
};

static void improve(tsri_cpu_kernels *k, tsri_machine m)
{
    for (const kernel_set *set = sets; set->fill; set++)
        if (m.isa >= set->isa && (m.extras & set->extras) == set->extras) set->fill(k);
}

static void choose(void)
{
    tsri_cpu_portable(&tsri_cpu_table);
    for (int i = 0; i < TSRI_GEMM_CLASSES; i++) tsri_cpu_table.gemm[i] = tsri_gemm_kernels_portable[i];
    tsri_cpu_elementwise_portable(&tsri_cpu_table);
    tsri_cpu_reduce_portable(&tsri_cpu_table);
    tsri_cpu_index_portable(&tsri_cpu_table);
    tsri_cpu_draw_portable(&tsri_cpu_table);
    tsri_cpu_sort_portable(&tsri_cpu_table);
#ifndef TSR_FREESTANDING
    tsri_cpu_nn_portable(&tsri_cpu_table);
    tsri_cpu_training_portable(&tsri_cpu_table);
    tsri_cpu_pool_portable(&tsri_cpu_table);
    tsri_cpu_image_portable(&tsri_cpu_table);
#endif
    machine = tsri_machine_find(tsri_env("TSR_ISA"));
    tsri_tuning_used = tsri_tuning_find(machine, tsri_env("TSR_TUNING"));
    tsri_set_thread_work(tsri_tuning_used->thread_work);
    tsri_set_huge_least(tsri_tuning_used->system.huge_least);
#ifndef TSR_NO_THREADS
    tsri_set_spin(tsri_tuning_used->system.spin_ns);
#endif
    improve(&tsri_cpu_table, machine);
    tsri_store_release(&tsri_cpu_table_chosen, true);
}

void tsri_cpu_table_choose(void) { tsri_once_run(&once, choose); }

const char *tsr_cpu_isa(void)
{
    (void)tsri_cpu_kernels_get();
    return tsri_isa_name(machine.isa);
}

static char tuning_text[TSRI_TUNING_TEXT];

static void write_tuning(void) { tsri_tuning_write(tuning_text, tsri_tuning_get()); }

const char *tsr_cpu_tuning(void)
{
    static tsri_once written = TSRI_ONCE_INIT;
    tsri_once_run(&written, write_tuning);
    return tuning_text;
}
