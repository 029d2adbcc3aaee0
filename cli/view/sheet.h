/* sheet.h - one tensor as a table of numbers: a matrix of two of its dims, at an index of each other one. */
#ifndef TSR_CLI_VIEW_SHEET_H
#define TSR_CLI_VIEW_SHEET_H

#include "../source.h"
#include "../summary.h"

typedef enum sheet_mode { SHEET_HEAT, SHEET_NUMBERS, SHEET_MAP, SHEET_MODES } sheet_mode;
typedef enum sheet_format { SHEET_GENERAL, SHEET_FIXED, SHEET_SCIENTIFIC, SHEET_FORMATS } sheet_format;

typedef struct sheet {
    source      *s;
    int64_t      index;
    cut          c;
    int          ndim, axis[TSR_MAX_NDIM];   /* dims to walk along, and where they are in the cut */
    int64_t      shape[TSR_MAX_NDIM], at[TSR_MAX_NDIM]; /* at: the index of the cell that is looked at */
    int          rows, columns, other;       /* which dims these are, and which one [ and ] step; -1: none */
    int64_t      top, left;                  /* the first row and column that are drawn */
    int          shown_rows, shown_columns;  /* how many are, in the latest frame */
    sheet_mode   mode;
    sheet_format format;
    int          digits;
    bool         known;                      /* are the statistics? */
    summary      found;
} sheet;

/* The whole of item `index`, or the part of it that the source names. False after a complaint. */
bool sheet_open(sheet *out, source *s, int64_t index);

/* Draws all lines of a frame but the last one. */
void sheet_draw(sheet *t);

/* Does what a key means. False: the key does not belong to the sheet. */
bool sheet_key(sheet *t, int key);

/* Moves to an index, as in "3,4": of the walked dims, or of rows and columns alone. False if it is none. */
bool sheet_go(sheet *t, const char *text);

#endif
