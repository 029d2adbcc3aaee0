/* diff.c - tsr diff: where two files of tensors differ. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrast.h"
#include "json.h"
#include "json_tensor.h"
#include "listing.h"
#include "room.h"
#include "table.h"
#include "text.h"
#include "tree.h"

static const char name_of_command[] = "diff";

typedef struct request {
    bool        json, verbose, quiet, any_dtype;
    const char *rtol, *atol, *ulp;
    tolerance   allowed;
    listing     list;
    reading     how;
} request;

typedef enum verdict { SAME, CLOSE, OTHER_DTYPE, DIFFERENT, OTHER_SHAPE, ONLY_FIRST, ONLY_SECOND } verdict;

static const char *const verdict_names[] = { "same",        "close",             "other dtype", "different",
                                             "other shape", "only in the first", "only in the second" };

/* What became of one name. */
typedef struct result {
    verdict     v;
    const item *a, *b;    /* NULL: not there */
    bool        measured;
    contrast    found;
} result;

/* Both files and what became of them. */
typedef struct comparison {
    const request *r;
    tolerance      allowed;
    source         a, b;
    progress       p;
    double         done, total;
    int64_t        count, of[ONLY_SECOND + 1];
    result        *result;
    bool           failed;
} comparison;

/* Pairs ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(item *const *)a)->name, (*(item *const *)b)->name);
}

/* The items of a source, sorted by name: to be freed. */
static item **sorted_items(source *s)
{
    item **list = room_for((size_t)s->count, sizeof *list);
    for (int64_t i = 0; i < s->count; i++) list[i] = &s->items[i];
    if (s->count) qsort(list, (size_t)s->count, sizeof *list, by_name);
    return list;
}

/* The item of a source that goes with one of another: of the same name, or the only one of both. */
static item *partner(item *it, const source *from, source *s, item **sorted)
{
    if (from->count == 1 && s->count == 1) return &s->items[0];
    item **found = s->count ? bsearch(&it, sorted, (size_t)s->count, sizeof *sorted, by_name) : NULL;
    return found ? *found : NULL;
}

/* The shape that a subscript leaves, new axes left out. */
static bool shape_of(int *ndim, int64_t *shape, const source *s, int64_t i)
{
    cut c;
    if (!source_cut(&c, s, i)) return false;
    *ndim = 0;
    for (int k = 0; k < c.ndim; k++)
        if (c.range[k].step != 0) shape[(*ndim)++] = c.length[k];
    return true;
}

static bool same_shape(const source *a, int64_t i, const source *b, int64_t k)
{
    int m = 0, n = 0;
    int64_t x[TSR_MAX_NDIM], y[TSR_MAX_NDIM];
    if (!shape_of(&m, x, a, i) || !shape_of(&n, y, b, k) || m != n) return false;
    return !memcmp(x, y, (size_t)m * sizeof *x);
}

/* Text ----------------------------------------------------------------------------------- */

static const char *value_text(char out[64], tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL: snprintf(out, 64, s.as.u ? "true" : "false"); break;
    case TSR_I64:  snprintf(out, 64, "%" PRId64, s.as.i); break;
    case TSR_U64:  snprintf(out, 64, "%" PRIu64, s.as.u); break;
    default:       snprintf(out, 64, "%.9g", s.as.c.re); break;
    }
    return out;
}

static void print_extreme(const char *label, const extreme *e, int ndim)
{
    char a[64], b[64];
    if (e->size < 0) return;
    printf("    max %s %.*g at (", label, strcmp(label, "ulp") ? 6 : 17, e->size); /* ulps are whole */
    for (int i = 0; i < ndim; i++) printf("%s%" PRId64, i ? ", " : "", e->index[i]);
    printf("%s): %s and %s\n", ndim == 1 ? "," : "", value_text(a, e->a), value_text(b, e->b));
}

/* One pair in full: where the largest errors are, and of which values. */
static void print_details(const result *x)
{
    const contrast *found = &x->found;
    const colours c = colours_of(stdout);
    const bool bad = x->v != SAME && x->v != CLOSE;
    printf("%s%s%s: %s", bad ? c.red : c.green, x->a->name[0] ? x->a->name : "tensor", c.off,
           verdict_names[x->v]);
    if (found->changed)
        printf("; %" PRId64 " of %" PRId64 " element%s differ%s%s", found->changed, found->count,
               plural(found->count), found->changed == 1 ? "s" : "",
               found->differ < found->changed ? ", within the tolerances" : "");
    putchar('\n');
    if (found->changed && !found->nans)
        printf("    relative L2 %.6g, cosine %.9g\n", contrast_relative(found), contrast_cosine(found));
    if (found->nans) printf("    NaN on one side alone: %" PRId64 "\n", found->nans);
    print_extreme("abs", &found->error, x->a->desc.ndim);
    print_extreme("rel", &found->relative, x->a->desc.ndim);
    print_extreme("ulp", &found->steps, x->a->desc.ndim);
}

/* What the numbers do not say: "f32 and f16", "shapes 8x4 and 9x4", "only in A". */
static const char *remark_text(char out[900], const result *x)
{
    char a[400], b[400];
    const bool both = x->a && x->b, dtypes = both && strcmp(dtype_text(x->a), dtype_text(x->b));
    out[0] = '\0';
    if (!both)                    snprintf(out, 900, "only in %c", x->a ? 'A' : 'B');
    else if (x->v == OTHER_SHAPE)
        snprintf(out, 900, "shapes %s and %s", shape_text(a, &x->a->desc), shape_text(b, &x->b->desc));
    else if (dtypes)              snprintf(out, 900, "%s and %s", dtype_text(x->a), dtype_text(x->b));
    else if (x->found.nans)       snprintf(out, 900, "NaN in one");
    return out;
}

enum { COLUMNS = 7 };

static void add_row(table *t, const result *x)
{
    const colours c = colours_of(stdout);
    const item *it = x->a ? x->a : x->b;
    const contrast *found = &x->found;
    char l2[32] = "", cosine[32] = "", most[32] = "", changed[32] = "", share[32] = "", remark[900];
    if (x->measured) {
        snprintf(l2, sizeof l2, "%.3g", contrast_relative(found));
        snprintf(cosine, sizeof cosine, "%.7f", contrast_cosine(found));
        snprintf(most, sizeof most, "%.3g", found->error.size > 0 ? found->error.size : 0);
        snprintf(changed, sizeof changed, "%" PRId64, found->changed);
        snprintf(share, sizeof share, "%.3g%%",
                 found->count ? 100 * (double)found->changed / (double)found->count : 0);
    }
    const char *cells[COLUMNS] = { it->name[0] ? it->name : "-", l2, cosine, most, changed, share,
                                   remark_text(remark, x) };
    table_add(t, cells, x->v == SAME ? c.dim : x->v == CLOSE ? "" : c.red);
}

/* One row for each that differs, or for all. */
static void print_table(const comparison *c)
{
    static const table_column columns[COLUMNS] = {
        { "name", TABLE_NAME, 0 },     { "rel L2", TABLE_RIGHT, 0 }, { "cosine", TABLE_RIGHT, 3 },
        { "max abs", TABLE_RIGHT, 1 }, { "changed", TABLE_RIGHT, 4 }, { "share", TABLE_RIGHT, 2 },
        { "", TABLE_LEFT, 0 },
    };
    table t = table_new(columns, COLUMNS);
    t.names = 6; /* numbers mean little where two names look alike */
    for (int64_t i = 0; i < c->count; i++)
        if (c->result[i].v != SAME || c->r->verbose) add_row(&t, &c->result[i]);
    if (t.rows) table_print(&t, 0, table_width());
    table_free(&t);
}

static void json_extreme(json *j, const char *key, const extreme *e, int ndim)
{
    if (e->size < 0) {
        json_string(j, key, NULL);
        return;
    }
    json_open(j, key, '{');
    json_element(j, "size", tsr_scalar_f64(e->size));
    json_integers(j, "index", ndim, e->index);
    json_element(j, "a", e->a);
    json_element(j, "b", e->b);
    json_close(j, '}');
}

static void json_desc(json *j, const char *key, const tsr_desc *d)
{
    json_open(j, key, '{');
    json_string(j, "dtype", tsr_dtype_name(d->dtype));
    json_integers(j, "shape", d->ndim, d->shape);
    json_close(j, '}');
}

static void json_result(json *j, const result *x)
{
    const contrast *found = &x->found;
    json_open(j, NULL, '{');
    json_string(j, "name", x->a ? x->a->name : x->b->name);
    json_string(j, "verdict", verdict_names[x->v]);
    if (x->a) json_desc(j, "a", &x->a->desc);
    if (x->b) json_desc(j, "b", &x->b->desc);
    if (x->measured) {
        json_integer(j, "count", found->count);
        json_integer(j, "changed", found->changed);
        json_integer(j, "differ", found->differ);
        json_integer(j, "nan", found->nans);
        json_element(j, "relative_l2", tsr_scalar_f64(contrast_relative(found)));
        json_element(j, "cosine", tsr_scalar_f64(contrast_cosine(found)));
        json_extreme(j, "abs", &found->error, x->a->desc.ndim);
        json_extreme(j, "rel", &found->relative, x->a->desc.ndim);
        json_extreme(j, "ulp", &found->steps, x->a->desc.ndim);
    }
    json_close(j, '}');
}

/* Comparing -------------------------------------------------------------------------------- */

static void add_result(comparison *c, const result *x)
{
    c->of[x->v]++;
    c->result = room_for_more(c->result, (size_t)c->count, sizeof *c->result);
    c->result[c->count++] = *x;
}

static void compare_pair(comparison *c, const item *a, const item *b)
{
    const int64_t i = a - c->a.items, k = b - c->b.items;
    result x = { .a = a, .b = b, .v = OTHER_SHAPE };
    if (same_shape(&c->a, i, &c->b, k)) {
        if (!source_can_read(&c->a, a) || !source_can_read(&c->b, b) ||
            !contrast_items(&x.found, &c->a, i, &c->b, k, &c->allowed, &c->p, c->done, c->total)) {
            c->failed = true;
            return;
        }
        c->done += (double)tsr_desc_bytes(&a->desc);
        x.measured = true;
        x.v = x.found.differ ? DIFFERENT : x.found.changed ? CLOSE : SAME;
        if (a->desc.dtype != b->desc.dtype && !c->r->any_dtype && x.v != DIFFERENT) x.v = OTHER_DTYPE;
    }
    add_result(c, &x);
}

static void compare_all(comparison *c)
{
    item **of_a = sorted_items(&c->a), **of_b = sorted_items(&c->b);
    for (int64_t i = 0; i < c->a.count; i++)
        if (partner(&c->a.items[i], &c->a, &c->b, of_b))
            c->total += (double)tsr_desc_bytes(&c->a.items[i].desc);
    progress_begin(&c->p);
    for (int64_t i = 0; i < c->a.count; i++) {
        item *a = &c->a.items[i];
        const item *b = partner(a, &c->a, &c->b, of_b);
        if (b) compare_pair(c, a, b);
        else   add_result(c, &(result){ .v = ONLY_FIRST, .a = a });
    }
    for (int64_t k = 0; k < c->b.count; k++)
        if (!partner(&c->b.items[k], &c->b, &c->a, of_a))
            add_result(c, &(result){ .v = ONLY_SECOND, .b = &c->b.items[k] });
    progress_end(&c->p);
    free(of_a);
    free(of_b);
}

/* How bad a result is: what cannot be compared first, then by relative L2, NaN above all numbers. */
static double badness(const result *x)
{
    const double l2 = x->measured ? contrast_relative(&x->found) : 0;
    return 10 * (double)x->v + (isnan(l2) ? 3 : isinf(l2) ? 2 : l2 / (1 + l2));
}

static int worst_first(const void *a, const void *b)
{
    const result *x = a, *y = b;
    const double p = badness(x), q = badness(y);
    if (p != q) return p < q ? 1 : -1;
    return compare_naturally((x->a ? x->a : x->b)->name, (y->a ? y->a : y->b)->name);
}

static bool sorts_by_worst(const request *r)
{
    return r->list.sort ? !strcmp(r->list.sort, "worst") : !r->json;
}

/* The verdict ------------------------------------------------------------------------------ */

/* The name with the largest relative L2 of those that changed; NULL if none did. */
static const result *worst_of(const comparison *c)
{
    const result *worst = NULL;
    for (int64_t i = 0; i < c->count; i++) {
        const result *x = &c->result[i];
        if (!x->measured || !x->found.changed) continue;
        if (!worst || worst_first(&(result){ .measured = true, .a = x->a, .found = x->found },
                                  &(result){ .measured = true, .a = worst->a, .found = worst->found }) < 0)
            worst = x;
    }
    return worst;
}

static const char *verdict_of(const comparison *c)
{
    if (c->of[DIFFERENT] + c->of[OTHER_SHAPE] + c->of[ONLY_FIRST] + c->of[ONLY_SECOND]) return "different";
    const result *worst = worst_of(c);
    if (worst) return "close";
    for (int64_t i = 0; i < c->count; i++)
        if (c->result[i].a->desc.dtype != c->result[i].b->desc.dtype) return "same values, other dtypes";
    return "identical";
}

/* " (2 only in A, 1 of another shape)" */
static void print_parts(const comparison *c, bool dtypes)
{
    const struct { int64_t count; const char *words; } part[] = {
        { c->of[ONLY_FIRST], "only in A" },
        { c->of[ONLY_SECOND], "only in B" },
        { c->of[OTHER_SHAPE], "of another shape" },
        { dtypes ? c->of[OTHER_DTYPE] : 0, "of another dtype" },
    };
    bool some = false;
    for (int i = 0; i < 4; i++)
        if (part[i].count) {
            printf("%s%" PRId64 " %s", some ? ", " : " (", part[i].count, part[i].words);
            some = true;
        }
    if (some) putchar(')');
}

/* "different: 4 of 25 tensors (1 only in A); largest relative L2 0.31 in layers.3.q" */
static void print_verdict(const comparison *c)
{
    const colours k = colours_of(stdout);
    const char *text = verdict_of(c);
    const bool bad = !strcmp(text, "different");
    const result *worst = worst_of(c);
    printf("%s%s%s", bad ? k.red : k.green, text, k.off);
    if (c->count > 1) {
        fputs(": ", stdout);
        if (bad) printf("%" PRId64 " of ", c->count - c->of[SAME] - c->of[CLOSE] - c->of[OTHER_DTYPE]);
        printf("%" PRId64 " tensors", c->count);
        print_parts(c, bad || worst);
        if (worst && worst->found.nans) printf("; NaN on one side of %s", worst->a->name);
        else if (worst)
            printf("; largest relative L2 %.3g in %s", contrast_relative(&worst->found), worst->a->name);
    }
    putchar('\n');
}

/* The command ---------------------------------------------------------------------------- */

static bool read_request(request *r)
{
    if (r->rtol && !read_number(&r->allowed.rtol, name_of_command, "--rtol", r->rtol)) return false;
    if (r->atol && !read_number(&r->allowed.atol, name_of_command, "--atol", r->atol)) return false;
    if (r->ulp && !read_count(&r->allowed.ulps, name_of_command, "--ulp", r->ulp)) return false;
    if (r->allowed.rtol < 0 || r->allowed.atol < 0) {
        complain_usage(name_of_command, "--rtol and --atol are not negative");
        return false;
    }
    return listing_check(&r->list, name_of_command, "worst name size dtype shape file") &&
           reading_check(&r->how, name_of_command);
}

static void json_comparison(const comparison *c)
{
    json j = { 0 };
    const int64_t same = c->of[SAME] + c->of[CLOSE];
    json_open(&j, NULL, '{');
    json_string(&j, "verdict", verdict_of(c));
    json_open(&j, "tensors", '[');
    for (int64_t i = 0; i < c->count; i++) json_result(&j, &c->result[i]);
    json_close(&j, ']');
    json_integer(&j, "same", same);
    json_integer(&j, "different", c->count - same);
    json_close(&j, '}');
}

static void print_result(comparison *c)
{
    if (c->count && sorts_by_worst(c->r)) qsort(c->result, (size_t)c->count, sizeof *c->result, worst_first);
    if (c->r->quiet) return;
    if (c->r->json) {
        json_comparison(c);
        return;
    }
    const bool is_one = c->count == 1 && c->result[0].measured;
    if (is_one && (c->result[0].v != SAME || c->r->verbose)) print_details(&c->result[0]);
    else if (!is_one)                                        print_table(c);
    if (c->count) print_verdict(c);
}

static int compare_files(comparison *c, char **paths)
{
    const request *r = c->r;
    int code = source_open(&c->a, name_of_command, paths[0], &r->how);
    const int second = source_open(&c->b, name_of_command, paths[1], &r->how);
    if (second > code) code = second;
    if (code == EXIT_YES) {
        listing_apply(&r->list, &c->a, r->json ? "file" : "name");
        listing_apply(&r->list, &c->b, r->json ? "file" : "name");
        if (!c->a.count && !c->b.count) code = listing_found_none(&r->list, name_of_command);
    }
    if (code == EXIT_YES) {
        c->allowed = r->allowed;
        c->allowed.brief = !r->json && (c->a.count != 1 || c->b.count != 1);
        compare_all(c);
        print_result(c);
        const bool differs = c->of[SAME] + c->of[CLOSE] < c->count;
        code = c->failed || c->a.damaged || c->b.damaged ? EXIT_INPUT : differs ? EXIT_NO : EXIT_YES;
    }
    source_close(&c->a);
    source_close(&c->b);
    free(c->result);
    return code;
}

static int run_diff(int argc, char **argv)
{
    request r = { 0 };
    const option options[] = {
        { "--rtol",        "NUMBER", NULL,                   &r.rtol },
        { "--atol",        "NUMBER", NULL,                   &r.atol },
        { "--ulp",         "N",      NULL,                   &r.ulp },
        { "--nan-differs", NULL,     &r.allowed.nan_differs, NULL },
        { "--any-dtype",   NULL,     &r.any_dtype,           NULL },
        { "--json",        NULL,     &r.json,                NULL },
        { "--verbose",     NULL,     &r.verbose,             NULL },
        { "--quiet",       NULL,     &r.quiet,               NULL },
        LISTING_OPTIONS(r.list),
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const bool selects = listing_read(&r.list, name_of_command, argc, argv);
    const int count = selects ? read_options(name_of_command, options, argc, argv) : -1;
    if (count < 0 || !read_request(&r)) return EXIT_USAGE;
    if (count != 2) return complain_usage(name_of_command, "two files are compared, not %d", count);
    if (r.quiet) r.json = false;
    comparison c = { .r = &r };
    return compare_files(&c, argv + 1);
}

const command diff_command = {
    .name = name_of_command,
    .run = run_diff,
    .summary = "where two files of tensors differ, and how much",
    .help =
        "usage: tsr diff A B [--rtol R] [--atol A] [--ulp N] [--any-dtype] [--select PATTERN]\n"
        "                [--sort ORDER] [--verbose | --quiet] [--json]\n"
        "\n"
        "Compares the tensors of two files, directories, or FILE:NAME[SLICE], by name;\n"
        "where each side has one tensor, these two. Those that differ are a table, the\n"
        "worst first: relative L2 |a - b| / |b|, cosine of the angle between them, largest\n"
        "absolute error, and how many elements changed; or that one is missing, or of\n"
        "another shape or dtype. Of a single pair: the largest absolute and relative\n"
        "error and distance in ulps, with place and values. The last line is the verdict:\n"
        "identical; same values, other dtypes; close; or different.\n"
        "\n"
        "  --rtol R          an element is close if |a - b| <= A + R * |b|\n"
        "  --atol A          both are 0 by default: only equal elements are close\n"
        "  --ulp N           or if it is no more than N steps of the dtype apart\n"
        "  --nan-differs     NaN differs from NaN, too\n"
        "  --any-dtype       tensors of different dtypes may be the same\n"
        LISTING_HELP
        "  --sort ORDER      worst (first), name, size, dtype, shape or file\n"
        "  --verbose         also tell of tensors that are the same\n"
        "  --quiet           say nothing: the exit status tells\n"
        "  --json            one JSON document\n" READING_HELP "\n"
        "Both sides are read piece by piece. Complex numbers are compared by parts.\n"
        "\n"
        "examples:\n"
        "  tsr diff a.npy b.npy\n"
        "  tsr diff --rtol 1e-3 --atol 1e-6 model.safetensors model.gguf --any-dtype\n"
        "  tsr diff --ulp 1 'a.npz:x[0]' b.npz:y && echo close enough\n"
        "\n"
        "exit status: 0 if all are the same or close, 1 if not, 3 if something cannot be\n"
        "read, 2 for a command line that cannot be understood\n",
};
