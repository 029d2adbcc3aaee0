/* view.c - tsr view: tensors in the whole terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "rename.h"
#include "room.h"
#include "terminal.h"
#include "text.h"
#include "tree.h"
#include "view/screen.h"
#include "view/sheet.h"

static const char name_of_command[] = "view";

enum { TYPED = 200 };

typedef enum place { IN_LIST, IN_SHEET, IN_HELP } place;

/* Where the user is. */
typedef struct view {
    source  *s;
    place    where, before;   /* before: where help was asked for */
    int64_t *shown, count;    /* items that match what is looked for */
    int64_t  at, top;         /* of the list: which one, and which is drawn first */
    int      order;           /* of the list, among `orders` */
    int      lines;           /* of the list */
    char     find[TYPED];     /* what is looked for; "" for all */
    char     prompt;          /* '/' or ':' while something is typed; else 0 */
    char     typed[TYPED];
    char     message[COMPLAINT_BYTES]; /* instead of the keys; "" for none */
    sheet    sheet;
} view;

/* The list ------------------------------------------------------------------------------- */

static bool is_found(const char *find, const char *name)
{
    return strpbrk(find, "*?[") ? matches_patterns(find, name) : strstr(name, find) != NULL;
}

static void find(view *v, const char *text)
{
    snprintf(v->find, sizeof v->find, "%s", text);
    v->count = 0;
    for (int64_t i = 0; i < v->s->count; i++)
        if (is_found(v->find, v->s->items[i].name)) v->shown[v->count++] = i;
    if (v->at >= v->count) v->at = v->count ? v->count - 1 : 0;
}

typedef struct widths { int name, shape, dtype; } widths;

static void widen(int *width, const char *text)
{
    const int w = text_width(text);
    if (w > *width) *width = w;
}

static widths measure(const view *v, int columns)
{
    enum { REST = 2 + 3 * 2 + 8 };  /* mark, gaps and size */
    widths w = { 4, 5, 5 };
    char shape[400];
    for (int64_t i = v->top; i < v->count && i < v->top + v->lines; i++) {
        const item *it = &v->s->items[v->shown[i]];
        widen(&w.name, it->name);
        widen(&w.shape, shape_text(shape, &it->desc));
        widen(&w.dtype, dtype_text(it));
    }
    const int room = columns - REST - w.shape - w.dtype;
    if (w.name > room) w.name = room > 8 ? room : 8;
    return w;
}

static void print_fitted(const char *text, int columns, bool right)
{
    char *fitted = text_fit(text, columns);
    print_padded(fitted, columns, right);
    free(fitted);
}

static void draw_item(const view *v, int64_t i, const widths *w)
{
    const colours c = colours_of(stdout);
    const item *it = &v->s->items[v->shown[i]];
    char shape[400], size[32];
    printf("%s%s ", i == v->at ? c.bold : "", i == v->at ? ">" : " ");
    print_fitted(it->name[0] ? it->name : "-", w->name, false);
    printf("  ");
    print_padded(shape_text(shape, &it->desc), w->shape, false);
    printf("  %s", i == v->at ? "" : c.dim);
    print_padded(dtype_text(it), w->dtype, false);
    printf("%s  %s", i == v->at ? "" : c.off, i == v->at ? c.bold : "");
    print_padded(bytes_text(size, (double)it->bytes), 8, true);
    screen_line();
}

static void draw_line(const char *before, const char *text, int columns)
{
    char *line = text_clip(text, columns);
    printf("%s%s", before, line);
    free(line);
}

static void draw_list(view *v)
{
    const colours c = colours_of(stdout);
    char text[600], size[32];
    double bytes = 0;
    int columns, rows;
    screen_size(&columns, &rows);
    v->lines = rows - 3 > 1 ? rows - 3 : 1;
    if (v->at < v->top) v->top = v->at;
    if (v->at >= v->top + v->lines) v->top = v->at - v->lines + 1;
    for (int64_t i = 0; i < v->count; i++) bytes += (double)v->s->items[v->shown[i]].bytes;
    char *path = printable_copy(v->s->path);
    snprintf(text, sizeof text, "%.400s: %" PRId64 " tensor%s, %s%s%.100s", path, v->count, plural(v->count),
             bytes_text(size, bytes), v->find[0] ? ", with " : "", v->find);
    free(path);
    draw_line(c.bold, text, columns);
    screen_line();
    const widths w = measure(v, columns);
    printf("%s  ", c.dim);
    print_padded("name", w.name, false);
    printf("  ");
    print_padded("shape", w.shape, false);
    printf("  ");
    print_padded("dtype", w.dtype, false);
    printf("  %8s", "size");
    screen_line();
    for (int64_t i = v->top; i < v->top + v->lines; i++) {
        if (i < v->count) draw_item(v, i, &w);
        else              screen_line();
    }
}

/* Help ------------------------------------------------------------------------------------- */

static const char *const help_lines[] = {
    "In the list",
    "  arrows, g G        choose a tensor, the first, the last",
    "  enter              open it",
    "  /                  find a part of a name, or *.weight",
    "  s                  sort: name, size, dtype, shape, file",
    "  esc                all tensors again",
    "  q                  quit",
    "",
    "In a tensor",
    "  arrows             move; page up and down by many rows",
    "  < > home end g G   by many columns; to the four ends",
    "  : 3,-1             go to an index",
    "  r c t              next dim as rows, as columns; swap",
    "  [ ] tab            step along another dim; which one",
    "  h                  heat and numbers, numbers, heat map",
    "  f + -              format of numbers, digits",
    "  s                  statistics of a large tensor",
    "  n p                next and previous tensor",
    "  q esc              back to the list",
};

static void draw_help(void)
{
    int columns, rows;
    screen_size(&columns, &rows);
    const int count = (int)(sizeof help_lines / sizeof *help_lines);
    for (int i = 0; i < rows - 1; i++) {
        if (i < count) draw_line("", help_lines[i], columns);
        screen_line();
    }
}

/* Frames ----------------------------------------------------------------------------------- */

static void draw_bottom(const view *v)
{
    static const char *const keys[] = {
        "enter open  / find  s sort  ? help  q quit",
        "arrows  r c t dims  h heat  f format  : go  ? help  q back",
        "any key goes on",
    };
    const colours c = colours_of(stdout);
    int columns, rows;
    char text[TYPED + 2];
    screen_size(&columns, &rows);
    snprintf(text, sizeof text, "%c%s", v->prompt ? v->prompt : ' ', v->typed);
    if (v->prompt)          draw_line("", text, columns);
    else if (v->message[0]) draw_line(c.red, v->message, columns);
    else                    draw_line(c.dim, keys[v->where], columns);
    if (v->prompt) printf("%s", c.bold[0] ? "\033[7m \033[0m" : "_");
}

static void draw(view *v)
{
    screen_begin();
    if (v->where == IN_HELP)      draw_help();
    else if (v->where == IN_LIST) draw_list(v);
    else                          sheet_draw(&v->sheet);
    draw_bottom(v);
    screen_end();
}

/* Keys ------------------------------------------------------------------------------------- */

static void choose(view *v, int64_t at)
{
    v->at = at < 0 ? 0 : at >= v->count ? v->count - 1 : at;
    if (v->at < 0) v->at = 0;
}

static void open_tensor(view *v)
{
    if (v->count && sheet_open(&v->sheet, v->s, v->shown[v->at])) v->where = IN_SHEET;
}

static const char *const orders[] = { "name", "size", "dtype", "shape", "file" };
enum { ORDERS = (int)(sizeof orders / sizeof *orders) };

/* By the next order, and to the first tensor of it. */
static void sort_again(view *v)
{
    listing l = { 0 };
    v->order = (v->order + 1) % ORDERS;
    listing_apply(&l, v->s, orders[v->order]);
    find(v, v->find);
    choose(v, 0);
    snprintf(v->message, sizeof v->message, "sorted by %s", orders[v->order]);
}

/* False: the end. */
static bool list_key(view *v, int key)
{
    switch (key) {
    case KEY_UP: case 'k':        choose(v, v->at - 1); break;
    case KEY_DOWN: case 'j':      choose(v, v->at + 1); break;
    case KEY_PAGE_UP: case 'b':   choose(v, v->at - v->lines); break;
    case KEY_PAGE_DOWN: case ' ': choose(v, v->at + v->lines); break;
    case KEY_HOME: case 'g':      choose(v, 0); break;
    case KEY_END: case 'G':       choose(v, v->count - 1); break;
    case KEY_ENTER: case KEY_RIGHT: open_tensor(v); break;
    case 's':                     sort_again(v); break;
    case KEY_ESCAPE:              find(v, ""); break;
    case 'q':                     return false;
    default:                      break;
    }
    return true;
}

static void step_to_tensor(view *v, int64_t by)
{
    choose(v, v->at + by);
    open_tensor(v);
}

/* False: the end, where there is no list to go back to. */
static bool tensor_key(view *v, int key)
{
    if (sheet_key(&v->sheet, key)) return true;
    if (key == 'n') step_to_tensor(v, 1);
    if (key == 'p') step_to_tensor(v, -1);
    if (key == 'q' || key == KEY_ESCAPE) {
        if (v->s->count == 1) return false;
        v->where = IN_LIST;
    }
    return true;
}

static void begin_prompt(view *v, char prompt)
{
    v->prompt = prompt;
    v->typed[0] = '\0';
    if (prompt == '/') v->where = IN_LIST;
}

/* A key while something is typed. What is looked for is found at once. */
static void prompt_key(view *v, int key)
{
    size_t n = strlen(v->typed);
    if (key == KEY_ESCAPE) {
        v->typed[0] = '\0';
        if (v->prompt == '/') find(v, "");
        v->prompt = 0;
    } else if (key == KEY_ENTER) {
        if (v->prompt == ':' && !sheet_go(&v->sheet, v->typed))
            snprintf(v->message, sizeof v->message, "there is no element %.100s", v->typed);
        v->prompt = 0;
    } else if (key == KEY_BACKSPACE) {
        while (n > 0 && ((unsigned char)v->typed[n - 1] & 0xc0) == 0x80) n--; /* the rest of a character */
        if (n > 0) v->typed[n - 1] = '\0';
    } else if (key >= ' ' && key < 256 && n + 1 < sizeof v->typed) {
        v->typed[n] = (char)key;
        v->typed[n + 1] = '\0';
    }
    if (v->prompt == '/') find(v, v->typed);
}

/* False: the end. */
static bool take_key(view *v, int key)
{
    if (key == KEY_REDRAW) return true;
    v->message[0] = '\0';
    if (key == KEY_CLOSED) return false;
    if (v->prompt) {
        prompt_key(v, key);
    } else if (v->where == IN_HELP) {
        v->where = v->before;
    } else if (key == '?') {
        v->before = v->where;
        v->where = IN_HELP;
    } else if (key == '/' && v->s->count > 1) {
        begin_prompt(v, '/');
    } else if (key == ':' && v->where == IN_SHEET) {
        begin_prompt(v, ':');
    } else {
        return v->where == IN_LIST ? list_key(v, key) : tensor_key(v, key);
    }
    return true;
}

/* The command ---------------------------------------------------------------------------- */

/* Returns an exit code. */
static int look(source *s, const char *sort)
{
    view *v = room_for(1, sizeof *v);
    v->s = s;
    for (int i = 0; i < ORDERS && sort; i++)
        if (!strcmp(orders[i], sort)) v->order = i;
    v->shown = room_for((size_t)s->count, sizeof *v->shown);
    find(v, "");
    int code = s->damaged ? EXIT_INPUT : EXIT_YES;
    if (s->count == 1) {
        open_tensor(v);
        if (v->where != IN_SHEET) code = EXIT_INPUT;
    }
    if ((s->count > 1 || v->where == IN_SHEET) && screen_open(name_of_command)) {
        keep_complaints(v->message);
        do draw(v);
        while (take_key(v, screen_key()));
        keep_complaints(NULL);
        screen_close();
    } else {
        code = code == EXIT_YES ? EXIT_NO : code;
    }
    free(v->shown);
    free(v);
    return code;
}

static int run_view(int argc, char **argv)
{
    listing list = { 0 };
    reading how = { 0 };
    const option options[] = {
        LISTING_OPTIONS(list),
        READING_OPTIONS(how),
        { NULL, NULL, NULL, NULL },
    };
    const bool selects = listing_read(&list, name_of_command, argc, argv);
    const int count = selects ? read_options(name_of_command, options, argc, argv) : -1;
    if (count < 0 || !reading_check(&how, name_of_command)) return EXIT_USAGE;
    if (!listing_check(&list, name_of_command, "file name size dtype shape")) return EXIT_USAGE;
    if (count != 1) return complain_usage(name_of_command, "one file is looked at, not %d", count);
    source s;
    int code = source_open(&s, name_of_command, argv[1], &how);
    if (code == EXIT_YES) {
        listing_apply(&list, &s, "name");
        if (!s.count) code = listing_found_none(&list, name_of_command);
        if (code == EXIT_YES && !s.count) code = complain(name_of_command, "%s has no tensors", s.path);
    }
    if (code == EXIT_YES) code = look(&s, list.sort);
    source_close(&s);
    return code;
}

const command view_command = {
    .name = name_of_command,
    .run = run_view,
    .summary = "look around in a tensor file, in the whole terminal",
    .help = "usage: tsr view FILE[:NAME][SLICE] [--select PATTERN] [--sort ORDER]\n"
            "\n"
            "Shows the tensors of a file, and the numbers of one of them: two of its dims as\n"
            "a table, at an index of each other one, with a heat map behind the numbers and\n"
            "statistics below. Only what is drawn is read, but for the statistics. Large\n"
            "files are mapped. '?' lists the keys:\n"
            "\n"
            "  list              arrows choose, enter opens, / finds, s sorts, q quits\n"
            "  tensor            arrows move, [ and ] step along another dim, tab chooses it;\n"
            "                    r, c and t choose dims for rows and columns; : goes to an\n"
            "                    index; h changes the heat map, f, + and - the numbers; q goes\n"
            "                    back\n"
            "\n"
            LISTING_HELP
            "  --sort ORDER      name, size, dtype, shape or file\n"
            READING_HELP
            "\n"
            "With NO_COLOR there are no colours; letters stand for them in the heat map.\n"
            "\n"
            "examples:\n"
            "  tsr view model.safetensors\n"
            "  tsr view 'model.gguf:blk.0.*'\n"
            "  tsr view 'video.npy[0]'\n"
            "\n"
            "exit status: 0, or 1 if there is no terminal, 3 if the file cannot be read, 2 for\n"
            "a command line that cannot be understood\n",
};
