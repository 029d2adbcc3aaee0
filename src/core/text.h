/* text.h - text without stdio or locale.
 *
 * A tsri_text is a buffer that counts: what does not fit is dropped and still
 * counted, so that one pass both measures and writes, as snprintf does.
 */
#ifndef TSRI_TEXT_H
#define TSRI_TEXT_H

#include "status_int.h"

typedef struct tsri_text {
    char  *out;
    size_t size;    /* of out; with the closing 0 */
    size_t length;  /* of the whole text so far */
} tsri_text;

static inline tsri_text tsri_text_into(char *out, size_t size)
{
    tsri_text text = { out, size, 0 };
    if (size > 0) out[0] = '\0';
    return text;
}

void tsri_put_char(tsri_text *text, char c);
void tsri_put_chars(tsri_text *text, const char *s, size_t n);
void tsri_put_repeat(tsri_text *text, char c, int64_t n);
void tsri_put_i64(tsri_text *text, int64_t v);
void tsri_put_u64(tsri_text *text, uint64_t v);

/* The shortest decimal text that reads back as the same double; "nan", "inf". (digits.c) */
void tsri_put_f64(tsri_text *text, double v);

/* %s %c %d %u %x %p %% with -, width, .precision (for %s), '*', and the lengths
 * l ll z j t; %g is tsri_put_f64. A NULL string prints as (null). */
void tsri_put(tsri_text *text, const char *fmt, ...) TSRI_PRINTF(2, 3);
void tsri_putv(tsri_text *text, const char *fmt, va_list args);

#endif
