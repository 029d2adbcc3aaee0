/* fuzz_print.c - any tensor, printed in any fashion.
 *
 * The text has the length that was measured, whatever room it gets is filled with its front, and
 * a number that is printed with enough digits is read back as itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tessera/tessera.h"

enum { MOST_ELEMENTS = 300, MOST_DIM = 40 };

/* A desc of few elements; false if there is none. */
static bool take_desc(tsr_desc *d, fuzz_input *in)
{
    int64_t shape[TSR_MAX_NDIM], strides[TSR_MAX_NDIM], elements = 1;
    const tsr_dtype dtype = (tsr_dtype)(1 + fuzz_take(in, 1) % (TSR_DTYPE_COUNT - 1));
    const int ndim = (int)(fuzz_take(in, 1) % (TSR_MAX_NDIM + 1));
    const bool packed = fuzz_take(in, 1) % 2;
    for (int i = 0; i < ndim; i++) {
        shape[i] = (int64_t)(fuzz_take(in, 1) % MOST_DIM);
        strides[i] = packed ? 0 : fuzz_take_size(in);
        if (shape[i] > 1) elements *= shape[i];
        if (elements > MOST_ELEMENTS) return false;
    }
    return tsr_desc_init(d, dtype, ndim, shape, packed ? NULL : strides) == TSR_OK;
}

static tsr_print_opts take_opts(fuzz_input *in)
{
    const unsigned flags = (unsigned)fuzz_take(in, 1);
    return (tsr_print_opts){
        .precision = (int)(int8_t)fuzz_take(in, 1) * (flags & 64 ? 1 << 23 : 1),
        .line_width = (int)(int16_t)fuzz_take(in, 2) * (flags & 128 ? 1 << 15 : 1),
        .threshold = fuzz_take_size(in),
        .edge_items = fuzz_take_size(in),
        .suppress_exponent = flags & 1,
        .name = flags & 2 ? "na\nme" : NULL,
        .no_header = flags & 4,
    };
}

/* A tensor over a copy of the bytes, somewhere inside it; NULL if it does not fit. */
static tsr_tensor *place(const tsr_desc *d, uint8_t *bytes, size_t size, size_t offset)
{
    tsr_tensor *t = NULL;
    const tsr_buffer buffer = { .data = bytes, .bytes = size };
    return tsr_from_buffer(&t, &buffer, offset, d) == TSR_OK ? t : NULL;
}

/* Cut short it is a front of the whole. */
static void check_cut(const tsr_tensor *t, const tsr_print_opts *opts, const char *whole, size_t length,
                      size_t size)
{
    char *text = malloc(size ? size : 1);
    size_t again = 0;
    if (!text) return;
    fuzz_must(tsr_to_string(text, size, &again, t, opts) == TSR_OK && again == length, "another length");
    const size_t n = length < size ? length : size ? size - 1 : 0;
    fuzz_must(size == 0 || (text[n] == '\0' && memcmp(text, whole, n) == 0), "not the front of the text");
    free(text);
}

static void check_number(const tsr_tensor *t, const tsr_print_opts *opts, const char *text)
{
    if (t->dtype != TSR_F64 || t->ndim > 0 || opts->precision < 17 || !opts->no_header || opts->name) return;
    if (opts->suppress_exponent && opts->precision < 400) return;
    const double want = *(const double *)t->data, got = strtod(text, NULL);
    fuzz_must(got == want || (isnan(got) && isnan(want)), text);
}

static bool check_text(const tsr_tensor *t, const tsr_print_opts *opts, size_t room)
{
    size_t length = 0;
    const tsr_status s = tsr_to_string(NULL, 0, &length, t, opts);
    fuzz_must(s == TSR_OK || (s == TSR_EINVAL && opts->edge_items < 0), "a status that no print gives");
    if (s != TSR_OK) return false;
    char *text = malloc(length + 1);
    if (!text) return false;
    fuzz_must(tsr_to_string(text, length + 1, NULL, t, opts) == TSR_OK, "what was measured does not print");
    fuzz_must(strlen(text) == length, "another length than was measured");
    check_cut(t, opts, text, length, room % (length + 2));
    check_number(t, opts, text);
    free(text);
    return true;
}

static void check_line(const tsr_tensor *t, size_t room)
{
    char line[600], part[600];
    const size_t length = tsr_describe(line, sizeof line, t), n = room % sizeof part;
    fuzz_must(tsr_describe(part, n, t) == length, "another length of a line");
    fuzz_must(n == 0 || strncmp(line, part, n - 1) == 0, "not the front of a line");
    fuzz_must(length >= sizeof line || strlen(line) == length, "a line of another length");
}

static bool run_print(const uint8_t *data, size_t size)
{
    fuzz_input in = { data, data + size };
    tsr_desc d;
    const tsr_print_opts opts = take_opts(&in);
    const size_t room = (size_t)fuzz_take(&in, 2), offset = (size_t)fuzz_take(&in, 1);
    if (!take_desc(&d, &in)) return false;
    const size_t left = (size_t)(in.end - in.at);
    uint8_t *bytes = malloc(left + 1);
    if (!bytes) return false;
    if (left) memcpy(bytes, in.at, left);
    tsr_tensor *t = place(&d, bytes, left, offset % (left + 1));
    const bool taken = t && check_text(t, &opts, room);
    if (t) check_line(t, room);
    tsr_release(&t);
    free(bytes);
    return taken;
}

const fuzz_target fuzz_targets[] = {
    { "print", run_print, NULL, NULL, 60000 },
    { NULL, NULL, NULL, NULL, 0 },
};
