/* test_checkpoints.c - checkpoints of PyTorch: those that torch.save wrote (tests/data/files), and those
 * that somebody wrote to do harm. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "unit/hostile.h"

#define GOLDEN "tests/data/files/"

static tsr_file *opened(const char *path)
{
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, path, NULL));
    return f;
}

/* Reads a tensor, whole and as a slice of everything, and compares its elements with those given. */
static void expect_elements(const tsr_file *f, const char *name, int64_t n, const double *want)
{
    for (int slice = 0; slice < 2; slice++) {
        tsr_tensor *t = NULL;
        if (slice) EXPECT_OK(tsr_file_read_slice(&t, f, name, 0, NULL));
        else       EXPECT_OK(tsr_file_read(&t, f, name));
        if (!t) return;
        EXPECT_MSG(tsr_numel(t) == n, "%s has %lld elements", name, (long long)tsr_numel(t));
        for (int64_t i = 0; i < n && i < tsr_numel(t); i++)
            EXPECT_MSG(element(t, i) == want[i], "%s: element %lld is %g", name, (long long)i, element(t, i));
        tsr_release(&t);
    }
}

/* 0 to 23, or what is left of them, as the part of (2, 3, 4) that a name stands for. */
static void expect_views(const tsr_file *f)
{
    double all[24], turned[24], part[8] = { 4, 6, 8, 10, 16, 18, 20, 22 };
    const double repeated[15] = { 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2 }, scalar = 2.5;
    for (int i = 0; i < 24; i++) {
        all[i] = i;
        turned[i] = i % 2 * 12 + i / 2 % 3 * 4 + i / 6;
    }
    expect_elements(f, "views.whole", 24, all);
    expect_elements(f, "views.tied", 24, all);
    expect_elements(f, "views.parameter", 24, all);
    expect_elements(f, "views.turned", 24, turned);
    expect_elements(f, "views.part", 8, part);
    expect_elements(f, "views.repeated", 15, repeated);
    expect_elements(f, "views.empty", 0, NULL);
    expect_elements(f, "views.scalar", 1, &scalar);
    expect_elements(f, "model.weight", 12, all);
    expect_elements(f, "list.0", 12, all);
    expect_elements(f, "list.1.0", 12, all + 12);
}

static const struct { const char *name; tsr_dtype dtype; } dtypes[] = {
    { "bool", TSR_BOOL }, { "i1", TSR_I8 },  { "i2", TSR_I16 }, { "i4", TSR_I32 },   { "i8", TSR_I64 },
    { "u1", TSR_U8 },     { "u2", TSR_U16 }, { "u4", TSR_U32 }, { "u8", TSR_U64 },   { "f2", TSR_F16 },
    { "f4", TSR_F32 },    { "f8", TSR_F64 }, { "c8", TSR_C64 }, { "c16", TSR_C128 }, { "bf16", TSR_BF16 },
    { "e4m3", TSR_F8E4M3 },
};

static void expect_dtypes(const tsr_file *f)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tsr_tensor *t = NULL;
        const bool small = dtypes[i].dtype == TSR_F8E4M3;
        EXPECT_OK(tsr_file_read(&t, f, dtypes[i].name));
        EXPECT_MSG(t && t->dtype == dtypes[i].dtype, "%s", dtypes[i].name);
        for (int64_t k = 0; t && k < tsr_numel(t); k++)
            EXPECT(element(t, k) == (double)(small ? 1 : dtypes[i].dtype == TSR_BOOL ? k % 2 : k));
        tsr_release(&t);
    }
}

static void expect_values(const tsr_file *f)
{
    tsr_meta m;
    EXPECT_OK(tsr_file_find_meta(&m, f, "epoch"));
    EXPECT(m.type == TSR_META_NUMBER && m.dtype == TSR_I64 && m.number.as.i == 3);
    EXPECT_OK(tsr_file_find_meta(&m, f, "rate"));
    EXPECT(m.type == TSR_META_NUMBER && m.dtype == TSR_F64 && tsr_scalar_to_f64(m.number) == 0.5);
    EXPECT_OK(tsr_file_find_meta(&m, f, "done"));
    EXPECT(m.type == TSR_META_NUMBER && m.dtype == TSR_BOOL && tsr_scalar_to_f64(m.number) == 1);
    EXPECT_OK(tsr_file_find_meta(&m, f, "note"));
    EXPECT(m.type == TSR_META_TEXT && m.length == 6 && !strcmp(m.text, "h\xc3\xa9llo"));
    EXPECT_OK(tsr_file_find_meta(&m, f, "steps"));
    EXPECT(m.type == TSR_META_NUMBERS && m.dtype == TSR_I64 && m.count == 3);
    EXPECT(((const int64_t *)m.data)[2] == 3);
    EXPECT_OK(tsr_file_find_meta(&m, f, "betas"));
    EXPECT(m.type == TSR_META_NUMBERS && m.dtype == TSR_F64 && m.count == 2);
    EXPECT(((const double *)m.data)[1] == 1);
    EXPECT_OK(tsr_file_find_meta(&m, f, "size"));
    EXPECT(m.count == 3 && ((const int64_t *)m.data)[1] == 3);
    EXPECT_OK(tsr_file_find_meta(&m, f, "list.1.1"));
    EXPECT(m.number.as.i == 7);
    EXPECT_FAILS(tsr_file_find_meta(&m, f, "none"), TSR_EINDEX, "none");
    EXPECT_FAILS(tsr_file_find_meta(&m, f, "far"), TSR_EINDEX, "far");
}

TEST(test_checkpoints_of_torch_are_read)
{
    static const char *const paths[] = { GOLDEN "tensors.pt", GOLDEN "deflated.pt" };
    for (int i = 0; i < 2; i++) {
        tsr_file_entry e;
        tsr_file *f = opened(paths[i]);
        EXPECT(!strcmp(tsr_file_format(f), "pt"));
        expect_views(f);
        expect_dtypes(f);
        expect_values(f);
        EXPECT_OK(tsr_file_find(&e, f, "views.turned"));
        EXPECT(e.mapped == (i == 0) && e.desc.stride[0] == 1 && e.desc.stride[2] == 12);
        EXPECT_OK(tsr_file_find(&e, f, "fnuz"));
        EXPECT(e.desc.dtype == TSR_DTYPE_INVALID && !strcmp(e.encoding, "float8_e4m3fnuz"));
        tsr_file_close(&f);
    }
}

TEST(test_checkpoints_hold_short_dtypes)
{
    tsr_file *f = opened(GOLDEN "short.pt");
    tsr_tensor *t = NULL;
    tsr_file_entry e;
    EXPECT_OK(tsr_file_read(&t, f, "c32"));
    EXPECT(t->dtype == TSR_C32 && tsr_numel(t) == 2 && !memcmp(t->data, "\0<\0@\0\302\0" "8", 8));
    tsr_release(&t);
    EXPECT_OK(tsr_file_find(&e, f, "fours"));
    EXPECT(e.desc.dtype == TSR_DTYPE_INVALID && e.bytes == 2 && !strcmp(e.encoding, "float4_e2m1fn_x2"));
    EXPECT_OK(tsr_file_read_raw(&t, f, "fours"));
    EXPECT(tsr_numel(t) == 2 && !memcmp(t->data, "\x21\x43", 2));
    tsr_release(&t);
    tsr_file_close(&f);
}

/* A copy of every view is the same as the view, and holds no more than it reaches. */
TEST(test_checkpoints_are_read_without_mapping)
{
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, GOLDEN "tensors.pt", &(tsr_file_opts){ .copy = true }));
    expect_views(f);
    tsr_tensor *t = NULL;
    const tsr_file_range back[] = { { TSR_NONE, TSR_NONE, -1 }, TSR_FILE_AT(1), TSR_FILE_ALL };
    EXPECT_OK(tsr_file_read_slice(&t, f, "views.part", 3, back));
    EXPECT(t->ndim == 2 && element(t, 0) == 20 && element(t, 1) == 22 && element(t, 3) == 10);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read(&t, f, "views.repeated"));
    EXPECT(tsr_storage_bytes(t->storage) < 64);
    tsr_release(&t);
    tsr_file_close(&f);
}

TEST(test_no_rows_of_a_strided_tensor_are_none)
{
    tsr_file *f = opened(GOLDEN "tensors.pt");
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_file_read_slice(&t, f, "views.part", 1, (tsr_file_range[]){ { 1, 1, 1 } }));
    EXPECT(t && tsr_numel(t) == 0 && t->shape[0] == 0);
    tsr_release(&t);
    tsr_file_close(&f);
}

/* Gaps of a given tensor stay as they are. */
TEST(test_a_strided_tensor_is_read_into_one_of_the_same_strides)
{
    tsr_file *f = opened(GOLDEN "tensors.pt");
    tsr_tensor *all = NULL, *part = NULL;
    EXPECT_OK(tsr_full(&all, TSR_F32, TSR_SHAPE(2, 3, 4), TSR_SCALAR(-1)));
    EXPECT_OK(tsr_slice(&part, all, 1, 1, 3, 1));
    EXPECT_OK(tsr_slice(&part, part, 2, 0, 4, 2));
    EXPECT_OK(tsr_file_read(&part, f, "views.part"));
    for (int64_t i = 0; i < 24; i++)
        EXPECT(element(all, i) == (i % 12 >= 4 && i % 2 == 0 ? (double)i : -1.0));
    tsr_release_all(&all, &part);
    tsr_file_close(&f);
}

TEST(test_checkpoints_of_either_byte_order_and_a_later_protocol_are_read)
{
    static const char *const paths[] = { GOLDEN "little.pt", GOLDEN "big.pt" };
    double all[24], turned[24];
    for (int i = 0; i < 24; i++) {
        all[i] = i;
        turned[i] = i % 2 * 12 + i / 2 % 3 * 4 + i / 6;
    }
    for (int i = 0; i < 2; i++) {
        tsr_file *f = opened(paths[i]);
        expect_elements(f, "a", 24, all);
        expect_elements(f, "b", 24, turned);
        tsr_file_close(&f);
    }
}

TEST(test_a_module_has_the_names_of_its_state_dict)
{
    tsr_file *f = opened(GOLDEN "module.pt");
    tsr_file_entry e;
    tsr_meta m;
    EXPECT(tsr_file_count(f) == 2);
    EXPECT_OK(tsr_file_find(&e, f, "weight"));
    EXPECT(e.desc.dtype == TSR_F32 && e.desc.ndim == 2);
    EXPECT_OK(tsr_file_find(&e, f, "bias"));
    EXPECT_OK(tsr_file_find_meta(&m, f, "in_features"));
    EXPECT(m.number.as.i == 1);
    tsr_file_close(&f);
}

TEST(test_checkpoints_from_before_zip_files_are_read)
{
    double all[24];
    for (int i = 0; i < 24; i++) all[i] = i;
    tsr_file *f = opened(GOLDEN "old.pt");
    EXPECT(!strcmp(tsr_file_format(f), "pt") && tsr_file_count(f) == 1);
    expect_elements(f, "", 24, all);
    tsr_file_close(&f);
}

/* dtypes that PyTorch got after 1.6 lie in storages of bytes. */
TEST(test_checkpoints_from_before_zip_files_hold_dtypes_from_after)
{
    static const char file[] =
        "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." "\x80\2M\xe9\3." "\x80\2}."
        "\x80\2" "ctorch._utils\n_rebuild_tensor_v3\n((X\7\0\0\0storagectorch.storage\nUntypedStorage\n"
        "X\1\0\0\0" "0X\3\0\0\0" "cpuK\4NtQK\0K\2\x85K\1\x85\x89Nctorch\nuint16\ntR."
        "\x80\2]X\1\0\0\0" "0a." "\4\0\0\0\0\0\0\0\1\0\2";
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open_bytes(&f, file, sizeof file, "x.pt", NULL)); /* with the 0 behind the text */
    expect_elements(f, "", 2, (const double[]){ 1, 2 });
    tsr_file_close(&f);
}

TEST(test_a_view_to_be_conjugated_is_listed_and_not_read)
{
    tsr_file *f = opened(GOLDEN "conjugated.pt");
    tsr_tensor *t = NULL;
    tsr_file_entry e;
    EXPECT_OK(tsr_file_find(&e, f, "c"));
    EXPECT(e.desc.dtype == TSR_DTYPE_INVALID && e.desc.shape[0] == 2 && e.bytes == 0);
    EXPECT_FAILS(tsr_file_read(&t, f, "c"), TSR_EUNSUPPORTED, "resolve_conj");
    tsr_file_close(&f);
}

/* Pickles by hand ------------------------------------------------------------------------ */

/* A stored zip file of a pickle and a storage "0" of 24 bytes; its length. */
static size_t make_checkpoint(unsigned char *out, const void *pickle, size_t bytes)
{
    static const char storage[24] = "\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0";
    const zip_member members[] = { { "x/data.pkl", pickle, bytes }, { "x/data/0", storage, 24 } };
    return zip_make(out, members, 2);
}

static tsr_status open_pickle(tsr_file **f, const void *pickle, size_t bytes)
{
    unsigned char *zip = malloc(bytes + 1024);
    const size_t n = make_checkpoint(zip, pickle, bytes);
    const tsr_status s = tsr_file_open_bytes(f, zip, n, "x.pt", NULL);
    if (s == TSR_OK) read_everything(*f);
    tsr_file_close(f);
    free(zip);
    return s;
}

#define STORAGE(class, elements) "(X\7\0\0\0storagec" class "\nX\1\0\0\0" "0X\3\0\0\0" "cpuJ" elements "tQ"
#define TENSOR(class, elements, rest) \
    "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE(class, elements) rest "\x89Nt" "R"
#define INTS "torch\nIntStorage"
#define SIX "\6\0\0\0"
#define TOP(byte) "\x8a\x8\0\0\0\0\0\0\0" byte  /* a number by its highest byte */
#define SUBCLASS(class) \
    "\x80\2" "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\n" class "(" \
    STORAGE(INTS, SIX) "K\0K\2\x85K\1\x85\x89Nt}tR."

static const struct {
    const char *what, *pickle;
    size_t      bytes;
    tsr_status  status;
    const char *words;
} pickles[] = {
#define P(what, text, status, words) { what, text, sizeof text - 1, status, words }
    P("a tensor", "\x80\2" TENSOR(INTS, SIX, "K\0K\2K\3\x86K\3K\1\x86") ".", TSR_OK, ""),
    P("a command", "\x80\2cposix\nsystem\nX\4\0\0\0exit\x85R.", TSR_EUNSUPPORTED,
      "refused: posix.system is not a tensor"),
    P("a command of texts", "\x80\4\x8c\2os\x8c\6system\x93\x8c\4exit\x85R.", TSR_EUNSUPPORTED,
      "refused: os.system is not a tensor"),
    P("eval", "\x80\2" "cbuiltins\neval\n.", TSR_EUNSUPPORTED, "refused: builtins.eval"),
    P("an object of tensors", "\x80\2" "ctorch\nTensor\n)\x81.", TSR_EUNSUPPORTED, "torch.Tensor with other"),
    P("an object", "\x80\2" "ca\nB\n)\x81.", TSR_EUNSUPPORTED, "refused: a.B is not a tensor"),
    P("an object by names", "\x80\4\x8c\1a\x8c\1B\x93)}\x92.", TSR_EUNSUPPORTED, "refused: a.B is not"),
    P("what an object would call", "\x80\2" "ca\nB\n)R)R.", TSR_EUNSUPPORTED, "refused: a.B is not"),
    P("an object that holds itself", "\x80\2" "ca\nB\n)\x81q\0}X\1\0\0\0xh\0sb.", TSR_OK, ""),
    P("an object of two states", "\x80\2" "ca\nB\n)\x81N}X\1\0\0\0xK\1s\x86" "b.", TSR_OK, ""),
    P("an object that lists", "\x80\2" "ca\nB\n)\x81(K\1K\2e.", TSR_OK, ""),
    P("an object of items", "\x80\2" "ca\nB\n)\x81(K\1K\2u.", TSR_OK, ""),
    P("an object that lists and has attributes", "\x80\2" "ca\nB\n)\x81}K\1K\2sbK\1" "a.", TSR_EFORMAT,
      "no list"),
    P("a name of no UTF-8", "\x80\2}K\1ca\n\xff\ns.", TSR_EFORMAT, "UTF-8"),
    P("a storage of a class", "\x80\2" TENSOR("a\nB", SIX, "K\0K\2\x85K\1\x85") ".", TSR_EFORMAT, "no dtype"),
    P("a set", "\x80\4\x8f(K\1K\2\x90.", TSR_OK, ""),
    P("a set that is frozen", "\x80\4(K\1K\2\x91.", TSR_OK, ""),
    P("bytes", "\x80\5\x96\1\0\0\0\0\0\0\0x.", TSR_OK, ""),
    P("an instance", "\x80\2(ios\nsystem\n.", TSR_EUNSUPPORTED, "op 0x69"),
    P("an extension", "\x80\2\x82\1.", TSR_EUNSUPPORTED, "op 0x82"),
    P("a class as a function", "\x80\2" "ctorch\nTensor\n)R.", TSR_EUNSUPPORTED, "torch.Tensor with other"),
    P("a dict of pairs", "\x80\2" "ccollections\nOrderedDict\n](]K\1" "aK\2" "ae\x85R.", TSR_OK, ""),
    P("a dict of one number", "\x80\2" "ccollections\nOrderedDict\nK\1\x85R.",
      TSR_EUNSUPPORTED, "OrderedDict with other"),
    P("a dict of numbers", "\x80\2" "ccollections\nOrderedDict\n](K\1e\x85R.",
      TSR_EUNSUPPORTED, "OrderedDict with other"),
    P("an old protocol", "\x80\1N.", TSR_EUNSUPPORTED, "protocol 1"),
    P("a later protocol", "\x80\6N.", TSR_EUNSUPPORTED, "protocol 6"),
    P("nothing", "", TSR_EFORMAT, "ends before its end"),
    P("no value", "\x80\2.", TSR_EFORMAT, "takes a value where there is none"),
    P("a mark for a value", "\x80\2(.", TSR_EFORMAT, "takes a value where there is none"),
    P("no mark", "\x80\2Nt.", TSR_EFORMAT, "a mark that is not there"),
    P("half an op", "\x80\2J\1\2", TSR_EFORMAT, "ends inside the op"),
    P("a long text", "\x80\2X\xff\xff\xff\xff.", TSR_EFORMAT, "ends inside the op"),
    P("a very long text", "\x80\2\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", TSR_EFORMAT, "ends inside the op"),
    P("a name without end", "\x80\2cos", TSR_EFORMAT, "inside the name"),
    P("a memo from nowhere", "\x80\2h\5.", TSR_EFORMAT, "was not kept"),
    P("a memo far away", "\x80\2Nr\xff\xff\xff\x7f.", TSR_EFORMAT, "is kept"),
    P("a key without a value", "\x80\2}(Nu.", TSR_EFORMAT, "without a value"),
    P("items of nothing", "\x80\2N(Ne.", TSR_EFORMAT, "no list"),
    P("a call of nothing", "\x80\2N)R.", TSR_EFORMAT, "no function"),
    P("names of numbers", "\x80\4K\1K\2\x93.", TSR_EFORMAT, "no text"),
    P("a storage of nothing", "\x80\2NQ.", TSR_EFORMAT, "no storage"),
    P("a list in itself", "\x80\2]q\0h\0a.", TSR_EFORMAT, "deep"),
    P("a dict in itself", "\x80\2}q\0X\1\0\0\0ah\0s.", TSR_EFORMAT, "deep"),
    P("a key of None", "\x80\2}NK\1s.", TSR_EUNSUPPORTED, "no text and no number"),
    P("a key with a zero", "\x80\2}X\1\0\0\0\0K\1s.", TSR_EFORMAT, "a zero"),
    P("a key of no UTF-8", "\x80\2}X\1\0\0\0\xffK\1s.", TSR_EFORMAT, "UTF-8"),
    P("two of a name", "\x80\2}K\1K\5sX\1\0\0\0" "1K\6s.", TSR_EFORMAT, "two values"),
    P("beyond the storage", "\x80\2" TENSOR(INTS, SIX, "K\1K\2K\3\x86K\3K\1\x86") ".", TSR_EFORMAT,
      "leaves its storage"),
    P("strides beyond", "\x80\2" TENSOR(INTS, SIX, "K\0K\2K\3\x86K\4K\1\x86") ".", TSR_EFORMAT,
      "leaves its storage"),
    P("before the storage", "\x80\2" TENSOR(INTS, SIX, "J\xff\xff\xff\xffK\2\x85K\1\x85") ".", TSR_EFORMAT,
      "from element -1"),
    P("a negative stride", "\x80\2" TENSOR(INTS, SIX, "K\5K\2\x85J\xff\xff\xff\xff\x85") ".",
      TSR_EFORMAT, "no size"),
    P("strides for other dims", "\x80\2" TENSOR(INTS, SIX, "K\0K\2\x85)") ".",
      TSR_EFORMAT, "1 dims and 0 strides"),
    P("a shape beyond 63 bits", "\x80\2" TENSOR(INTS, SIX, "K\0\x8a\x8\0\0\0\0\0\0\0\x7f\x85K\0\x85") ".",
      TSR_EFORMAT, "63 bits"),
    P("a reach beyond 63 bits", "\x80\2" TENSOR(INTS, SIX, "K\0K\3\x85\x8a\x8\0\0\0\0\0\0\0\x7f\x85") ".",
      TSR_EFORMAT, "leaves its storage"),
    P("an element repeated for ever", "\x80\2" TENSOR(INTS, SIX, "K\0\x8a\6\0\0\0\0\0\1\x85K\0\x85") ".",
      TSR_EFORMAT, "repeats its elements"),
    P("an element repeated a little", "\x80\2" TENSOR(INTS, SIX, "K\0K\x64\x85K\0\x85") ".", TSR_OK, ""),
    P("17 dims", "\x80\2" TENSOR(INTS, SIX, "K\0(K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1t)") ".",
      TSR_EUNSUPPORTED, "17 dims"),
    P("bytes without a dtype",
      "\x80\2" TENSOR("torch.storage\nUntypedStorage", "\x18\0\0\0", "K\0K\2\x85K\1\x85") ".",
      TSR_EFORMAT, "no dtype"),
    P("arguments of other kinds", "\x80\2" "ctorch._utils\n_rebuild_tensor_v2\n(NNNNNNtR.", TSR_EUNSUPPORTED,
      "_rebuild_tensor_v2 with other"),
    P("a subclass of itself", "\x80\2" "ctorch._tensor\n_rebuild_from_type_v2\nq\0(h\0ctorch\nTensor\n)NtR.",
      TSR_EUNSUPPORTED, "_rebuild_from_type_v2 with other"),
    P("a subclass", SUBCLASS("ctorch\nTensor\n"), TSR_OK, ""),
    P("a subclass of a dtype", SUBCLASS("ctorch\nint32\n"), TSR_EUNSUPPORTED,
      "_rebuild_from_type_v2 with other"),
    P("a subclass of a class that is not known", SUBCLASS("ca\nB\n"), TSR_OK, ""),
    P("a dict of lists of one", "\x80\2" "ccollections\nOrderedDict\n](]K\1" "ae\x85R.",
      TSR_EUNSUPPORTED, "OrderedDict with other"),
    P("an object of three states", "\x80\2" "ca\nB\n)\x81(NNNtb.", TSR_EUNSUPPORTED, "refused: a.B"),
    P("an object of two numbers", "\x80\2" "ca\nB\n)\x81K\1K\2\x86" "b.", TSR_EUNSUPPORTED, "refused: a.B"),
    P("half of the length of a number", "\x80\2\x8b\1\2", TSR_EFORMAT, "ends inside the op"),
    P("half a memo", "\x80\2Nr\1\2", TSR_EFORMAT, "ends inside the op"),
    P("half of what a memo has", "\x80\2Nj\1\2", TSR_EFORMAT, "ends inside the op"),
    P("an offset beyond 63 bits", "\x80\2" TENSOR(INTS, SIX, TOP("\x7f") "K\2\x85K\1\x85") ".",
      TSR_EFORMAT, "leaves its storage"),
    P("bytes beyond 63 bits", "\x80\2" TENSOR(INTS, SIX, "K\0K\3\x85" TOP("\x20") "\x85") ".",
      TSR_EFORMAT, "leaves its storage"),
    P("an end beyond 63 bits", "\x80\2" TENSOR(INTS, SIX, TOP("\x10") "K\2\x85" TOP("\x10") "\x85") ".",
      TSR_EFORMAT, "leaves its storage"),
    P("two dims beyond 63 bits",
      "\x80\2" TENSOR(INTS, SIX, "K\0K\2K\2\x86" TOP("\x7f") TOP("\x7f") "\x86") ".",
      TSR_EFORMAT, "leaves its storage"),
    P("bits that are not set", "\x80\2" "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE(INTS, SIX)
      "K\0K\2\x85K\1\x85\x89N}X\4\0\0\0conj\x89sX\3\0\0\0negK\1stR.", TSR_OK, ""),
#undef P
};

TEST(test_hostile_pickles_are_refused_in_words)
{
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++) {
        tsr_file *f = NULL;
        tsr_clear_error();
        const tsr_status s = open_pickle(&f, pickles[i].pickle, pickles[i].bytes);
        EXPECT_MSG(s == pickles[i].status && strstr(tsr_last_error(), pickles[i].words), "%s: %s: %s",
                   pickles[i].what, tsr_status_name(s), tsr_last_error());
    }
}

/* Nothing beside a tensor is run, or keeps it from being read. */
TEST(test_what_is_no_tensor_is_metadata_in_words)
{
    static const char text[] = "\x80\2}(X\1\0\0\0w" TENSOR(INTS, SIX, "K\0K\2\x85K\1\x85")
        "X\1\0\0\0" "ecposix\nsystem\nX\4\0\0\0exit\x85RX\1\0\0\0" "ccos\nopen\n"
        "X\1\0\0\0qctorch._utils\n_rebuild_qtensor\n)Ru.";
    unsigned char zip[2048];
    tsr_file *f = NULL;
    tsr_file_entry e;
    tsr_meta m;
    EXPECT_OK(tsr_file_open_bytes(&f, zip, make_checkpoint(zip, text, sizeof text - 1), "x.pt", NULL));
    expect_elements(f, "w", 2, (const double[]){ 1, 2 });
    EXPECT_OK(tsr_file_find_meta(&m, f, "e"));
    EXPECT(m.type == TSR_META_TEXT && !strcmp(m.text, "posix.system, not read"));
    EXPECT_OK(tsr_file_find_meta(&m, f, "c"));
    EXPECT(m.type == TSR_META_TEXT && !strcmp(m.text, "os.open, not read"));
    EXPECT_OK(tsr_file_find(&e, f, "q"));
    EXPECT(e.desc.dtype == TSR_DTYPE_INVALID);
    EXPECT(!strcmp(e.encoding, "quantised (dequantize() before saving)"));
    tsr_file_close(&f);
}

/* Names of modules and classes are cut, and arrays of NumPy are entries that are not read. */
TEST(test_names_of_what_is_not_read_are_cut)
{
    static const char array[] = "\x80\2}X\1\0\0\0qcnumpy.core.multiarray\n_reconstruct\n)Rs.";
    unsigned char zip[2048], pickle[512] = "\x80\2}X\1\0\0\0qc";
    size_t n = 10;
    tsr_file *f = NULL;
    tsr_file_entry e;
    tsr_meta m;
    for (int i = 0; i < 2; i++) {
        memset(pickle + n, 'a' + i, 150);
        pickle[n += 150] = '\n';
        n++;
    }
    n += zip_put(pickle + n, ")Rs.", 4);
    EXPECT_OK(tsr_file_open_bytes(&f, zip, make_checkpoint(zip, pickle, n), "x.pt", NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "q"));
    EXPECT(strlen(m.text) == 100 + 1 + 100 + strlen(", not read") && m.text[99] == 'a' && m.text[101] == 'b');
    tsr_file_close(&f);
    EXPECT_OK(tsr_file_open_bytes(&f, zip, make_checkpoint(zip, array, sizeof array - 1), "x.pt", NULL));
    EXPECT_OK(tsr_file_find(&e, f, "q"));
    EXPECT(e.desc.dtype == TSR_DTYPE_INVALID && !strcmp(e.encoding, "numpy.core.multiarray._reconstruct"));
    tsr_file_close(&f);
}

/* A text of n letters as a pickle has it. */
static size_t put_letters(unsigned char *to, size_t n)
{
    to[0] = 'X';
    tsri_set32(to + 1, (uint32_t)n);
    memset(to + 5, 'k', n);
    return 5 + n;
}

/* Names of 4000 bytes are taken, in one part or several. */
TEST(test_names_that_are_too_long_are_refused)
{
    static const struct { size_t outer, inner; bool fits; } names[] = {
        { 1, 3998, true },     { 1, 3999, false }, { 2000, 1999, true },
        { 2000, 2000, false }, { 1, 9000, false },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        static unsigned char pickle[16384];
        tsr_file *f = NULL;
        size_t n = zip_put(pickle, "\x80\2}", 3);
        n += put_letters(pickle + n, names[i].outer);
        pickle[n++] = '}';
        n += put_letters(pickle + n, names[i].inner);
        n += zip_put(pickle + n, "K\1ss.", 5);
        if (names[i].fits) EXPECT_OK(open_pickle(&f, pickle, n));
        else EXPECT_FAILS(open_pickle(&f, pickle, n), TSR_EFORMAT, "a name of");
    }
}

/* A storage whose name is longer than any member's, and one with a zero in its name. */
TEST(test_storages_of_odd_names_are_not_there)
{
    static unsigned char pickle[8192];
    static const char zero[] = "\x80\2" "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagec" INTS
                               "\nX\2\0\0\0" "0\0X\3\0\0\0" "cpuJ" SIX "tQK\0K\2\x85K\1\x85\x89NtR.";
    static const char front[] = "\x80\2" "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagec" INTS "\n",
                      end[] = "X\3\0\0\0" "cpuJ" SIX "tQK\0K\2\x85K\1\x85\x89NtR.";
    tsr_file *f = NULL;
    EXPECT_FAILS(open_pickle(&f, zero, sizeof zero - 1), TSR_EFORMAT, "which is not there");
    size_t n = zip_put(pickle, front, sizeof front - 1);
    n += put_letters(pickle + n, 5000);
    n += zip_put(pickle + n, end, sizeof end - 1);
    EXPECT_FAILS(open_pickle(&f, pickle, n), TSR_EFORMAT, "kkkk\", which is not there");
}

/* A list of 1000 numbers, a thousand times. */
TEST(test_numbers_are_in_proportion_to_the_pickle)
{
    unsigned char pickle[8192] = "\x80\2](";
    size_t n = 4;
    tsr_file *f = NULL;
    for (int i = 0; i < 1000; i++) n += zip_put(pickle + n, "K\1", 2);
    n += zip_put(pickle + n, "eq\0" "0](", 6);
    for (int i = 0; i < 1000; i++) n += zip_put(pickle + n, "h\0", 2);
    n += zip_put(pickle + n, "e.", 2);
    EXPECT_FAILS(open_pickle(&f, pickle, n), TSR_EFORMAT, "numbers out of proportion");
}

/* What the directory says of a pickle that is deflated: longer than any, and than the file can hold. */
TEST(test_pickles_are_in_proportion_to_the_file)
{
    enum { BYTES = 1 << 17, BEHIND = 30 + 10 + BYTES };
    static const uint32_t sizes[] = { 101 << 20, 50 << 20 };
    static const unsigned char data[BYTES];
    static const size_t method[] = { 8, BEHIND + 10 }, size[] = { 22, BEHIND + 24 };
    const zip_member m = { "x/data.pkl", data, BYTES };
    unsigned char *zip = malloc(BYTES + 1024);
    for (int i = 0; i < 2; i++) {
        tsr_file *f = NULL;
        const size_t n = zip_make(zip, &m, 1);
        for (int k = 0; k < 2; k++) {
            tsri_set16(zip + method[k], 8);
            tsri_set32(zip + size[k], sizes[i]);
        }
        EXPECT_FAILS(tsr_file_open_bytes(&f, zip, n, "x.pt", NULL), TSR_EFORMAT, "a pickle of");
    }
    free(zip);
}

/* Deflate makes at most 1032 bytes of one. */
TEST(test_members_are_no_longer_than_deflate_can_make_them)
{
    enum { BYTES = 8, BEHIND = 30 + 10 + BYTES };
    const zip_member m = { "x/data.pkl", "\3\0\0\0\0\0\0\0", BYTES };
    for (uint32_t bytes = 9 * 1032 - 1; bytes <= 9 * 1032; bytes++) {
        unsigned char zip[512];
        tsr_file *f = NULL;
        const size_t n = zip_make(zip, &m, 1);
        tsri_set16(zip + 8, 8);
        tsri_set16(zip + BEHIND + 10, 8);
        tsri_set32(zip + 22, bytes);
        tsri_set32(zip + BEHIND + 24, bytes);
        EXPECT_STATUS(tsr_file_open_bytes(&f, zip, n, "x.pt", NULL), TSR_EFORMAT);
        EXPECT((strstr(tsr_last_error(), "cannot come from 8 deflated ones") != NULL) == (bytes == 9 * 1032));
    }
}

/* A list of 100 pairs makes 1000 dicts. */
TEST(test_dicts_of_one_list_of_pairs_are_no_bomb)
{
    unsigned char pickle[8192] = "\x80\2ccollections\nOrderedDict\nq\0";
    size_t n = 2 + sizeof "ccollections\nOrderedDict\nq" ;
    memcpy(pickle + n, "0](", 3);
    n += 3;
    for (int i = 0; i < 100; i++, n += 5) memcpy(pickle + n, "K\1K\2\x86", 5);
    memcpy(pickle + n, "e\x85q\1", 4);
    n += 4;
    for (int i = 0; i < 1000; i++, n += 6) memcpy(pickle + n, "0h\0h\1R", 6);
    pickle[n++] = '.';
    tsr_file *f = NULL;
    EXPECT_FAILS(open_pickle(&f, pickle, n), TSR_EFORMAT, "dicts of more pairs");
}

/* Each list holds the one before it twice: 2 to the 60 names. */
TEST(test_lists_that_hold_lists_twice_are_no_bomb)
{
    unsigned char pickle[1024] = "\x80\2]";
    size_t n = 3;
    for (int i = 0; i < 60; i++) {
        const unsigned char step[] = { 'q', (unsigned char)i, '0', ']', '(', 'h', (unsigned char)i, 'h',
                                       (unsigned char)i, 'e' };
        memcpy(pickle + n, step, sizeof step);
        n += sizeof step;
    }
    pickle[n++] = '.';
    tsr_file *f = NULL;
    EXPECT_FAILS(open_pickle(&f, pickle, n), TSR_EFORMAT, "out of proportion");
}

/* Two megabytes of marks, lists in lists, and values that are kept. */
TEST(test_long_pickles_of_one_op_end)
{
    enum { LONG = 2 << 20 };
    static const char ops[] = "(]N}\x85\x88q";
    unsigned char *pickle = malloc(LONG);
    for (size_t i = 0; i < sizeof ops - 1; i++) {
        tsr_file *f = NULL;
        memset(pickle, ops[i], LONG);
        memcpy(pickle, "\x80\2N", 3);
        const tsr_status s = open_pickle(&f, pickle, LONG);
        EXPECT_MSG(s == TSR_EFORMAT, "%c: %s", ops[i], tsr_status_name(s));
    }
    free(pickle);
}

/* Of as many dims as there can be, with gaps that are far larger than the elements. */
TEST(test_nothing_of_a_strided_tensor_of_all_dims_is_read_as_nothing)
{
#define ONES "K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1"
    static const char text[] = "\x80\2" TENSOR(INTS, SIX, "K\0(K\2" ONES "t(J\0\0\x10\0" ONES "t") ".";
    const size_t bytes = ((1 << 20) + 1) * sizeof(int32_t);
    char *storage = calloc(1, bytes);
    unsigned char *zip = malloc(bytes + 1024);
    const zip_member members[] = { { "x/data.pkl", text, sizeof text - 1 }, { "x/data/0", storage, bytes } };
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    memcpy(storage, "\5", 1);
    memcpy(storage + bytes - 4, "\7", 1);
    EXPECT_OK(tsr_file_open_bytes(&f, zip, zip_make(zip, members, 2), "x.pt", NULL));
    EXPECT_OK(tsr_file_read_slice(&t, f, NULL, 1, (tsr_file_range[]){ { 1, 1, 1 } }));
    EXPECT(t && t->ndim == 16 && tsr_numel(t) == 0);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read_slice(&t, f, NULL, 1, (tsr_file_range[]){ { 1, 2, 1 } }));
    EXPECT(t && tsr_numel(t) == 1 && element(t, 0) == 7);
    tsr_release(&t);
    tsr_file_close(&f);
    free(zip);
    free(storage);
}

TEST(test_a_zip_file_without_what_a_checkpoint_has_is_told)
{
    static const char none[] = "\x80\2" TENSOR(INTS, SIX, "K\0K\2\x85K\1\x85") ".";
    const zip_member lonely[] = { { "x/data.pkl", none, sizeof none - 1 } };
    const zip_member order[] = { { "x/data.pkl", none, sizeof none - 1 }, { "x/byteorder", "mixed", 5 } };
    const zip_member other[] = { { "x/other", "", 0 } };
    unsigned char zip[1024];
    tsr_file *f = NULL;
    const tsr_file_opts pt = { .format = "pt" };
    EXPECT_FAILS(tsr_file_open_bytes(&f, zip, zip_make(zip, lonely, 1), "x.pt", &pt),
                 TSR_EFORMAT, "\"0\", which is not");
    EXPECT_FAILS(tsr_file_open_bytes(&f, zip, zip_make(zip, order, 2), "x.pt", &pt),
                 TSR_EFORMAT, "byte order");
    EXPECT_FAILS(tsr_file_open_bytes(&f, zip, zip_make(zip, other, 1), "x.pt", &pt),
                 TSR_EFORMAT, "no checkpoint");
    EXPECT_FAILS(tsr_file_open_bytes(&f, "hello", 5, "x.pt", NULL), TSR_EFORMAT, "too few");
}

/* The outermost pickle counts, wherever it stands; a byte has no order. */
TEST(test_a_checkpoint_in_a_checkpoint_is_left_alone)
{
    static const char bytes[] = "\x80\2" TENSOR("torch\nByteStorage", "\2\0\0\0", "K\0K\2\x85K\1\x85") ".";
    static const char other[] = "\x80\1N.";
    const zip_member m[] = { { "x/data.pkl", bytes, sizeof bytes - 1 }, { "x/in/data.pkl", other, 4 },
                             { "x/data/0", "ab", 2 }, { "x/byteorder", "big", 3 } };
    const zip_member turned[] = { m[1], m[0], m[2], m[3] };
    unsigned char zip[1024];
    for (int i = 0; i < 2; i++) {
        tsr_file *f = NULL;
        EXPECT_OK(tsr_file_open_bytes(&f, zip, zip_make(zip, i ? turned : m, 4), "x.pt", NULL));
        expect_elements(f, "", 2, (const double[]){ 'a', 'b' });
        tsr_file_close(&f);
    }
}

/* TorchScript writes its constants first. What begins with another member is npz, or nothing. */
TEST(test_a_checkpoint_is_told_by_its_first_member)
{
    static const char bytes[] = "\x80\2" TENSOR("torch\nByteStorage", "\2\0\0\0", "K\0K\2\x85K\1\x85") ".";
    const zip_member pickle = { "x/data.pkl", bytes, sizeof bytes - 1 }, data = { "x/data/0", "ab", 2 },
                     script = { "script/data/0", "ab", 2 }, other = { "x/something", "ab", 2 };
    const zip_member first[][3] = { { script, pickle, data }, { other, pickle, data } };
    unsigned char zip[1024];
    for (int i = 0; i < 2; i++) {
        tsr_file *f = NULL;
        EXPECT_OK(tsr_file_open_bytes(&f, zip, zip_make(zip, first[i], 3), "x", NULL));
        EXPECT(!strcmp(tsr_file_format(f), i ? "npz" : "pt"));
        tsr_file_close(&f);
    }
}

/* Before zip files ------------------------------------------------------------------------ */

/* Five pickles and a storage of six integers; its length. */
static size_t make_old(unsigned char *out, const char *const parts[3], const size_t bytes[3], size_t storage)
{
    static const char head[] = "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3.",
                      data[33] = "\6\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\3";
    size_t n = zip_put(out, head, sizeof head - 1);
    for (int i = 0; i < 3; i++) {
        n += zip_put(out + n, "\x80\2", 2);
        n += zip_put(out + n, parts[i], bytes[i]);
        out[n++] = '.';
    }
    return n + zip_put(out + n, data, storage);
}

#define LITTLE(value) "}X\x0d\0\0\0little_endian" value "s"
#define OF_INTS TENSOR(INTS, SIX, "K\0K\2\x85K\1\x85")
#define OF_A_VIEW(class, view) \
    "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagec" class "\nX\1\0\0\0" "0X\3\0\0\0" "cpuJ" SIX \
    view "tQK\0K\2\x85K\1\x85\x89NtR"
#define KEY "](X\1\0\0\0" "0e"
#define L50 "LongLongLoLongLongLoLongLongLoLongLongLoLongLongLo"

TEST(test_parts_of_checkpoints_from_before_zip_files_are_checked)
{
    static const struct {
        const char *what, *parts[3];
        size_t      bytes[3], storage;
        tsr_status  status;
        const char *words;
    } rows[] = {
#define P(what, machine, values, keys, storage, status, words) \
    { what, { machine, values, keys }, { sizeof machine - 1, sizeof values - 1, sizeof keys - 1 }, storage, \
      status, words }
        P("a tensor", LITTLE("\x88"), OF_INTS, KEY, 32, TSR_OK, ""),
        P("a big-endian machine", LITTLE("\x89"), OF_INTS, KEY, 32, TSR_EUNSUPPORTED, "big-endian"),
        P("a number for a bool", LITTLE("K\0"), OF_INTS, KEY, 32, TSR_OK, ""),
        P("a number for a name", "}K\1\x89s", OF_INTS, KEY, 32, TSR_OK, ""),
        P("another name", "}X\1\0\0\0l\x89s", OF_INTS, KEY, 32, TSR_OK, ""),
        P("no machine", "N", OF_INTS, KEY, 32, TSR_OK, ""),
        P("no list of storages", "N", OF_INTS, "N", 32, TSR_EFORMAT, "no list of storages"),
        P("a number for a storage", "N", OF_INTS, "](K\0e", 32, TSR_EFORMAT, "that no tensor is in"),
        P("another storage", "N", OF_INTS, "](X\1\0\0\0" "1e", 32, TSR_EFORMAT, "that no tensor is in"),
        P("no view", "N", OF_A_VIEW(INTS, "N"), KEY, 32, TSR_OK, ""),
        P("a view", "N", OF_A_VIEW(INTS, "K\1"), KEY, 32, TSR_EUNSUPPORTED, "that is part of another"),
        P("no dtype", "N", OF_A_VIEW("torch.storage\nUntypedStorage", ""), KEY, 32, TSR_EFORMAT,
          "has no dtype"),
        P("quantised numbers", "N", OF_A_VIEW("torch\nQInt8Storage", ""), KEY, 32, TSR_EUNSUPPORTED,
          "a QInt8Storage, as PyTorch wrote it before 1.6"),
        P("a long name", "N", OF_A_VIEW("torch\n" L50 L50 "!", ""), KEY, 32, TSR_EUNSUPPORTED,
          L50 L50 ", as PyTorch wrote it before 1.6"),
        P("no storages", "N", OF_INTS, KEY, 7, TSR_EFORMAT, "ends before its storages"),
        P("part of a storage", "N", OF_INTS, KEY, 31, TSR_EFORMAT, "a storage of 6 elements"),
        P("a storage twice", "N", OF_INTS, "](X\1\0\0\0" "0X\1\0\0\0" "0e", 32, TSR_EFORMAT,
          "ends before its storages"),
#undef P
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char old[1024];
        tsr_file *f = NULL;
        tsr_clear_error();
        const size_t n = make_old(old, rows[i].parts, rows[i].bytes, rows[i].storage);
        const tsr_status s = tsr_file_open_bytes(&f, old, n, "x.pt", NULL);
        EXPECT_MSG(s == rows[i].status && strstr(tsr_last_error(), rows[i].words), "%s: %s: %s", rows[i].what,
                   tsr_status_name(s), tsr_last_error());
        if (s == TSR_OK) expect_elements(f, "", 2, (const double[]){ 1, 2 });
        tsr_file_close(&f);
    }
}

/* A text of two megabytes, so that the pickles are not in the first that are read; and a long key. */
TEST(test_long_pickles_from_before_zip_files_are_read_to_their_end)
{
    enum { LONG = 2 << 20 };
    static const char front[] = "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagec" INTS "\n",
                      end[] = "X\3\0\0\0" "cpuJ" SIX "tQK\0K\2\x85K\1\x85\x89NtR";
    char *text = malloc(LONG + 512), values[512], key[160] = "](";
    unsigned char *old = malloc(LONG + 1024);
    tsr_file *f = NULL;
    size_t n = put_letters((unsigned char *)text, LONG);
    text[n++] = '0';
    n += zip_put((unsigned char *)text + n, OF_INTS, sizeof OF_INTS - 1);
    const char *const parts[] = { "N", text, KEY };
    const size_t bytes[] = { 1, n, sizeof KEY - 1 };
    EXPECT_OK(tsr_file_open_bytes(&f, old, make_old(old, parts, bytes, 32), "x.pt", NULL));
    expect_elements(f, "", 2, (const double[]){ 1, 2 });
    tsr_file_close(&f);
    for (size_t k = 99; k <= 100; k++) {
        n = zip_put((unsigned char *)values, front, sizeof front - 1);
        n += put_letters((unsigned char *)values + n, k);
        n += zip_put((unsigned char *)values + n, end, sizeof end - 1);
        const size_t longer = 2 + put_letters((unsigned char *)key + 2, k);
        key[longer] = 'e';
        const char *const named[] = { "N", values, key };
        const size_t lengths[] = { 1, n, longer + 1 };
        const tsr_status s =
            tsr_file_open_bytes(&f, old, make_old(old, named, lengths, 32), "x.pt", NULL);
        EXPECT_MSG(s == (k < 100 ? TSR_OK : TSR_EFORMAT), "%zu: %s", k, tsr_last_error());
        tsr_file_close(&f);
    }
    free(text);
    free(old);
}

TEST(test_checkpoints_cut_or_changed_anywhere_do_no_harm)
{
    expect_harmless(GOLDEN "little.pt", "pt");
    expect_harmless(GOLDEN "deflated.pt", "pt");
    expect_harmless(GOLDEN "old.pt", "pt");
    expect_harmless(GOLDEN "module.pt", "pt");
}

TEST_AFTER
{
    files_remove();
}
