/* convert.c - tsr convert: from any format to any other. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/plan.h"
#include "disk.h"
#include "json.h"
#include "room.h"
#include "text.h"

static const char name_of_command[] = "convert";

/* Options ------------------------------------------------------------------------------ */

static bool read_axes(request *r)
{
    const char *p = r->transpose;
    r->transposes = p != NULL;
    if (!p || !strcmp(p, "all")) return true;
    while (*p) {
        char *end = NULL;
        const long axis = strtol(p, &end, 10);
        if (end == p || (*end && *end != ',') || axis < -TSR_MAX_NDIM || axis >= TSR_MAX_NDIM ||
            r->naxes == TSR_MAX_NDIM) {
            complain_usage(name_of_command, "--transpose takes axes as in 1,0,2, or 'all', not '%s'",
                           r->transpose);
            return false;
        }
        r->axes[r->naxes++] = (int)axis;
        p = *end ? end + 1 : end;
    }
    return true;
}

/* "5GB", "500 MiB", "1000000" */
static bool read_size(uint64_t *out, const char *text)
{
    static const struct {
        const char *name;
        double      bytes;
    } units[] = {
        { "", 1 },      { "B", 1 },        { "KB", 1e3 },        { "K", 1e3 },
        { "MB", 1e6 },  { "M", 1e6 },      { "GB", 1e9 },        { "G", 1e9 },
        { "TB", 1e12 }, { "KiB", 1024.0 }, { "MiB", 1048576.0 }, { "GiB", 1073741824.0 },
    };
    char *end = NULL;
    const double n = strtod(text, &end);
    while (*end == ' ') end++;
    for (size_t i = 0; end != text && n > 0 && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name)) {
            const double bytes = n * units[i].bytes;
            *out = bytes < 1 ? 1 : bytes > 9e18 ? (uint64_t)INT64_MAX : (uint64_t)bytes;
            return true;
        }
    complain_usage(name_of_command, "--shard takes a size as 5GB or 512MiB, not '%s'", text);
    return false;
}

static bool read_rules(request *r, int argc, char **argv)
{
    const char *texts[RULES_MOST];
    const int count = option_values(texts, RULES_MOST, "--rename", argc, argv);
    if (!listing_read(&r->list, name_of_command, argc, argv)) return false;
    if (count > RULES_MOST) {
        complain_usage(name_of_command, "more than %d rules", RULES_MOST);
        return false;
    }
    for (; r->rules < count; r->rules++) {
        r->rule[r->rules] = rename_read(name_of_command, texts[r->rules]);
        if (!r->rule[r->rules]) return false;
    }
    return true;
}

static bool read_request(request *r)
{
    if (r->dtype && tsr_dtype_parse(&r->result, r->dtype) != TSR_OK) {
        complain_usage(name_of_command, "no dtype is called '%s'", r->dtype);
        return false;
    }
    r->how.dtype = r->from_dtype ? r->from_dtype : r->how.shape || r->how.offset ? r->dtype : NULL;
    uint64_t quality = 0;
    if (r->quality_text && !read_count(&quality, name_of_command, "--quality", r->quality_text)) return false;
    if (r->quality_text && (quality < 1 || quality > 100))
        return complain_usage(name_of_command, "--quality takes 1 to 100, not '%s'", r->quality_text), false;
    r->quality = (int)quality;
    if (r->shard && !read_size(&r->shard_bytes, r->shard)) return false;
    if (!listing_check(&r->list, name_of_command, "file name size dtype shape")) return false;
    return read_axes(r) && reading_check(&r->how, name_of_command);
}

/* The command ---------------------------------------------------------------------------- */

static void print_result(const plan *p)
{
    char text[32];
    if (p->r->json) {
        json j = { 0 };
        json_open(&j, NULL, '{');
        json_string(&j, "out", p->out);
        json_string(&j, "format", p->format->name);
        json_integer(&j, "tensors", p->count);
        json_number(&j, "bytes", p->bytes);
        json_integer(&j, "files", p->files);
        json_close(&j, '}');
    } else if (!p->r->quiet) {
        char *out = printable_copy(p->out);
        printf("%s: %" PRId64 " tensor%s, %s, %s", out, p->count, plural(p->count), p->format->name,
               bytes_text(text, p->bytes));
        free(out);
        if (p->r->shard) printf(", in %" PRId64 " shard%s", p->files - 1, plural(p->files - 1));
        putchar('\n');
    }
}

static int convert(const request *r, int words, char **argv)
{
    plan p = { .r = r, .out = argv[words], .is_stream = !strcmp(argv[words], "-") };
    const size_t n = strlen(p.out);
    const path_kind kind = p.is_stream ? PATH_NONE : kind_of_path(p.out);
    if (p.is_stream && (r->json || r->shard))
        return complain_usage(name_of_command, "standard output takes one file, and nothing but it");
    if (kind == PATH_UNKNOWN) return complain(name_of_command, "%s: %s", p.out, strerror(errno));
    p.is_directory = kind == PATH_FOLDER || (n > 0 && p.out[n - 1] == '/');
    if (!choose_format(&p)) return EXIT_USAGE;
    if (p.is_directory && p.format->many) p.is_directory = false;
    int code = make_plan(&p, words - 1, argv + 1);
    if (code == EXIT_YES) {
        code = write_plan(&p) ? EXIT_YES : EXIT_NO;
        if (code == EXIT_YES && !p.is_stream) print_result(&p);
    }
    free_plan(&p);
    return code;
}

static int run_convert(int argc, char **argv)
{
    request r = { 0 };
    const char *ignored = NULL;
    const option options[] = {
        { "--from",       "FORMAT",    NULL,        &r.how.format },
        { "--to",         "FORMAT",    NULL,        &r.to },
        { "--dtype",      "DTYPE",     NULL,        &r.dtype },
        { "--from-dtype", "DTYPE",     NULL,        &r.from_dtype },
        { "--shape",      "N,N,...",   NULL,        &r.how.shape },
        { "--offset",     "BYTES",     NULL,        &r.how.offset },
        { "--header",     "yes|no",    NULL,        &r.how.header },
        { "--separator",  "C",         NULL,        &r.how.separator },
        { "--columns",    "NAMES",     NULL,        &r.how.columns },
        { "--rename",     "REGEX=NEW", NULL,        &ignored },
        { "--prefix",     "TEXT",      NULL,        &r.prefix },
        { "--transpose",  "AXES",      NULL,        &r.transpose },
        { "--encoding",   "ENCODING",  NULL,        &r.encoding },
        { "--shard",      "SIZE",      NULL,        &r.shard },
        { "--compress",   NULL,        &r.compress, NULL },
        { "--quality",    "N",         NULL,        &r.quality_text },
        { "--force",      NULL,        &r.force,    NULL },
        { "--quiet",      NULL,        &r.quiet,    NULL },
        { "--json",       NULL,        &r.json,     NULL },
        LISTING_OPTIONS(r.list),
        { NULL, NULL, NULL, NULL },
    };
    int code = EXIT_USAGE;
    const bool rules = read_rules(&r, argc, argv);
    const int count = rules ? read_options(name_of_command, options, argc, argv) : -1;
    if (count >= 0 && count < 2)
        complain_usage(name_of_command, "from where, and to where? tsr convert IN... OUT");
    else if (count >= 2 && read_request(&r)) code = convert(&r, count, argv);
    for (int i = 0; i < r.rules; i++) rename_free(r.rule[i]);
    return code;
}

const command convert_command = {
    .name = name_of_command,
    .run = run_convert,
    .summary = "from any format to any other; choose, rename, cast, shard",
    .help = "usage: tsr convert IN... OUT [OPTIONS]\n"
            "\n"
            "Writes the tensors of one or more files, directories or FILE:NAME[SLICE] to one\n"
            "file. The end of its name, or --to, says which format. If OUT ends with '/' or\n"
            "is a directory, and the format holds one tensor, each gets a file of its own,\n"
            "called as it is, with %XX for what no file should have in its name.\n"
            "Tensors are read and written one after another; the new file takes its place\n"
            "only when it is whole. OUT - is standard output, in any format of --to but npz\n"
            "and hdf5.\n"
            "\n"
            "  --from FORMAT     what IN is, --to FORMAT what OUT is to be, where names do\n"
            "                    not tell: npy npz pt safetensors onnx gguf hdf5 png\n"
            "                    jpeg pnm csv tsv raw (pt and onnx are only read)\n"
            "  --dtype DTYPE     cast every tensor\n"
            LISTING_HELP
            "  --sort ORDER      write them by name, size, dtype or shape, not as they lie in\n"
            "                    their file\n"
            "  --rename REGEX=NEW  change names: the first match becomes NEW, in which \\1 is\n"
            "                    what the first group matched; several are applied in order\n"
            "  --prefix TEXT     put this before every name\n"
            "  --transpose AXES  permute dims, as in 1,0; 'all' reverses them\n"
            "  --shard SIZE      safetensors in pieces of 5GB, 512MiB, ... and their index\n"
            "  --encoding NAME   gguf: f32 f16 bf16 q8_0 q4_0\n"
            "  --compress        npz, hdf5: deflate\n"
            "  --quality N       jpeg: 1 to 100, 90 unless given\n"
            "  --force           write over what is there\n"
            "  --from-dtype DTYPE  of a raw IN (else --dtype is), --shape N,N its shape,\n"
            "                    --offset BYTES where it begins\n"
            "  --columns NAMES   of a table IN: only these, as in age,3,-1; --separator C\n"
            "                    between fields, --header yes|no: does line 1 name columns?\n"
            "  --quiet           say nothing about it\n"
            "  --json            tell what was written as JSON\n"
            "\n"
            "Metadata goes along where the new format has it: gguf takes all, safetensors\n"
            "texts and numbers. Quantised blocks go from gguf to gguf as they are, and\n"
            "become f32 elsewhere.\n"
            "\n"
            "examples:\n"
            "  tsr convert model.gguf model.safetensors --dtype bf16\n"
            "  tsr convert model.safetensors shards/model.safetensors --shard 5GB\n"
            "  tsr convert checkpoint.npz arrays/ --to npy\n"
            "  tsr convert a.npy b.npy both.npz --compress\n"
            "  tsr convert m.safetensors n.safetensors --select 'layers.*' \\\n"
            "      --rename '^layers\\.([0-9]+)=block\\1' --force\n"
            "  tsr convert model.pt - --to safetensors | ssh host 'cat >model.safetensors'\n"
            "  tsr convert frame.bin frame.png --dtype u8 --shape 480,640,3\n"
            "\n"
            "exit status: 0, or 1 if it cannot be written, 3 if it cannot be read, 2 for a\n"
            "command line that cannot be understood\n",
};
