/* wait.h - waiting for a word to change: first spinning, then asleep.
 *
 *     waits    tsri_await_change(&word, seen, &sleepers, spin);
 *     changes  __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
 *              if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST)) tsri_wake(&word, 1);
 *
 * A waiter counts itself in `sleepers` before it reads the word a last time; whoever
 * changes the word reads `sleepers` afterwards. As all four are sequentially consistent,
 * one of them sees the other, and no wake-up is lost.
 */
#ifndef TSRI_WAIT_H
#define TSRI_WAIT_H

#include "tessera/config.h"

/* Until the word is no longer the value, or a little less: callers look again. */
void tsri_await_change(uint32_t *word, uint32_t value, uint32_t *sleepers, bool spin);

/* For how long to spin, at most (cpu/tuning). */
void tsri_set_spin(int64_t ns);

/* Wake up to n of those who sleep on the word, perhaps more. */
void tsri_wake(uint32_t *word, uint32_t n);

/* In a child of fork(): nobody waits here. */
void tsri_forget_waiters(void);

#endif
