/* scope.c - tensors that are released together (tessera/scope.h).
 *
 * Headers on the heap have room for the list of their scope behind the tensor. Only the thread that opened
 * a scope changes its list. */
#include "lock.h"
#include "tensor_int.h"
#include "tessera/scope.h"

static TSRI_PER_THREAD tsr_tensor *replacement;

static void add(tsri_header *h, tsr_scope *scope)
{
    tsri_header *first = scope->first;
    h->scope = scope;
    h->next = first;
    h->previous = NULL;
    if (first) first->previous = h;
    scope->first = h;
}

static void drop(tsri_header *h)
{
    tsr_scope *scope = h->scope;
    if (h->previous) h->previous->next = h->next;
    else             scope->first = h->next;
    if (h->next) h->next->previous = h->previous;
    h->scope = NULL;
}

void tsri_scope_add(tsri_header *h) { add(h, tsri_mine.scope); }
void tsri_scope_drop(tsri_header *h) { drop(h); }

static bool is_open(const tsr_scope *scope)
{
    const tsr_scope *open = tsri_mine.scope;
    while (open && open != scope) open = open->outer;
    return open != NULL;
}

void tsri_scope_follow(tsr_tensor *t, tsr_tensor *old)
{
    tsri_header *h = (tsri_header *)t, *before = (tsri_header *)old;
    tsr_scope *scope = old->flags & TSR_FLAG_PLACED ? NULL : before->scope;
    const bool open = is_open(scope);
    if (open) drop(before);
    drop(h);
    if (open) add(h, scope);
}

void tsr_scope_begin(tsr_scope *scope)
{
    if (!scope) return;
    *scope = (tsr_scope){ tsri_mine.scope, NULL };
    tsri_mine.scope = scope;
}

static void end_innermost(void)
{
    tsr_scope *scope = tsri_mine.scope;
    while (scope->first) {
        tsr_tensor *t = scope->first;
        drop(scope->first);
        tsr_release(&t);
    }
    tsri_mine.scope = scope->outer;
}

void tsr_scope_end(tsr_scope *scope)
{
    if (!is_open(scope)) return;
    while (tsri_mine.scope != scope) end_innermost();
    end_innermost();
}

tsr_tensor *tsr_scope_keep(tsr_tensor *t)
{
    if (!t || (t->flags & TSR_FLAG_PLACED)) return t;
    tsri_header *h = (tsri_header *)t;
    if (!h->scope || h->scope != tsri_mine.scope) return t;
    tsr_scope *outer = h->scope->outer;
    drop(h);
    if (outer) add(h, outer);
    return t;
}

void tsr_release_each(int n, tsr_tensor **const *handles)
{
    for (int i = 0; handles && i < n; i++) tsr_release(handles[i]);
}

tsr_tensor **tsr_replacement(void)
{
    tsr_release(&replacement);  /* left there if an earlier call's result was not moved to a handle */
    return &replacement;
}

tsr_status tsr_replace(tsr_tensor **out, tsr_status made)
{
    tsr_tensor *t = replacement;
    replacement = NULL;
    if (made == TSR_OK && !out) made = tsri_fail(TSR_ENULL, "replace: out is NULL");
    if (made == TSR_OK && !t)
        made = tsri_fail(TSR_EINVAL, "replace: the call made no result in tsr_replacement()");
    if (made == TSR_OK && !*out) {
        *out = t;
        return TSR_OK;
    }
    if (made == TSR_OK)
        made = tsri_bind(out, "replace", &t->desc, t->storage, t->data, t, t->flags & TSR_FLAG_VIEW);
    tsr_release(&t);
    return made;
}
