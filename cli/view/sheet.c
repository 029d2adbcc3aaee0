/* sheet.c - reading a window of a tensor, and drawing it. */
#include "sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../blocks.h"
#include "../numbers.h"
#include "../picture/chart.h"
#include "../room.h"
#include "../text.h"
#include "screen.h"

/* Lines that are not cells: title, dims, indices of columns; statistics, the cell, keys. */
enum { LINES_ABOVE = 3, LINES_BELOW = 3, GAP = 2, CELL_BYTES = 64 };
enum { KNOWN_MOST = 1 << 30 };  /* bytes of tensors whose statistics are gathered without being asked for */

/* A window of cells. */
typedef struct window {
    int         rows, columns;
    char      (*text)[CELL_BYTES];
    double     *value;          /* magnitudes of complex ones */
    tsr_scalar  here;           /* the cell that is looked at */
} window;

/* The dims ------------------------------------------------------------------------------- */

static int64_t rows_of(const sheet *t) { return t->rows < 0 ? 1 : t->shape[t->rows]; }
static int64_t columns_of(const sheet *t) { return t->columns < 0 ? 1 : t->shape[t->columns]; }
static int64_t row_of(const sheet *t) { return t->rows < 0 ? 0 : t->at[t->rows]; }
static int64_t column_of(const sheet *t) { return t->columns < 0 ? 0 : t->at[t->columns]; }

/* Is cell (i, k) of the window the one that is looked at? */
static bool is_here(const sheet *t, int i, int k)
{
    return t->top + i == row_of(t) && t->left + k == column_of(t);
}

/* The next dim that is neither of two; -1 if there is none. */
static int next_dim(const sheet *t, int after, int not_this)
{
    for (int i = 1; i <= t->ndim; i++) {
        const int dim = (after + i) % t->ndim;
        if (dim != t->rows && dim != t->columns && dim != not_this) return dim;
    }
    return -1;
}

static void choose_other(sheet *t)
{
    if (t->other < 0 || t->other == t->rows || t->other == t->columns)
        t->other = t->ndim > 2 ? next_dim(t, t->ndim - 1, -1) : -1;
}

static void gather_statistics(sheet *t)
{
    t->found = (summary){ .brief = true, .bins = SPARKLINE_BINS };
    t->known = summarise(&t->found, t->s, t->index, NULL, 0, 1);
}

bool sheet_open(sheet *out, source *s, int64_t index)
{
    const item *it = &s->items[index];
    *out = (sheet){ .s = s, .index = index, .rows = -1, .columns = -1, .other = -1, .digits = 4 };
    if (!source_can_read(s, it) || !source_cut(&out->c, s, index)) return false;
    for (int i = 0; i < out->c.ndim; i++) {
        if (out->c.range[i].step == 0) continue;
        out->axis[out->ndim] = i;
        out->shape[out->ndim++] = out->c.length[i];
    }
    if (out->ndim > 0) out->rows = out->ndim > 1 ? out->ndim - 2 : 0;
    if (out->ndim > 1) out->columns = out->ndim - 1;
    choose_other(out);
    out->mode = colour_count(stdout) ? SHEET_HEAT : SHEET_NUMBERS;
    if (it->bytes <= KNOWN_MOST) gather_statistics(out);
    return true;
}

/* Numbers ---------------------------------------------------------------------------------- */

static void float_text(char out[CELL_BYTES], const sheet *t, double x)
{
    static const char *const how[] = { "%.*g", "%.*f", "%.*e" };
    if (isnan(x)) snprintf(out, CELL_BYTES, "nan");
    else          snprintf(out, CELL_BYTES, how[t->format], t->digits, x);
}

static void cell_text(char out[CELL_BYTES], const sheet *t, tsr_scalar s)
{
    char re[CELL_BYTES], im[CELL_BYTES];
    switch (s.dtype) {
    case TSR_BOOL: snprintf(out, CELL_BYTES, "%s", s.as.u ? "true" : "false"); break;
    case TSR_I64:  snprintf(out, CELL_BYTES, "%" PRId64, s.as.i); break;
    case TSR_U64:  snprintf(out, CELL_BYTES, "%" PRIu64, s.as.u); break;
    case TSR_C128:
        float_text(re, t, s.as.c.re);
        float_text(im, t, s.as.c.im);
        snprintf(out, CELL_BYTES, "%.28s%s%.28sj", re, im[0] == '-' ? "" : "+", im);
        break;
    default: float_text(out, t, s.as.c.re); break;
    }
}

static double value_of(tsr_scalar s)
{
    if (s.dtype == TSR_I64) return (double)s.as.i;
    if (s.dtype == TSR_U64 || s.dtype == TSR_BOOL) return (double)s.as.u;
    return s.dtype == TSR_C128 ? hypot(s.as.c.re, s.as.c.im) : s.as.c.re;
}

static void free_window(window *w)
{
    free(w->text);
    free(w->value);
}

/* The box of indices that a window covers. */
static block block_of(const sheet *t, int rows, int columns)
{
    block b = { .ndim = t->c.ndim };
    for (int i = 0; i < t->c.ndim; i++) b.count[i] = 1;
    for (int i = 0; i < t->ndim; i++) b.from[t->axis[i]] = t->at[i];
    if (t->rows >= 0) b.from[t->axis[t->rows]] = t->top, b.count[t->axis[t->rows]] = rows;
    if (t->columns >= 0) b.from[t->axis[t->columns]] = t->left, b.count[t->axis[t->columns]] = columns;
    return b;
}

/* Elements between neighbours along one of the dims of a packed block. */
static int64_t step_of(const sheet *t, const block *b, int dim)
{
    int64_t step = 1;
    if (dim < 0) return 0;
    for (int i = t->axis[dim] + 1; i < b->ndim; i++) step *= b->count[i];
    return step;
}

/* Reads the cells from top and left on. False after a complaint. */
static bool read_window(window *out, sheet *t, int rows, int columns)
{
    const block b = block_of(t, rows, columns);
    const int64_t down = step_of(t, &b, t->rows), right = step_of(t, &b, t->columns);
    tsr_tensor *piece = NULL;
    bool ok = source_read_block(&piece, t->s, t->index, &t->c, &b) && tsr_contiguous(&piece, piece) == TSR_OK;
    *out = (window){ .rows = rows, .columns = columns };
    out->text = room_for((size_t)rows * (size_t)columns, sizeof *out->text);
    out->value = room_for((size_t)rows * (size_t)columns, sizeof *out->value);
    for (int i = 0; i < rows && ok; i++)
        for (int k = 0; k < columns && ok; k++) {
            tsr_scalar s;
            const size_t offset = (size_t)(i * down + k * right) * tsr_dtype_size(piece->dtype);
            ok = tsr_scalar_load(&s, piece->dtype, (const char *)piece->data + offset) == TSR_OK;
            if (!ok) break;
            out->value[i * columns + k] = value_of(s);
            if (is_here(t, i, k)) out->here = s;
            cell_text(out->text[i * columns + k], t, s);
        }
    tsr_release(&piece);
    return ok;
}

/* Fitting ------------------------------------------------------------------------------------ */

static int digits_of(int64_t n)
{
    int digits = 1;
    for (; n >= 10; n /= 10) digits++;
    return digits;
}

static int label_width(const sheet *t) { return digits_of(rows_of(t) > 1 ? rows_of(t) - 1 : 0); }

static int least(int64_t a, int64_t b) { return (int)(a < b ? a : b); }

static int column_width(const sheet *t, const window *w, int k)
{
    int width = digits_of(t->left + k);
    for (int i = 0; i < w->rows; i++) {
        const int n = (int)strlen(w->text[i * w->columns + k]);
        if (n > width) width = n;
    }
    return width;
}

/* How many columns of a window fit, all of one width. */
static int columns_that_fit(const sheet *t, const window *w, int room, int *width)
{
    int count = 0;
    *width = 1;
    for (int k = 0; k < w->columns; k++) {
        const int one = column_width(t, w, k), most = one > *width ? one : *width;
        if (k > 0 && (k + 1) * (most + GAP) > room) break;
        *width = most;
        count++;
    }
    return count > 0 ? count : 1;
}

static void scroll(int64_t *first, int64_t at, int shown)
{
    if (at < *first) *first = at;
    if (at >= *first + shown) *first = at - shown + 1;
}

/* Reads the window around the cell that is looked at: *width columns to a cell. False after a complaint. */
static bool fit_window(window *out, sheet *t, int columns, int lines, int *width)
{
    const int room = columns - label_width(t) - 1, map = t->mode == SHEET_MAP;
    t->shown_rows = least(rows_of(t), lines > 1 ? lines : 1);
    scroll(&t->top, row_of(t), t->shown_rows);
    if (t->top + t->shown_rows > rows_of(t)) t->top = rows_of(t) - t->shown_rows;
    if (column_of(t) < t->left) t->left = column_of(t);
    for (;;) {
        const int most = room / (map ? 2 : 1 + GAP) > 1 ? room / (map ? 2 : 1 + GAP) : 1;
        const int tried = least(columns_of(t) - t->left, most);
        if (!read_window(out, t, t->shown_rows, tried)) {
            free_window(out);
            return false;
        }
        t->shown_columns = map ? tried : columns_that_fit(t, out, room, width);
        if (column_of(t) < t->left + t->shown_columns) return true;
        free_window(out);
        t->left += column_of(t) - (t->left + t->shown_columns) + 1;
    }
}

/* Drawing ------------------------------------------------------------------------------------ */

/* 0 .. 1 in the range of the tensor, or of what is shown. */
static double place_of(const sheet *t, const window *w, double x)
{
    double low = t->found.low, high = t->found.high;
    if (!t->known) {
        low = INFINITY, high = -INFINITY;
        for (int i = 0; i < w->rows * w->columns; i++) {
            if (!isfinite(w->value[i])) continue;
            if (w->value[i] < low) low = w->value[i];
            if (w->value[i] > high) high = w->value[i];
        }
    }
    if (!(high > low)) return 0.5;
    const double place = (x / 2 - low / 2) / (high / 2 - low / 2); /* the difference may be beyond a double */
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

/* The colours of a cell: what it is worth behind, black or white before it. NaN is grey. */
static void begin_heat(const sheet *t, const window *w, double x, int depth)
{
    const uint32_t c = isnan(x) ? 0x808080u : chart_viridis(place_of(t, w, x));
    const uint8_t rgb[3] = { (uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c };
    const bool light = 299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] > 140000;
    const uint8_t letters[3] = { light ? 0 : 255, light ? 0 : 255, light ? 0 : 255 };
    print_colour(true, rgb, depth);
    print_colour(false, letters, depth);
}

/* A cell of two columns: a colour, or a letter that stands for one. */
static void draw_map_cell(const sheet *t, const window *w, int i, int k, int depth)
{
    static const char ramp[] = " .:-=+*#%@";
    const double x = w->value[i * w->columns + k];
    const char letter = isnan(x) ? '?' : ramp[(int)(place_of(t, w, x) * 9.999)];
    if (depth) begin_heat(t, w, x, depth);
    if (is_here(t, i, k)) fputs("[]", stdout);
    else                  printf("%c%c", depth ? ' ' : letter, depth ? ' ' : letter);
    if (depth) fputs("\033[0m", stdout);
}

static void draw_cell(const sheet *t, const window *w, int i, int k, int width, int depth)
{
    const double x = w->value[i * w->columns + k];
    char *text = text_fit(w->text[i * w->columns + k], width);
    const bool here = is_here(t, i, k), heat = depth && t->mode == SHEET_HEAT;
    if (heat) begin_heat(t, w, x, depth);
    else if (depth && !isfinite(x)) fputs("\033[31m", stdout);
    putchar(here ? '>' : ' ');
    if (here && depth) fputs("\033[1;7m", stdout);
    print_padded(text, width, true);
    if (here && depth) fputs("\033[22;27m", stdout);
    putchar(here ? '<' : ' ');
    if (depth) fputs("\033[0m", stdout);
    free(text);
}

static void draw_rows(const sheet *t, const window *w, int width, int lines)
{
    const colours c = colours_of(stdout);
    const int depth = colour_count(stdout);
    for (int i = 0; i < lines; i++) {
        if (i < t->shown_rows) printf("%s%*" PRId64 "%s ", c.dim, label_width(t), t->top + i, c.off);
        for (int k = 0; k < t->shown_columns && i < t->shown_rows; k++) {
            if (t->mode == SHEET_MAP) draw_map_cell(t, w, i, k, depth);
            else                      draw_cell(t, w, i, k, width, depth);
        }
        screen_line();
    }
}

/* The indices of columns; of a map, every tenth. */
static void draw_heads(const sheet *t, int width)
{
    const colours c = colours_of(stdout);
    char text[32];
    printf("%s%*s ", c.dim, label_width(t), "");
    for (int k = 0; k < t->shown_columns; k++) {
        const int64_t column = t->left + k;
        snprintf(text, sizeof text, "%" PRId64, column);
        if (t->mode != SHEET_MAP)  printf(" %*s ", width, text);
        else if (column % 10 == 0 && k + 10 <= t->shown_columns) k += printf("%-20s", text) / 2 - 1;
        else                       fputs("  ", stdout);
    }
    fputs(c.off, stdout);
    screen_line();
}

/* "[3, :, 0, :]", and which dims are which. */
static void dims_text(char *out, size_t size, const sheet *t)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < t->ndim && used < size; i++) {
        const char *comma = i ? ", " : "";
        if (i == t->rows || i == t->columns) used += (size_t)snprintf(out + used, size - used, "%s:", comma);
        else used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, comma, t->at[i]);
    }
    if (used < size) used += (size_t)snprintf(out + used, size - used, "]");
    if (t->rows >= 0 && used < size)
        used += (size_t)snprintf(out + used, size - used, "  rows: dim %d", t->rows);
    if (t->columns >= 0 && used < size)
        used += (size_t)snprintf(out + used, size - used, "  columns: dim %d", t->columns);
    if (t->other >= 0 && used < size)
        snprintf(out + used, size - used, "  [ ]: dim %d of %" PRId64, t->other, t->shape[t->other]);
}

static void draw_text(const char *before, const char *text, const char *after, int columns)
{
    char *line = text_clip(text, columns);
    printf("%s%s%s", before, line, after);
    free(line);
    screen_line();
}

static void title_text(char *out, size_t size, const sheet *t)
{
    const item *it = &t->s->items[t->index];
    size_t used = (size_t)snprintf(out, size, "%s%s%s(", it->name, it->name[0] ? "  " : "",
                                   tsr_dtype_name(it->desc.dtype));
    for (int i = 0; i < t->ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? ", " : "", t->shape[i]);
    if (used < size) snprintf(out + used, size - used, ")");
}

/* Adds a field behind two spaces, if a line of so many columns has room for all of it. */
static void add_field(char *out, size_t size, int columns, const char *field)
{
    const size_t used = strlen(out);
    const int gap = used ? 2 : 0;
    if (text_width(out) + gap + text_width(field) > columns) return;
    snprintf(out + used, size - used, "%*s%s", gap, "", field);
}

/* What is not finite comes first: a narrow line has no room for all. */
static void statistics_text(char *out, size_t size, const sheet *t, int columns)
{
    const summary *f = &t->found;
    static const char *const name[] = { "min", "max", "mean", "std" };
    const double number[] = { f->low, f->high, f->mean, f->deviation };
    char field[SPARKLINE_BYTES + 64] = "s: statistics of all elements";
    out[0] = '\0';
    if (!t->known) {
        add_field(out, size, columns, field);
        return;
    }
    snprintf(field, sizeof field, "nan %" PRId64 "  inf %" PRId64, f->nans, f->infinities);
    if (f->nans || f->infinities) add_field(out, size, columns, field);
    for (int i = 0; i < 4 && f->finite; i++) {
        snprintf(field, sizeof field, "%s %.4g", name[i], number[i]);
        add_field(out, size, columns, field);
    }
    snprintf(field, sizeof field, "zero %" PRId64, f->zeros);
    add_field(out, size, columns, field);
    field[0] = '\0';
    if (f->finite) histogram_sparkline(field, &f->bars);
    if (f->finite) add_field(out, size, columns, field);
}

/* "[3, 4] = 0.123456789" */
static void cell_line(char *out, size_t size, const sheet *t, const window *w)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < t->ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? ", " : "", t->at[i]);
    const bool is_long = tsr_dtype_size(tsr_dtype_real(t->s->items[t->index].desc.dtype)) > 4;
    const sheet exact = { .format = SHEET_GENERAL, .digits = is_long ? 17 : 9 };
    char number[CELL_BYTES];
    cell_text(number, &exact, w->here);
    if (used < size) snprintf(out + used, size - used, "] = %s", number);
}

static bool is_empty(const sheet *t)
{
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] == 0) return true;
    return false;
}

void sheet_draw(sheet *t)
{
    const colours c = colours_of(stdout);
    int columns, rows, width = 1;
    char text[2000];
    window w = { 0 };
    screen_size(&columns, &rows);
    const int lines = rows - LINES_ABOVE - LINES_BELOW > 1 ? rows - LINES_ABOVE - LINES_BELOW : 1;
    const bool ok = !is_empty(t) && fit_window(&w, t, columns, lines, &width);
    screen_begin();
    title_text(text, sizeof text, t);
    draw_text(c.bold, text, c.off, columns);
    dims_text(text, sizeof text, t);
    draw_text("", text, "", columns);
    if (ok) {
        const int label = columns - label_width(t) - 3;
        draw_heads(t, width < label ? width : label);
        draw_rows(t, &w, width < label ? width : label, lines);
    } else {
        screen_line();
        draw_text("", is_empty(t) ? "there are no elements" : "they cannot be read", "", columns);
        for (int i = 1; i < lines; i++) screen_line();
    }
    statistics_text(text, sizeof text, t, columns);
    draw_text(c.dim, text, c.off, columns);
    text[0] = '\0';
    if (ok) cell_line(text, sizeof text, t, &w);
    draw_text("", text, "", columns);
    if (ok) free_window(&w);
}

/* Keys ------------------------------------------------------------------------------------- */

static void move(sheet *t, int dim, int64_t by)
{
    if (dim < 0 || t->shape[dim] == 0) return;
    const int64_t last = t->shape[dim] - 1, to = t->at[dim] + by;
    t->at[dim] = to < 0 ? 0 : to > last ? last : to;
}

static void take_rows(sheet *t, int dim)
{
    if (dim >= 0) t->rows = dim;
    t->top = 0;
    choose_other(t);
}

static void take_columns(sheet *t, int dim)
{
    if (dim >= 0) t->columns = dim;
    t->left = 0;
    choose_other(t);
}

static void exchange(sheet *t)
{
    const int rows = t->rows;
    const int64_t top = t->top;
    t->rows = t->columns;
    t->columns = rows;
    t->top = t->left;
    t->left = top;
}

bool sheet_key(sheet *t, int key)
{
    switch (key) {
    case KEY_UP: case 'k':        move(t, t->rows, -1); break;
    case KEY_DOWN: case 'j':      move(t, t->rows, 1); break;
    case KEY_LEFT:                move(t, t->columns, -1); break;
    case KEY_RIGHT: case 'l':     move(t, t->columns, 1); break;
    case KEY_PAGE_UP: case 'b':   move(t, t->rows, -t->shown_rows); break;
    case KEY_PAGE_DOWN: case ' ': move(t, t->rows, t->shown_rows); break;
    case '<':                     move(t, t->columns, -t->shown_columns); break;
    case '>':                     move(t, t->columns, t->shown_columns); break;
    case KEY_HOME: case '0':      move(t, t->columns, -columns_of(t)); break;
    case KEY_END: case '$':       move(t, t->columns, columns_of(t)); break;
    case 'g':                     move(t, t->rows, -rows_of(t)); break;
    case 'G':                     move(t, t->rows, rows_of(t)); break;
    case '[':                     move(t, t->other, -1); break;
    case ']':                     move(t, t->other, 1); break;
    case KEY_TAB:                 if (t->other >= 0) t->other = next_dim(t, t->other, -1); break;
    case 'r':                     if (t->ndim > 2) take_rows(t, next_dim(t, t->rows, t->columns)); break;
    case 'c':                     if (t->ndim > 2) take_columns(t, next_dim(t, t->columns, t->rows)); break;
    case 't':                     exchange(t); break;
    case 'h':                     t->mode = (t->mode + 1) % SHEET_MODES; break;
    case 'f':                     t->format = (t->format + 1) % SHEET_FORMATS; break;
    case '+':                     t->digits += t->digits < 17; break;
    case '-':                     t->digits -= t->digits > 1; break;
    case 's':                     gather_statistics(t); break;
    default:                      return false;
    }
    return true;
}

bool sheet_go(sheet *t, const char *text)
{
    int64_t index[TSR_MAX_NDIM];
    int n = 0;
    for (const char *p = text; *p && n < TSR_MAX_NDIM;) {
        char *end = NULL;
        index[n++] = strtoll(p, &end, 10);
        if (end == p) return false;
        p = end + strspn(end, ", ");
    }
    const bool all = n == t->ndim, matrix = !all && n == 2 && t->columns >= 0;
    if (n == 0 || (!all && !matrix)) return false;
    const int dims[2] = { t->rows, t->columns };
    for (int i = 0; i < n; i++) {
        const int dim = all ? i : dims[i];
        const int64_t at = index[i] < 0 ? index[i] + t->shape[dim] : index[i];
        if (at < 0 || at >= t->shape[dim]) return false;
    }
    for (int i = 0; i < n; i++) {
        const int dim = all ? i : dims[i];
        t->at[dim] = index[i] < 0 ? index[i] + t->shape[dim] : index[i];
    }
    return true;
}
