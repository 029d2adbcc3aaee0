/* status.h - how a call ended, and the sentence that says why.
 *
 * Every call that can fail returns tsr_status. On failure the place that found
 * the problem leaves a sentence in a buffer of its thread: the operation, the
 * argument, what it was and what was expected. Nothing is printed, nothing is
 * allocated, and nothing ever ends the process.
 *
 *     if (tsr_view(&v, t, TSR_SHAPE(3, 5)) != TSR_OK)
 *         fprintf(stderr, "%s\n", tsr_last_error());
 */
#ifndef TESSERA_STATUS_H
#define TESSERA_STATUS_H

#include "config.h"

TSR_BEGIN_C

typedef enum tsr_status {
#define X(ID, number, text) TSR_##ID = number,
#include "status.def"
#undef X
    TSR_STATUS_MAX_ = 0x7fffffff /* the enum is 32 bits wide everywhere */
} tsr_status;

/* "TSR_ESHAPE"; "TSR_?" for a number that is none. */
TSR_API const char *tsr_status_name(tsr_status status);

/* "shapes do not fit"; never NULL. */
TSR_API const char *tsr_status_text(tsr_status status);

/* The sentence of this thread's latest failure; "" if there was none. Calls
 * that succeed leave it alone. The text is valid until this thread's next
 * failure. */
TSR_API const char *tsr_last_error(void);

/* The status of this thread's latest failure; TSR_OK if there was none. */
TSR_API tsr_status tsr_last_status(void);

/* Forget this thread's latest failure. */
TSR_API void tsr_clear_error(void);

/* Return from the calling function with the status of expr if it failed.
 * For functions that themselves return tsr_status. */
#define TSR_TRY(expr)                                \
    do {                                             \
        const tsr_status tsr_try_ = (expr);          \
        if (tsr_try_ != TSR_OK) return tsr_try_;     \
    } while (0)

/* The same for functions that have something to undo: they declare `tsr_status s`, and end with a label
 * `done`, where s tells whether all went well. */
#define TSR_GO(expr)                                 \
    do {                                             \
        if ((s = (expr)) != TSR_OK) goto done;       \
    } while (0)

/* For main: the sentence goes to standard error, and the calling function returns 1. Needs <stdio.h>. */
#define TSR_MUST(expr)                               \
    do {                                             \
        if ((expr) != TSR_OK) {                      \
            fprintf(stderr, "%s\n", tsr_last_error()); \
            return 1;                                \
        }                                            \
    } while (0)

/* Whether it succeeds does not matter. */
#define TSR_IGNORE(expr)                             \
    do {                                             \
        const tsr_status tsr_ignored_ = (expr);      \
        (void)tsr_ignored_;                          \
    } while (0)

TSR_END_C

#endif
