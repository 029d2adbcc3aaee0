/* test_tables.c - tables with headers, chosen columns, words, missing values and quotes. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include <math.h>

#include "unit/files.h"

static tsr_file *table(const char *text, const tsr_file_opts *opts)
{
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open_bytes(&f, text, strlen(text), "t.csv", opts));
    return f;
}

static tsr_status open_status(const char *text, const tsr_file_opts *opts)
{
    tsr_file *f = NULL;
    const tsr_status s = tsr_file_open_bytes(&f, text, strlen(text), "t.csv", opts);
    tsr_file_close(&f);
    return s;
}

/* The elements, row after row; NAN stands for any NaN. Closes the file. */
static void expect_table(tsr_file *f, int64_t rows, int64_t columns, const double *want)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    if (t) EXPECT_MSG(t->shape[0] == rows && t->shape[1] == columns, "(%lld, %lld)", (long long)t->shape[0],
                      (long long)t->shape[1]);
    for (int64_t i = 0; t && i < rows * columns && i < tsr_numel(t); i++) {
        const double got = element(t, i);
        EXPECT_MSG(got == want[i] || (isnan(got) && isnan(want[i])), "element %lld is %g", (long long)i, got);
    }
    tsr_release(&t);
    tsr_file_close(&f);
}

static void expect_texts(const tsr_file *f, const char *key, int64_t n, const char *const *want)
{
    tsr_meta m;
    EXPECT_OK(tsr_file_find_meta(&m, f, key));
    EXPECT(m.type == TSR_META_TEXTS && m.count == n);
    for (int64_t i = 0; m.type == TSR_META_TEXTS && i < n && i < m.count; i++)
        EXPECT_MSG(!strcmp(m.texts[i], want[i]), "%s: \"%s\" for \"%s\"", key, m.texts[i], want[i]);
}

TEST(test_words_become_codes_and_missing_values_are_counted)
{
    static const char *const names[] = { "city", "size", "kind" }, *const cities[] = { "Rome", "Oslo", "NA" },
                     *const kinds[] = { "a" };
    tsr_file *f = table("city,size,kind\nRome,1,a\nOslo,,a\nRome,NA,\n,4,a\n\"NA\",5,None\n", NULL);
    tsr_meta m;
    expect_texts(f, "columns", 3, names);
    expect_texts(f, "categories.city", 3, cities);
    expect_texts(f, "categories.kind", 1, kinds);
    EXPECT_FAILS(tsr_file_find_meta(&m, f, "categories.size"), TSR_EINDEX, "categories.size");
    EXPECT_OK(tsr_file_find_meta(&m, f, "missing"));
    EXPECT(m.type == TSR_META_NUMBERS && m.dtype == TSR_I64 && m.count == 3);
    EXPECT(((const int64_t *)m.data)[0] == 1 && ((const int64_t *)m.data)[1] == 2 &&
           ((const int64_t *)m.data)[2] == 2);
    expect_table(f, 5, 3, (const double[]){ 0, 1, 0, 1, NAN, 0, 0, NAN, NAN, NAN, 4, 0, 2, 5, NAN });
}

static void tell_texts(tsr_writer *w, const char *key, int64_t n, const char *const *texts)
{
    const tsr_meta m = { .key = key, .type = TSR_META_TEXTS, .count = n, .texts = texts };
    EXPECT_OK(tsr_writer_meta(w, &m));
}

TEST(test_a_table_is_written_with_its_names_and_words)
{
    static const char want[] = "a,\"b,c\",a\nnan,u,\"NA\"\n7,\"#v\",u\n-1,\"\",0.5\n";
    static const char *const names[] = { "a", "b,c", "a" }, *const words[] = { "u", "#v" },
                     *const more[] = { "NA", "u" };
    double numbers[] = { NAN, 0, 0, 7, 1, 1, -1, NAN, 0.5 };
    tsr_tensor t;
    tsr_desc d;
    tsr_writer *w = NULL;
    char text[100] = "";
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, TSR_SHAPE(3, 3), NULL));
    EXPECT_OK(tsr_place(&t, numbers, &d));
    EXPECT_OK(tsr_writer_create(&w, file_path("t.csv"), NULL));
    tell_texts(w, "columns", 3, names);
    tell_texts(w, "categories.b,c", 2, words);
    tell_texts(w, "categories.2", 2, more);
    EXPECT_FAILS(tsr_writer_text(w, "about", "x"), TSR_EUNSUPPORTED, "columns and categories");
    EXPECT_FAILS(tsr_writer_text(w, "categories.a", "x"), TSR_EINVAL, "takes texts");
    EXPECT_OK(tsr_writer_add(w, NULL, &t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    FILE *f = fopen(file_path("t.csv"), "r");
    EXPECT(f && fread(text, 1, sizeof text - 1, f) == sizeof want - 1 && !strcmp(text, want));
    if (f) fclose(f);
    EXPECT_OK(tsr_writer_create(&w, file_path("t.csv"), NULL));
    tell_texts(w, "columns", 2, names);
    EXPECT_FAILS(tsr_writer_add(w, NULL, &t, NULL), TSR_EINVAL, "2 names for 3 columns");
    tsr_writer_cancel(&w);
}

TEST(test_columns_are_chosen_by_name_or_number)
{
    static const char text[] = "a,b,c,2\n1,2,3,4\n5,6,7,8\n";
    static const char *const back[] = { "c", "a" }, *const last[] = { "-1" }, *const name_first[] = { "2" },
                     *const none[] = { "z" }, *const far[] = { "4" }, *const twice[] = { "a", "0" },
                     *const before[] = { "-5" }, *const part[] = { "1.5" };
    tsr_file *f = table(text, &(tsr_file_opts){ .columns = back, .ncolumns = 2 });
    expect_texts(f, "columns", 2, back);
    expect_table(f, 2, 2, (const double[]){ 3, 1, 7, 5 });
    expect_table(table(text, &(tsr_file_opts){ .columns = last, .ncolumns = 1 }), 2, 1,
                 (const double[]){ 4, 8 });
    expect_table(table(text, &(tsr_file_opts){ .columns = name_first, .ncolumns = 1 }), 2, 1,
                 (const double[]){ 4, 8 });
    EXPECT_FAILS(open_status(text, &(tsr_file_opts){ .columns = none, .ncolumns = 1 }), TSR_EINDEX,
                 "no column \"z\" among its 4; did you mean \"a\"?");
    EXPECT_FAILS(open_status(text, &(tsr_file_opts){ .columns = far, .ncolumns = 1 }), TSR_EINDEX,
                 "among its 4");
    EXPECT_FAILS(open_status(text, &(tsr_file_opts){ .columns = before, .ncolumns = 1 }), TSR_EINDEX, "-5");
    EXPECT_FAILS(open_status(text, &(tsr_file_opts){ .columns = part, .ncolumns = 1 }), TSR_EINDEX, "1.5");
    EXPECT_FAILS(open_status(text, &(tsr_file_opts){ .columns = twice, .ncolumns = 2 }), TSR_EINVAL, "twice");
    /* Words of a column that was not chosen are nobody's. */
    f = table("a,b\nx,1\ny,2\n", &(tsr_file_opts){ .columns = (const char *const[]){ "b" }, .ncolumns = 1 });
    EXPECT(tsr_file_meta_count(f) == 1);
    expect_table(f, 2, 1, (const double[]){ 1, 2 });
}

TEST(test_the_first_line_is_a_header_if_it_is_said_to_be)
{
    expect_table(table("1,2\n3,4\n", NULL), 2, 2, (const double[]){ 1, 2, 3, 4 });
    expect_table(table("1,2\n3,4\n", &(tsr_file_opts){ .header = TSR_HEADER_FIRST }), 1, 2,
                 (const double[]){ 3, 4 });
    static const char *const words[] = { "x", "y" };
    tsr_file *f = table("x,1\ny,2\nx,3\n", &(tsr_file_opts){ .header = TSR_HEADER_NONE });
    expect_texts(f, "categories.0", 2, words);
    expect_table(f, 3, 2, (const double[]){ 0, 1, 1, 2, 0, 3 });
}

TEST(test_fields_lie_between_any_separators)
{
    expect_table(table("1;2,5\n3;4\n", &(tsr_file_opts){ .separator = ';', .header = TSR_HEADER_NONE,
                                                        .ncolumns = 1,
                                                        .columns = (const char *const[]){ "0" } }),
                 2, 1, (const double[]){ 1, 3 });
    expect_table(table("1 2\n3 4\n", &(tsr_file_opts){ .separator = ' ' }), 2, 2,
                 (const double[]){ 1, 2, 3, 4 });
    expect_table(table("1|2\r\n3|\r\n", &(tsr_file_opts){ .separator = '|' }), 2, 2,
                 (const double[]){ 1, 2, 3, NAN });
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .separator = '"' }), TSR_EINVAL, "separator");
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .separator = '\r' }), TSR_EINVAL, "separator");
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .separator = '\n' }), TSR_EINVAL, "separator");
}

TEST(test_a_separator_that_the_first_rows_share_is_found)
{
    static const char *const names[] = { "a", "b" };
    tsr_file *f = table("a;b\n1,5;-2\n\n3;0,25\n", NULL);
    expect_texts(f, "columns", 2, names);
    expect_table(f, 2, 2, (const double[]){ 1.5, -2, 3, 0.25 });
    expect_table(table("1\t2\n3\t4\n", NULL), 2, 2, (const double[]){ 1, 2, 3, 4 });
    expect_table(table("1|2\n3|4\n", NULL), 2, 2, (const double[]){ 1, 2, 3, 4 });
    expect_table(table("v\n1\n2\n", NULL), 2, 1, (const double[]){ 1, 2 });
    expect_table(table("a;b\nc\na;b\n", NULL), 2, 1, (const double[]){ 0, 1 });
    expect_table(table("a;b\n1;2\n", &(tsr_file_opts){ .separator = ',' }), 1, 1, (const double[]){ 0 });
    expect_table(table("1.234,5;2,3,4\n", NULL), 0, 4, NULL);
}

TEST(test_lines_may_end_as_on_any_system)
{
    expect_table(table("a,b\r1,2\r\r3,4\r", NULL), 2, 2, (const double[]){ 1, 2, 3, 4 });
    expect_table(table("a,b\r\n1,2\r\n3,4", NULL), 2, 2, (const double[]){ 1, 2, 3, 4 });
    EXPECT(open_status("a,b\r1,2\r3\r", NULL) == TSR_EFORMAT);
    EXPECT(strstr(tsr_last_error(), "line 3 has 1 field "));
}

TEST(test_true_and_false_are_numbers)
{
    tsr_meta m;
    tsr_file *f = table("a,b\nTrue,true\nFALSE,maybe\n,false\n", NULL);
    EXPECT_FAILS(tsr_file_find_meta(&m, f, "categories.a"), TSR_EINDEX, "categories.a");
    EXPECT_OK(tsr_file_find_meta(&m, f, "categories.b"));
    expect_table(f, 3, 2, (const double[]){ 1, 0, 0, 1, NAN, 2 });
}

TEST(test_text_that_is_no_utf8_says_what_to_do)
{
    EXPECT(open_status("\xff\xfe" "a,b", NULL) == TSR_EUNSUPPORTED && strstr(tsr_last_error(), "iconv"));
    EXPECT(open_status("a,\xe9\n1,2\n", NULL) == TSR_EFORMAT && strstr(tsr_last_error(), "iconv"));
    EXPECT(open_status("a,b\n1,\xe9\n", NULL) == TSR_EFORMAT && strstr(tsr_last_error(), "iconv"));
}

TEST(test_quotes_hold_separators_newlines_and_quotes)
{
    static const char *const words[] = { "a,b", "two\nlines", "say \"no\"", "plain \"x\"" };
    tsr_file *f = table("w,n\n\"a,b\",1\n\"two\nlines\",2\n \"say \"\"no\"\"\" ,3\nplain \"x\",4\n"
                        "\"two\nlines\",5\n", NULL);
    expect_texts(f, "categories.w", 4, words);
    expect_table(f, 5, 2, (const double[]){ 0, 1, 1, 2, 2, 3, 3, 4, 1, 5 });
    static const char *const names[] = { "one\ntwo", "b" };
    f = table("\"one\ntwo\",b\n1,2\n3,x\n", NULL);
    expect_texts(f, "columns", 2, names);
    tsr_tensor *t = NULL;
    EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "line 4, field 2: \"x\" is no number");
    tsr_file_close(&f);
    EXPECT_FAILS(open_status("a,b\n1,2\n\"3,4\n", NULL), TSR_EFORMAT, "line 3, field 1: \"3,4");
    EXPECT_FAILS(open_status("a,b\n1,\"2\"3\n", NULL), TSR_EFORMAT, "line 2, field 2: \"2\": a quote");
    EXPECT_FAILS(open_status("\"a\"b,c\n", NULL), TSR_EFORMAT, "line 1, field 1");
}

TEST(test_columns_of_one_name_keep_their_words_apart)
{
    static const char *const first[] = { "x" }, *const second[] = { "y" };
    tsr_file *f = table("w,w\nx,y\n", NULL);
    expect_texts(f, "categories.w", 1, first);
    expect_texts(f, "categories.1", 1, second);
    tsr_file_close(&f);
}

TEST(test_codes_fit_the_dtype)
{
    char text[8192] = "w\n";
    tsr_tensor *t = NULL;
    for (int i = 0; i < 257; i++) snprintf(text + strlen(text), 16, "w%d\n", i);
    EXPECT_FAILS(open_status(text, &(tsr_file_opts){ .dtype = TSR_U8 }), TSR_EUNSUPPORTED,
                 "257 words, more than u8");
    tsr_file *f = table(text, &(tsr_file_opts){ .dtype = TSR_I16 });
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    for (int64_t i = 0; t && i < 257; i++) EXPECT(element(t, i) == (double)i);
    tsr_release(&t);
    tsr_file_close(&f);
    f = table("w,n\nx,\n", &(tsr_file_opts){ .dtype = TSR_I32 });
    EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "line 2, field 2 is missing");
    tsr_file_close(&f);
}

/* What would be wrapped, cut or saturated is told instead. */
TEST(test_numbers_that_an_integer_dtype_has_not_are_refused)
{
    static const struct { tsr_dtype dtype; const char *has, *has_not; } cases[] = {
        { TSR_U8, "255", "256" },   { TSR_U8, "0", "-1" },       { TSR_I8, "-128", "-129" },
        { TSR_I8, "127", "128" },   { TSR_I32, "1e3", "1.5" },   { TSR_I32, "-7.0", "nan" },
        { TSR_I64, "1e18", "inf" }, { TSR_U64, "0", "1e20" },
        { TSR_I64, "9223372036854775807", "9223372036854775808" },
        { TSR_I64, "-9223372036854775808", "9223372036854775808.0" },
        { TSR_U64, "18446744073709551615", "18446744073709551616" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 2; k++) {
            tsr_tensor *t = NULL;
            char text[64], words[32];
            snprintf(text, sizeof text, "1,%s\n", k ? cases[i].has_not : cases[i].has);
            snprintf(words, sizeof words, "is no %s", tsr_dtype_name(cases[i].dtype));
            tsr_file *f = table(text, &(tsr_file_opts){ .dtype = cases[i].dtype });
            if (k) EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, words);
            else   EXPECT_OK(tsr_file_read(&t, f, NULL));
            EXPECT(k || (t && element(t, 1) == strtod(cases[i].has, NULL)));
            tsr_release(&t);
            tsr_file_close(&f);
        }
}

TEST(test_options_of_tables_are_checked)
{
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .header = (tsr_header)7 }), TSR_EINVAL, "opts.header 7");
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .ncolumns = -1 }), TSR_EINVAL, "opts.ncolumns is -1");
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .ncolumns = 1 }), TSR_ENULL, "opts.columns is NULL");
    static const char *const none[] = { NULL };
    EXPECT_FAILS(open_status("1", &(tsr_file_opts){ .columns = none, .ncolumns = 1 }), TSR_ENULL,
                 "opts.columns[0] is NULL");
    EXPECT_FAILS(open_status("w\n\xff\n", NULL), TSR_EFORMAT, "UTF-8");
    expect_table(table("", NULL), 0, 0, NULL);
    expect_table(table("\r", NULL), 0, 0, NULL);
    expect_table(table("1\r", NULL), 1, 1, (const double[]){ 1 });
    expect_table(table("a,b\n", NULL), 0, 2, NULL);
}

TEST_AFTER
{
    files_remove();
}
