/* match_parse.c - the constraint notation, read (see match.h and match_int.h). */
#include "match_int.h"

_Static_assert(TSR_DTYPE_COUNT <= 32, "dtypes of a pattern are bits of a uint32_t");
_Static_assert((int)TSR_MATCH_NAMES < (int)TSRI_NO_NAME && TSR_MATCH_TERMS < 256,
               "names and terms are bytes");

/* Sets of dtypes ------------------------------------------------------------ */

const tsri_kind_set tsri_kind_sets[TSRI_KIND_SETS] = {
    { "any", TSRI_ANY },
    { "numeric", TSRI_NUMERIC },
    { "real", TSRI_REAL },
    { "integer", TSRI_INTEGER },
    { "signed", 1 << TSR_SIGNED },
    { "unsigned", 1 << TSR_UNSIGNED },
    { "floating", TSRI_FLOATING },
    { "complex", 1 << TSR_COMPLEX },
};

uint32_t tsri_dtypes_of_kinds(int kinds)
{
    uint32_t set = 0;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (kinds >> tsr_dtype_kind((tsr_dtype)d) & 1) set |= 1u << d;
    return set;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_word(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) { a++; b++; }
    return *a == *b;
}

/* The dtypes a word stands for; 0 if it is neither a dtype nor a kind. Letter
 * case does not matter, so that F32 is never taken for a variable. */
static uint32_t dtypes_called(const char *word)
{
    for (int k = 0; k < TSRI_KIND_SETS; k++)
        if (same_word(word, tsri_kind_sets[k].name)) return tsri_dtypes_of_kinds(tsri_kind_sets[k].kinds);
    for (int i = 1; i < TSR_DTYPE_COUNT; i++) {
        const tsr_dtype d = (tsr_dtype)i;
        if (same_word(word, tsr_dtype_name(d)) || same_word(word, tsr_dtype_long_name(d))) return 1u << i;
    }
    return 0;
}

/* Reading text -------------------------------------------------------------- */

typedef struct parser {
    const char    *text;
    size_t         at;
    tsr_signature *s;
} parser;

static char peek(parser *p)
{
    while (p->text[p->at] == ' ' || (p->text[p->at] >= '\t' && p->text[p->at] <= '\r')) p->at++;
    return p->text[p->at];
}

static bool accept(parser *p, char c)
{
    if (peek(p) != c) return false;
    p->at++;
    return true;
}

static const char *found_text(char out[16], char c)
{
    tsri_text text = tsri_text_into(out, 16);
    if (c == '\0') tsri_put(&text, "the end");
    else if (c > ' ' && c < 0x7f) tsri_put(&text, "'%c'", c);
    else tsri_put(&text, "byte %u", (unsigned)(unsigned char)c);
    return out;
}

static tsr_status expected(parser *p, const char *what)
{
    char found[16];
    const char c = peek(p);
    return tsri_fail(TSR_EFORMAT, "signature: column %zu: expected %s, found %s", p->at + 1, what,
                     found_text(found, c));
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

static tsr_status parse_word(parser *p, char out[TSR_MATCH_NAME], const char *what)
{
    const char first = peek(p);
    if (!is_word(first) || is_digit(first)) return expected(p, what);
    const char *from = p->text + p->at;
    size_t n = 0;
    while (is_word(from[n])) n++;
    TSRI_CHECK(n < TSR_MATCH_NAME, TSR_EFORMAT,
               "signature: column %zu: a name of %zu characters; %d is the most", p->at + 1, n,
               TSR_MATCH_NAME - 1);
    memset(out, 0, TSR_MATCH_NAME);
    memcpy(out, from, n);
    p->at += n;
    return TSR_OK;
}

static tsr_status parse_number(parser *p, int64_t *out)
{
    const size_t start = p->at;
    const bool negative = accept(p, '-');
    const uint64_t most = (uint64_t)INT64_MAX + negative;
    uint64_t v = 0;
    if (!is_digit(peek(p))) return expected(p, "a digit");
    for (; is_digit(p->text[p->at]); p->at++) {
        const uint64_t digit = (uint64_t)(p->text[p->at] - '0');
        TSRI_CHECK(v <= (most - digit) / 10, TSR_EFORMAT, "signature: column %zu: a number beyond 63 bits",
                   start + 1);
        v = v * 10 + digit;
    }
    *out = !negative ? (int64_t)v : v == 0 ? 0 : -(int64_t)(v - 1) - 1;
    return TSR_OK;
}

/* Names --------------------------------------------------------------------- */

int tsri_find_name(const tsr_signature *s, int kind, const char *name)
{
    for (int i = 0; i < s->nnames; i++)
        if (s->name_kind[i] == kind && tsri_streq(s->names[i], name)) return i;
    return -1;
}

/* The index of a name, new or met before; `start` is where it stands. */
static tsr_status intern(parser *p, uint8_t *out, int kind, const char *name, size_t start)
{
    tsr_signature *s = p->s;
    int i = tsri_find_name(s, kind, name);
    if (i < 0) {
        TSRI_CHECK(s->nnames < TSR_MATCH_NAMES, TSR_EFORMAT,
                   "signature: column %zu: %s would be name %d; %d is the most", start + 1, name,
                   TSR_MATCH_NAMES + 1, TSR_MATCH_NAMES);
        i = s->nnames++;
        s->name_kind[i] = (uint8_t)kind;
        memcpy(s->names[i], name, TSR_MATCH_NAME);
    }
    *out = (uint8_t)i;
    return TSR_OK;
}

bool tsri_has_capital(const char *word)
{
    for (; *word; word++)
        if (*word != lower(*word)) return true;
    return false;
}

/* The dtype part ------------------------------------------------------------ */

static tsr_status parse_dtype_list(parser *p, tsr_match_operand *o)
{
    do {
        char word[TSR_MATCH_NAME];
        (void)peek(p);
        const size_t start = p->at;
        TSRI_TRY(parse_word(p, word, "a dtype or a kind"));
        const uint32_t set = dtypes_called(word);
        TSRI_CHECK(set != 0, TSR_EFORMAT,
                   "signature: column %zu: expected a dtype or a kind, found %s"
                   " (a dtype variable stands alone and has a capital letter, or a ':' after it)",
                   start + 1, word);
        o->dtypes |= set;
    } while (accept(p, '/'));
    return TSR_OK;
}

/* A word that names no dtype is a variable only where it looks like one: a
 * misspelt dtype must not accept every dtype. */
static tsr_status parse_dtype(parser *p, tsr_match_operand *o)
{
    char word[TSR_MATCH_NAME];
    o->dtype_name = TSRI_NO_NAME;
    (void)peek(p);
    const size_t start = p->at;
    TSRI_TRY(parse_word(p, word, "a dtype, a kind or a dtype variable"));
    const bool variable = dtypes_called(word) == 0;

    if (accept(p, ':')) {
        TSRI_CHECK(variable, TSR_EFORMAT,
                   "signature: column %zu: expected a variable before ':', found dtype %s", start + 1, word);
        TSRI_TRY(intern(p, &o->dtype_name, TSRI_NAME_DTYPE, word, start));
        return parse_dtype_list(p, o);
    }
    if (variable && (tsri_has_capital(word) || tsri_find_name(p->s, TSRI_NAME_DTYPE, word) >= 0)) {
        o->dtypes = tsri_dtypes_of_kinds(TSRI_ANY);
        return intern(p, &o->dtype_name, TSRI_NAME_DTYPE, word, start);
    }
    p->at = start;
    return parse_dtype_list(p, o);
}

/* Shapes and strides --------------------------------------------------------- */

static tsr_status parse_many(parser *p, tsr_match_list *list, tsr_match_term *t)
{
    const char *dots = p->text + p->at;
    if (dots[1] != '.' || dots[2] != '.') {
        while (p->text[p->at] == '.') p->at++;
        return expected(p, "'...'");
    }
    TSRI_CHECK(!list->many, TSR_EFORMAT, "signature: column %zu: a second '...' in one list", p->at + 1);
    p->at += 3;
    t->what = TSRI_TERM_MANY;
    return TSR_OK;
}

static tsr_status parse_term(parser *p, tsr_match_list *list, tsr_match_term *t, int kind)
{
    char word[TSR_MATCH_NAME];
    const char c = peek(p);
    const size_t start = p->at;
    if (c == '.') return parse_many(p, list, t);
    if (is_digit(c) || (c == '-' && kind == TSRI_NAME_STRIDE)) {
        t->what = TSRI_TERM_NUMBER;
        return parse_number(p, &t->value);
    }
    TSRI_TRY(parse_word(p, word, kind == TSRI_NAME_DIM ? "a dim (a name, a number, '_' or '...')"
                                                  : "a stride (a name, a number, '_' or '...')"));
    t->what = tsri_streq(word, "_") ? TSRI_TERM_ONE : TSRI_TERM_NAME;
    return t->what == TSRI_TERM_NAME ? intern(p, &t->name, kind, word, start) : TSR_OK;
}

static tsr_status add_term(parser *p, tsr_match_list *list, const tsr_match_term *t, size_t start)
{
    tsr_signature *s = p->s;
    TSRI_CHECK(s->nterms < TSR_MATCH_TERMS, TSR_EFORMAT,
               "signature: column %zu: dims and strides exceed %d in all operands together", start + 1,
               TSR_MATCH_TERMS);
    s->term[s->nterms++] = *t;
    list->count++;
    if (t->what == TSRI_TERM_MANY) list->many = true;
    else if (t->optional) list->optional++;
    else list->required++;
    TSRI_CHECK(list->required <= TSR_MAX_NDIM, TSR_EFORMAT, "signature: column %zu: a rank beyond %d",
               start + 1, TSR_MAX_NDIM);
    return TSR_OK;
}

/* One term, or one in brackets with its comma: (b,) or (...,). */
static tsr_status parse_item(parser *p, tsr_match_list *list, int kind, bool *bracketed)
{
    tsr_match_term t;
    memset(&t, 0, sizeof t);
    *bracketed = accept(p, '(');
    (void)peek(p);
    const size_t start = p->at;
    TSRI_TRY(parse_term(p, list, &t, kind));
    if (*bracketed) {
        if (!accept(p, ',')) return expected(p, "',' (an optional dim is written (b,))");
        if (!accept(p, ')')) return expected(p, "')' (an optional dim is written (b,))");
        t.optional = t.what != TSRI_TERM_MANY;
    }
    return add_term(p, list, &t, start);
}

/* What follows "(". A comma may be left out after brackets, and may end the list. */
static tsr_status parse_items(parser *p, tsr_match_list *list, int kind)
{
    list->first = p->s->nterms;
    while (!accept(p, ')')) {
        bool bracketed;
        TSRI_TRY(parse_item(p, list, kind, &bracketed));
        if (!accept(p, ',') && !bracketed && peek(p) != ')') return expected(p, "',' or ')'");
    }
    return TSR_OK;
}

static tsr_status parse_shape(parser *p, tsr_match_operand *o)
{
    if (!accept(p, '(')) return expected(p, "'(' and a shape");
    return parse_items(p, &o->shape, TSRI_NAME_DIM);
}

static tsr_status parse_strides(parser *p, tsr_match_operand *o)
{
    (void)peek(p);
    const size_t start = p->at;
    if (!accept(p, '(')) return expected(p, "'(' and strides");
    if (accept(p, '~')) {
        o->contiguous = true;
        return accept(p, ')') ? TSR_OK : expected(p, "')' after '~'");
    }
    TSRI_TRY(parse_items(p, &o->stride, TSRI_NAME_STRIDE));
    o->any_strides = o->stride.many && o->stride.count == 1;
    TSRI_CHECK(o->stride.required <= tsri_most_dims(&o->shape) &&
                   o->shape.required <= tsri_most_dims(&o->stride),
               TSR_EFORMAT, "signature: column %zu: strides that fit no rank of the shape", start + 1);
    return TSR_OK;
}

/* Operands ------------------------------------------------------------------- */

static bool accept_bar(parser *p) { return accept(p, '|') || accept(p, ';'); }

static tsr_status parse_operand_name(parser *p, tsr_match_operand *o)
{
    (void)peek(p);
    const size_t start = p->at;
    if (peek(p) == '{') memcpy(o->name, "tensor", sizeof "tensor");
    else TSRI_TRY(parse_word(p, o->name, "an operand, as in a{ f32 | (n) }"));
    for (const tsr_match_operand *other = p->s->operand; other != o; other++)
        TSRI_CHECK(!tsri_streq(other->name, o->name), TSR_EFORMAT,
                   "signature: column %zu: a second operand called %s", start + 1, o->name);
    return TSR_OK;
}

static tsr_status parse_operand(parser *p, bool is_result)
{
    tsr_signature *s = p->s;
    (void)peek(p);
    TSRI_CHECK(s->noperands < TSR_MATCH_OPERANDS, TSR_EFORMAT, "signature: column %zu: more than %d operands",
               p->at + 1, TSR_MATCH_OPERANDS);
    tsr_match_operand *o = &s->operand[s->noperands];
    TSRI_TRY(parse_operand_name(p, o));
    if (!accept(p, '{')) return expected(p, "'{'");
    TSRI_TRY(parse_dtype(p, o));
    if (!accept_bar(p)) return expected(p, "'|' and a shape");
    TSRI_TRY(parse_shape(p, o));
    const bool strides = accept_bar(p);
    if (strides) TSRI_TRY(parse_strides(p, o));
    else o->any_strides = true;
    if (!accept(p, '}')) return expected(p, strides ? "'}'" : "'|' or '}'");
    o->is_result = is_result;
    s->noperands++;
    if (is_result) s->nresults++;
    return TSR_OK;
}

static bool accept_arrow(parser *p)
{
    if (peek(p) != '-' || p->text[p->at + 1] != '>') return false;
    p->at += 2;
    return true;
}

tsr_status tsr_signature_parse(tsr_signature *out, const char *text)
{
    TSRI_CHECK(out, TSR_ENULL, "signature_parse: out is NULL");
    TSRI_CHECK(text, TSR_ENULL, "signature_parse: text is NULL");
    tsr_signature s;
    memset(&s, 0, sizeof s);
    parser p = { text, 0, &s };
    bool result = false;
    do {
        if (!result) result = accept_arrow(&p);
        TSRI_TRY(parse_operand(&p, result));
    } while (peek(&p) != '\0');
    *out = s;
    return TSR_OK;
}
