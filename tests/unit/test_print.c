/* test_print.c - tensors as text, held to NumPy's.
 *
 * The expected texts come from NumPy (tools/make_print_goldens.py writes them, and
 * says what the lines of the file mean). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "test.h"

#include <math.h>

#ifndef TSR_TEST_DATA
#define TSR_TEST_DATA "tests/data"
#endif

enum { TEXT = 1 << 16 };

/* Against NumPy ------------------------------------------------------------------ */

typedef struct golden {
    tsr_desc       desc;
    tsr_print_opts opts;
    int            prefix;
    unsigned char *data;
    char           text[TEXT];
} golden;

static int64_t parse_shape(tsr_desc *d, tsr_dtype dtype, const char *text)
{
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    char *end;
    for (const char *p = text; *p >= '0' && *p <= '9'; p = *end == ',' ? end + 1 : end)
        shape[ndim++] = strtoll(p, &end, 10);
    EXPECT_OK(tsr_desc_init(d, dtype, ndim, shape, NULL));
    return tsr_desc_bytes(d);
}

/* Hex digits to bytes, again and again. The patterns are little-endian. */
static void fill_data(golden *g, int64_t bytes, const char *hex)
{
    const int64_t given = (int64_t)strspn(hex, "0123456789abcdef") / 2;
    g->data = calloc((size_t)bytes + 1, 1);
    for (int64_t i = 0; i < bytes; i++) {
        const char pair[3] = { hex[i % given * 2], hex[i % given * 2 + 1], 0 };
        g->data[i] = (unsigned char)strtol(pair, NULL, 16);
    }
}

static bool read_golden(FILE *f, golden *g)
{
    static char line[TEXT];
    char dtype[16], shape[64];
    int lines = 0, suppress = 0;
    long long threshold, edge;
    do {
        if (!fgets(line, sizeof line, f)) return false;
    } while (line[0] == '\n');
    g->opts = (tsr_print_opts){ .no_header = true };
    const int fields = sscanf(line, "case %15s %63s %d %d %lld %lld %d %d", dtype, shape, &g->opts.precision,
                              &g->opts.line_width, &threshold, &edge, &suppress, &g->prefix);
    EXPECT_MSG(fields == 8, "%s", line);
    if (g->opts.precision == 0) g->opts.precision = -1;
    g->opts.threshold = threshold;
    g->opts.edge_items = edge;
    g->opts.suppress_exponent = suppress != 0;
    tsr_dtype parsed = TSR_DTYPE_INVALID;
    EXPECT_OK(tsr_dtype_parse(&parsed, dtype));
    const int64_t bytes = parse_shape(&g->desc, parsed, shape);

    if (!fgets(line, sizeof line, f)) return false;
    fill_data(g, bytes, line + 5);
    if (!fgets(line, sizeof line, f) || sscanf(line, "text %d", &lines) != 1) return false;
    g->text[0] = '\0';
    for (; lines > 0 && fgets(line, sizeof line, f); lines--) strcat(g->text, line);
    g->text[strlen(g->text) - 1] = '\0';
    return lines == 0;
}

static void check_golden(const golden *g)
{
    static char got[TEXT];
    static const char letters[] = "abcdefghijkl";
    char name[16] = "";
    tsr_tensor t;
    size_t length = 0;
    tsr_print_opts opts = g->opts;
    if (g->prefix > 0) {
        memcpy(name, letters, (size_t)g->prefix - 2);
        opts.name = name;
    }
    EXPECT_OK(tsr_place(&t, g->data, &g->desc));
    EXPECT_OK(tsr_to_string(got, sizeof got, &length, &t, &opts));
    EXPECT(length == strlen(got));
    EXPECT_MSG(!strcmp(got + g->prefix, g->text), "%s, precision %d, width %d:\n%s\nis not NumPy's\n%s",
               tsr_dtype_name(g->desc.dtype), g->opts.precision, g->opts.line_width, got, g->text);
}

TEST(test_print_gives_the_text_of_numpy)
{
    static golden g;
    int count = 0;
    if (((const unsigned char *)&(uint16_t){ 1 })[0] != 1) SKIP("the patterns are little-endian");
    FILE *f = fopen(TSR_TEST_DATA "/print/goldens.txt", "rb");
    EXPECT_MSG(f != NULL, "no " TSR_TEST_DATA "/print/goldens.txt; tests run in the project's root");
    if (!f) return;
    for (; read_golden(f, &g); count++) {
        check_golden(&g);
        free(g.data);
    }
    fclose(f);
    EXPECT_MSG(count > 900, "%d cases", count);
}

/* Views and strides ---------------------------------------------------------------- */

static float numbers[24] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                             12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };

static void expect_text(const tsr_tensor *t, const tsr_print_opts *opts, const char *want)
{
    static char got[TEXT];
    size_t length = 0;
    EXPECT_OK(tsr_to_string(got, sizeof got, &length, t, opts));
    EXPECT_MSG(!strcmp(got, want) && length == strlen(want), "\n%s\nnot\n%s", got, want);
}

static void place(tsr_tensor *t, tsr_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride,
                  void *data)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    EXPECT_OK(tsr_place(t, data, &d));
}

TEST(test_print_puts_a_header_before_the_values)
{
    tsr_tensor t;
    place(&t, TSR_F32, TSR_SHAPE(2, 3), NULL, numbers);
    expect_text(&t, NULL, "f32(2, 3 | 3, 1)\n[[0. 1. 2.]\n [3. 4. 5.]]");
    expect_text(&t, &(tsr_print_opts){ .name = "w" }, "w: f32(2, 3 | 3, 1)\n[[0. 1. 2.]\n [3. 4. 5.]]");
    expect_text(&t, &(tsr_print_opts){ .name = "w", .no_header = true }, "w: [[0. 1. 2.]\n    [3. 4. 5.]]");
}

TEST(test_print_follows_any_strides)
{
    tsr_tensor t;
    const tsr_print_opts bare = { .no_header = true };
    place(&t, TSR_F32, 2, (int64_t[]){ 3, 2 }, (int64_t[]){ 1, 3 }, numbers);
    expect_text(&t, &bare, "[[0. 3.]\n [1. 4.]\n [2. 5.]]");
    place(&t, TSR_F32, 2, (int64_t[]){ 2, 3 }, (int64_t[]){ -3, -1 }, numbers + 5);
    expect_text(&t, &bare, "[[5. 4. 3.]\n [2. 1. 0.]]");
    place(&t, TSR_F32, 2, (int64_t[]){ 2, 3 }, (int64_t[]){ 0, 1 }, numbers);
    expect_text(&t, &bare, "[[0. 1. 2.]\n [0. 1. 2.]]");
    place(&t, TSR_F32, 2, (int64_t[]){ 1, 3 }, (int64_t[]){ INT64_MAX, 2 }, numbers);
    expect_text(&t, &bare, "[[0. 2. 4.]]");
    place(&t, TSR_F32, 0, NULL, NULL, numbers + 7);
    expect_text(&t, NULL, "f32()\n7.");
}

TEST(test_print_of_a_view_shows_the_view)
{
    tsr_tensor t, view, *v = tsr_place_none(&view);
    const tsr_print_opts bare = { .no_header = true };
    place(&t, TSR_F32, TSR_SHAPE(4, 6), NULL, numbers);
    EXPECT_OK(tsr_slice(&v, &t, 1, 5, 1, -2));
    expect_text(v, &bare, "[[ 5.  3.]\n [11.  9.]\n [17. 15.]\n [23. 21.]]");
    EXPECT_OK(tsr_transpose(&v, v, 0, 1));
    expect_text(v, NULL, "f32(2, 4 | -2, 6)\n[[ 5. 11. 17. 23.]\n [ 3.  9. 15. 21.]]");
    EXPECT_OK(tsr_diagonal(&v, &t, 0, 0, 1));
    expect_text(v, &bare, "[ 0.  7. 14. 21.]");
    tsr_release(&v);
}

/* Were it to visit them all, this test would not end. */
TEST(test_print_touches_only_what_it_shows)
{
    tsr_tensor t;
    int16_t one = -7;
    place(&t, TSR_I16, 2, (int64_t[]){ (int64_t)1 << 20, (int64_t)1 << 20 }, (int64_t[]){ 0, 0 }, &one);
    expect_text(&t, &(tsr_print_opts){ .edge_items = 1 },
                "i16(1048576, 1048576 | 0, 0)\n[[-7 ... -7]\n ...\n [-7 ... -7]]");

    /* The middle is not there at all. */
    float ends[7] = { 1, 2, 3, 4, 5, 6, 7 };
    place(&t, TSR_F32, TSR_SHAPE(7), NULL, ends);
    memset(&ends[3], 0xff, sizeof ends[3]);
    expect_text(&t, &(tsr_print_opts){ .no_header = true, .threshold = 6 }, "[1. 2. 3. ... 5. 6. 7.]");
}

/* Special states -------------------------------------------------------------------- */

TEST(test_print_of_no_elements_is_two_brackets)
{
    tsr_tensor t;
    place(&t, TSR_U8, TSR_SHAPE(3, 0, 2), NULL, numbers);
    expect_text(&t, NULL, "u8(3, 0, 2 | 2, 2, 1)\n[]");
}

TEST(test_print_says_that_a_described_tensor_has_no_memory)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    char text[128];
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    expect_text(t, NULL, "f32(2, 3 | 3, 1), not allocated");
    expect_text(t, &(tsr_print_opts){ .name = "x" }, "x: f32(2, 3 | 3, 1), not allocated");
    expect_text(t, &(tsr_print_opts){ .name = "x", .no_header = true }, "x: not allocated");
    tsr_describe(text, sizeof text, t);
    EXPECT_MSG(!strcmp(text, "f32(2, 3 | 3, 1) on cpu:0, host memory, not allocated, 24 bytes"), "%s", text);
    tsr_release(&t);
}

static void *far_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    (void)alignment;
    return malloc(bytes);
}

TEST(test_print_says_that_the_host_cannot_read_it)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    tsr_memory far;
    EXPECT_OK(tsr_memory_register(&far, &(tsr_memory_kind){ .size = sizeof(tsr_memory_kind), .name = "far",
                                                            .alloc = far_alloc, .free = test_free }));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, far));
    EXPECT_OK(tsr_alloc(t));
    expect_text(t, NULL, "f32(2 | 1), in far memory on cpu:0, which the host cannot read");
    expect_text(t, &(tsr_print_opts){ .no_header = true },
                "in far memory on cpu:0, which the host cannot read");
    tsr_release(&t);
    EXPECT_OK(tsr_memory_unregister(far));
}

TEST(test_print_needs_a_tensor_and_says_so)
{
    tsr_tensor none = { 0 }, t;
    char text[8];
    place(&t, TSR_F32, TSR_SHAPE(2), NULL, numbers);
    EXPECT_FAILS(tsr_to_string(text, sizeof text, NULL, NULL, NULL), TSR_ENULL, "to_string: t is NULL");
    EXPECT_FAILS(tsr_print(NULL, NULL), TSR_ENULL, "print: t is NULL");
    EXPECT_FAILS(tsr_print(&none, NULL), TSR_EDTYPE, "print: t is no tensor");
    EXPECT_FAILS(tsr_to_string(NULL, 8, NULL, &t, NULL), TSR_ENULL, "to_string: out is NULL and size is 8");
    none = t;
    none.ndim = TSR_MAX_NDIM + 1;
    EXPECT_FAILS(tsr_print(&none, NULL), TSR_EINVAL, "print: ");
    EXPECT_FAILS(tsr_print(&t, &(tsr_print_opts){ .edge_items = -1 }), TSR_EINVAL, "edge_items is -1");
}

/* Options ------------------------------------------------------------------------------ */

TEST(test_print_can_do_without_exponents)
{
    tsr_tensor t;
    const tsr_print_opts bare = { .no_header = true, .suppress_exponent = true };
    place(&t, TSR_F64, TSR_SHAPE(3), NULL, (double[]){ 1e22, 0.5, -1e-5 });
    expect_text(&t, &bare, "[10000000000000000000000.                            0.5\n"
                           "                      -0.00001]");
}

TEST(test_print_of_large_numbers_without_exponents_is_exact_to_the_units)
{
    tsr_tensor t;
    const tsr_print_opts bare = { .no_header = true, .suppress_exponent = true };
    place(&t, TSR_F32, TSR_SHAPE(2), NULL, (float[]){ 16777216, 123456792 });
    expect_text(&t, &bare, "[ 16777216. 123456792.]");
}

TEST(test_print_options_at_their_ends_are_harmless)
{
    tsr_tensor t;
    char text[TEXT];
    double ends[] = { 5e-324, 1.7976931348623157e308, -0.0, (double)NAN };
    place(&t, TSR_F64, TSR_SHAPE(4), NULL, ends);
    EXPECT_OK(tsr_to_string(text, sizeof text, NULL, &t,
                            &(tsr_print_opts){ .precision = INT32_MAX, .line_width = INT32_MAX,
                                               .threshold = INT64_MAX, .edge_items = INT64_MAX,
                                               .suppress_exponent = true }));
    const char *point = strchr(text, '.');
    EXPECT(point && strspn(point + 1, "0") == 323 && point[324] == '5');
    EXPECT_OK(tsr_to_string(text, sizeof text, NULL, &t,
                            &(tsr_print_opts){ .precision = INT32_MIN, .line_width = INT32_MIN,
                                               .threshold = INT64_MIN, .edge_items = 1, .no_header = true }));
    EXPECT_MSG(!strcmp(text, "[5.e-324 ...     nan]"), "%s", text);
}

/* Sizes and sinks ------------------------------------------------------------------------ */

TEST(test_print_cuts_short_and_still_counts)
{
    tsr_tensor t;
    char text[64];
    const char *want = "f32(2, 3 | 3, 1)\n[[0. 1. 2.]\n [3. 4. 5.]]";
    size_t length = 0;
    place(&t, TSR_F32, TSR_SHAPE(2, 3), NULL, numbers);
    EXPECT_OK(tsr_to_string(NULL, 0, &length, &t, NULL));
    EXPECT(length == strlen(want));
    for (size_t size = 0; size <= strlen(want) + 1; size++) {
        memset(text, 'x', sizeof text);
        EXPECT_OK(tsr_to_string(text, size, &length, &t, NULL));
        EXPECT(length == strlen(want) && text[size] == 'x');
        if (size > 0) EXPECT(strlen(text) == size - 1 && !memcmp(text, want, size - 1));
    }
}

typedef struct gathered { size_t length, pieces, empty; char text[TEXT]; } gathered;

static void gather(void *context, const char *text, size_t length)
{
    gathered *g = context;
    memcpy(g->text + g->length, text, length);
    g->length += length;
    g->pieces++;
    g->empty += length == 0;
}

TEST(test_print_hands_a_sink_the_whole_text_in_pieces)
{
    static gathered g;
    static char want[TEXT];
    tsr_tensor t;
    size_t length;
    const tsr_print_opts all = { .threshold = 10000 };
    place(&t, TSR_F32, 2, (int64_t[]){ 50, 24 }, (int64_t[]){ 0, 1 }, numbers);
    EXPECT_OK(tsr_to_string(want, sizeof want, &length, &t, &all));
    tsr_set_print_sink(gather, &g);
    EXPECT_OK(tsr_print(&t, &all));
    tsr_set_print_sink(NULL, NULL);
    EXPECT(g.pieces > 2 && g.length == length + 1);
    EXPECT(!memcmp(g.text, want, length) && g.text[length] == '\n');
}

/* Pieces are cut where the room ends, also where that is the end of the text: none is empty. */
TEST(test_print_hands_a_sink_no_empty_piece)
{
    static gathered g;
    char want[1024], name[300];
    tsr_tensor t;
    size_t length;
    place(&t, TSR_F32, TSR_SHAPE(2), NULL, numbers);
    tsr_set_print_sink(gather, &g);
    for (size_t n = 1; n < sizeof name; n++) {
        memset(name, 'n', sizeof name);
        name[n] = '\0';
        memset(&g, 0, sizeof g);
        const tsr_print_opts opts = { .name = name };
        EXPECT_OK(tsr_to_string(want, sizeof want, &length, &t, &opts));
        EXPECT_OK(tsr_print(&t, &opts));
        EXPECT(g.length == length + 1 && !memcmp(g.text, want, length) && g.empty == 0);
    }
    tsr_set_print_sink(NULL, NULL);
}

/* Describing ------------------------------------------------------------------------------- */

static void expect_described(const tsr_tensor *t, const char *want)
{
    char text[128], cut[5] = "....";
    const size_t length = tsr_describe(text, sizeof text, t);
    EXPECT_MSG(!strcmp(text, want) && length == strlen(want), "%s, not %s", text, want);
    EXPECT(tsr_describe(NULL, 0, t) == length);
    EXPECT(tsr_describe(cut, 4, t) == length && !strncmp(cut, want, 3) && cut[3] == '\0');
}

static void forget(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
}

TEST(test_describe_says_whose_memory_it_is)
{
    tsr_desc d;
    tsr_tensor *t = NULL, *v = NULL, placed;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(3, 4), NULL));
    expect_described(NULL, "no tensor");
    expect_described(&(tsr_tensor){ 0 }, "no tensor");
    EXPECT_OK(tsr_place(&placed, numbers, &d));
    expect_described(&placed, "f32(3, 4 | 4, 1) on cpu:0, host memory, borrowed, 48 bytes");
    EXPECT_OK(tsr_empty(&t, TSR_F32, TSR_SHAPE(3, 4)));
    expect_described(t, "f32(3, 4 | 4, 1) on cpu:0, host memory, owned, 48 bytes");
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    expect_described(v, "f32(4, 3 | 1, 4) on cpu:0, host memory, owned, view, 48 bytes");
    EXPECT_OK(tsr_wrap_const(&t, numbers, &d));
    expect_described(t, "f32(3, 4 | 4, 1) on cpu:0, host memory, borrowed, read-only, 48 bytes");
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SCALAR_SHAPE, NULL));
    EXPECT_OK(tsr_adopt(&t, numbers, &d, forget, NULL));
    expect_described(t, "u8() on cpu:0, host memory, adopted, 1 byte");
    EXPECT_OK(tsr_map_file(&t, "/proc/self/exe", 0, &d, TSR_MAP_READ));
    expect_described(t, "u8() on cpu:0, file memory, mapped, read-only, 1 byte");
    tsr_release_all(&v, &t);
}

/* Prints with standard output led to a file. */
static tsr_status print_into(const char *file, const tsr_tensor *t)
{
    (void)fflush(stdout);
    const int kept = dup(1), fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT(kept >= 0 && fd >= 0 && dup2(fd, 1) == 1);
    static char buffer[64];  /* so small that a failure shows at once; stdout keeps it */
    (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    const tsr_status s = tsr_print(t, NULL);
    (void)fflush(stdout);
    clearerr(stdout);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    EXPECT(dup2(kept, 1) == 1 && close(kept) == 0 && close(fd) == 0);
    return s;
}

TEST(test_print_goes_to_standard_output_which_may_be_full)
{
    char path[] = "/tmp/test_print_XXXXXX", want[4000], got[4000] = "";
    tsr_tensor *t = NULL;
    EXPECT(close(mkstemp(path)) == 0);
    EXPECT_OK(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(500), TSR_SCALAR(1)));
    EXPECT_OK(print_into(path, t));
    EXPECT_OK(tsr_to_string(want, sizeof want, NULL, t, NULL));
    FILE *f = fopen(path, "r");
    EXPECT(f && fread(got, 1, sizeof got - 1, f) > 0 && fclose(f) == 0);
    EXPECT(!strncmp(got, want, strlen(want)));
    if (access("/dev/full", W_OK) == 0) {
        tsr_clear_error();
        const tsr_status s = print_into("/dev/full", t);
        EXPECT(s == TSR_EIO && strstr(tsr_last_error(), "print: standard output did not take the text"));
    }
    (void)unlink(path);
    tsr_release(&t);
}
