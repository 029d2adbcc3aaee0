/* stats.c - tsr stats: the numbers that describe tensors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "json_tensor.h"
#include "room.h"
#include "summary.h"

static const char name_of_command[] = "stats";

typedef struct request {
    bool        json, exact;
    const char *quantiles, *bins;
    summary     wanted;
    reading     how;
} request;

static bool read_quantiles(request *r)
{
    const char *p = r->quantiles ? r->quantiles : "0.01,0.05,0.25,0.5,0.75,0.95,0.99";
    while (*p) {
        char *end = NULL;
        const double q = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(q >= 0 && q <= 1) ||
            r->wanted.quantiles == SUMMARY_QUANTILES) {
            complain_usage(name_of_command,
                           "--quantiles takes up to %d numbers of 0 .. 1, as 0.25,0.5, not '%s'",
                           SUMMARY_QUANTILES, r->quantiles);
            return false;
        }
        r->wanted.quantile[r->wanted.quantiles++] = q;
        p = *end ? end + 1 : end;
    }
    return true;
}

static bool read_request(request *r)
{
    uint64_t bins = 16;
    if (r->bins && !read_count(&bins, name_of_command, "--bins", r->bins)) return false;
    if (bins < 1 || bins > HISTOGRAM_BINS) {
        complain_usage(name_of_command, "--bins takes 1 .. %d, not '%s'", HISTOGRAM_BINS, r->bins);
        return false;
    }
    r->wanted.bins = (int)bins;
    r->wanted.exact = r->exact;
    return read_quantiles(r) && reading_check(&r->how, name_of_command);
}

/* Text ------------------------------------------------------------------------------- */

static const char *scalar_text(char out[40], tsr_scalar s)
{
    if (s.dtype == TSR_I64)      snprintf(out, 40, "%" PRId64, s.as.i);
    else if (s.dtype == TSR_U64) snprintf(out, 40, "%" PRIu64, s.as.u);
    else if (s.dtype == TSR_F64) snprintf(out, 40, "%.9g", s.as.c.re);
    else                         snprintf(out, 40, "-");
    return out;
}

static void print_count(const char *label, int64_t n, int64_t all)
{
    printf("  %-8s  %" PRId64, label, n);
    if (n > 0 && all > 0) printf("  (%.3g %%)", 100 * (double)n / (double)all);
    putchar('\n');
}

static void print_in_full(const char *name, const tsr_desc *d, const summary *found)
{
    const colours c = colours_of(stdout);
    char text[400], number[40];
    tsr_desc_to_string(text, sizeof text, d);
    printf("%s%s%s%s%s", c.bold, name, c.off, name[0] ? ": " : "", text);
    puts(tsr_dtype_kind(d->dtype) == TSR_COMPLEX ? ", by magnitude" : "");
    printf("  %-8s  %" PRId64 "\n", "count", found->count);
    print_count("nan", found->nans, found->count);
    print_count("inf", found->infinities, found->count);
    print_count("zero", found->zeros, found->count);
    printf("  %-8s  %s\n", "min", scalar_text(number, found->min));
    printf("  %-8s  %s\n", "max", scalar_text(number, found->max));
    printf("  %-8s  %.9g\n", "mean", found->mean);
    printf("  %-8s  %.9g\n", "std", found->deviation);
    for (int i = 0; i < found->quantiles; i++) {
        snprintf(number, sizeof number, "%.6g %%", 100 * found->quantile[i]);
        printf("  %-8s  %s%.9g\n", number, found->is_exact ? "" : "about ", found->value[i]);
    }
    if (found->finite) histogram_print(&found->bars, 2, terminal_width());
}

enum { NUMBER_WIDTH = 12 };

static void print_head(int names)
{
    const colours c = colours_of(stdout);
    printf("%s%-*s  %-6s %*s %*s %*s %*s %*s %*s %*s%s\n", c.dim, names, "name", "dtype", NUMBER_WIDTH, "min",
           NUMBER_WIDTH, "max", NUMBER_WIDTH, "mean", NUMBER_WIDTH, "std", 10, "zero", 8, "nan", 8, "inf",
           c.off);
}

static void print_row(int names, const item *it, const summary *found)
{
    const colours c = colours_of(stdout);
    char text[40];
    printf("%-*s  %-6s", names, it->name, tsr_dtype_name(it->desc.dtype));
    printf(" %*.*s", NUMBER_WIDTH, NUMBER_WIDTH + 8, scalar_text(text, found->min));
    printf(" %*.*s", NUMBER_WIDTH, NUMBER_WIDTH + 8, scalar_text(text, found->max));
    printf(" %*.5g %*.5g %10" PRId64, NUMBER_WIDTH, found->mean, NUMBER_WIDTH, found->deviation,
           found->zeros);
    printf("%s %8" PRId64 "%s", found->nans ? c.red : "", found->nans, found->nans ? c.off : "");
    printf("%s %8" PRId64 "%s\n", found->infinities ? c.red : "", found->infinities,
           found->infinities ? c.off : "");
}

/* JSON ------------------------------------------------------------------------------- */

static void json_found(json *j, const item *it, const summary *found)
{
    json_open(j, NULL, '{');
    json_string(j, "name", it->name);
    json_string(j, "dtype", tsr_dtype_name(it->desc.dtype));
    json_integers(j, "shape", it->desc.ndim, it->desc.shape);
    json_integer(j, "count", found->count);
    json_integer(j, "nan", found->nans);
    json_integer(j, "inf", found->infinities);
    json_integer(j, "zero", found->zeros);
    if (found->min.dtype != TSR_DTYPE_INVALID) {
        json_element(j, "min", found->min);
        json_element(j, "max", found->max);
    }
    json_number(j, "mean", found->mean);
    json_number(j, "std", found->deviation);
    json_bool(j, "quantiles_exact", found->is_exact);
    json_open(j, "quantiles", '[');
    for (int i = 0; i < found->quantiles; i++) {
        json_open(j, NULL, '{');
        json_number(j, "q", found->quantile[i]);
        json_element(j, "value", tsr_scalar_f64(found->value[i]));
        json_close(j, '}');
    }
    json_close(j, ']');
    if (found->finite) {
        json_open(j, "histogram", '{');
        json_number(j, "low", found->bars.low);
        json_number(j, "high", found->bars.high);
        json_integers(j, "counts", found->bars.bins, found->bars.count);
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* The command ---------------------------------------------------------------------------- */

static int longest_name(const source *s)
{
    size_t longest = 4;
    for (int64_t i = 0; i < s->count; i++)
        if (strlen(s->items[i].name) > longest) longest = strlen(s->items[i].name);
    return (int)longest;
}

static bool is_readable(const source *s, const item *it)
{
    if (it->desc.dtype != TSR_DTYPE_INVALID) return true;
    complain(s->command, "%s:%s: its encoding %s cannot be read", s->path, it->name, it->encoding);
    return false;
}

/* The desc of what is looked at. */
static tsr_desc desc_of_part(const source *s, const item *it)
{
    tsr_desc d = it->desc;
    cut c;
    char why[200];
    if (!s->has_part || subscript_cut(&c, &s->part, &it->desc, why)) return d;
    d.ndim = 0;
    for (int i = 0; i < c.ndim; i++)
        if (c.range[i].step != 0) {
            d.stride[d.ndim] = it->desc.stride[i] * c.range[i].step;
            d.shape[d.ndim++] = c.length[i];
        }
    return d;
}

static int describe(source *s, const request *r, json *j, bool several)
{
    progress p;
    double work = 0, done = 0;
    int code = s->damaged ? EXIT_INPUT : EXIT_YES;
    const int names = longest_name(s);
    for (int64_t i = 0; i < s->count; i++)
        if (s->items[i].desc.dtype != TSR_DTYPE_INVALID) work += summary_work(&r->wanted, s, i);
    progress_begin(&p);
    if (several && !r->json) print_head(names);
    for (int64_t i = 0; i < s->count; i++) {
        summary found = r->wanted;
        item it = s->items[i];
        if (!is_readable(s, &it) || !summarise(&found, s, i, &p, done, work)) {
            code = EXIT_INPUT;
            continue;
        }
        done += summary_work(&r->wanted, s, i);
        progress_end(&p);
        it.desc = desc_of_part(s, &it);
        if (r->json)      json_found(j, &it, &found);
        else if (several) print_row(names, &it, &found);
        else              print_in_full(it.name, &it.desc, &found);
    }
    progress_end(&p);
    return code;
}

static int run_stats(int argc, char **argv)
{
    request r = { 0 };
    json j = { 0 };
    int code = EXIT_YES;
    const option options[] = {
        { "--json",      NULL,      &r.json,  NULL },
        { "--exact",     NULL,      &r.exact, NULL },
        { "--quantiles", "Q,Q,...", NULL,     &r.quantiles },
        { "--bins",      "N",       NULL,     &r.bins },
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const int count = read_options(name_of_command, options, argc, argv);
    if (count < 0 || !read_request(&r)) return EXIT_USAGE;
    if (count == 0)
        return complain_usage(name_of_command, "of which tensors? FILE, FILE:NAME or FILE:NAME[SLICE]");
    if (r.json) json_open(&j, NULL, '[');
    for (int i = 1; i <= count; i++) {
        source s;
        int one = source_open(&s, name_of_command, argv[i], &r.how);
        if (one == EXIT_YES) one = describe(&s, &r, &j, s.count > 1);
        source_close(&s);
        if (one > code) code = one;
    }
    if (r.json) json_close(&j, ']');
    return code;
}

const command stats_command = {
    .name = name_of_command,
    .run = run_stats,
    .summary = "minimum, mean, quantiles, NaN counts and a histogram",
    .help = "usage: tsr stats FILE[:NAME][SLICE]... [--quantiles Q,Q,...] [--bins N] [--exact] [--json]\n"
            "\n"
            "Describes the numbers of a tensor: how many are NaN, infinite and zero, the\n"
            "smallest and the largest, mean and standard deviation, quantiles, and a\n"
            "histogram. Of a file or directory with several tensors: a row for each.\n"
            "\n"
            "  --quantiles Q,Q   which quantiles, numbers of 0 .. 1\n"
            "  --bins N          bars of the histogram, up to 200; 16 by default\n"
            "  --exact           exact quantiles, at the cost of two more passes\n"
            "  --json            one JSON document\n"
            READING_HELP
            "\n"
            "Tensors are read piece by piece, two times or more, and memory does not grow\n"
            "with them (compressed ones are unpacked whole). NaN counts nowhere else; mean,\n"
            "std and histogram leave infinities out. The std divides by the count. Quantiles\n"
            "are as NumPy's: exact, but for more than 2^24 elements of 64 bits, where they\n"
            "are within 2^-20 of the number unless --exact is given. Complex numbers are\n"
            "described by their magnitude.\n"
            "\n"
            "examples:\n"
            "  tsr stats x.npy\n"
            "  tsr stats 'model.safetensors:layers.0.weight[:, 0]' --bins 40\n"
            "  tsr stats model.gguf --json | jq '.[] | select(.nan > 0) | .name'\n"
            "\n"
            "exit status: 0, or 3 if a tensor cannot be read, 2 for a command line that\n"
            "cannot be understood\n",
};
