/* plot.c - tsr plot: a picture of a tensor. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "disk.h"
#include "json.h"
#include "plot/plot.h"

static const char name_of_command[] = "plot";

/* Pixels inside an SVG take a third more bytes than in a PNG; there are fewer, so that it is not larger. */
enum { CELLS_MOST = 720, PIXELS_OF_SVG = 960, POINTS_MOST = 1200 };

static const char *const kind_names[] = { "auto", "heat", "image", "hist", "line", "grid" };

static bool is_stream(const request *r) { return r->out && !strcmp(r->out, "-"); }

/* Drawing one kind ------------------------------------------------------------------------- */

static int save(const plot *p, canvas *c)
{
    tsr_clear_error(); /* what is there afterwards is about the picture */
    const char *path = is_stream(p->r) ? "/dev/stdout" : p->r->out;
    const tsr_status s = c ? canvas_save(c, path, p->r->to) : TSR_ENOMEM;
    const char *system = strerror(errno);
    canvas_free(c);
    if (s == TSR_OK) return EXIT_YES;
    if (tsr_last_error()[0]) return complain(name_of_command, "%s", tsr_last_error());
    return complain(name_of_command, "%s: %s", p->r->out, s == TSR_EIO ? system : tsr_status_text(s));
}

/* To a file, to the terminal, or, for JSON alone, nowhere. */
static bool prints(const plot *p) { return !p->r->out && !p->r->json; }

static int plot_matrices(plot *p)
{
    const int width = terminal_width();
    int64_t all = 1;
    for (int i = 0; i < p->ndim - 2; i++) all *= p->shape[i];
    const int wanted = all < TILES_MOST ? (int)all : TILES_MOST, across = (int)ceil(sqrt(wanted)),
              down = (wanted + across - 1) / across;
    const int most = CELLS_MOST / across;
    tiles *t = p->r->out ? gather_tiles(p, most, most)
                         : gather_tiles(p, 2 * (terminal_height() - 4) / down - 2 * (down > 1),
                                        (width - 2 * across) / across);
    int code = EXIT_YES;
    if (!t) return EXIT_INPUT;
    if (t->all > t->count) {
        const size_t used = strlen(p->title);
        snprintf(p->title + used, sizeof p->title - used, ", the first %d of %" PRId64, t->count, t->all);
    }
    if (p->r->out)      code = save(p, p->ndim == 2 ? draw_heat(p, t) : draw_grid(p, t));
    else if (prints(p)) print_tiles(p, t, width);
    free_tiles(t);
    return code;
}

static int plot_image(plot *p)
{
    image m;
    int code = EXIT_INPUT;
    const bool file = p->r->out != NULL;
    const int most = file && !strcmp(p->r->to, "svg") ? PIXELS_OF_SVG : 2 * CELLS_MOST;
    if (gather_image(p, &m, file ? most : 2 * (terminal_height() - 2), file ? most : terminal_width())) {
        code = EXIT_YES;
        if (file) code = save(p, draw_image(p, &m));
        else if (prints(p)) {
            puts(p->title);
            blocks_print(m.rows, m.columns, m.rgb);
        }
    }
    free(m.rgb);
    return code;
}

static int plot_curves(plot *p)
{
    curve v[SERIES_MOST];
    const int wanted = p->ndim == 2 ? (p->shape[0] < SERIES_MOST ? (int)p->shape[0] : SERIES_MOST) : 1;
    const int width = terminal_width();
    int n = 0, code = EXIT_YES;
    bool ok = true;
    for (; n < wanted && ok; n++) ok = gather_curve(p, &v[n], n, p->r->out ? POINTS_MOST : 2 * (width - 12));
    if (ok && p->ndim == 2 && p->shape[0] > n) {
        const size_t used = strlen(p->title);
        snprintf(p->title + used, sizeof p->title - used, ", the first %d rows", n);
    }
    if (ok) {
        range_of_curves(p, n, v);
        if (p->r->out)      code = save(p, draw_curves(p, n, v));
        else if (prints(p)) print_curves(p, n, v, width);
    }
    for (int i = 0; i < n; i++) free_curve(&v[i]);
    return ok ? code : EXIT_INPUT;
}

static int plot_histogram(plot *p)
{
    uint64_t bins = p->r->out ? 80 : 20;
    if (p->r->bins && !read_count(&bins, name_of_command, "--bins", p->r->bins)) return EXIT_USAGE;
    if (bins < 1 || bins > HISTOGRAM_BINS)
        return complain_usage(name_of_command, "--bins takes 1 .. %d", HISTOGRAM_BINS);
    const char *const *words = source_words(p->s, &p->s->items[p->index]);
    summary found = { .bins = words ? HISTOGRAM_BINS : (int)bins, .codes = words != NULL };
    p->total = summary_work(&found, p->s, p->index);
    if (!summarise(&found, p->s, p->index, &p->p, 0, p->total)) return EXIT_INPUT;
    if (!found.finite) return complain(name_of_command, "%s: there are no finite numbers to count", p->title);
    p->low = found.low;
    p->high = found.high;
    progress_end(&p->p);
    const bool of_words = words && found.bars.whole;
    if (p->r->out)
        return save(p, of_words ? draw_word_histogram(p, &found, words) : draw_histogram(p, &found));
    if (!prints(p)) return EXIT_YES;
    puts(p->title);
    if (of_words) histogram_print_words(&found.bars, words, 0, terminal_width());
    else          histogram_print(&found.bars, 0, terminal_width());
    return EXIT_YES;
}

/* Choosing --------------------------------------------------------------------------------- */

static bool looks_like_image(const plot *p)
{
    const tsr_dtype dtype = p->s->items[p->index].desc.dtype;
    return p->ndim == 3 && (p->shape[2] == 3 || p->shape[2] == 4) && p->shape[0] > 4 && p->shape[1] > 4 &&
           (dtype == TSR_U8 || dtype == TSR_U16 || tsr_dtype_kind(dtype) == TSR_FLOATING);
}

static kind choose_kind(const plot *p)
{
    if (p->r->kind != AUTO) return p->r->kind;
    if (p->ndim == 1) return LINE;
    if (p->ndim == 2) return HEAT;
    return looks_like_image(p) ? IMAGE : GRID;
}

/* Can this be drawn of such a tensor? */
static bool check_kind(const plot *p)
{
    const char *name = kind_names[p->kind];
    const bool has_channels = p->ndim == 2 || (p->ndim == 3 && p->shape[2] >= 1 && p->shape[2] <= 4);
    if (p->kind == HISTOGRAM) return true;
    for (int i = 0; i < p->ndim; i++)
        if (p->shape[i] == 0)
            return complain(name_of_command, "%s: there is nothing to draw", p->title), false;
    if (p->ndim == 0)
        return complain(name_of_command, "%s: one number is no picture; tsr show prints it", p->title), false;
    if ((p->kind == HEAT && p->ndim != 2) || (p->kind == LINE && p->ndim > 2) ||
        (p->kind == IMAGE && !has_channels) || (p->kind == GRID && p->ndim < 2)) {
        complain(name_of_command, "%s: %d dims cannot be drawn as %s", p->title, p->ndim, name);
        return false;
    }
    return true;
}

static void make_title(plot *p)
{
    const item *it = &p->s->items[p->index];
    size_t used = 0;
    if (p->r->title) {
        snprintf(p->title, sizeof p->title, "%s", p->r->title);
        make_printable(p->title);
        return;
    }
    used = (size_t)snprintf(p->title, sizeof p->title, "%.100s%s%s(", it->name[0] ? it->name : "",
                            it->name[0] ? "  " : "", tsr_dtype_name(it->desc.dtype));
    for (int i = 0; i < p->ndim && used < sizeof p->title; i++)
        used += (size_t)snprintf(p->title + used, sizeof p->title - used, "%s%" PRId64, i ? ", " : "",
                                 p->shape[i]);
    if (used < sizeof p->title) snprintf(p->title + used, sizeof p->title - used, ")");
}

static bool begin(plot *p)
{
    const item *it = &p->s->items[p->index];
    if (!source_can_read(p->s, it) || !source_cut(&p->c, p->s, p->index)) return false;
    p->total = (double)tsr_dtype_size(it->desc.dtype);
    for (int i = 0; i < p->c.ndim; i++) {
        p->total *= (double)p->c.length[i];
        if (p->c.range[i].step == 0) continue;
        p->axis[p->ndim] = i;
        p->shape[p->ndim++] = p->c.length[i];
    }
    p->low = p->high = NAN;
    make_title(p);
    progress_begin(&p->p);
    return true;
}

static int draw(plot *p)
{
    if (!begin(p)) return EXIT_INPUT;
    p->kind = choose_kind(p);
    if (!check_kind(p)) return EXIT_NO;
    switch (p->kind) {
    case LINE:      return plot_curves(p);
    case IMAGE:     return plot_image(p);
    case HISTOGRAM: return plot_histogram(p);
    default:        return plot_matrices(p);
    }
}

static void print_json(const plot *p)
{
    json j = { 0 };
    json_open(&j, NULL, '{');
    json_string(&j, "kind", kind_names[p->kind]);
    json_string(&j, "title", p->title);
    json_integers(&j, "shape", p->ndim, p->shape);
    json_number(&j, "low", p->low);
    json_number(&j, "high", p->high);
    json_string(&j, "out", p->r->out);
    json_close(&j, '}');
}

/* The command ---------------------------------------------------------------------------- */

/* Pictures, and pixels as a tensor. */
static bool is_picture(const char *format)
{
    static const char *const formats[] = { "svg", "png", "jpeg", "pnm", "npy" };
    for (size_t i = 0; format && i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(format, formats[i])) return true;
    return false;
}

/* An exit code; r->to is the format then. */
static int check_result(request *r)
{
    if (!r->out) return r->to ? complain_usage(name_of_command, "--to goes with -o PICTURE") : EXIT_YES;
    if (is_stream(r) && r->json)
        return complain_usage(name_of_command, "standard output takes the picture or JSON, not both");
    if (is_stream(r) && !r->to)
        return complain_usage(name_of_command,
                              "standard output has no name that says a format: use --to svg");
    const char *format = r->to ? r->to : canvas_format(r->out);
    if (!is_picture(format))
        return complain_usage(name_of_command,
                              "%s%s is no picture that is written: svg png jpeg pnm npy are",
                              r->to ? "--to " : "", r->to ? r->to : r->out);
    r->to = format;
    return is_stream(r) || may_write_to(name_of_command, r->out, r->force) ? EXIT_YES : EXIT_NO;
}

static bool read_request(request *r)
{
    if (r->low_text && !read_number(&r->low, name_of_command, "--min", r->low_text)) return false;
    if (r->high_text && !read_number(&r->high, name_of_command, "--max", r->high_text)) return false;
    if (r->low_text && r->high_text && r->low >= r->high) {
        complain_usage(name_of_command, "--min %s is not below --max %s", r->low_text, r->high_text);
        return false;
    }
    for (int i = 0; r->kind_text && i <= GRID; i++)
        if (!strcmp(r->kind_text, kind_names[i])) r->kind = (kind)i;
    if (r->kind_text && r->kind == AUTO && strcmp(r->kind_text, "auto")) {
        complain_usage(name_of_command, "--kind is auto, heat, image, hist, line or grid, not '%s'",
                       r->kind_text);
        return false;
    }
    return reading_check(&r->how, name_of_command);
}

static int run_plot(int argc, char **argv)
{
    request r = { 0 };
    const option options[] = {
        { "-o",      "FILE",   NULL,     &r.out },
        { "--out",   "FILE",   NULL,     &r.out },
        { "--to",    "FORMAT", NULL,     &r.to },
        { "--kind",  "KIND",   NULL,     &r.kind_text },
        { "--min",   "NUMBER", NULL,     &r.low_text },
        { "--max",   "NUMBER", NULL,     &r.high_text },
        { "--bins",  "N",      NULL,     &r.bins },
        { "--title", "TEXT",   NULL,     &r.title },
        { "--force", NULL,     &r.force, NULL },
        { "--json",  NULL,     &r.json,  NULL },
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const int count = read_options(name_of_command, options, argc, argv);
    if (count < 0) return EXIT_USAGE;
    if (count == 0)
        return complain_usage(name_of_command, "which tensor? FILE, FILE:NAME or FILE:NAME[SLICE]");
    if (count > 1) return complain_usage(name_of_command, "one tensor is drawn, not %d", count);
    if (!read_request(&r)) return EXIT_USAGE;
    int code = check_result(&r);
    if (code != EXIT_YES) return code;
    source s;
    code = source_open(&s, name_of_command, argv[1], &r.how);
    if (code == EXIT_YES && s.count != 1) {
        complain(name_of_command,
                 "%s has %" PRId64 " tensors; choose one as in FILE:NAME ('tsr info' lists them)", argv[1],
                 s.count);
        code = EXIT_INPUT;
    }
    if (code == EXIT_YES) {
        plot p = { .r = &r, .s = &s };
        code = draw(&p);
        progress_end(&p.p);
        if (code == EXIT_YES && r.json) print_json(&p);
    }
    source_close(&s);
    return code;
}

const command plot_command = {
    .name = name_of_command,
    .run = run_plot,
    .summary = "a picture of a tensor: SVG, PNG, or in the terminal",
    .help = "usage: tsr plot FILE[:NAME][SLICE] [-o PICTURE] [--kind KIND] [--min A] [--max B]\n"
            "\n"
            "Draws a tensor: one dim as a line, two as a heat map with its scale of colours,\n"
            "(height, width, 3 or 4) as an image, more dims as a grid of their last two.\n"
            "Large tensors are drawn by the means of their parts. Without -o the picture is\n"
            "made of characters, in colour on a terminal.\n"
            "\n"
            "  -o PICTURE        write it: .svg, .png, .jpg, .ppm or .npy (pixels), or - for\n"
            "                    standard output. --out is the same\n"
            "  --to FORMAT       where its name does not tell: svg, png, jpeg, pnm, npy\n"
            "  --kind KIND       auto, heat, image, hist, line or grid; two dims as lines are\n"
            "                    up to 8 curves, one a row\n"
            "  --min A, --max B  the range of colours, or of the axis of a line\n"
            "  --bins N          of a histogram\n"
            "  --title TEXT      in place of name, dtype and shape\n"
            "  --force           write over what is there\n"
            "  --json            tell what was drawn as JSON\n"
            READING_HELP
            "\n"
            "NaN is grey. Images are bytes, 16-bit integers, or floats of 0 .. 1.\n"
            "\n"
            "examples:\n"
            "  tsr plot x.npy\n"
            "  tsr plot 'model.safetensors:layers.0.weight' -o weight.svg\n"
            "  tsr plot 'model.gguf:token_embd.weight[:1000]' --kind hist -o hist.png\n"
            "  tsr plot 'video.npy[0]' --kind image\n"
            "\n"
            "exit status: 0, or 1 if it cannot be drawn or written, 3 if the tensor cannot be\n"
            "read, 2 for a command line that cannot be understood\n",
};
