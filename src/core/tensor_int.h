/* tensor_int.h - binding tensors, and the checks every call makes of them. */
#ifndef TSRI_TENSOR_INT_H
#define TSRI_TENSOR_INT_H

#include "alloc.h"
#include "desc_int.h"
#include "storage.h"
#include "tessera/tensor.h"

/* Makes *out a tensor that looks at `data`, a place in `storage` (which may be
 * NULL) that the desc fits in; device, kind and read-only come from `like`. A
 * placed tensor, or one that only the caller holds, is written where it lies;
 * otherwise a new header is made and the old handle dropped. The storage gains
 * an owner. desc must not be *out's own. TSR_ENOMEM leaves *out as it was. */
tsr_status tsri_bind(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_storage *storage, void *data,
                     const tsr_tensor *like, uint32_t flags);

/* A new allocated tensor in *out, which is NULL or gets replaced. desc is valid. */
tsr_status tsri_make(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_device device,
                     tsr_memory memory);

/* The same, packed and of the host, wherever tensors are made by default. */
tsr_status tsri_make_packed(tsr_tensor **out, const char *op, tsr_dtype dtype, int ndim,
                            const int64_t *shape);

/* Allocates a tensor that is only described; *fresh (may be NULL): whether it did. */
tsr_status tsri_ensure_memory(tsr_tensor *t, const char *op, bool *fresh);

/* After a call that failed: a tensor that it allocated is described again.
 * Returns s. */
tsr_status tsri_undo_memory(tsr_tensor *t, bool fresh, tsr_status s);

/* A check is an inline test of the usual case and one of these functions, which do the
 * whole test and record the message. `what` is the argument's name. */
tsr_status tsri_check_tensor_slowly(const char *op, const char *what, const tsr_tensor *t) TSRI_COLD;
tsr_status tsri_check_allocated_slowly(const char *op, const char *what, const tsr_tensor *t) TSRI_COLD;
tsr_status tsri_check_host_slowly(const char *op, const char *what, const tsr_tensor *t) TSRI_COLD;
tsr_status tsri_check_writable_slowly(const char *op, const char *what, const tsr_tensor *t);

/* Not NULL, not "none". */
static inline tsr_status tsri_check_tensor(const char *op, const char *what, const tsr_tensor *t)
{
    if (TSRI_LIKELY(t && t->dtype != TSR_DTYPE_INVALID)) return TSR_OK;
    return tsri_check_tensor_slowly(op, what, t);
}

/* And has memory. */
static inline tsr_status tsri_check_allocated(const char *op, const char *what, const tsr_tensor *t)
{
    if (TSRI_LIKELY(t && t->dtype != TSR_DTYPE_INVALID && t->data)) return TSR_OK;
    return tsri_check_allocated_slowly(op, what, t);
}

/* Of a kind that is built in, and so the host can reach it. */
static inline bool tsri_is_plain(const tsr_tensor *t)
{
    return t->device == TSR_CPU && (unsigned)t->memory < TSR_MEMORY_COUNT_BUILTIN;
}

/* Is it on the CPU, in memory that the host may read and write? */
static inline bool tsri_is_here(const tsr_tensor *t)
{
    return t->device == TSR_CPU &&
           ((unsigned)t->memory < TSR_MEMORY_COUNT_BUILTIN || tsr_memory_is_host(t->memory));
}

/* And the host can reach it. */
static inline tsr_status tsri_check_host(const char *op, const char *what, const tsr_tensor *t)
{
    if (TSRI_LIKELY(t && t->dtype != TSR_DTYPE_INVALID && t->data && tsri_is_plain(t))) return TSR_OK;
    return tsri_check_host_slowly(op, what, t);
}

/* May be written: not read-only, and no two indices at one address. */
static inline tsr_status tsri_check_writable(const char *op, const char *what, const tsr_tensor *t)
{
    if (TSRI_LIKELY(t && t->dtype != TSR_DTYPE_INVALID && !(t->flags & TSR_FLAG_READONLY) &&
                    tsri_is_packed(&t->desc)))
        return TSR_OK;
    return tsri_check_writable_slowly(op, what, t);
}

/* A tensor on the heap: what is not placed. */
typedef struct tsri_header {
    tsr_tensor          tensor;
    struct tsr_scope   *scope;  /* that it belongs to, or NULL (scope.c) */
    struct tsri_header *next, *previous;
} tsri_header;

/* To the innermost open scope, of which there is one; from its scope. */
void tsri_scope_add(tsri_header *h);
void tsri_scope_drop(tsri_header *h);

/* t, which was just made in the innermost scope, replaces `old` in a handle: it belongs to the same scope, or
 * to none. `old`, which may have other owners, leaves its scope: the reference that the scope would have
 * released is the handle's. */
void tsri_scope_follow(tsr_tensor *t, tsr_tensor *old);

/* t, which is on the heap and which the library itself holds from now on, belongs to no scope. */
static inline void tsri_scope_leave(tsr_tensor *t)
{
    tsri_header *h = (tsri_header *)t;
    if (h->scope) tsri_scope_drop(h);
}

/* A header for a tensor on the heap, or NULL; its count reads 0. */
static inline tsr_tensor *tsri_header_take(void)
{
    tsri_header *h = tsri_alloc_allowed(sizeof(tsr_tensor)) ? tsri_slab_take(TSRI_SLAB_TENSORS) : NULL;
    if (!TSRI_LIKELY(h != NULL)) return NULL;
    h->scope = NULL;
    if (!TSRI_LIKELY(tsri_mine.scope == NULL)) tsri_scope_add(h);
    return &h->tensor;
}

static inline void tsri_header_give(tsr_tensor *t)
{
    tsri_header *h = (tsri_header *)t;
    if (!TSRI_LIKELY(h->scope == NULL)) tsri_scope_drop(h);
    tsri_slab_give(TSRI_SLAB_TENSORS, t);
}

/* tsri_scope_follow where it matters. */
static inline void tsri_scope_stay(tsr_tensor *t, tsr_tensor *old)
{
    if (!TSRI_LIKELY(tsri_mine.scope == NULL)) tsri_scope_follow(t, old);
}

/* An address for data that has no bytes. */
void *tsri_nowhere(void);

#endif
