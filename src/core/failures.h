/* failures.h - how many failures a thread has recorded, without a call: see tsri_failures (status_int.h). */
#ifndef TSRI_FAILURES_H
#define TSRI_FAILURES_H

#include <stdint.h>

#include "lock.h"

extern TSRI_PER_THREAD uint32_t tsri_failure_count;

#endif
