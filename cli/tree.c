/* tree.c - the tree of names, its folding and its rows. */
#include "tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"
#include "terminal.h"
#include "text.h"

enum { DEPTH_MOST = 64 };  /* what is deeper is one part: the tree is walked by recursion */

typedef struct node {
    char        *label;       /* with the separator before it */
    const item  *it;          /* NULL: no tensor has this name */
    struct node *child;
    int64_t      children, tensors;
    uint64_t     bytes, hash; /* of everything below, labels and all, but its own label */
} node;

/* A row of the picture. */
typedef struct row { char *label, *shape, *dtype, *size; int lines; /* bytes of label that are lines */ } row;

typedef struct picture {
    bool    folds, utf8;
    int64_t rows;
    row    *row;
} picture;

/* Text --------------------------------------------------------------------------------- */

const char *shape_text(char out[400], const tsr_desc *d)
{
    const char *const times = writes_utf8() ? "\u00d7" : "x";
    size_t used = 0;
    out[0] = '\0';
    if (d->ndim == 0) snprintf(out, 400, "scalar");
    for (int i = 0; i < d->ndim && used < 400; i++)
        used += (size_t)snprintf(out + used, 400 - used, "%s%" PRId64, i ? times : "", d->shape[i]);
    return out;
}

const char *dtype_text(const item *it)
{
    if (it->desc.dtype == TSR_DTYPE_INVALID || it->is_blocks) return it->encoding[0] ? it->encoding : "-";
    return tsr_dtype_name(it->desc.dtype);
}

/* Building ----------------------------------------------------------------------------- */

/* The length of the first part of a name, with a separator before it. */
static size_t part_length(const char *name)
{
    const size_t n = name[0] ? 1 + strcspn(name + 1, "./") : 0;
    return name[n] && !name[n + 1] ? n + 1 : n; /* a separator at the end belongs to the last part */
}

/* The names come sorted, so that a part that was met before was the last one. */
static node *child_of(node *parent, const char *part, size_t n)
{
    node *last = parent->children ? &parent->child[parent->children - 1] : NULL;
    if (last && strlen(last->label) == n && !strncmp(last->label, part, n)) return last;
    parent->child = room_for_more(parent->child, (size_t)parent->children, sizeof *parent->child);
    parent->child[parent->children] = (node){ .label = copy_of(part, n) };
    return &parent->child[parent->children++];
}

/* A name that is there twice, as in two files of a directory, gets a leaf for each. */
static void add_item(node *root, const item *it)
{
    const char *name = it->name[0] ? it->name : "-";
    node *at = root;
    int depth = 0;
    for (size_t n; *name; name += n) {
        n = depth++ < DEPTH_MOST ? part_length(name) : strlen(name);
        at = child_of(at, name, n);
    }
    if (at->it) {
        at->child = room_for_more(at->child, (size_t)at->children, sizeof *at->child);
        at->child[at->children] = (node){ .label = copy_of_text("") };
        at = &at->child[at->children++];
    }
    at->it = it;
}

static void free_node(node *n)
{
    for (int64_t i = 0; i < n->children; i++) free_node(&n->child[i]);
    free(n->child);
    free(n->label);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static int by_bytes(const void *a, const void *b)
{
    const node *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : compare_naturally(x->label, y->label);
}

/* Counts, sizes and hashes, from the leaves up. */
static void sum_up(node *n, bool by_size)
{
    n->hash = 0xcbf29ce484222325u;
    if (n->it) {
        const tsr_desc *d = &n->it->desc;
        n->tensors = 1;
        n->bytes = n->it->bytes;
        n->hash = mix(n->hash, d->shape, (size_t)d->ndim * sizeof *d->shape);
        n->hash = mix(n->hash, dtype_text(n->it), strlen(dtype_text(n->it)) + 1);
    }
    for (int64_t i = 0; i < n->children; i++) {
        node *c = &n->child[i];
        sum_up(c, by_size);
        n->tensors += c->tensors;
        n->bytes += c->bytes;
        n->hash = mix(n->hash, c->label, strlen(c->label) + 1);
        n->hash = mix(n->hash, &c->hash, sizeof c->hash);
    }
    if (by_size && n->children) qsort(n->child, (size_t)n->children, sizeof *n->child, by_bytes);
}

/* Folding ------------------------------------------------------------------------------ */

/* Are both the same but for their own labels? */
static bool same_below(const node *a, const node *b)
{
    if (a->hash != b->hash || a->children != b->children || !a->it != !b->it) return false;
    if (a->it) {
        const tsr_desc *x = &a->it->desc, *y = &b->it->desc;
        if (x->ndim != y->ndim) return false;
        if (memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape)) return false;
        if (strcmp(dtype_text(a->it), dtype_text(b->it))) return false;
    }
    for (int64_t i = 0; i < a->children; i++) {
        const node *x = &a->child[i], *y = &b->child[i];
        if (strcmp(x->label, y->label) || !same_below(x, y)) return false;
    }
    return true;
}

/* Where the last number of a label begins and ends; false if there is none. */
static bool find_number(const char *label, size_t *from, size_t *to)
{
    size_t end = strlen(label), start;
    while (end > 0 && !(label[end - 1] >= '0' && label[end - 1] <= '9')) end--;
    for (start = end; start > 0 && label[start - 1] >= '0' && label[start - 1] <= '9';) start--;
    *from = start;
    *to = end;
    return end > start && end - start < 10;
}

/* Do two labels differ in their last number alone? */
static bool same_but_number(const char *a, const char *b)
{
    size_t from, to, other_from, other_to;
    if (!find_number(a, &from, &to) || !find_number(b, &other_from, &other_to)) return false;
    return from == other_from && !strncmp(a, b, from) && !strcmp(a + to, b + other_to);
}

/* Children that are written as one. */
typedef struct group { int64_t count; const node **member; } group;

static void free_groups(group *g, int64_t count)
{
    for (int64_t i = 0; i < count; i++) free(g[i].member);
    free(g);
}

static bool fits_group(const group *g, const node *c)
{
    return same_but_number(g->member[0]->label, c->label) && same_below(g->member[0], c);
}

/* The group that a child belongs to. Only the latest groups are searched: for thousands of children that are
 * all different, comparing each with all would take too long. */
static group *group_of(group *g, int64_t count, const node *c)
{
    enum { LATEST = 64 };
    for (int64_t i = count - 1; i >= 0 && i >= count - LATEST; i--)
        if (fits_group(&g[i], c)) return &g[i];
    return NULL;
}

static group *make_groups(int64_t *count, const node *n, bool folds)
{
    group *g = NULL;
    *count = 0;
    for (int64_t i = 0; i < n->children; i++) {
        group *at = folds ? group_of(g, *count, &n->child[i]) : NULL;
        if (!at) {
            g = room_for_more(g, (size_t)*count, sizeof *g);
            at = &g[(*count)++];
            *at = (group){ 0 };
        }
        at->member = room_for_more(at->member, (size_t)at->count, sizeof *at->member);
        at->member[at->count++] = &n->child[i];
    }
    return g;
}

static long number_in(const node *n)
{
    size_t from, to;
    return find_number(n->label, &from, &to) ? strtol(n->label + from, NULL, 10) : 0;
}

static int by_number(const void *a, const void *b)
{
    const long x = number_in(*(node *const *)a), y = number_in(*(node *const *)b);
    return (x > y) - (x < y);
}

/* ".0-3,5" of the labels ".0" to ".3" and ".5"; no more than a few runs. */
static char *group_label(const group *g, bool utf8)
{
    enum { RUNS = 6 };
    size_t from, to;
    const char *first = g->member[0]->label;
    if (g->count == 1 || !find_number(first, &from, &to)) return copy_of_text(first);
    qsort(g->member, (size_t)g->count, sizeof *g->member, by_number);
    char *text = copy_of(first, from);
    int runs = 0;
    for (int64_t i = 0; i < g->count;) {
        int64_t k = i;
        while (k + 1 < g->count && number_in(g->member[k + 1]) == number_in(g->member[k]) + 1) k++;
        if (++runs > RUNS) break;
        char *longer = k > i ? text_of("%s%s%ld%s%ld", text, runs > 1 ? "," : "", number_in(g->member[i]),
                                       utf8 ? "\u2013" : "-", number_in(g->member[k]))
                             : text_of("%s%s%ld", text, runs > 1 ? "," : "", number_in(g->member[i]));
        free(text);
        text = longer;
        i = k + 1;
    }
    char *whole = text_of("%s%s%s", text, runs > RUNS ? (utf8 ? ",\u2026" : ",...") : "", first + to);
    free(text);
    return whole;
}

/* Rows --------------------------------------------------------------------------------- */

static void add_row(picture *p, const char *lines, const char *branch, const char *label, const node *n,
                    int64_t times)
{
    char shape[400], counted[440], size[32];
    p->row = room_for_more(p->row, (size_t)p->rows, sizeof *p->row);
    row *r = &p->row[p->rows++];
    if (n->it) {
        shape_text(shape, &n->it->desc);
        if (times > 1) snprintf(counted, sizeof counted, "%" PRId64 " of %s", times, shape);
        else           snprintf(counted, sizeof counted, "%s", shape);
    } else {
        snprintf(counted, sizeof counted, "%" PRId64 " tensor%s%s", n->tensors, plural(n->tensors),
                 times > 1 ? " each" : "");
    }
    r->lines = (int)(strlen(lines) + strlen(branch));
    r->label = text_of("%s%s%s", lines, branch, label);
    r->shape = copy_of_text(counted);
    r->dtype = copy_of_text(n->it ? dtype_text(n->it) : "");
    r->size = copy_of_text(bytes_text(size, (double)(n->it ? n->it->bytes : n->bytes) * (double)times));
}

static void add_children(picture *p, const node *n, const char *lines);

/* A group, joined with what is its only part: a.b.0-3, or a.0-3.weight where each has one tensor. */
static void add_group(picture *p, const group *g, const char *lines, bool last, bool is_root)
{
    const node *n = g->member[0];
    int64_t times = g->count;
    char *label = group_label(g, p->utf8);
    for (bool more = true; more && !n->it && (times == 1 || n->tensors == 1);) {
        int64_t count = 0;
        group *below = make_groups(&count, n, p->folds);
        more = count == 1;
        if (more) {
            char *part = group_label(&below[0], p->utf8), *longer = text_of("%s%s", label, part);
            free(label);
            free(part);
            label = longer;
            times *= below[0].count;
            n = below[0].member[0];
        }
        free_groups(below, count);
    }
    const char *name = label[0] && strchr("./", label[0]) && !is_root ? label + 1 : label;
    const char *branch = is_root ? "" : p->utf8 ? (last ? "\u2514 " : "\u251c ") : last ? "` " : "| ";
    add_row(p, lines, branch, name[0] ? name : label, n, times);
    char *below = text_of("%s%s", lines, is_root ? "" : last ? "  " : p->utf8 ? "\u2502 " : "| ");
    add_children(p, n, below);
    free(below);
    free(label);
}

static void add_children(picture *p, const node *n, const char *lines)
{
    int64_t count = 0;
    group *g = make_groups(&count, n, p->folds);
    for (int64_t i = 0; i < count; i++) add_group(p, &g[i], lines, i == count - 1, n->label == NULL);
    free_groups(g, count);
}

typedef struct widths { int label, shape, dtype, size; } widths;

static void widen(int *width, const char *text)
{
    const int w = text_width(text);
    if (w > *width) *width = w;
}

static widths measure(const picture *p, int width)
{
    enum { INDENT = 2, GAPS = 6, LEAST = 16 };
    widths w = { 0 };
    for (int64_t i = 0; i < p->rows; i++) {
        widen(&w.label, p->row[i].label);
        widen(&w.shape, p->row[i].shape);
        widen(&w.dtype, p->row[i].dtype);
        widen(&w.size, p->row[i].size);
    }
    const int room = width - INDENT - GAPS - w.shape - w.dtype - w.size;
    if (w.label > room && w.label > LEAST) w.label = room > LEAST ? room : LEAST;
    return w;
}

/* The lines keep their width where a label is cut short. */
static void print_label(const row *r, int width, const colours *c)
{
    char *lines = copy_of(r->label, (size_t)r->lines);
    const int used = text_width(lines), room = width - used > 4 ? width - used : 4;
    char *name = text_fit(r->label + r->lines, room);
    printf("  %s%s%s", c->dim, lines, c->off);
    print_padded(name, width - used, false);
    free(name);
    free(lines);
}

static void print_rows(const picture *p, int width)
{
    const colours c = colours_of(stdout);
    const widths w = measure(p, width);
    for (int64_t i = 0; i < p->rows; i++) {
        const row *r = &p->row[i];
        const bool is_tensor = r->dtype[0] != '\0';
        print_label(r, w.label, &c);
        printf("  %s", is_tensor ? "" : c.dim);
        print_padded(r->shape, w.shape, false);
        printf("%s  %s", is_tensor ? "" : c.off, c.dim);
        print_padded(r->dtype, w.dtype, false);
        printf("%s  ", c.off);
        print_padded(r->size, w.size, true);
        putchar('\n');
    }
}

static int by_name(const void *a, const void *b)
{
    const item *x = *(const item *const *)a, *y = *(const item *const *)b;
    const int order = compare_naturally(x->name, y->name);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

void tree_print(const source *s, const int64_t *index, int64_t count, bool folds, bool by_size, int width)
{
    picture p = { .folds = folds, .utf8 = writes_utf8() };
    node root = { 0 };
    const item **sorted = room_for((size_t)count, sizeof *sorted);
    for (int64_t i = 0; i < count; i++) sorted[i] = &s->items[index[i]];
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int64_t i = 0; i < count; i++) add_item(&root, sorted[i]);
    free(sorted);
    sum_up(&root, by_size);
    add_children(&p, &root, "");
    print_rows(&p, width);
    for (int64_t i = 0; i < p.rows; i++) {
        free(p.row[i].label);
        free(p.row[i].shape);
        free(p.row[i].dtype);
        free(p.row[i].size);
    }
    free(p.row);
    free_node(&root);
}
