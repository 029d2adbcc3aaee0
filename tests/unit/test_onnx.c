/* test_onnx.c - ONNX models: those that the onnx package wrote (tests/data/files), and those that somebody
 * wrote to do harm. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "unit/counted.h"
#include "unit/hostile.h"

#define GOLDEN "tests/data/files/"

TEST(test_initialisers_are_read_raw_as_numbers_and_from_other_files)
{
    expect_counted_file(GOLDEN "raw.onnx", "onnx", COUNTED);
    expect_counted_file(GOLDEN "numbers.onnx", "onnx", COUNTED);
    expect_counted_file(GOLDEN "external.onnx", "onnx", COUNTED);
}

TEST(test_halves_of_bytes_are_read_as_bytes)
{
    static const char *const paths[] = { GOLDEN "raw.onnx", GOLDEN "numbers.onnx" };
    for (int i = 0; i < 2; i++) {
        tsr_tensor *t = NULL, *u = NULL;
        EXPECT_OK(tsr_file_load(&t, paths[i], "int4"));
        EXPECT_OK(tsr_file_load(&u, paths[i], "uint4"));
        EXPECT(t->dtype == TSR_I8 && u->dtype == TSR_U8 && t->shape[0] == 3 && t->shape[1] == 5);
        for (int64_t k = 0; k < 15; k++) {
            EXPECT(element(t, k) == (double)(k % 16 - 8));
            EXPECT(element(u, k) == (double)((k % 16 + 8) % 16));
        }
        tsr_release_all(&t, &u);
        EXPECT_OK(tsr_file_load(&t, paths[i], "scalar"));
        EXPECT(t->ndim == 0 && element(t, 0) == 2.5);
        tsr_release(&t);
        EXPECT_OK(tsr_file_load(&t, paths[i], "empty"));
        EXPECT(t->ndim == 2 && tsr_numel(t) == 0);
        tsr_release(&t);
        EXPECT_FAILS(tsr_file_load(&t, paths[i], "text"), TSR_EUNSUPPORTED, "STRING");
    }
}

/* By output, or node; those of branches by node and attribute before. */
TEST(test_constants_of_nodes_are_read)
{
    static const struct { const char *name; tsr_dtype dtype; int64_t n; double first; } want[] = {
        { "t", TSR_F16, 6, 1 }, { "f", TSR_F32, 1, 2.5 }, { "i", TSR_I64, 1, -7 }, { "fs", TSR_F32, 2, 1.5 },
        { "is", TSR_I64, 3, 3 }, { "if.then_branch.x", TSR_F32, 1, 1 },
        { "if.else_branch.x", TSR_F32, 1, 2 }, { "if.then_branch.w", TSR_F16, 6, 2 }, { "w", TSR_F16, 6, 1 },
    };
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_file_open(&f, GOLDEN "constants.onnx", NULL));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        EXPECT_OK(tsr_file_read(&t, f, want[i].name));
        EXPECT_MSG(t && t->dtype == want[i].dtype && tsr_numel(t) == want[i].n, "%s", want[i].name);
        EXPECT_MSG(t && element(t, 0) == want[i].first, "%s", want[i].name);
        tsr_release(&t);
    }
    EXPECT_FAILS(tsr_file_read(&t, f, "sparse"), TSR_EUNSUPPORTED, "SPARSE");
    EXPECT(tsr_file_count(f) == 11);
    tsr_file_close(&f);
}

/* Graphs in graphs: If.then_branch, again and again. */
TEST(test_graphs_in_graphs_end)
{
    unsigned char model[1200] = { 0 };
    size_t n = 0;
    tsr_file *f = NULL;
    for (int i = 0; i < 40; i++) {  /* from the inside: a graph, in an attribute, in a node, in a graph */
        static const unsigned char tags[] = { 0x32, 0x2a, 0x0a };
        for (int k = 0; k < 3; k++) {
            const size_t front = n < 128 ? 2 : 3;
            memmove(model + front, model, n);
            model[0] = tags[k];
            model[1] = (unsigned char)(n < 128 ? n : (n & 127) | 128);
            if (front == 3) model[2] = (unsigned char)(n >> 7);
            n += front;
        }
    }
    memmove(model + 5, model, n);
    const unsigned char head[] = { 0x08, 10, 0x3a, (unsigned char)((n & 127) | 128),
                                   (unsigned char)(n >> 7) };
    memcpy(model, head, 5);
    EXPECT_FAILS(tsr_file_open_bytes(&f, model, n + 5, "x.onnx", NULL), TSR_EUNSUPPORTED, "16 deep");
}

/* A node of a long name with many graphs, and one with many constants. */
TEST(test_names_are_in_proportion_to_the_model)
{
    enum { NAME = 60000, MANY = 20000, ROOM = NAME + 8 * MANY + 64 };
    for (int constant = 0; constant < 2; constant++) {
        unsigned char *p = calloc(1, ROOM);
        size_t n = 16;  /* model, graph and node begin before */
        p[n++] = constant ? 0x12 : 0x1a;  /* the output or the name, of 60000 bytes */
        p[n++] = 0xe0, p[n++] = 0xd4, p[n++] = 3;
        memset(p + n, 'n', NAME);
        n += NAME;
        if (constant) n += zip_put(p + n, "\x22\x08" "Constant", 10);
        for (int i = 0; i < MANY; i++)
            n += constant ? zip_put(p + n, "\x2a\3\xb2\1\0", 5) : zip_put(p + n, "\x2a\2\x32\0", 4);
        const size_t node = n - 16, graph = node + 4;
        const unsigned char head[] = { 0x08, 10, 0x3a, (unsigned char)(graph & 127) | 128,
                                       (unsigned char)(graph >> 7 & 127) | 128, (unsigned char)(graph >> 14),
                                       0x0a, (unsigned char)(node & 127) | 128,
                                       (unsigned char)(node >> 7 & 127) | 128, (unsigned char)(node >> 14) };
        memcpy(p + 6, head, sizeof head);
        tsr_file *f = NULL;
        const tsr_status s = tsr_file_open_bytes(&f, p + 6, n - 6, "x.onnx", NULL);
        EXPECT_MSG(s == TSR_EFORMAT && strstr(tsr_last_error(), "out of proportion"), "%s: %s",
                   tsr_status_name(s), tsr_last_error());
        tsr_file_close(&f);
        free(p);
    }
}

TEST(test_a_model_says_who_made_it)
{
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open(&f, GOLDEN "raw.onnx", NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "producer_name"));
    EXPECT(m.type == TSR_META_TEXT && !strcmp(m.text, "goldens"));
    EXPECT_OK(tsr_file_find_meta(&m, f, "ir_version"));
    EXPECT(m.type == TSR_META_NUMBER && m.number.as.i == 10);
    EXPECT_OK(tsr_file_find_meta(&m, f, "metadata.note"));
    EXPECT(!strcmp(m.text, "h\xc3\xa9llo"));
    tsr_file_close(&f);
}

/* Models by hand ------------------------------------------------------------------------- */

/* A model of one initialiser, whose fields are given; its length. */
static size_t make_model(unsigned char *out, const void *fields, size_t bytes)
{
    const size_t graph = bytes + 2;
    const unsigned char head[] = { 0x08, 10, 0x3a, (unsigned char)graph, 0x2a, (unsigned char)bytes };
    EXPECT(graph < 128);
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, fields, bytes);
    return sizeof head + bytes;
}

static tsr_status open_fields(const void *fields, size_t bytes)
{
    unsigned char model[160];
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    tsr_status s = tsr_file_open_bytes(&f, model, make_model(model, fields, bytes), "x.onnx", NULL);
    if (s == TSR_OK) s = tsr_file_read(&t, f, NULL);
    tsr_release(&t);
    tsr_file_close(&f);
    return s;
}

#define HUGE_VARINT "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"

static const struct {
    const char *what, *fields;
    size_t      bytes;
    tsr_status  status;
    const char *words;
} hand_made[] = {
#define P(what, text, status, words) { what, text, sizeof text - 1, status, words }
    P("two bytes", "\x08\2\x10\2\x42\1a\x4a\2xy", TSR_OK, ""),
    P("two numbers", "\x08\2\x10\7\x3a\2\1\2", TSR_OK, ""),
    P("numbers one by one", "\x08\2\x10\7\x38\1\x38\2", TSR_OK, ""),
    P("floats one by one", "\x08\2\x10\1\x25\0\0\0\0\x25\0\0\x80\x3f", TSR_OK, ""),
    P("too few bytes", "\x08\3\x10\2\x4a\2xy", TSR_EFORMAT, "takes 3 bytes, and has 2"),
    P("too few numbers", "\x08\3\x10\7\x3a\2\1\2", TSR_EFORMAT, "2 bytes of numbers for 3 elements"),
    P("fewer numbers than bytes", "\x08\2\x10\7\x3a\2\x81\1", TSR_EFORMAT, "1 numbers of 2"),
    P("more numbers than elements", "\x08\1\x10\7\x3a\2\1\2", TSR_EFORMAT, "more numbers"),
    P("a whole number for a complex one", "\x08\2\x10\x0e\x20\1\x20\1\x20\1\x20\1",
      TSR_EFORMAT, "for a float"),
    P("part of a float", "\x08\1\x10\1\x22\5\0\0\0\0\0", TSR_EFORMAT, "part of a number"),
    P("numbers of another kind", "\x08\2\x10\1\x3a\2\1\2", TSR_EFORMAT, "0 numbers of 2"),
    P("a negative dim", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\x10\2", TSR_EFORMAT, "a dim of -1"),
    P("huge dims", "\x08" HUGE_VARINT "\x08" HUGE_VARINT "\x10\2", TSR_EFORMAT, "63 bits"),
    P("a huge dim", "\x08" HUGE_VARINT "\x10\2\x2a\1\1", TSR_EFORMAT, "1 bytes of numbers"),
    P("17 dims", "\x0a\x11\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\x10\2", TSR_EUNSUPPORTED, "more than 16 dims"),
    P("a field that leaves", "\x08\1\x10\2\x4a\x7f", TSR_EFORMAT, "a field of 127 bytes"),
    P("a huge field", "\x08\1\x10\2\x4a" HUGE_VARINT, TSR_EFORMAT, "and the message ends"),
    P("a long number", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1",
      TSR_EFORMAT, "more than 64 bits"),
    P("half a number", "\x08\1\x10\x82", TSR_EFORMAT, "inside a number"),
    P("a group", "\x08\1\x0b", TSR_EFORMAT, "wire type 3"),
    P("field 0", "\x02\1a", TSR_EFORMAT, "no field"),
    P("segments", "\x1a\0", TSR_EUNSUPPORTED, "segments"),
    P("a name of no UTF-8", "\x42\1\xff", TSR_EFORMAT, "UTF-8"),
    P("a name with a zero", "\x42\1\0", TSR_EFORMAT, "UTF-8"),
    P("a dtype that is none", "\x08\1\x10\x63\x4a\1x", TSR_EUNSUPPORTED, "UNDEFINED"),
    P("external data of no file", "\x08\1\x10\2\x70\1\x6a\x0d\x0a\x08location\x12\1x", TSR_EUNSUPPORTED,
      "this is no file"),
    P("external data nowhere", "\x08\1\x10\2\x70\1", TSR_EFORMAT, "nothing says where"),
#undef P
};

TEST(test_hostile_models_are_refused_in_words)
{
    for (size_t i = 0; i < sizeof hand_made / sizeof *hand_made; i++) {
        tsr_clear_error();
        const tsr_status s = open_fields(hand_made[i].fields, hand_made[i].bytes);
        EXPECT_MSG(s == hand_made[i].status && strstr(tsr_last_error(), hand_made[i].words), "%s: %s: %s",
                   hand_made[i].what, tsr_status_name(s), tsr_last_error());
    }
    tsr_file *f = NULL;
    EXPECT_FAILS(tsr_file_open_bytes(&f, "\x08\12\x12\1x", 5, "x", NULL), TSR_EFORMAT, "no graph");
}

/* A model whose one tensor of a byte lies at `offset` of `location`. */
static tsr_status open_external(const char *location, const char *offset, const char *length)
{
    unsigned char model[256], fields[160] = "\x08\1\x10\2\x70\1";
    const char *const pairs[][2] = { { "location", location }, { "offset", offset }, { "length", length } };
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    size_t n = 6;
    for (int i = 0; i < 3; i++) {
        const size_t k = strlen(pairs[i][0]), v = strlen(pairs[i][1]);
        const unsigned char head[] = { 0x6a, (unsigned char)(k + v + 4), 0x0a, (unsigned char)k };
        n += zip_put(fields + n, head, 4);
        n += zip_put(fields + n, pairs[i][0], k);
        fields[n++] = 0x12;
        fields[n++] = (unsigned char)v;
        n += zip_put(fields + n, pairs[i][1], v);
    }
    write_bytes(file_path("model.onnx"), model, make_model(model, fields, n));
    tsr_status s = tsr_file_open(&f, file_path("model.onnx"), NULL);
    if (s == TSR_OK) s = tsr_file_read(&t, f, NULL);
    if (s == TSR_OK) EXPECT(*(const unsigned char *)t->data == 'b');
    tsr_release(&t);
    tsr_file_close(&f);
    return s;
}

TEST(test_external_data_leads_nowhere_else)
{
    static const char *const bad[] = { "", "/etc/passwd", "../data", "..", ".", "in/../../data", "in/..",
                                       "./data", "in//data", "in/", "c:data", "in\\data" };
    write_bytes(file_path("data"), "abc", 3);
    EXPECT(mkdir(file_path("in"), 0700) == 0);
    write_bytes(file_path("in/data"), "abc", 3);
    EXPECT_OK(open_external("data", "1", "1"));
    EXPECT_OK(open_external("in/data", "1", "1"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(open_external(bad[i], "1", "1"), TSR_EFORMAT, "is no file in the folder of the model");
    EXPECT_FAILS(open_external("none", "1", "1"), TSR_EIO, "No such file");
    EXPECT_FAILS(open_external("in", "1", "1"), TSR_EIO, "a folder");
    EXPECT_FAILS(open_external("data", "3", "1"), TSR_EFORMAT, "which has 3");
    EXPECT_FAILS(open_external("data", "9223372036854775807", "1"), TSR_EFORMAT, "no offset");
    EXPECT_FAILS(open_external("data", "-1", "1"), TSR_EFORMAT, "no offset");
    EXPECT_FAILS(open_external("data", "1", "2"), TSR_EFORMAT, "takes 1 bytes, and has 2");
    EXPECT_FAILS(open_external("data", "4", "1"), TSR_EFORMAT, "from byte 4 of data on, which has 3");
    EXPECT_FAILS(open_external("data", "1a", "1"), TSR_EFORMAT, "\"1a\" is no offset");
    EXPECT_FAILS(open_external("data", "1", ""), TSR_EFORMAT, "\"\" is no offset or length");
}

TEST(test_external_data_has_names_that_are_nearly_folders)
{
    static const char *const names[] = { "d", ".d", "...", "dd" };
    for (int i = 0; i < 4; i++) {
        write_bytes(file_path(names[i]), "abc", 3);
        EXPECT_OK(open_external(names[i], "1", "1"));
    }
}

/* Three tensors in two files, the first of which comes again, and texts, whose bytes nobody counts. */
TEST(test_external_data_of_several_files_and_of_texts)
{
    static const char graph[] = "\x2a\x18\x08\1\x10\2\x42\1a\x70\1\x6a\x0d\x0a\x08location\x12\1a"
                                "\x2a\x18\x08\1\x10\2\x42\1b\x70\1\x6a\x0d\x0a\x08location\x12\1b"
                                "\x2a\x18\x08\1\x10\2\x42\1c\x70\1\x6a\x0d\x0a\x08location\x12\1a"
                                "\x2a\x18\x08\1\x10\x8\x42\1d\x70\1\x6a\x0d\x0a\x08location\x12\1a"
                                "\x2a\x25\x08\1\x10\x8\x42\1e\x70\1\x6a\x0d\x0a\x08location\x12\1b"
                                "\x6a\x0b\x0a\6length\x12\1" "2";
    static const struct { const char *name; uint64_t bytes; double first; } want[] = {
        { "a", 1, 'x' }, { "b", 1, 'y' }, { "c", 1, 'x' }, { "d", 0, 0 }, { "e", 2, 0 },
    };
    unsigned char model[256] = "\x08\x0a\x3a";
    tsr_file *f = NULL;
    EXPECT(sizeof graph - 1 >= 128);
    model[3] = (unsigned char)((sizeof graph - 1) & 127) | 128;
    model[4] = (unsigned char)((sizeof graph - 1) >> 7);
    memcpy(model + 5, graph, sizeof graph - 1);
    write_bytes(file_path("a"), "x", 1);
    write_bytes(file_path("b"), "yz", 2);
    write_bytes(file_path("several.onnx"), model, 5 + sizeof graph - 1);
    EXPECT_OK(tsr_file_open(&f, file_path("several.onnx"), NULL));
    for (int i = 0; i < 5; i++) {
        tsr_tensor *t = NULL;
        tsr_file_entry e;
        EXPECT_OK(tsr_file_find(&e, f, want[i].name));
        EXPECT_MSG(e.bytes == want[i].bytes, "%s: %llu bytes", e.name, (unsigned long long)e.bytes);
        if (i >= 3) EXPECT_FAILS(tsr_file_read(&t, f, e.name), TSR_EUNSUPPORTED, "STRING");
        else {
            EXPECT_OK(tsr_file_read(&t, f, e.name));
            EXPECT(t && element(t, 0) == want[i].first);
        }
        tsr_release(&t);
    }
    tsr_file_close(&f);
}

/* Metadata of one value after another, the second of which is left out. */
TEST(test_metadata_without_a_value_are_empty)
{
    static const char model[] = "\x08\x0a\x72\x0a\x0a\1a\x12\5words\x72\3\x0a\1b\x3a\0";
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open_bytes(&f, model, sizeof model - 1, "x.onnx", NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "metadata.a"));
    EXPECT(m.length == 5 && !strcmp(m.text, "words"));
    EXPECT_OK(tsr_file_find_meta(&m, f, "metadata.b"));
    EXPECT(m.length == 0 && !strcmp(m.text, ""));
    tsr_file_close(&f);
}

/* A graph that is a number, beside a constant. */
TEST(test_an_attribute_that_is_no_graph_has_no_constants)
{
    static const char model[] = "\x08\x0a\x3a\x1b\x0a\x19\x12\1o\x22\x08" "Constant\x2a\x0a"
                                "\x0a\x06value2\x30\1";
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open_bytes(&f, model, sizeof model - 1, "x.onnx", NULL));
    EXPECT(tsr_file_count(f) == 0);
    tsr_file_close(&f);
}

TEST(test_models_cut_or_changed_anywhere_do_no_harm)
{
    expect_harmless(GOLDEN "raw.onnx", "onnx");
    expect_harmless(GOLDEN "numbers.onnx", "onnx");
    expect_harmless(GOLDEN "constants.onnx", "onnx");
}

TEST_AFTER
{
    files_remove();
}
