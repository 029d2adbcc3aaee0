/* heat.h - matrices as colours. */
#ifndef CLI_HEAT_H
#define CLI_HEAT_H

#include "chart.h"

/* Numbers in rows; what was a larger matrix is shown by means of its parts. */
typedef struct matrix {
    int     rows, columns;
    int64_t full_rows, full_columns;  /* of the tensor */
    double *cells;                    /* NaN where there is no number */
} matrix;

/* Bytes (rows, columns, 3) of viridis from low to high, grey for NaN. */
void heat_colours(uint8_t *rgb, const matrix *m, double low, double high);

/* The matrix into a rectangle with axes: columns run to the right, rows down. */
void heat_draw(canvas *c, const matrix *m, double low, double high, double x, double y, double w, double h,
               const char *title);

/* The scale of colours, with numbers at its right. */
void heat_bar(canvas *c, double low, double high, double x, double y, double w, double h);

#endif
