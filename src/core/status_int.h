/* status_int.h - failing in one line, inside the library.
 *
 *     return tsri_fail(TSR_ESHAPE, "add: %s vs %s", TSRI_DESC(a), TSRI_DESC(b));
 */
#ifndef TSRI_STATUS_INT_H
#define TSRI_STATUS_INT_H

#include <stdarg.h>

#include "tessera/status.h"
#include "tessera/desc.h"

#if defined(__GNUC__)
#define TSRI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TSRI_COLD __attribute__((cold, noinline))
#define TSRI_NEVER_INLINE __attribute__((noinline))
#define TSRI_ALWAYS_INLINE inline __attribute__((always_inline))
#define TSRI_LIKELY(x) __builtin_expect(!!(x), 1)
#else
#define TSRI_PRINTF(fmt, args)
#define TSRI_COLD
#define TSRI_NEVER_INLINE
#define TSRI_ALWAYS_INLINE inline
#define TSRI_LIKELY(x) (x)
#endif

enum { TSRI_MESSAGE = 640, TSRI_DESC_TEXT = 160 };

/* Record the message and hand the status back, so that a failure is one line.
 * The format is text.h's. Never allocates. */
tsr_status tsri_fail(tsr_status status, const char *fmt, ...) TSRI_PRINTF(2, 3) TSRI_COLD;

/* Record a ready message, as for a failure that happened on another thread. */
tsr_status tsri_fail_text(tsr_status status, const char *text) TSRI_COLD;

/* How many failures this thread has recorded. If a call of foreign code leaves it unchanged, that code has
 * recorded no message. */
uint32_t tsri_failures(void);

/* Pass a failure up unchanged; the message was recorded where it happened. */
#define TSRI_TRY(expr)                           \
    do {                                         \
        const tsr_status try_ = (expr);          \
        if (!TSRI_LIKELY(try_ == TSR_OK)) return try_; \
    } while (0)

/* A mistake of the caller: records the message and returns. Always compiled in. The
 * status is returned by name, so that the compiler sees that it is not TSR_OK. */
#define TSRI_CHECK(cond, status, ...)                 \
    do {                                              \
        if (!TSRI_LIKELY(cond)) {                     \
            (void)tsri_fail((status), __VA_ARGS__);   \
            return (status);                          \
        }                                             \
    } while (0)

/* A mistake of the library: traps in a debug build, is not compiled in a release. */
#if defined(TSR_DEBUG)
#if defined(__GNUC__)
#define TSRI_ASSERT(cond) do { if (!(cond)) __builtin_trap(); } while (0)
#else
#include <assert.h>
#define TSRI_ASSERT(cond) assert(cond)
#endif
#else
#define TSRI_ASSERT(cond) ((void)0)
#endif

/* A desc as text, in a buffer that lives to the end of the enclosing block: for
 * the arguments of tsri_fail, which are evaluated only when it fails. */
#define TSRI_DESC(d) tsri_desc_text((char[TSRI_DESC_TEXT]){ 0 }, (d))
const char *tsri_desc_text(char out[TSRI_DESC_TEXT], const tsr_desc *d);

/* Numbers as "(2, 3)" for messages. */
#define TSRI_DIMS(n, dims) tsri_dims_text((char[TSRI_DESC_TEXT]){ 0 }, (n), (dims))
const char *tsri_dims_text(char out[TSRI_DESC_TEXT], int n, const int64_t *dims);

#endif
