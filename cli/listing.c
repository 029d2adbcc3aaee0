/* listing.c - choosing and sorting the items of a source. */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "rename.h"
#include "text.h"

bool listing_read(listing *l, const char *who, int argc, char **argv)
{
    l->count = option_values(l->selects, SELECTS_MOST, "--select", argc, argv);
    if (l->count <= SELECTS_MOST) return true;
    complain_usage(who, "--select is given %d times; %d are possible", l->count, SELECTS_MOST);
    return false;
}

/* Is a word one of a list with spaces between? */
static bool is_in(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (n && strcspn(p, " ") == n && !strncmp(p, word, n)) return true;
    return false;
}

bool listing_check(const listing *l, const char *who, const char *orders)
{
    if (!l->sort || is_in(orders, l->sort)) return true;
    complain_usage(who, "--sort takes one of: %s; not '%s'", orders, l->sort);
    return false;
}

static bool is_chosen(const void *context, const char *name)
{
    const listing *l = context;
    for (int i = 0; i < l->count; i++)
        if (matches_patterns(l->selects[i], name)) return true;
    return false;
}

/* Orders. Equal ones go by name, and then by their place. --------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_name(const void *a, const void *b)
{
    const int order = compare_naturally(((const item *)a)->name, ((const item *)b)->name);
    return order ? order : by_place(a, b);
}

static int by_size(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : by_name(a, b);
}

static int by_dtype(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const int order = strcmp(x->encoding, y->encoding);
    if (x->desc.dtype != y->desc.dtype) return x->desc.dtype < y->desc.dtype ? -1 : 1;
    return order ? order : by_name(a, b);
}

static int by_shape(const void *a, const void *b)
{
    const tsr_desc *x = &((const item *)a)->desc, *y = &((const item *)b)->desc;
    if (x->ndim != y->ndim) return x->ndim - y->ndim;
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != y->shape[i]) return x->shape[i] < y->shape[i] ? 1 : -1;
    return by_name(a, b);
}

static void sort_items(source *s, const char *order)
{
    int (*compare)(const void *, const void *) = by_name;
    if (!strcmp(order, "file"))  compare = by_place;
    if (!strcmp(order, "size"))  compare = by_size;
    if (!strcmp(order, "dtype")) compare = by_dtype;
    if (!strcmp(order, "shape")) compare = by_shape;
    source_forget(s);
    if (s->count) qsort(s->items, (size_t)s->count, sizeof *s->items, compare);
}

void listing_apply(const listing *l, source *s, const char *order)
{
    if (l->count) (void)source_keep(s, is_chosen, l);
    sort_items(s, l->sort ? l->sort : order);
}

int listing_found_none(const listing *l, const char *who)
{
    return l->count ? complain(who, "no name matches --select") : EXIT_YES;
}
