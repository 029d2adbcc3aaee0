/* print.c - see print.h.
 *
 * Three walks over the elements shown, and no memory but the stack: two from which
 * the style is learnt (element_text.h), one that writes. Lines break and bracket as in
 * NumPy's _formatArray (arrayprint.py); the tests hold them to it byte for byte.
 */
#include "element_text.h"
#include "device_int.h"
#include "loop.h"
#include "mem.h"
#include "tensor_int.h"
#include "tessera/print.h"

#ifndef TSR_NO_STDIO
#include <stdio.h>
#endif

enum { DESC_ROOM = 32 + TSR_MAX_NDIM * 44 }; /* the longest desc: two 64-bit numbers a dim */

/* The page: text with lines ------------------------------------------------ */

/* Spaces are written only when something follows them on their line, so no line ends in
 * one. With a sink the text is a buffer that is emptied into it. */
typedef struct page {
    tsri_text      text;
    int64_t        column;   /* with the waiting spaces */
    int64_t        spaces;   /* waiting */
    tsr_print_sink sink;
    void          *context;
} page;

static void page_flush(page *p)
{
    p->sink(p->context, p->text.out, p->text.length);
    p->text = tsri_text_into(p->text.out, p->text.size);
}

static void page_emit(page *p, char c)
{
    tsri_put_char(&p->text, c);
    if (p->sink && p->text.length + 1 >= p->text.size) page_flush(p);
}

static void page_char(page *p, char c)
{
    if (c == ' ') {
        p->column++;
        p->spaces++;
        return;
    }
    if (c == '\n') p->spaces = 0;
    for (; p->spaces > 0; p->spaces--) page_emit(p, ' ');
    page_emit(p, c);
    p->column = c == '\n' ? 0 : p->column + 1;
}

static void page_repeat(page *p, char c, int64_t n)
{
    for (; n > 0; n--) page_char(p, c);
}

static void page_chars(page *p, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) page_char(p, s[i]);
}

static void page_string(page *p, const char *s) { page_chars(p, s, tsri_strlen(s)); }

/* The window: which elements are shown ------------------------------------- */

/* Stands at a row: the last dim of a tensor, or the one element of a scalar. */
typedef struct window {
    const tsr_tensor *t;
    bool              summarised;
    int64_t           edge;                 /* shown at each end of a long dim */
    int64_t           index[TSR_MAX_NDIM];  /* of the dims before the last */
} window;

static window window_at_start(const window *w)
{
    window start = *w;
    for (int i = 0; i < w->t->ndim; i++) start.index[i] = 0;
    return start;
}

/* Has this dim a middle that is left out? */
static bool has_gap(const window *w, int axis)
{
    return w->summarised && w->edge < w->t->shape[axis] - w->edge;
}

/* Moves on to the next row. Returns the axis whose index went up, those after it
 * having started again, or -1 at the end; *jumped says if it passed a gap. */
static int window_next_row(window *w, bool *jumped)
{
    for (int axis = w->t->ndim - 2; axis >= 0; axis--) {
        w->index[axis]++;
        *jumped = has_gap(w, axis) && w->index[axis] == w->edge;
        if (*jumped) w->index[axis] = w->t->shape[axis] - w->edge;
        if (w->index[axis] < w->t->shape[axis]) return axis;
        w->index[axis] = 0;
    }
    return -1;
}

/* What is shown of the row, as a loop: a row with a gap is two runs of the edge's
 * length, as far apart as the gap makes them. */
static void row_loop(tsri_loop *loop, const window *w)
{
    const tsr_desc *d = &w->t->desc;
    const int last = d->ndim - 1;
    int64_t offset = 0, shape[2] = { 1, 1 }, stride[2] = { 0, 0 };
    const tsr_status s = tsri_desc_offset(&offset, "print", d, last > 0 ? last : 0, w->index);
    TSRI_ASSERT(s == TSR_OK);
    (void)s;
    if (last >= 0 && has_gap(w, last)) {
        shape[0] = 2;
        stride[0] = (d->shape[last] - w->edge) * d->stride[last];
        shape[1] = w->edge;
    } else if (last >= 0) {
        shape[1] = d->shape[last];
    }
    if (last >= 0) stride[1] = d->stride[last];
    const int64_t size = tsri_dtype_size(d->dtype);
    tsri_loop_build(loop, 2, shape, 1,
                    &(tsri_operand){ (char *)w->t->data + offset * size, stride, size }, TSRI_ORDERED);
}

typedef struct looker {
    tsri_style *style;
    void      (*see)(tsri_style *, const char *);
} looker;

static bool see_tile(const tsri_tile *t, void *context)
{
    const looker *l = context;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++)
            l->see(l->style, t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
    return true;
}

static void each_shown(const window *shown, tsri_style *s, void (*see)(tsri_style *, const char *))
{
    window w = window_at_start(shown);
    tsri_loop loop;
    bool jumped;
    do {
        row_loop(&loop, &w);
        (void)tsri_loop_visit(&loop, see_tile, &(looker){ s, see });
    } while (window_next_row(&w, &jumped) >= 0);
}

static tsri_style style_of(const window *shown, const tsr_print_opts *opts)
{
    tsri_style s;
    tsri_style_init(&s, shown->t->dtype, opts->precision, opts->suppress_exponent, shown->t->ndim == 0);
    each_shown(shown, &s, tsri_style_see_size);
    each_shown(shown, &s, tsri_style_see_width);
    return s;
}

/* Rows and brackets -------------------------------------------------------- */

typedef struct frame {
    int64_t indent;  /* where the outermost bracket stands */
    int64_t limit;   /* a word that would end beyond this column goes to the next line */
    int     ndim;
} frame;

/* Begins a new line if a word of this width does not fit, unless the line holds no word yet. */
static void wrap(page *p, const frame *f, int64_t width)
{
    const int64_t row = f->indent + f->ndim;
    if (p->column <= row || p->column + width <= f->limit) return;
    page_char(p, '\n');
    page_repeat(p, ' ', row);
}

static void page_word(page *p, const frame *f, const tsri_style *s, const char *element)
{
    char word[TSRI_WORD_ROOM];
    tsri_text text = tsri_text_into(word, sizeof word);
    tsri_put_word(&text, s, element);
    wrap(p, f, (int64_t)text.length);
    page_chars(p, word, text.length);
}

/* From one row to the next: the index of `axis` went up. */
static void between_rows(page *p, const frame *f, int axis, bool jumped)
{
    const int closed = f->ndim - 1 - axis;
    page_repeat(p, ']', closed);
    for (int pass = 0; pass < 1 + jumped; pass++) {
        page_repeat(p, '\n', closed);
        page_repeat(p, ' ', f->indent + 1 + axis);
        if (pass < jumped) page_string(p, "...");
    }
    page_repeat(p, '[', closed);
}

static void within_row(page *p, const frame *f, bool jumped)
{
    page_char(p, ' ');
    if (!jumped) return;
    wrap(p, f, 3);
    page_string(p, "... ");
}

typedef struct row_writer {
    page             *p;
    const frame      *f;
    const tsri_style *s;
    int64_t           edge;   /* words before the gap; -1 for none */
    int64_t           words;  /* written */
} row_writer;

static bool write_tile(const tsri_tile *t, void *context)
{
    row_writer *w = context;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++, w->words++) {
            if (w->words > 0) within_row(w->p, w->f, w->words == w->edge);
            page_word(w->p, w->f, w->s, t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
        }
    return true;
}

static void page_values(page *p, const window *shown, const tsr_print_opts *opts)
{
    const int ndim = shown->t->ndim;
    const frame f = { p->column, opts->line_width < 0 ? INT64_MAX : opts->line_width - ndim, ndim };
    const tsri_style s = style_of(shown, opts);
    const int64_t edge = ndim > 0 && has_gap(shown, ndim - 1) ? shown->edge : -1;
    window w = window_at_start(shown);
    tsri_loop loop;
    bool jumped = false;
    int axis;

    page_repeat(p, '[', ndim);
    do {
        row_loop(&loop, &w);
        (void)tsri_loop_visit(&loop, write_tile, &(row_writer){ p, &f, &s, edge, 0 });
        axis = window_next_row(&w, &jumped);
        if (axis >= 0) between_rows(p, &f, axis, jumped);
    } while (axis >= 0);
    page_repeat(p, ']', ndim);
}

/* The whole text ----------------------------------------------------------- */

static void page_desc(page *p, const tsr_desc *d)
{
    char text[DESC_ROOM];
    const size_t n = tsr_desc_to_string(text, sizeof text, d);
    page_chars(p, text, n < sizeof text ? n : sizeof text - 1);
}

/* Writes why there are no values to print; returns false, and writes nothing, if there are. */
static bool page_excuse(page *p, const tsr_tensor *t, const char *before)
{
    if (tsr_is_allocated(t) && tsri_is_here(t)) return false;
    page_string(p, before);
    if (!tsr_is_allocated(t)) {
        page_string(p, "not allocated");
        return true;
    }
    char device[40];
    tsri_devices_get()->name(device, sizeof device, t->device);
    page_string(p, "in ");
    page_string(p, tsr_memory_name(t->memory));
    page_string(p, " memory on ");
    page_string(p, device);
    page_string(p, ", which the host cannot read");
    return true;
}

static void page_here(page *p, const tsr_tensor *t, const tsr_print_opts *opts)
{
    const int64_t numel = tsr_numel(t);
    if (opts->name) {
        page_string(p, opts->name);
        page_string(p, ": ");
    }
    if (!opts->no_header) page_desc(p, &t->desc);
    if (page_excuse(p, t, opts->no_header ? "" : ", ")) return;
    if (!opts->no_header) page_char(p, '\n');
    if (numel == 0) {
        page_string(p, "[]");
        return;
    }
    const window shown = { .t = t, .summarised = numel > opts->threshold, .edge = opts->edge_items };
    page_values(p, &shown, opts);
}

/* A device's tensor is copied to the host; if that fails, its line says why there are no values. */
static void page_tensor(page *p, const tsr_tensor *t, const tsr_print_opts *opts)
{
    tsr_tensor *copy = NULL;
    const bool on_device = tsr_is_allocated(t) && t->device != TSR_CPU;
    const bool fetched = on_device && tsri_devices_get()->to_host(&copy, t) == TSR_OK;
    page_here(p, fetched ? copy : t, opts);
    tsr_release(&copy);
}

/* A copy of the options with the defaults in it. */
static tsr_status resolve(tsr_print_opts *out, const char *op, const tsr_tensor *t,
                          const tsr_print_opts *opts)
{
    TSRI_TRY(tsri_check_tensor(op, "t", t));
    TSRI_TRY(tsri_desc_check(op, &t->desc));
    *out = opts ? *opts : (tsr_print_opts){ 0 };
    TSRI_CHECK(out->edge_items >= 0, TSR_EINVAL, "%s: edge_items is %lld, expected 0 (the default) or more",
               op, (long long)out->edge_items);
    if (out->precision == 0) out->precision = 8;
    if (out->precision < 0) out->precision = 0;
    if (out->precision > TSRI_MAX_PRECISION) out->precision = TSRI_MAX_PRECISION;
    if (out->line_width == 0) out->line_width = 75;
    if (out->threshold == 0) out->threshold = 32;
    if (out->edge_items == 0) out->edge_items = 3;
    return TSR_OK;
}

tsr_status tsr_to_string(char *out, size_t size, size_t *length, const tsr_tensor *t,
                         const tsr_print_opts *opts)
{
    tsr_print_opts all;
    TSRI_CHECK(out || size == 0, TSR_ENULL, "to_string: out is NULL and size is %zu", size);
    TSRI_TRY(resolve(&all, "to_string", t, opts));
    page p = { .text = tsri_text_into(out, size) };
    page_tensor(&p, t, &all);
    if (length) *length = p.text.length;
    return TSR_OK;
}

/* Printing ----------------------------------------------------------------- */

static tsr_print_sink print_sink;
static void          *print_context;

void tsr_set_print_sink(tsr_print_sink sink, void *context)
{
    print_sink = sink;
    print_context = context;
}

static void print_to(tsr_print_sink sink, void *context, const tsr_tensor *t, const tsr_print_opts *opts)
{
    char chunk[256];
    page p = { .text = tsri_text_into(chunk, sizeof chunk), .sink = sink, .context = context };
    page_tensor(&p, t, opts);
    page_char(&p, '\n');
    if (p.text.length > 0) page_flush(&p);
}

#ifndef TSR_NO_STDIO
static void to_stdout(void *failed, const char *text, size_t length)
{
    if (fwrite(text, 1, length, stdout) != length) *(bool *)failed = true;
}

static tsr_status print_to_stdout(const tsr_tensor *t, const tsr_print_opts *opts)
{
    bool failed = false;
    print_to(to_stdout, &failed, t, opts);
    TSRI_CHECK(!failed, TSR_EIO, "print: standard output did not take the text");
    return TSR_OK;
}
#else
static tsr_status print_to_stdout(const tsr_tensor *t, const tsr_print_opts *opts)
{
    (void)t;
    (void)opts;
    return tsri_fail(TSR_EUNSUPPORTED, "print: a build without standard output needs tsr_set_print_sink");
}
#endif

tsr_status tsr_print(const tsr_tensor *t, const tsr_print_opts *opts)
{
    tsr_print_opts all;
    TSRI_TRY(resolve(&all, "print", t, opts));
    if (!print_sink) return print_to_stdout(t, &all);
    print_to(print_sink, print_context, t, &all);
    return TSR_OK;
}

/* Describing --------------------------------------------------------------- */

static const char *ownership_of(const tsr_tensor *t)
{
    if (!tsr_is_allocated(t)) return "not allocated";
    if (!t->storage) return "borrowed";
    switch (tsr_storage_ownership(t->storage)) {
    case TSR_OWNED:   return "owned";
    case TSR_ADOPTED: return "adopted";
    case TSR_MAPPED:  return "mapped";
    default:          return "borrowed";
    }
}

size_t tsr_describe(char *out, size_t size, const tsr_tensor *t)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (tsr_is_none(t)) {
        tsri_put(&text, "no tensor");
        return text.length;
    }
    char desc[DESC_ROOM], device[40];
    tsr_desc_to_string(desc, sizeof desc, &t->desc);
    tsri_devices_get()->name(device, sizeof device, t->device);
    const int64_t bytes = tsr_byte_size(t);
    tsri_put(&text, "%s on %s, %s memory, %s%s%s, %lld byte%s", desc, device, tsr_memory_name(t->memory),
             ownership_of(t), tsr_is_view(t) ? ", view" : "", tsr_is_readonly(t) ? ", read-only" : "",
             (long long)bytes, bytes == 1 ? "" : "s");
    return text.length;
}
