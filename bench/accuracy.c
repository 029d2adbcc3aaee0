/* accuracy.c - how far every floating function is off, in units in the last place.
 *
 *     bench-accuracy [--quick] [--markdown [FILE]] [FILTER]
 *
 * Takes every value of f16, bf16 and the f8 dtypes, every pair of f8, and samples of f32, f64, c64
 * and c128, and compares with values of more digits: of long double, for f64 and c128 of _Float128 where the
 * C library has it. Prints a line per function and dtype: the largest error seen, its bound (op.def), the
 * share of results that are the number nearest to the exact one, and where the largest error is. Ends with
 * 1 if a bound does not hold.
 *
 * --markdown writes tables between the headings "## Measured" and "## How" of FILE, which is
 * docs/accuracy.md unless named. --quick takes fewer samples. FILTER takes the functions whose
 * names contain it. TSR_ISA chooses the kernels. */
#define _POSIX_C_SOURCE 200809L
#include "../tests/ops/accuracy.h"

#include <unistd.h>

static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64, TSR_C64,
                                    TSR_C128 };
enum { DTYPES = sizeof dtypes / sizeof *dtypes, F32 = 4, F64 = 5, C64 = 6, C128 = 7 };

static struct {
    bool        quick;
    const char *markdown, *filter;
} options;

static struct { bool done; acc_result result; } measured[2 * TSR_OP_COUNT][DTYPES];
static int functions;

/* The reference ---------------------------------------------------------------------------------- */

static void say_reference(FILE *out)
{
    fprintf(out, "long double, of %d digits", LDBL_MANT_DIG);
    if (ACC_FLOAT128) fprintf(out, ", and for f64 and c128 _Float128, of 113");
}

static void say_library(FILE *out)
{
#ifdef __GLIBC__
    fprintf(out, "glibc %d.%d", __GLIBC__, __GLIBC_MINOR__);
#else
    fprintf(out, "unnamed");
#endif
}

/* Measuring --------------------------------------------------------------------------------------- */

static bool is_taken(int f, int d)
{
    if (options.filter && !strstr(acc_functions[f].op->name, options.filter)) return false;
    return acc_functions[f].is_complex == acc_is_complex(dtypes[d]);
}

/* All there are, or many: log2 of how many elements are tried. */
static int samples_of(int f, int d)
{
    const int bits = acc_format_of(dtypes[d]).bits * acc_functions[f].op->nin;
    if (acc_is_short(dtypes[d]) && bits <= 16) return bits;
    if (d == C64 || d == C128) return options.quick ? 10 : 14;
    if (options.quick) return 12;
    return d == F32 ? 20 : 17;
}
#define SAMPLES "2^20 of f32, 2^17 of f64, 2^14 of c64 and c128, 2^17 pairs of f16 and bf16"

static void progress(int done, int total, const char *name)
{
    enum { WIDTH = 40 };
    const int full = done * WIDTH / total;
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r[%.*s%*s] %3d%% %-24s", full, "########################################",
            WIDTH - full, "", done * 100 / total, name);
    if (done == total) fprintf(stderr, "\n");
}

static void say_operands(FILE *out, const acc_function *f, const acc_result *r)
{
    const int n = f->op->nin * (f->is_complex ? 2 : 1);
    for (int i = 0; i < n; i++) fprintf(out, "%s%.9g", i ? ", " : "", r->at[i]);
}

static double share(const acc_result *r)
{
    return 100 * (double)r->rounded / (double)(r->count ? r->count : 1);
}

static void print_line(int f, int d)
{
    const acc_function *function = &acc_functions[f];
    const acc_result *r = &measured[f][d].result;
    printf("%-11s %-7s %10.4g of %-6g %9.4f%% right  at (", function->op->name, tsr_dtype_name(dtypes[d]),
           r->most, acc_bound(function, dtypes[d]), share(r));
    say_operands(stdout, function, r);
    printf(")%s\n", r->most > acc_bound(function, dtypes[d]) ? "  BEYOND ITS BOUND" : "");
    fflush(stdout);
}

/* Returns how many bounds did not hold, or -1 if the library failed. */
static int measure_all(void)
{
    int total = 0, done = 0, beyond = 0;
    for (int f = 0; f < functions; f++)
        for (int d = 0; d < DTYPES; d++) total += is_taken(f, d);
    for (int f = 0; f < functions; f++)
        for (int d = 0; d < DTYPES; d++) {
            if (!is_taken(f, d)) continue;
            acc_result *r = &measured[f][d].result;
            progress(done++, total, acc_functions[f].op->name);
            if (!acc_measure(r, &acc_functions[f], dtypes[d], (int64_t)1 << samples_of(f, d),
                             acc_reference_for(dtypes[d]))) {
                fprintf(stderr, "bench: %s\n", tsr_last_error());
                return -1;
            }
            measured[f][d].done = true;
            beyond += r->most > acc_bound(&acc_functions[f], dtypes[d]);
            print_line(f, d);
        }
    if (total) progress(total, total, "");
    return beyond;
}

/* The page ----------------------------------------------------------------------------------------- */

static bool is_shown(int f, bool is_complex)
{
    return acc_functions[f].is_complex == is_complex && measured[f][is_complex ? C64 : F32].done;
}

static void write_short(FILE *out)
{
    fputs("### f8e4m3, f8e5m2, f16, bf16\n\n"
          "The largest error in each; of functions of one operand, and of two in f8, over all values.\n\n"
          "| function | bound | f8e4m3 | f8e5m2 | f16 | bf16 | least share right |\n"
          "|---|--:|--:|--:|--:|--:|--:|\n", out);
    for (int f = 0; f < functions; f++) {
        double least = 100;
        if (!is_shown(f, false)) continue;
        fprintf(out, "| %s | %g |", acc_functions[f].op->name,
                acc_functions[f].op->facts.errors[ERRORS_SHORT]);
        for (int d = 0; d < F32; d++) {
            fprintf(out, " %.4f |", measured[f][d].result.most);
            least = fmin(least, share(&measured[f][d].result));
        }
        fprintf(out, " %.3f%% |\n", least);
    }
}

static void write_long(FILE *out, int d)
{
    fprintf(out, "\n### %s\n\n", tsr_dtype_name(dtypes[d]));
    fputs("| function | bound | largest seen | at | right |\n|---|--:|--:|---|--:|\n", out);
    for (int f = 0; f < functions; f++) {
        const acc_result *r = &measured[f][d].result;
        if (!is_shown(f, false)) continue;
        const acc_function *function = &acc_functions[f];
        fprintf(out, "| %s%s | %g | %.4f | ", function->op->name,
                function->op->facts.of_terms ? " (of terms)" : "", acc_bound(function, dtypes[d]), r->most);
        if (r->most > 0) say_operands(out, function, r);
        fprintf(out, " | %.3f%% |\n", share(r));
    }
}

static void write_complex(FILE *out)
{
    fputs("\n### c64, c128\n\n"
          "In units of the larger part of the result, and in units of each part itself.\n\n"
          "| function | c64 bound | c64 | by part | c128 bound | c128 | by part | at |\n"
          "|---|--:|--:|--:|--:|--:|--:|---|\n", out);
    for (int f = 0; f < functions; f++) {
        const acc_function *function = &acc_functions[f];
        const acc_result *narrow = &measured[f][C64].result, *wide = &measured[f][C128].result;
        if (!is_shown(f, true)) continue;
        fprintf(out, "| %s | %g | %.4f | %.4g | ", function->op->name, acc_bound(function, TSR_C64),
                narrow->most, narrow->most_in_part);
        fprintf(out, "%g | %.3f | %.3g | ", acc_bound(function, TSR_C128), wide->most, wide->most_in_part);
        say_operands(out, function, wide);
        fputs(" |\n", out);
    }
}

static void write_tables(FILE *out)
{
    fputs("\nExact values: ", out);
    say_reference(out);
    fputs(". C library: ", out);
    say_library(out);
    fprintf(out, ". Kernels: %s.\n", tsr_cpu_isa());
    fprintf(out, "Samples: %s.\n\n", options.quick ? "few (--quick)" : SAMPLES);
    write_short(out);
    write_long(out, F32);
    write_long(out, F64);
    write_complex(out);
    fputs("\n", out);
}

/* The whole of a file, to be freed; NULL if it cannot be read. */
static char *read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    fseek(in, 0, SEEK_END);
    const long size = ftell(in);
    rewind(in);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text) text[fread(text, 1, (size_t)size, in)] = '\0';
    fclose(in);
    return text;
}

static int write_page(const char *path)
{
    static const char begin[] = "\n## Measured\n", end[] = "\n## How";
    char *text = read_file(path);
    char *from = text ? strstr(text, begin) : NULL, *to = from ? strstr(from + 1, end) : NULL;
    FILE *out = to ? fopen(path, "wb") : NULL;
    if (out) {
        from += sizeof begin - 1;
        fwrite(text, 1, (size_t)(from - text), out);
        write_tables(out);
        fputs(to + 1, out);
    } else {
        fprintf(stderr, "bench: cannot write %s, or it lacks the headings Measured and How\n", path);
    }
    free(text);
    return out ? fclose(out) : 1;
}

/* ---------------------------------------------------------------------------------------------------- */

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) options.quick = true;
        else if (strcmp(argv[i], "--markdown")) options.filter = argv[i];
        else if (i + 1 < argc && argv[i + 1][0] != '-') options.markdown = argv[++i];
        else options.markdown = "docs/accuracy.md";
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    functions = acc_list();
    printf("exact values: ");
    say_reference(stdout);
    printf("; kernels: %s\n", tsr_cpu_isa());
    const int beyond = measure_all();
    if (beyond > 0) fprintf(stderr, "bench: %d bounds do not hold\n", beyond);
    if (beyond >= 0 && options.markdown && write_page(options.markdown) != 0) return 1;
    return beyond != 0;
}
