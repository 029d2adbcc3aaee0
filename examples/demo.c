/* demo.c - a tour of the library in one screenful after another; `make demo` runs it.
 *
 * Each stop is a function: it makes tensors and shows them; they are released where it ends. The numbered
 * examples beside this file say the same things more slowly. */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#define TO_TERMINAL() isatty(STDOUT_FILENO)
#else
#define TO_TERMINAL() 0
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

/* Writing: captions at the left, what they are about at the right ------------------- */

enum { CAPTION = 22, WIDTH = 66 };

static const char *bold = "", *dim = "", *warm = "", *plain = "";

static void choose_colours(void)
{
    const char *no_color = getenv("NO_COLOR");
    if (!TO_TERMINAL() || (no_color && *no_color)) return;
    bold = "\033[1;36m";
    dim = "\033[2m";
    warm = "\033[33m";
    plain = "\033[0m";
}

static void title(const char *text)
{
    static int number;
    printf("\n%s%2d. %s%s\n\n", bold, ++number, text, plain);
}

static void caption(const char *text)
{
    printf("    %s%-*s%s", dim, CAPTION, text, plain);
}

static void next_line(void)
{
    printf("\n    %*s", CAPTION, "");
}

/* Text beside a caption, line for line. */
static void lines(const char *what, const char *text)
{
    caption(what);
    for (; *text; text++) {
        if (*text == '\n') next_line();
        else               putchar(*text);
    }
    putchar('\n');
}

/* A sentence beside a caption, broken between words. */
static void sentence(const char *what, const char *colour, const char *text)
{
    size_t column = 0;
    caption(what);
    fputs(colour, stdout);
    while (*text) {
        const size_t word = strcspn(text, " ");
        if (column && column + 1 + word > WIDTH) {
            next_line();
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : "", (int)word, text);
        text += word;
        text += *text == ' ';
    }
    printf("%s\n", plain);
}

static void note(const char *what, const char *text) { sentence(what, "", text); }

/* What the last call that failed has to say. */
static void refused(const char *what) { sentence(what, warm, tsr_last_error()); }

static tsr_status show(const char *what, const tsr_tensor *t)
{
    char text[2048];
    TSR_TRY(tsr_to_string(text, sizeof text, NULL, t, NULL));
    lines(what, text);
    return TSR_OK;
}

static void describe(const char *what, const tsr_tensor *t)
{
    char text[160];
    tsr_describe(text, sizeof text, t);
    note(what, text);
}

/* The stops ------------------------------------------------------------------------- */

static tsr_status make_tensors(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *b = NULL, *c = NULL;

    title("Tensors are made, set and printed");
    TSR_TRY(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_TRY(tsr_set_f32(a, TSR_INDEX(1, 2), 2.5f));
    TSR_TRY(show("zeros, one set", a));
    TSR_TRY(tsr_linspace(&b, TSR_F64, TSR_SCALAR(0), TSR_SCALAR(1), 5, true));
    TSR_TRY(show("0 to 1 in 5", b));
    TSR_TRY(tsr_eye(&c, TSR_I8, 3, 3, 0));
    TSR_TRY(show("identity", c));
    note("how to read it", "dtype(shape | strides); strides count elements");
    return TSR_OK;
}

static tsr_status share_memory(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *column = NULL, *transposed = NULL;

    title("Views share memory");
    TSR_TRY(tsr_arange(&a, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(12), TSR_SCALAR(1)));
    TSR_TRY(tsr_view(&a, a, TSR_SHAPE(3, 4)));
    TSR_TRY(show("a", a));
    TSR_TRY(tsr_select(&column, a, 1, 2));
    TSR_TRY(tsr_fill(column, TSR_SCALAR(-1)));
    TSR_TRY(show("column 2, filled", column));
    TSR_TRY(show("a, seen again", a));
    TSR_TRY(tsr_transpose(&transposed, a, 0, 1));
    TSR_TRY(show("a, transposed", transposed));
    note("", "the same 12 numbers; only shape and strides changed places");
    return TSR_OK;
}

static tsr_status bend_strides(void)
{
    TSR_AUTO tsr_tensor *row = NULL, *back = NULL, *wide = NULL;

    title("Strides may be negative, or zero");
    TSR_TRY(tsr_arange(&row, TSR_F32, TSR_SCALAR(1), TSR_SCALAR(5), TSR_SCALAR(1)));
    TSR_TRY(tsr_flip(&back, row, TSR_AXES(0)));
    TSR_TRY(show("backwards", back));
    TSR_TRY(tsr_expand(&wide, row, TSR_SHAPE(3, 4)));
    TSR_TRY(show("one row, three times", wide));
    if (tsr_zero(wide) != TSR_OK) refused("writing that");
    return TSR_OK;
}

static tsr_status fail_to_view(void)
{
    TSR_AUTO tsr_tensor *t = NULL;

    title("A view that cannot be says why");
    TSR_TRY(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(6), TSR_SCALAR(1)));
    TSR_TRY(tsr_view(&t, t, TSR_SHAPE(2, 3)));
    TSR_TRY(tsr_transpose(&t, t, 0, 1));
    TSR_TRY(show("transposed", t));
    if (tsr_view(&t, t, TSR_SHAPE(6)) != TSR_OK) refused("as one dim");
    TSR_TRY(tsr_reshape(&t, t, TSR_SHAPE(6)));
    TSR_TRY(show("reshape copies", t));
    return TSR_OK;
}

static tsr_status choose_memory(void)
{
    float samples[4] = { 1, 2, 3, 4 };
    TSR_AUTO tsr_tensor *later = NULL, *borrowed = NULL;

    title("Memory comes when it is needed, or is yours");
    TSR_TRY(tsr_declare(&later, TSR_DESC(TSR_F32, 2, 2), TSR_CPU, TSR_MEMORY_HOST));
    describe("declared", later);
    TSR_TRY(tsr_fill(later, TSR_SCALAR(0.5)));
    describe("after the first write", later);
    TSR_TRY(tsr_wrap(&borrowed, samples, TSR_DESC(TSR_F32, 2, 2)));
    describe("a C array, borrowed", borrowed);
    TSR_TRY(tsr_copy(borrowed, later));
    printf("    %s%-*s%s%g %g %g %g\n", dim, CAPTION, "the array afterwards", plain, samples[0], samples[1],
           samples[2], samples[3]);
    return TSR_OK;
}

static tsr_status read_elements(void)
{
    TSR_AUTO tsr_tensor *a = NULL;
    float x = 0;
    char text[64];

    title("Elements are read by index, checked");
    TSR_TRY(tsr_randn(&a, TSR_F32, TSR_SHAPE(2, 3), 7));
    TSR_TRY(show("a", a));
    TSR_TRY(tsr_get_f32(&x, a, TSR_INDEX(1, -1)));
    snprintf(text, sizeof text, "%.6f", x);
    note("a(1, -1)", text);
    if (tsr_get_f32(&x, a, TSR_INDEX(2, 0)) != TSR_OK) refused("a(2, 0)");
    return TSR_OK;
}

static tsr_status convert(void)
{
    const float values[4] = { 1.1f, 3.14159265f, 27.3f, 500.0f };
    TSR_AUTO tsr_tensor *wide = NULL, *half = NULL, *byte = NULL;

    title("Eighteen dtypes, rounded to nearest even");
    TSR_TRY(tsr_from_data(&wide, TSR_F32, TSR_SHAPE(4), values));
    TSR_TRY(tsr_cast(&half, wide, TSR_F16));
    TSR_TRY(tsr_cast(&byte, half, TSR_F8E4M3));
    TSR_TRY(show("32 bits", wide));
    TSR_TRY(show("16 bits", half));
    TSR_TRY(show("8 bits", byte));
    TSR_TRY(tsr_cast(&wide, byte, TSR_F32));
    TSR_TRY(show("what is left", wide));
    note("", "f8e4m3 ends at 448 and has no infinity, so 500 becomes nan");
    return TSR_OK;
}

static tsr_status join(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *b = NULL, *both = NULL;

    title("Tensors are joined");
    TSR_TRY(tsr_ones(&a, TSR_I32, TSR_SHAPE(2, 2)));
    TSR_TRY(tsr_full(&b, TSR_I32, TSR_SHAPE(2, 3), TSR_SCALAR(7)));
    TSR_TRY(tsr_concat(&both, 2, (const tsr_tensor *[]){ a, b }, 1));
    TSR_TRY(show("concat along axis 1", both));
    tsr_release(&both);
    if (tsr_concat(&both, 2, (const tsr_tensor *[]){ a, b }, 0) != TSR_OK) refused("along axis 0");
    return TSR_OK;
}

static tsr_status repeat_random(void)
{
    TSR_AUTO tsr_tensor *first = NULL, *second = NULL;
    bool equal = false;

    title("Random numbers are repeated by their seed");
    TSR_TRY(tsr_uniform(&first, TSR_F32, TSR_SHAPE(6), 0, 1, 2024));
    TSR_TRY(show("seed 2024", first));
    TSR_TRY(tsr_uniform(&second, TSR_F32, TSR_SHAPE(6), 0, 1, 2024));
    TSR_TRY(tsr_equal(&equal, first, second));
    note("once more", equal ? "the same six numbers, bit for bit" : "other numbers: this is a bug");
    return TSR_OK;
}

static tsr_status constrain(void)
{
    static const char text[] = "a{ dT:floating | (m, k) } b{ dT | (k, n) | (..., 1) }";
    tsr_signature signature;
    const tsr_desc *a = TSR_DESC(TSR_F32, 2, 4), *b = TSR_DESC(TSR_F32, 4, 3);
    tsr_desc transposed;

    title("What a function demands is written down, and runs");
    TSR_TRY(tsr_signature_parse(&signature, text));
    note("the signature", text);
    TSR_TRY(tsr_match(&signature, "matmul", 2, (const tsr_desc *[]){ a, b }, NULL));
    note("(2, 4) by (4, 3)", "fits");
    if (tsr_match(&signature, "matmul", 2, (const tsr_desc *[]){ a, TSR_DESC(TSR_F32, 5, 3) }, NULL))
        refused("(2, 4) by (5, 3)");
    a = TSR_DESC(TSR_F32, 2, 3);
    TSR_TRY(tsr_desc_transpose(&transposed, b, 0, 1));
    if (tsr_match(&signature, "matmul", 2, (const tsr_desc *[]){ a, &transposed }, NULL) != TSR_OK)
        refused("b transposed");
    return TSR_OK;
}

static tsr_status account(void)
{
    static float samples[64];
    char text[2048];
    TSR_AUTO tsr_tensor *weights = NULL, *view = NULL, *pages = NULL, *borrowed = NULL;

    title("Every byte is accounted for");
    TSR_TRY(tsr_ones(&weights, TSR_F32, TSR_SHAPE(128, 128)));
    TSR_TRY(tsr_select(&view, weights, 0, 5));
    TSR_TRY(tsr_declare(&pages, TSR_DESC(TSR_F32, 64), TSR_CPU, TSR_MEMORY_ALIGNED));
    TSR_TRY(tsr_alloc(pages));
    TSR_TRY(tsr_wrap(&borrowed, samples, TSR_DESC(TSR_F32, 64)));
    tsr_set_name(weights, "weights");
    tsr_set_name(pages, "page-aligned scratch");
    tsr_set_name(borrowed, "samples");
    tsr_memory_report(text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) printf("    %s\n", line);
    return TSR_OK;
}

static bool nothing_leaked(void)
{
    char text[128];
    tsr_memory_stats stats;
    tsr_memory_get_stats(&stats);
    const bool clean = stats.live_tensors == 0 && stats.live_storages == 0 && stats.live_bytes == 0;
    snprintf(text, sizeof text, "%lld tensors, %lld storages, %lld bytes live: %s",
             (long long)stats.live_tensors, (long long)stats.live_storages, (long long)stats.live_bytes,
             clean ? "nothing leaked" : "a leak");
    putchar('\n');
    note("after the tour", text);
    return clean;
}

int main(void)
{
    static tsr_status (*const stops[])(void) = { make_tensors, share_memory, bend_strides, fail_to_view,
                                                 choose_memory, read_elements, convert, join, repeat_random,
                                                 constrain, account };
    choose_colours();
    printf("%sTessera %s%s: strided tensors for C\n", bold, tsr_version(), plain);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (stops[i]() != TSR_OK) {
            fprintf(stderr, "demo: %s\n", tsr_last_error());
            return 1;
        }
    return nothing_leaked() ? 0 : 1;
}
