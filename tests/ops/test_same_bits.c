/* test_same_bits.c - what has the same bits on every instruction set, and for every number of threads.
 *
 * The program runs itself with TSR_ISA and TSR_THREADS set, and asks for a checksum of every op with every
 * dtype. docs/concepts/reproducibility.md promises what is checked here. A NaN is a NaN: its other bits do
 * not count.
 *
 *     test_same_bits --print      the checksums, one a line
 *     test_same_bits --differ     ops and dtypes that differ between instruction sets
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L  /* popen, readlink */
#endif
#include <unistd.h>

#define TEST_OWN_MAIN
#include "any_op.h"
#include "opcheck/elementwise_ops.h"

enum { LINE = 128, MOST_LINES = 8192, SEEDS = 4 };

/* Checksums ---------------------------------------------------------------------------------- */

static bool is_nan(tsr_dtype d, const unsigned char *p)
{
    uint64_t u = 0;
    memcpy(&u, p, tsr_dtype_size(d));
    switch (d) {
    case TSR_F8E4M3: return (u & 0x7f) == 0x7f;
    case TSR_F8E5M2: return (u & 0x7f) > 0x7c;
    case TSR_F16: return (u & 0x7fff) > 0x7c00;
    case TSR_BF16: return (u & 0x7fff) > 0x7f80;
    case TSR_F32: return (u & 0x7fffffff) > 0x7f800000;
    case TSR_F64: return (u & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default: return false;
    }
}

static uint64_t add_bytes(uint64_t sum, const tsr_tensor *t)
{
    const tsr_dtype part = tsr_dtype_real(t->dtype);
    const size_t size = tsr_dtype_size(part), n = (size_t)tsr_numel(t) * tsr_dtype_size(t->dtype) / size;
    const unsigned char *p = t->data;
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < size; b++)
            sum = (sum ^ (is_nan(part, p + i * size) ? 0xee : p[i * size + b])) * 0x100000001b3u;
    return sum;
}

static void print_one(tsr_op_kind kind, tsr_dtype d)
{
    any_op a;
    tsr_signature s;
    tsr_dtype dtypes[TSR_OP_MAX_IN] = { d };
    uint64_t sum = 0xcbf29ce484222325u;
    if (tsr_signature_parse(&s, tsr_op_get_info(kind)->signature) != TSR_OK) return;
    const int main_operand = kind == TSR_OP_WHERE || kind == TSR_OP_SCATTER;
    const bool has_operands = s.noperands > s.nresults;
    if (!((has_operands ? any_dtypes(&s, main_operand) : s.operand[0].dtypes) >> d & 1)) return;
    if (has_operands) any_set_dtypes(dtypes, &s, main_operand, d);
    tsr_status status = TSR_OK;
    for (uint64_t seed = 1; seed <= SEEDS && status == TSR_OK; seed++) {
        status = any_op_make(&a, kind, dtypes, seed);
        if (status == TSR_OK) status = any_op_run(&a);
        for (int i = 0; i < a.s.nresults && status == TSR_OK; i++) sum = add_bytes(sum, a.out[i]);
        any_op_end(&a);
    }
    printf("%s %s %s %016llx\n", tsr_op_get_info(kind)->name, tsr_dtype_name(d), tsr_status_name(status),
           (unsigned long long)sum);
}

static int print_all(void)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++)
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) print_one((tsr_op_kind)kind, (tsr_dtype)d);
    return 0;
}

/* Runs of this program ------------------------------------------------------------------------ */

typedef struct sums {
    char line[MOST_LINES][LINE];
    int  n;
} sums;

static char self[1024];

static bool run_as(sums *out, const char *tuning, const char *isa, int threads)
{
    char command[2400];
    (void)snprintf(command, sizeof command,
                   "TSR_EXTERNAL=off TSR_TUNING=%s TSR_ISA=%s TSR_THREADS=%d '%s' --print", tuning, isa,
                   threads, self);
    FILE *f = popen(command, "r");
    out->n = 0;
    while (f && out->n < MOST_LINES && fgets(out->line[out->n], LINE, f)) out->n++;
    return f && pclose(f) == 0 && out->n > 500;
}

static bool run_self(sums *out, const char *isa, int threads) { return run_as(out, "", isa, threads); }

/* The promise ------------------------------------------------------------------------------------ */

/* Further ops whose results are rounded once, or not at all, or by the same steps everywhere. */
static const char *const exact[] = {
    "copy", "fill", "gather", "scatter", "sort", "argsort", "searchsorted", "max", "min", "any", "all",
    "count_nonzero", "argmax", "argmin", "cummax", "max_pool", "uniform", "randn", "integers", "exponential",
    "matmul_i8", "quantise", "dequantise", "quantisation_range", "quantise_dynamic", "dropout", "fft", "rfft",
    "irfft",
};

/* An elementwise op is exact if its row says that its results are rounded once. */
static bool is_exact(const char *name)
{
    const elementwise_op *op = elementwise_find(tsr_op_find(name));
    for (int i = 0; op && i < ERRORS_COUNT; i++)
        if (op->facts.errors[i] > 0.5) return false;
    for (size_t i = 0; !op && i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(name, exact[i])) return true;
    return op != NULL;
}

static bool is_integer(const char *dtype) { return dtype[0] == 'i' || dtype[0] == 'u' || dtype[0] == 'b'; }

static bool is_promised(const char *line)
{
    char op[64], dtype[16];
    if (sscanf(line, "%63s %15s", op, dtype) != 2) return false;
    return (is_integer(dtype) && strcmp(dtype, "bf16")) || is_exact(op);
}

static sums base, other;

static void expect_same_on(const char *isa)
{
    EXPECT(run_self(&other, isa, 1));
    EXPECT_MSG(base.n == other.n, "%d and %d checksums", base.n, other.n);
    for (int i = 0; i < base.n && i < other.n; i++)
        EXPECT_MSG(!is_promised(base.line[i]) || !strcmp(base.line[i], other.line[i]),
                   "%s: %s    and portable: %s", isa, other.line[i], base.line[i]);
}

static void test_listed_ops_have_the_same_bits_on_every_instruction_set(void)
{
    EXPECT(run_self(&base, "portable", 1));
    expect_same_on("avx2");
    expect_same_on("avx512");
}

/* Numbers that no family has: small, odd, at their limits. */
static const char odd_numbers[] =
    "default,stream_pages=3,stream_bytes=64,run_ahead=192,column_ahead=64,copy_ahead=320,result_least=1,"
    "result_ahead=64,stream_least=65536,stream_usual=65536,stream_most=65536,stream_transposed=65536,"
    "products.small_work=1,products.small_m=1,products.small_n=1,products.cached_bytes=0,products.chunk=77,"
    "products.tile_rows=5,products.short_k=3,conv.kernels=77,conv.places=5,conv.rows=3,conv.copy_most=65536,"
    "conv.tiles_copy=1024,conv.windows_copy=1024,conv.chunk=3,conv.band=9,conv.packed=5,conv.unpadded=1024,"
    "indexing.short_row=64,indexing.rows_ahead=0,indexing.alternated=0,copies.repeated=1024,"
    "copies.long_run=64,copies.long_tile=0,copies.padded=0,copies.staged_run=64,copies.staged_cast=64,"
    "copies.staged_column=4096,copy_rows=0,copy_alternated=32768,products.few_bytes=0,products.few_panel=64,"
    "lanes.row_tile=1024,lanes.fft_packed=0,lanes.fft_strided=0,lanes.attention_step=0,"
    "lanes.sort_shared=1024,system.spin_ns=0";

static void test_listed_ops_have_the_same_bits_on_every_family_of_processors(void)
{
    static const char *const families[] = { "default", "intel_avx2", "intel_avx512", "intel_amx", "amd_zen",
                                            odd_numbers };
    EXPECT(run_self(&base, "avx512", 1));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        EXPECT(run_as(&other, families[i], "avx512", 1) && base.n == other.n);
        for (int k = 0; k < base.n && k < other.n; k++)
            EXPECT_MSG(!is_promised(base.line[k]) || !strcmp(base.line[k], other.line[k]), "%s: %s    and %s",
                       families[i], other.line[k], base.line[k]);
    }
}

static void test_all_ops_have_the_same_bits_for_every_number_of_threads(void)
{
    static const char *const sets[] = { "portable", "avx2", "avx512" };
    for (int i = 0; i < 3; i++) {
        EXPECT(run_self(&base, sets[i], 1) && run_self(&other, sets[i], 3));
        EXPECT(base.n == other.n);
        for (int k = 0; k < base.n && k < other.n; k++)
            EXPECT_MSG(!strcmp(base.line[k], other.line[k]), "%s: one thread %s    three threads %s", sets[i],
                       base.line[k], other.line[k]);
    }
}

static int print_differences(void)
{
    for (int i = 1; i < 3; i++) {
        const char *isa = i == 1 ? "avx2" : "avx512";
        if (!run_self(&base, "portable", 1) || !run_self(&other, isa, 1)) return 1;
        for (int k = 0; k < base.n; k++)
            if (strcmp(base.line[k], other.line[k])) printf("%s %s", isa, other.line[k]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--print")) return print_all();
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    if (argc > 1 && !strcmp(argv[1], "--differ")) return print_differences();
    TEST_BEGIN(argc, argv);
    RUN(test_listed_ops_have_the_same_bits_on_every_instruction_set);
    RUN(test_listed_ops_have_the_same_bits_on_every_family_of_processors);
    RUN(test_all_ops_have_the_same_bits_for_every_number_of_threads);
    return TEST_END();
}
