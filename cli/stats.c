/* stats.c - tsr stats: the numbers that describe tensors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "json_tensor.h"
#include "listing.h"
#include "room.h"
#include "summary.h"
#include "table.h"
#include "text.h"

static const char name_of_command[] = "stats";

typedef struct request {
    bool        json, exact, several, detailed;  /* detailed: not as rows */
    const char *quantiles, *bins;
    summary     wanted;
    listing     list;
    reading     how;
} request;

/* A tensor and its numbers. */
typedef struct entry {
    const item *it;
    summary     found;
} entry;

static const char orders[] = "file name size dtype shape min max mean std zero nan inf";

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
    r->detailed = r->exact || r->bins || r->quantiles;
    if (!listing_check(&r->list, name_of_command, orders)) return false;
    return read_quantiles(r) && reading_check(&r->how, name_of_command);
}

/* Text ------------------------------------------------------------------------------- */

/* NaN has no sign, whatever its bits say. */
static const char *number_text(char out[40], double x, int digits)
{
    if (isnan(x)) snprintf(out, 40, "nan");
    else          snprintf(out, 40, "%.*g", digits, x);
    return out;
}

static const char *scalar_text(char out[40], tsr_scalar s, int digits)
{
    if (s.dtype == TSR_I64)      snprintf(out, 40, "%" PRId64, s.as.i);
    else if (s.dtype == TSR_U64) snprintf(out, 40, "%" PRIu64, s.as.u);
    else if (s.dtype == TSR_F64) number_text(out, s.as.c.re, digits);
    else                         snprintf(out, 40, "-");
    return out;
}

static void print_count(const char *label, int64_t n, int64_t all)
{
    printf("  %-8s  %" PRId64, label, n);
    if (n > 0 && all > 0) printf("  (%.3g %%)", 100 * (double)n / (double)all);
    putchar('\n');
}

static void print_moment(const char *label, double x, const summary *found)
{
    char number[40];
    printf("  %-8s  %s", label, found->finite ? number_text(number, x, 9) : "-");
    if (found->finite && found->infinities)
        printf("  (of %" PRId64 " finite one%s)", found->finite, plural(found->finite));
    putchar('\n');
}

/* A column of words: how often each is there, where that is not a list without end. */
static void print_words(const char *name, const item *it, const char *const *words, const summary *found)
{
    const colours c = colours_of(stdout);
    printf("%s%s%s: words\n", c.bold, name, c.off);
    printf("  %-8s  %" PRId64 "\n", "count", found->count);
    print_count("missing", found->nans, found->count);
    printf("  %-8s  %" PRId64 "\n", "words", it->words);
    if (found->bars.whole && found->finite) histogram_print_words(&found->bars, words, 2, terminal_width());
    else if (found->finite) printf("  more than %d, and not listed\n", HISTOGRAM_BINS);
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
    printf("  %-8s  %s\n", "min", scalar_text(number, found->min, 9));
    printf("  %-8s  %s\n", "max", scalar_text(number, found->max, 9));
    print_moment("mean", found->mean, found);
    print_moment("std", found->deviation, found);
    for (int i = 0; i < found->quantiles && found->count > found->nans; i++) {
        char label[40];
        snprintf(label, sizeof label, "%.6g %%", 100 * found->quantile[i]);
        number_text(number, found->value[i], 9);
        printf("  %-8s  %s%s\n", label, found->is_exact ? "" : "about ", number);
    }
    if (found->finite) histogram_print(&found->bars, 2, terminal_width());
}

/* Many tensors ------------------------------------------------------------------------- */

enum { COLUMNS = 11, NAME = 0, NANS = 8, INFINITIES = 9 };

static void count_text(char out[24], int64_t n) { snprintf(out, 24, "%" PRId64, n); }

static void add_row(table *t, const entry *e)
{
    const colours c = colours_of(stdout);
    const summary *found = &e->found;
    char count[24], zeros[24], nans[24], infinities[24], min[40], max[40], mean[40], std[40];
    char bars[SPARKLINE_BYTES] = "";
    char dtype[40];
    const bool numbers = !e->it->words; /* codes of words have no mean */
    if (numbers) snprintf(dtype, sizeof dtype, "%s", tsr_dtype_name(e->it->desc.dtype));
    else         snprintf(dtype, sizeof dtype, "%" PRId64 " word%s", e->it->words, plural(e->it->words));
    count_text(count, found->count);
    count_text(zeros, found->zeros);
    count_text(nans, found->nans);
    count_text(infinities, found->infinities);
    if (found->finite) histogram_sparkline(bars, &found->bars);
    const char *cells[COLUMNS] = {
        e->it->name[0] ? e->it->name : "-",
        dtype,
        count,
        numbers ? scalar_text(min, found->min, 4) : "-",
        numbers ? scalar_text(max, found->max, 4) : "-",
        found->finite && numbers ? number_text(mean, found->mean, 4) : "-",
        found->finite && numbers ? number_text(std, found->deviation, 4) : "-",
        numbers ? zeros : "-",
        nans,
        infinities,
        bars,
    };
    table_add(t, cells, found->nans || found->infinities ? c.red : "");
}

/* Counts of NaN and infinities are the last to go where there are some, and else the first. */
static void print_rows(const entry *list, int64_t count)
{
    table_column columns[COLUMNS] = {
        { "name", TABLE_NAME, 0 },  { "dtype", TABLE_LEFT, 5 },  { "count", TABLE_RIGHT, 6 },
        { "min", TABLE_RIGHT, 0 },  { "max", TABLE_RIGHT, 0 },   { "mean", TABLE_RIGHT, 3 },
        { "std", TABLE_RIGHT, 1 },  { "zero", TABLE_RIGHT, 4 },  { "nan", TABLE_RIGHT, 7 },
        { "inf", TABLE_RIGHT, 8 },  { "histogram", TABLE_LEFT, 2 },
    };
    table t = table_new(columns, COLUMNS);
    for (int64_t i = 0; i < count; i++) {
        add_row(&t, &list[i]);
        if (list[i].found.nans) columns[NANS].rank = 0;
        if (list[i].found.infinities) columns[INFINITIES].rank = 0;
    }
    if (count) table_print(&t, 0, table_width());
    table_free(&t);
}

static double number_of(tsr_scalar s)
{
    return s.dtype == TSR_I64 ? (double)s.as.i : s.dtype == TSR_U64 ? (double)s.as.u : s.as.c.re;
}

typedef struct keyed { double key; int64_t at; } keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* What --sort looks at: larger comes first. NaN is the largest. */
static double key_of(const entry *e, const char *order)
{
    const summary *f = &e->found;
    const double min = number_of(f->min), max = number_of(f->max);
    const double key = !strcmp(order, "min")    ? -min
                       : !strcmp(order, "max")  ? max
                       : !strcmp(order, "mean") ? f->mean
                       : !strcmp(order, "std")  ? f->deviation
                       : !strcmp(order, "zero") ? (double)f->zeros
                       : !strcmp(order, "nan")  ? (double)f->nans
                                                : (double)f->infinities;
    return isnan(key) ? (double)INFINITY : key;
}

static void sort_entries(entry *list, int64_t count, const char *order)
{
    keyed *keys = room_for((size_t)count, sizeof *keys);
    entry *sorted = room_for((size_t)count, sizeof *sorted);
    for (int64_t i = 0; i < count; i++) keys[i] = (keyed){ key_of(&list[i], order), i };
    if (count) qsort(keys, (size_t)count, sizeof *keys, by_key);
    for (int64_t i = 0; i < count; i++) sorted[i] = list[keys[i].at];
    if (count) memcpy(list, sorted, (size_t)count * sizeof *list);
    free(keys);
    free(sorted);
}

/* JSON ------------------------------------------------------------------------------- */

static void json_found(json *j, const source *s, const item *it, const summary *found)
{
    json_open(j, NULL, '{');
    json_string(j, "file", s->file[it->file].path);
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

/* The desc of what is looked at. */
static tsr_desc desc_of_part(const source *s, const item *it)
{
    tsr_desc d = it->desc;
    cut c;
    if ((!s->has_part && it->column < 0) || !source_cut(&c, s, it - s->items)) return d;
    d.ndim = 0;
    for (int i = 0; i < c.ndim; i++)
        if (c.range[i].step != 0) {
            d.stride[d.ndim] = it->desc.stride[i] * c.range[i].step;
            d.shape[d.ndim++] = c.length[i];
        }
    return d;
}

/* Looks at all items; *count of them could be read. */
static entry *summarise_all(int64_t *count, source *s, const summary *wanted)
{
    progress p;
    double work = 0, done = 0;
    entry *list = room_for((size_t)s->count, sizeof *list);
    *count = 0;
    for (int64_t i = 0; i < s->count; i++)
        if (s->items[i].desc.dtype != TSR_DTYPE_INVALID) work += summary_work(wanted, s, i);
    progress_begin(&p);
    for (int64_t i = 0; i < s->count; i++) {
        entry *e = &list[*count];
        *e = (entry){ .it = &s->items[i], .found = *wanted };
        e->found.codes = e->it->words > 0;
        if (e->found.codes && !wanted->brief) e->found.bins = HISTOGRAM_BINS;
        if (!source_can_read(s, e->it) || !summarise(&e->found, s, i, &p, done, work)) continue;
        done += summary_work(wanted, s, i);
        ++*count;
    }
    progress_end(&p);
    return list;
}

static bool sorts_by_number(const request *r)
{
    static const char *const numbers[] = { "min", "max", "mean", "std", "zero", "nan", "inf" };
    for (int i = 0; r->list.sort && i < 7; i++)
        if (!strcmp(r->list.sort, numbers[i])) return true;
    return false;
}

static int describe(source *s, const request *r, json *j)
{
    const bool several = s->count > 1 && !r->detailed;
    int64_t count = 0;
    summary wanted = r->wanted;
    if (several && !r->json) {
        wanted.brief = true;
        wanted.quantiles = 0;
        wanted.bins = SPARKLINE_BINS;
    }
    entry *list = summarise_all(&count, s, &wanted);
    if (sorts_by_number(r)) sort_entries(list, count, r->list.sort);
    if (several && !r->json) print_rows(list, count);
    for (int64_t i = 0; i < count && (r->json || !several); i++) {
        item it = *list[i].it;
        it.desc = desc_of_part(s, list[i].it);
        const char *const *words = r->json ? NULL : source_words(s, &it);
        if (i && !r->json) putchar('\n');
        if (r->json)    json_found(j, s, &it, &list[i].found);
        else if (words) print_words(it.name, &it, words, &list[i].found);
        else            print_in_full(it.name, &it.desc, &list[i].found);
    }
    free(list);
    return s->damaged || count < s->count ? EXIT_INPUT : EXIT_YES;
}

/* One word of the command line. *found counts the tensors. */
static int describe_word(const char *word, const request *r, json *j, int64_t *found)
{
    source s;
    int code = source_open(&s, name_of_command, word, &r->how);
    if (code == EXIT_YES) {
        const bool in_order = (!s.wanted && !s.has_part && source_split_table(&s)) || r->json;
        listing_apply(&r->list, &s, in_order ? "file" : "name");
        if (r->several && !r->json && s.count) print_heading(word, !*found);
        *found += s.count;
        code = describe(&s, r, j);
    }
    source_close(&s);
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
        LISTING_OPTIONS(r.list),
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const bool selects = listing_read(&r.list, name_of_command, argc, argv);
    const int count = selects ? read_options(name_of_command, options, argc, argv) : -1;
    if (count < 0 || !read_request(&r)) return EXIT_USAGE;
    if (count == 0)
        return complain_usage(name_of_command, "of which tensors? FILE, FILE:NAME or FILE:NAME[SLICE]");
    r.several = count > 1;
    if (r.json) json_open(&j, NULL, '[');
    int64_t found = 0;
    for (int i = 1; i <= count; i++) {
        const int one = describe_word(argv[i], &r, &j, &found);
        if (one > code) code = one;
    }
    if (r.json) json_close(&j, ']');
    return code == EXIT_YES && !found ? listing_found_none(&r.list, name_of_command) : code;
}

const command stats_command = {
    .name = name_of_command,
    .run = run_stats,
    .summary = "minimum, mean, quantiles, NaN counts and a histogram",
    .help = "usage: tsr stats FILE[:NAME][SLICE]... [--quantiles Q,Q,...] [--bins N] [--exact]\n"
            "                 [--select PATTERN] [--sort ORDER] [--json]\n"
            "\n"
            "Describes the numbers of a tensor: how many are NaN, infinite and zero, the\n"
            "smallest and the largest, mean and standard deviation, quantiles, and a\n"
            "histogram. Of a file or directory with several tensors, and of a table whose\n"
            "columns have names: a row for each, with a small histogram from the smallest to\n"
            "the largest. Its heights are logarithms of counts, of up to 16384 elements that\n"
            "lie evenly apart. Columns that a narrow terminal has no room for are left out;\n"
            "those of NaN and infinities are not, where there are some. With one of the first\n"
            "three options each tensor is described in full.\n"
            "\n"
            "  --quantiles Q,Q   which quantiles, numbers of 0 .. 1\n"
            "  --bins N          bars of the histogram, up to 200; 16 by default\n"
            "  --exact           exact quantiles, at the cost of two more passes\n"
            LISTING_HELP
            "  --sort ORDER      name, size, dtype, shape, file; or the smallest min, or the\n"
            "                    largest max, mean, std, zero, nan or inf first\n"
            "  --json            one JSON document\n"
            READING_HELP
            "\n"
            "Tensors are read piece by piece on all threads: once for a row, two times or\n"
            "more in full. Memory does not grow with them (compressed ones are unpacked\n"
            "whole). NaN counts nowhere else; mean, std and histogram leave infinities out.\n"
            "The std divides by the count. Quantiles are as NumPy's: exact, but for more than\n"
            "2^24 elements of 64 bits, where they are within 2^-20 of the number unless\n"
            "--exact is given. Complex numbers are described by their magnitude.\n"
            "\n"
            "examples:\n"
            "  tsr stats x.npy\n"
            "  tsr stats 'model.safetensors:layers.0.weight[:, 0]' --bins 40\n"
            "  tsr stats model.safetensors --select '*.q_proj.weight' --sort std\n"
            "  tsr stats model.gguf --json | jq '.[] | select(.nan > 0) | .name'\n"
            "\n"
            "exit status: 0, or 3 if a tensor cannot be read, 2 for a command line that\n"
            "cannot be understood\n",
};
