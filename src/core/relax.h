/* relax.h - tells the processor that a thread spins, by each architecture's instruction. */
#ifndef TSRI_RELAX_H
#define TSRI_RELAX_H

static inline void tsri_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
