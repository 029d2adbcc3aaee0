/* check.h - what the checks of a backend's contract share.
 *
 * Ops are checked by the trials of opcheck/, on the device. The checks here are trials too, whose tensors are
 * on the CPU unless they say otherwise: of the backend's table, of transfers, streams, memory and threads.
 */
#ifndef TSR_BACKEND_CHECK_H
#define TSR_BACKEND_CHECK_H

#include <limits.h>

#include "opcheck/trial.h"
#include "tessera/backend.h"

typedef struct session {
    tsr_device device;   /* that is checked */
    tsr_device sibling;  /* another one of its backend, or TSR_NO_DEVICE */
    tsr_device stranger; /* one of another backend that is not the CPU, or TSR_NO_DEVICE */
    const tsr_backend *backend;
    int index; /* of the device in its backend */
    tsr_device_info info;
    uint64_t seed;
    int cases;     /* trials of each check */
    bool plumbing; /* values are not compared */
} session;

static inline const session *session_of(const trial *t) { return t->how->about; }

/* Why the device need not have this dtype; NULL if it must. */
const char *excuse_for(const session *s, tsr_dtype dtype);

/* The same for a call that was refused, by its words or by the check's dtype. */
const char *excuse_of_trial(const trial *t, tsr_status status);

/* Fails the trial, also where values are not compared. */
void break_contract(trial *t, const char *format, ...) TRIAL_PRINTF(2, 3);

/* MUST, also where values are not compared. */
#define REQUIRE(t, condition, ...) \
    do { \
        if (!(condition)) { \
            break_contract((t), __VA_ARGS__); \
            return; \
        } \
    } while (0)

/* For check.every: in the first case only. */
#define ONCE INT_MAX

/* Each file adds its own. */
void add_contract_checks(check_list *list);
void add_transfer_checks(check_list *list);
void add_stream_checks(check_list *list);
void add_memory_checks(check_list *list);
void add_thread_checks(check_list *list);

/* The checks of opcheck/ that say something of a device. */
void add_op_checks(check_list *list);

#endif
