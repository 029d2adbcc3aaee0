/* table.c - widths of columns, and what is left out where there is no room. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

#include "room.h"
#include "terminal.h"
#include "text.h"

enum { GAP = 2 };

table table_new(const table_column *column, int columns)
{
    return (table){ .column = column, .columns = columns, .names = 4 };
}

void table_free(table *t)
{
    for (int64_t i = 0; i < t->rows; i++) {
        for (int k = 0; k < t->columns; k++) free(t->cells[i][k]);
        free(t->cells[i]);
    }
    free(t->cells);
    free(t->colour);
    *t = (table){ 0 };
}

void table_add(table *t, const char *const *cells, const char *colour)
{
    char **row = room_for((size_t)t->columns, sizeof *row);
    for (int k = 0; k < t->columns; k++) row[k] = copy_of_text(cells[k]);
    t->cells = room_for_more(t->cells, (size_t)t->rows, sizeof *t->cells);
    t->colour = room_for_more(t->colour, (size_t)t->rows, sizeof *t->colour);
    t->colour[t->rows] = colour;
    t->cells[t->rows++] = row;
}

/* Has a row nothing between its first cell and its last? */
static bool is_remark(const table *t, const char *const *cells)
{
    for (int k = 1; k + 1 < t->columns; k++)
        if (cells[k][0]) return false;
    return t->columns > 2;
}

/* Columns that hold nothing but empty cells take no room. */
static void measure(const table *t, int width[TABLE_COLUMNS])
{
    for (int k = 0; k < t->columns; k++) {
        int most = 0;
        for (int64_t i = 0; i < t->rows; i++) {
            if (k > 0 && is_remark(t, (const char *const *)t->cells[i])) continue;
            const int w = text_width(t->cells[i][k]);
            if (w > most) most = w;
        }
        const int head = text_width(t->column[k].head);
        width[k] = most && head > most ? head : most;
    }
}

/* Columns and the gaps between them, where names take no more than `names`. */
static int sum_of(const table *t, const int width[TABLE_COLUMNS], int names)
{
    int sum = -GAP;
    for (int k = 0; k < t->columns; k++) {
        const bool is_cut = t->column[k].align == TABLE_NAME && width[k] > names;
        if (width[k]) sum += GAP + (is_cut ? names : width[k]);
    }
    return sum;
}

/* The column to leave out next; -1 if there is none. */
static int last_in_rank(const table *t, const int width[TABLE_COLUMNS])
{
    int found = -1;
    for (int k = 0; k < t->columns; k++)
        if (width[k] && t->column[k].rank > 0 && (found < 0 || t->column[k].rank > t->column[found].rank))
            found = k;
    return found;
}

/* Leaves columns out until names have their share of the room; they take what is left. */
static void fit(const table *t, int width[TABLE_COLUMNS], int room)
{
    const int names = (int)((long long)t->names * room / 10);
    for (int k; sum_of(t, width, names) > room && (k = last_in_rank(t, width)) >= 0;) width[k] = 0;
    for (int over = sum_of(t, width, room) - room; over > 0; over--) {
        int widest = -1;
        for (int k = 0; k < t->columns; k++)
            if (t->column[k].align == TABLE_NAME && width[k] > 1 && (widest < 0 || width[k] > width[widest]))
                widest = k;
        if (widest < 0) return;
        width[widest]--;
    }
}

static void print_remark(const table *t, const int width[TABLE_COLUMNS], int room, const char *const *cells)
{
    char *name = text_fit(cells[0], width[0]);
    char *remark = text_fit(cells[t->columns - 1], room > width[0] + GAP ? room - width[0] - GAP : 1);
    print_padded(name, width[0], t->column[0].align == TABLE_RIGHT);
    printf("%*s%s", GAP, "", remark);
    free(name);
    free(remark);
}

static void print_cells(const table *t, const int width[TABLE_COLUMNS], int indent, const char *const *cells)
{
    int last = t->columns - 1;
    while (last > 0 && (!width[last] || !cells[last][0])) last--;
    printf("%*s", indent, "");
    for (int k = 0, gap = 0; k <= last; k++) {
        if (!width[k]) continue;
        char *cell = text_fit(cells[k], width[k]);
        const bool right = t->column[k].align == TABLE_RIGHT;
        printf("%*s", gap, "");
        if (k == last && !right) fputs(cell, stdout);
        else                     print_padded(cell, width[k], right);
        free(cell);
        gap = GAP;
    }
}

void table_print(const table *t, int indent, int width)
{
    const colours c = colours_of(stdout);
    const char *heads[TABLE_COLUMNS];
    int widths[TABLE_COLUMNS];
    measure(t, widths);
    fit(t, widths, width - indent);
    for (int k = 0; k < t->columns; k++) heads[k] = t->column[k].head;
    fputs(c.dim, stdout);
    print_cells(t, widths, indent, heads);
    printf("%s\n", c.off);
    for (int64_t i = 0; i < t->rows; i++) {
        const char *colour = t->colour[i];
        const char *const *cells = (const char *const *)t->cells[i];
        fputs(colour, stdout);
        if (is_remark(t, cells)) print_remark(t, widths, width - indent, cells);
        else                     print_cells(t, widths, indent, cells);
        puts(colour[0] ? c.off : "");
    }
}
