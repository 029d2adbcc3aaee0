/* json_tensor.c - elements as JSON. */
#include "json_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void real_text(char out[40], double x)
{
    if (isnan(x))      snprintf(out, 40, "\"nan\"");
    else if (isinf(x)) snprintf(out, 40, x > 0 ? "\"inf\"" : "\"-inf\"");
    else {
        snprintf(out, 40, "%.15g", x); /* short where that is exact */
        if (strtod(out, NULL) != x) snprintf(out, 40, "%.17g", x);
    }
}

static void scalar_text(char out[100], tsr_scalar s)
{
    char re[40], im[40];
    switch (s.dtype) {
    case TSR_BOOL: snprintf(out, 100, s.as.u ? "true" : "false"); return;
    case TSR_I64:  snprintf(out, 100, "%" PRId64, s.as.i); return;
    case TSR_U64:  snprintf(out, 100, "%" PRIu64, s.as.u); return;
    default: break;
    }
    real_text(re, s.as.c.re);
    real_text(im, s.as.c.im);
    if (s.dtype == TSR_C128) snprintf(out, 100, "[%s, %s]", re, im);
    else                     snprintf(out, 100, "%s", re);
}

void json_element(json *j, const char *key, tsr_scalar s)
{
    char text[100];
    scalar_text(text, s);
    json_raw(j, key, text);
}

/* The elements below a prefix of indices; a row of the last dim is one line. */
static void print_values(const tsr_tensor *t, int axis, int64_t *index)
{
    char text[100];
    tsr_scalar s;
    if (axis == t->ndim) {
        if (tsr_get(&s, t, t->ndim, index) != TSR_OK) s = tsr_scalar_i64(0);
        scalar_text(text, s);
        fputs(text, stdout);
        return;
    }
    putchar('[');
    for (int64_t i = 0; i < t->shape[axis]; i++) {
        if (i) fputs(axis + 1 < t->ndim ? ",\n" : ", ", stdout);
        index[axis] = i;
        print_values(t, axis + 1, index);
    }
    putchar(']');
}

void json_tensor_members(json *j, const tsr_tensor *t)
{
    int64_t index[TSR_MAX_NDIM] = { 0 };
    json_string(j, "dtype", tsr_dtype_name(t->dtype));
    json_integers(j, "shape", t->ndim, t->shape);
    json_raw(j, "values", "");
    print_values(t, 0, index);
}
