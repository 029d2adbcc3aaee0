/* demo.c - a tour of the library in one screenful after another; `make demo` runs it.
 *
 * Each stop is a function: it makes tensors, shows them, and releases them. The numbered
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
    tsr_tensor *a = NULL, *b = NULL, *c = NULL;
    tsr_status s;

    title("Tensors are made, set and printed");
    TSR_GO(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_GO(tsr_set_f32(a, TSR_INDEX(1, 2), 2.5f));
    TSR_GO(show("zeros, one set", a));
    TSR_GO(tsr_linspace(&b, TSR_F64, TSR_SCALAR(0), TSR_SCALAR(1), 5, true));
    TSR_GO(show("0 to 1 in 5", b));
    TSR_GO(tsr_eye(&c, TSR_I8, 3, 3, 0));
    TSR_GO(show("identity", c));
    note("how to read it", "dtype(shape | strides); strides count elements");

done:
    tsr_release_all(&a, &b, &c);
    return s;
}

static tsr_status share_memory(void)
{
    tsr_tensor *a = NULL, *column = NULL, *transposed = NULL;
    tsr_status s;

    title("Views share memory");
    TSR_GO(tsr_arange(&a, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(12), TSR_SCALAR(1)));
    TSR_GO(tsr_view(&a, a, TSR_SHAPE(3, 4)));
    TSR_GO(show("a", a));
    TSR_GO(tsr_select(&column, a, 1, 2));
    TSR_GO(tsr_fill(column, TSR_SCALAR(-1)));
    TSR_GO(show("column 2, filled", column));
    TSR_GO(show("a, seen again", a));
    TSR_GO(tsr_transpose(&transposed, a, 0, 1));
    TSR_GO(show("a, transposed", transposed));
    note("", "the same 12 numbers; only shape and strides changed places");

done:
    tsr_release_all(&a, &column, &transposed);
    return s;
}

static tsr_status bend_strides(void)
{
    tsr_tensor *row = NULL, *back = NULL, *wide = NULL;
    tsr_status s;

    title("Strides may be negative, or zero");
    TSR_GO(tsr_arange(&row, TSR_F32, TSR_SCALAR(1), TSR_SCALAR(5), TSR_SCALAR(1)));
    TSR_GO(tsr_flip(&back, row, TSR_AXES(0)));
    TSR_GO(show("backwards", back));
    TSR_GO(tsr_expand(&wide, row, TSR_SHAPE(3, 4)));
    TSR_GO(show("one row, three times", wide));
    if (tsr_zero(wide) != TSR_OK) refused("writing that");

done:
    tsr_release_all(&row, &back, &wide);
    return s;
}

static tsr_status fail_to_view(void)
{
    tsr_tensor *t = NULL;
    tsr_status s;

    title("A view that cannot be says why");
    TSR_GO(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(6), TSR_SCALAR(1)));
    TSR_GO(tsr_view(&t, t, TSR_SHAPE(2, 3)));
    TSR_GO(tsr_transpose(&t, t, 0, 1));
    TSR_GO(show("transposed", t));
    if (tsr_view(&t, t, TSR_SHAPE(6)) != TSR_OK) refused("as one dim");
    TSR_GO(tsr_reshape(&t, t, TSR_SHAPE(6)));
    TSR_GO(show("reshape copies", t));

done:
    tsr_release(&t);
    return s;
}

static tsr_status choose_memory(void)
{
    float samples[4] = { 1, 2, 3, 4 };
    tsr_tensor *later = NULL, *borrowed = NULL;
    tsr_desc d;
    tsr_status s;

    title("Memory comes when it is needed, or is yours");
    TSR_GO(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 2), NULL));
    TSR_GO(tsr_declare(&later, &d, TSR_CPU, TSR_MEMORY_HOST));
    describe("declared", later);
    TSR_GO(tsr_fill(later, TSR_SCALAR(0.5)));
    describe("after the first write", later);
    TSR_GO(tsr_wrap(&borrowed, samples, &d));
    describe("a C array, borrowed", borrowed);
    TSR_GO(tsr_copy(borrowed, later));
    printf("    %s%-*s%s%g %g %g %g\n", dim, CAPTION, "the array afterwards", plain, samples[0], samples[1],
           samples[2], samples[3]);

done:
    tsr_release_all(&later, &borrowed);
    return s;
}

static tsr_status read_elements(void)
{
    tsr_tensor *a = NULL;
    float x = 0;
    char text[64];
    tsr_status s;

    title("Elements are read by index, checked");
    TSR_GO(tsr_randn(&a, TSR_F32, TSR_SHAPE(2, 3), 7));
    TSR_GO(show("a", a));
    TSR_GO(tsr_get_f32(&x, a, TSR_INDEX(1, -1)));
    snprintf(text, sizeof text, "%.6f", x);
    note("a(1, -1)", text);
    if (tsr_get_f32(&x, a, TSR_INDEX(2, 0)) != TSR_OK) refused("a(2, 0)");

done:
    tsr_release(&a);
    return s;
}

static tsr_status convert(void)
{
    const float values[4] = { 1.1f, 3.14159265f, 27.3f, 500.0f };
    tsr_tensor *wide = NULL, *half = NULL, *byte = NULL;
    tsr_status s;

    title("Eighteen dtypes, rounded to nearest even");
    TSR_GO(tsr_from_data(&wide, TSR_F32, TSR_SHAPE(4), values));
    TSR_GO(tsr_cast(&half, wide, TSR_F16));
    TSR_GO(tsr_cast(&byte, half, TSR_F8E4M3));
    TSR_GO(show("32 bits", wide));
    TSR_GO(show("16 bits", half));
    TSR_GO(show("8 bits", byte));
    TSR_GO(tsr_cast(&wide, byte, TSR_F32));
    TSR_GO(show("what is left", wide));
    note("", "f8e4m3 ends at 448 and has no infinity, so 500 becomes nan");

done:
    tsr_release_all(&wide, &half, &byte);
    return s;
}

static tsr_status join(void)
{
    tsr_tensor *a = NULL, *b = NULL, *both = NULL;
    tsr_status s;

    title("Tensors are joined");
    TSR_GO(tsr_ones(&a, TSR_I32, TSR_SHAPE(2, 2)));
    TSR_GO(tsr_full(&b, TSR_I32, TSR_SHAPE(2, 3), TSR_SCALAR(7)));
    TSR_GO(tsr_concat(&both, 2, (const tsr_tensor *[]){ a, b }, 1));
    TSR_GO(show("concat along axis 1", both));
    tsr_release(&both);
    if (tsr_concat(&both, 2, (const tsr_tensor *[]){ a, b }, 0) != TSR_OK) refused("along axis 0");

done:
    tsr_release_all(&a, &b, &both);
    return s;
}

static tsr_status repeat_random(void)
{
    tsr_tensor *first = NULL, *second = NULL;
    bool equal = false;
    tsr_status s;

    title("Random numbers are repeated by their seed");
    TSR_GO(tsr_uniform(&first, TSR_F32, TSR_SHAPE(6), 0, 1, 2024));
    TSR_GO(show("seed 2024", first));
    TSR_GO(tsr_uniform(&second, TSR_F32, TSR_SHAPE(6), 0, 1, 2024));
    TSR_GO(tsr_equal(&equal, first, second));
    note("once more", equal ? "the same six numbers, bit for bit" : "other numbers: this is a bug");

done:
    tsr_release_all(&first, &second);
    return s;
}

static tsr_status constrain(void)
{
    static const char text[] = "a{ dT:floating | (m, k) } b{ dT | (k, n) | (..., 1) }";
    tsr_signature signature;
    tsr_desc a, b, c;
    tsr_status s;

    title("What a function demands is written down, and runs");
    TSR_GO(tsr_signature_parse(&signature, text));
    TSR_GO(tsr_desc_init(&a, TSR_F32, TSR_SHAPE(2, 4), NULL));
    TSR_GO(tsr_desc_init(&b, TSR_F32, TSR_SHAPE(4, 3), NULL));
    TSR_GO(tsr_desc_init(&c, TSR_F32, TSR_SHAPE(5, 3), NULL));
    note("the signature", text);
    TSR_GO(tsr_match(&signature, "matmul", 2, (const tsr_desc *[]){ &a, &b }, NULL));
    note("(2, 4) by (4, 3)", "fits");
    if (tsr_match(&signature, "matmul", 2, (const tsr_desc *[]){ &a, &c }, NULL) != TSR_OK)
        refused("(2, 4) by (5, 3)");
    TSR_GO(tsr_desc_transpose(&c, &b, 0, 1));
    TSR_GO(tsr_desc_init(&a, TSR_F32, TSR_SHAPE(2, 3), NULL));
    if (tsr_match(&signature, "matmul", 2, (const tsr_desc *[]){ &a, &c }, NULL) != TSR_OK)
        refused("b transposed");

done:
    return s;
}

static tsr_status account(void)
{
    static float samples[64];
    char text[2048];
    tsr_tensor *weights = NULL, *view = NULL, *pages = NULL, *borrowed = NULL;
    tsr_desc d;
    tsr_status s;

    title("Every byte is accounted for");
    TSR_GO(tsr_ones(&weights, TSR_F32, TSR_SHAPE(128, 128)));
    TSR_GO(tsr_select(&view, weights, 0, 5));
    TSR_GO(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(64), NULL));
    TSR_GO(tsr_declare(&pages, &d, TSR_CPU, TSR_MEMORY_ALIGNED));
    TSR_GO(tsr_alloc(pages));
    TSR_GO(tsr_wrap(&borrowed, samples, &d));
    tsr_set_name(weights, "weights");
    tsr_set_name(pages, "page-aligned scratch");
    tsr_set_name(borrowed, "samples");
    tsr_memory_report(text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) printf("    %s\n", line);

done:
    tsr_release_all(&weights, &view, &pages, &borrowed);
    return s;
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
