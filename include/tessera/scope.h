/* scope.h - releasing without writing it down for each tensor.
 *
 * Many at once:
 *
 *     tsr_release_all(&a, &b, &c);
 *
 * At the end of the block, where the compiler has the cleanup attribute (gcc, clang):
 *
 *     TSR_AUTO tsr_tensor *a = NULL;
 *
 * At the end of a scope, whichever handles they are in:
 *
 *     tsr_status attend(tsr_tensor **out, const tsr_tensor *q, const tsr_tensor *k, const tsr_tensor *v)
 *     {
 *         tsr_tensor *kt = NULL, *scores = NULL;
 *         TSR_SCOPE(scope);
 *         TSR_TRY(tsr_transpose(&kt, k, -2, -1));
 *         TSR_TRY(tsr_matmul(&scores, q, kt));
 *         TSR_TRY(tsr_softmax(&scores, scores, -1));
 *         TSR_TRY(tsr_matmul(out, scores, v));
 *         tsr_scope_keep(*out);
 *         return TSR_OK;
 *     }
 *
 * Without the attribute: tsr_scope_begin() and tsr_scope_end(), and TSR_GO of status.h, which jumps there.
 */
#ifndef TESSERA_SCOPE_H
#define TESSERA_SCOPE_H

#include "tensor.h"

TSR_BEGIN_C

/* Release n handles; handles[i] and *handles[i] may be NULL. */
TSR_API void tsr_release_each(int n, tsr_tensor **const *handles);
#define tsr_release_all(...) tsr_release_each(TSR_LIST_(tsr_tensor **, __VA_ARGS__))

/* Before the declaration of a handle: it is released where its block is left, by return, goto or break too.
 * Without the attribute the compiler says that there is no such name. */
#if defined(__GNUC__)
#define TSR_AUTO __attribute__((cleanup(tsr_release)))
#define TSR_AUTO_SCOPE __attribute__((cleanup(tsr_scope_end)))
#endif

/* A scope (below) of that name, from here to the end of the block, however it is left. */
#define TSR_SCOPE(name)            \
    TSR_AUTO_SCOPE tsr_scope name; \
    tsr_scope_begin(&name)

/* Scopes ---------------------------------------------------------------------
 *
 * A tensor that a call allocates while a scope is open on the calling thread belongs to the innermost open
 * one. When that scope ends, the tensor is released once, unless it was released before. Handles are not set
 * to NULL then: call tsr_scope_keep() for a tensor whose handle is used after the scope. A call that replaces
 * what a handle held (a view function, TSR_REPLACE) leaves the new tensor to the scope of the old one.
 *
 * Tensors that were made before, or on other threads, or placed, belong to no scope. tsr_retain() adds an
 * owner as usual. A tensor that another thread is to release must be kept first. */

/* The caller's memory; its fields are the library's. */
typedef struct tsr_scope {
    struct tsr_scope *outer;
    void             *first;
} tsr_scope;

/* Open a scope inside those that are open on this thread. Never fails. The struct must stay where it is until
 * the scope ends. */
TSR_API void tsr_scope_begin(tsr_scope *scope);

/* Release what belongs to it, the latest first, and close it; scopes inside it end too. Nothing happens if it
 * is not open on this thread. */
TSR_API void tsr_scope_end(tsr_scope *scope);

/* If t belongs to the innermost scope: from now on it belongs to the one around it, or, if there is none,
 * to the caller. Returns t, which may be NULL. */
TSR_API tsr_tensor *tsr_scope_keep(tsr_tensor *t);

/* Replacing ------------------------------------------------------------------
 *
 * A result handle that holds a tensor must have the result's shape and dtype. TSR_REPLACE(&y, call, ...)
 * takes any: call(result, ...) makes a new tensor, and y holds that instead of what it held. The old one may
 * be an operand. On failure y is as it was. For calls whose first argument is their one result.
 *
 *     TSR_GO(TSR_REPLACE(&y, tsr_sum, y, TSR_AXES(0), false));  */
#define TSR_REPLACE(out, call, ...) tsr_replace((out), call(tsr_replacement(), __VA_ARGS__))

/* What TSR_REPLACE is made of: an empty handle of this thread, and moving what a call put there to *out if
 * the call succeeded; returns made. TSR_ENULL; TSR_ENOMEM if what *out held has other owners. */
TSR_API tsr_tensor **tsr_replacement(void);
TSR_API TSR_MUST_CHECK tsr_status tsr_replace(tsr_tensor **out, tsr_status made);

TSR_END_C

#endif
