/* diff.c - tsr diff: where two files of tensors differ. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrast.h"
#include "json.h"
#include "json_tensor.h"
#include "room.h"

static const char name_of_command[] = "diff";

typedef struct request {
    bool        json, verbose, quiet, any_dtype;
    const char *rtol, *atol, *ulp;
    tolerance   allowed;
    reading     how;
} request;

typedef enum verdict { SAME, CLOSE, DIFFERENT, ONLY_FIRST, ONLY_SECOND, OTHER_SHAPE, OTHER_DTYPE } verdict;

static const char *const verdict_names[] = { "same",           "close",      "different", "only in the first",
                                             "only in the second", "other shape", "other dtype" };

/* Both files and what became of them. */
typedef struct comparison {
    const request *r;
    source         a, b;
    progress       p;
    double         done, total;
    json           j;
    int64_t        same, different;
    bool           failed;
} comparison;

/* Pairs ---------------------------------------------------------------------------------- */

/* The item of b that goes with item i of a: of the same name, or the only one of both. */
static int64_t partner(const source *a, int64_t i, const source *b)
{
    if (a->count == 1 && b->count == 1) return 0;
    return source_find(b, a->items[i].name);
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
    printf("    max %s %.6g at (", label, e->size);
    for (int i = 0; i < ndim; i++) printf("%s%" PRId64, i ? ", " : "", e->index[i]);
    printf("%s): %s and %s\n", ndim == 1 ? "," : "", value_text(a, e->a), value_text(b, e->b));
}

static void print_desc(const tsr_desc *d)
{
    printf("%s(", tsr_dtype_name(d->dtype));
    for (int i = 0; i < d->ndim; i++) printf("%s%" PRId64, i ? ", " : "", d->shape[i]);
    putchar(')');
}

static void print_verdict(const char *name, verdict v, const tsr_desc *a, const tsr_desc *b,
                          const contrast *found)
{
    const colours c = colours_of(stdout);
    const bool bad = v != SAME && v != CLOSE;
    printf("%s%s%s: %s", bad ? c.red : c.green, name[0] ? name : "tensor", c.off, verdict_names[v]);
    if (v == OTHER_SHAPE || v == OTHER_DTYPE) {
        fputs(": ", stdout);
        print_desc(a);
        fputs(" and ", stdout);
        print_desc(b);
    }
    if (found && found->differ)
        printf("; %" PRId64 " of %" PRId64 " elements differ", found->differ, found->count);
    putchar('\n');
    if (!found) return;
    print_extreme("abs", &found->error, a->ndim);
    print_extreme("rel", &found->relative, a->ndim);
    print_extreme("ulp", &found->steps, a->ndim);
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

static void json_verdict(json *j, const char *name, verdict v, const tsr_desc *a, const tsr_desc *b,
                         const contrast *found)
{
    json_open(j, NULL, '{');
    json_string(j, "name", name);
    json_string(j, "verdict", verdict_names[v]);
    if (a) json_desc(j, "a", a);
    if (b) json_desc(j, "b", b);
    if (found) {
        json_integer(j, "count", found->count);
        json_integer(j, "differ", found->differ);
        json_extreme(j, "abs", &found->error, a->ndim);
        json_extreme(j, "rel", &found->relative, a->ndim);
        json_extreme(j, "ulp", &found->steps, a->ndim);
    }
    json_close(j, '}');
}

static void tell(comparison *c, const char *name, verdict v, const tsr_desc *a, const tsr_desc *b,
                 const contrast *found)
{
    const bool good = v == SAME || v == CLOSE;
    if (good) c->same++;
    else      c->different++;
    progress_end(&c->p);
    if (c->r->quiet) return;
    if (c->r->json)                     json_verdict(&c->j, name, v, a, b, found);
    else if (!good || c->r->verbose)    print_verdict(name, v, a, b, found);
}

/* Comparing -------------------------------------------------------------------------------- */

static void compare_pair(comparison *c, int64_t i, int64_t k)
{
    const item *a = &c->a.items[i], *b = &c->b.items[k];
    contrast found;
    if (!same_shape(&c->a, i, &c->b, k)) {
        tell(c, a->name, OTHER_SHAPE, &a->desc, &b->desc, NULL);
        return;
    }
    if (a->desc.dtype == TSR_DTYPE_INVALID || b->desc.dtype == TSR_DTYPE_INVALID ||
        !contrast_items(&found, &c->a, i, &c->b, k, &c->r->allowed, &c->p, c->done, c->total)) {
        if (a->desc.dtype == TSR_DTYPE_INVALID || b->desc.dtype == TSR_DTYPE_INVALID)
            complain(name_of_command, "%s: its encoding cannot be read", a->name);
        c->failed = true;
        return;
    }
    c->done += (double)tsr_desc_bytes(&a->desc);
    verdict v = found.differ ? DIFFERENT : found.error.size > 0 ? CLOSE : SAME;
    if (a->desc.dtype != b->desc.dtype && !c->r->any_dtype && !found.differ) v = OTHER_DTYPE;
    if (a->desc.dtype != b->desc.dtype && !c->r->any_dtype && found.differ) {
        tell(c, a->name, OTHER_DTYPE, &a->desc, &b->desc, &found);
        return;
    }
    tell(c, a->name, v, &a->desc, &b->desc, &found);
}

static void compare_all(comparison *c)
{
    for (int64_t i = 0; i < c->a.count; i++)
        if (partner(&c->a, i, &c->b) >= 0) c->total += (double)tsr_desc_bytes(&c->a.items[i].desc);
    progress_begin(&c->p);
    for (int64_t i = 0; i < c->a.count; i++) {
        const int64_t k = partner(&c->a, i, &c->b);
        if (k >= 0) compare_pair(c, i, k);
        else        tell(c, c->a.items[i].name, ONLY_FIRST, &c->a.items[i].desc, NULL, NULL);
    }
    for (int64_t k = 0; k < c->b.count; k++)
        if (partner(&c->b, k, &c->a) < 0)
            tell(c, c->b.items[k].name, ONLY_SECOND, NULL, &c->b.items[k].desc, NULL);
    progress_end(&c->p);
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
    return reading_check(&r->how, name_of_command);
}

static void print_result(comparison *c)
{
    if (c->r->json) {
        json_close(&c->j, ']');
        json_integer(&c->j, "same", c->same);
        json_integer(&c->j, "different", c->different);
        json_close(&c->j, '}');
    } else if (!c->r->quiet) {
        printf("%" PRId64 " same, %" PRId64 " different\n", c->same, c->different);
    }
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
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const int count = read_options(name_of_command, options, argc, argv);
    if (count < 0 || !read_request(&r)) return EXIT_USAGE;
    if (count != 2) return complain_usage(name_of_command, "two files are compared, not %d", count);
    if (r.quiet) r.json = false;
    comparison c = { .r = &r };
    int code = source_open(&c.a, name_of_command, argv[1], &r.how);
    const int second = source_open(&c.b, name_of_command, argv[2], &r.how);
    if (second > code) code = second;
    if (code == EXIT_YES) {
        if (r.json) {
            json_open(&c.j, NULL, '{');
            json_open(&c.j, "tensors", '[');
        }
        compare_all(&c);
        print_result(&c);
        code = c.failed || c.a.damaged || c.b.damaged ? EXIT_INPUT : c.different ? EXIT_NO : EXIT_YES;
    }
    source_close(&c.a);
    source_close(&c.b);
    return code;
}

const command diff_command = {
    .name = name_of_command,
    .run = run_diff,
    .summary = "where two files of tensors differ, and how much",
    .help =
        "usage: tsr diff A B [--rtol R] [--atol A] [--ulp N] [--any-dtype] [--verbose | --quiet] [--json]\n"
        "\n"
        "Compares the tensors of two files, directories, or FILE:NAME[SLICE], by name;\n"
        "where each side has one tensor, these two. Tells of each that is missing, of\n"
        "another shape or dtype, or that differs: how many elements, and the largest\n"
        "absolute and relative error and distance in ulps, with place and values.\n"
        "\n"
        "  --rtol R          an element is close if |a - b| <= A + R * |b|\n"
        "  --atol A          both are 0 by default: only equal elements are close\n"
        "  --ulp N           or if it is no more than N steps of the dtype apart\n"
        "  --nan-differs     NaN differs from NaN, too\n"
        "  --any-dtype       tensors of different dtypes may be the same\n"
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
