/* table.h - rows of cells in aligned columns that fit the terminal.
 *
 *     static const table_column columns[] = { { "name", TABLE_NAME, 0 }, { "max", TABLE_RIGHT, 1 } };
 *     table t = table_new(columns, 2);
 *     table_add(&t, cells, colour);      // copies the cells
 *     table_print(&t, 2, table_width());
 *     table_free(&t);
 *
 * Where the columns do not fit, those of the highest `rank` are left out first, then the columns of
 * names are cut short; columns of rank 0 are always there. In a row of which only the first and the last
 * cell hold something, the last stands right behind the first.
 */
#ifndef TSR_CLI_TABLE_H
#define TSR_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { TABLE_COLUMNS = 16 };

typedef enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_NAME } table_align;

typedef struct table_column {
    const char *head;
    table_align align;
    int         rank;
} table_column;

typedef struct table {
    const table_column *column;
    int                 columns;
    int                 names;   /* tenths of the width that names have before any column is left out: 4 */
    int64_t             rows;
    char             ***cells;
    const char        **colour;  /* an escape sequence for each row, or "" */
} table;

table table_new(const table_column *column, int columns);
void  table_free(table *t);
void  table_add(table *t, const char *const *cells, const char *colour);
void  table_print(const table *t, int indent, int width);

#endif
