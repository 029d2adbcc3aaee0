/* match.c - the constraint notation: its parser, its matcher, its printer.
 *
 * A signature holds one pool of terms; each operand's shape and strides are runs
 * of it. A list knows how many of its dims are required and how many optional,
 * so that a rank decides at once which terms stand for which dims, and matching
 * is one walk without going back. Names are indices by then: no text is touched
 * until a failure is put into words.
 */
#include "tessera/match.h"
#include "core/format.h"
#include "core/mem.h"

enum { TERM_ONE, TERM_NUMBER, TERM_NAME, TERM_MANY };   /* _  3  m  ... */
enum { NAME_DIM, NAME_STRIDE, NAME_DTYPE };
enum { NO_NAME = 0xff, LIST_TEXT = 96 };

_Static_assert(TSR_DTYPE_COUNT <= 32, "dtypes of a pattern are bits of a uint32_t");
_Static_assert((int)TSR_MATCH_NAMES < (int)NO_NAME && TSR_MATCH_TERMS < 256, "names and terms are bytes");

/* Sets of dtypes ------------------------------------------------------------ */

enum {
    INTEGER = 1 << TSR_SIGNED | 1 << TSR_UNSIGNED,
    REAL    = INTEGER | 1 << TSR_FLOATING,
    NUMERIC = REAL | 1 << TSR_COMPLEX,
    ANY     = NUMERIC | 1 << TSR_BOOLEAN
};

/* Larger sets first: the normal form takes the first that fits. */
static const struct { const char *name; int kinds; } kind_sets[] = {
    { "any", ANY },
    { "numeric", NUMERIC },
    { "real", REAL },
    { "integer", INTEGER },
    { "signed", 1 << TSR_SIGNED },
    { "unsigned", 1 << TSR_UNSIGNED },
    { "floating", 1 << TSR_FLOATING },
    { "complex", 1 << TSR_COMPLEX },
};
enum { KIND_SETS = sizeof kind_sets / sizeof *kind_sets };

static uint32_t dtypes_of_kinds(int kinds)
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
    for (int k = 0; k < KIND_SETS; k++)
        if (same_word(word, kind_sets[k].name)) return dtypes_of_kinds(kind_sets[k].kinds);
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

static int find_name(const tsr_signature *s, int kind, const char *name)
{
    for (int i = 0; i < s->nnames; i++)
        if (s->name_kind[i] == kind && tsri_streq(s->names[i], name)) return i;
    return -1;
}

/* The index of a name, new or met before; `start` is where it stands. */
static tsr_status intern(parser *p, uint8_t *out, int kind, const char *name, size_t start)
{
    tsr_signature *s = p->s;
    int i = find_name(s, kind, name);
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

static bool has_capital(const char *word)
{
    for (; *word; word++)
        if (*word != lower(*word)) return true;
    return false;
}

/* A word that names no dtype is a variable only where it looks like one: a
 * misspelt dtype must not accept every dtype. */
static tsr_status parse_dtype(parser *p, tsr_match_operand *o)
{
    char word[TSR_MATCH_NAME];
    o->dtype_name = NO_NAME;
    (void)peek(p);
    const size_t start = p->at;
    TSRI_TRY(parse_word(p, word, "a dtype, a kind or a dtype variable"));
    const bool variable = dtypes_called(word) == 0;

    if (accept(p, ':')) {
        TSRI_CHECK(variable, TSR_EFORMAT,
                   "signature: column %zu: expected a variable before ':', found dtype %s", start + 1, word);
        TSRI_TRY(intern(p, &o->dtype_name, NAME_DTYPE, word, start));
        return parse_dtype_list(p, o);
    }
    if (variable && (has_capital(word) || find_name(p->s, NAME_DTYPE, word) >= 0)) {
        o->dtypes = dtypes_of_kinds(ANY);
        return intern(p, &o->dtype_name, NAME_DTYPE, word, start);
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
    t->what = TERM_MANY;
    return TSR_OK;
}

static tsr_status parse_term(parser *p, tsr_match_list *list, tsr_match_term *t, int kind)
{
    char word[TSR_MATCH_NAME];
    const char c = peek(p);
    const size_t start = p->at;
    if (c == '.') return parse_many(p, list, t);
    if (is_digit(c) || (c == '-' && kind == NAME_STRIDE)) {
        t->what = TERM_NUMBER;
        return parse_number(p, &t->value);
    }
    TSRI_TRY(parse_word(p, word, kind == NAME_DIM ? "a dim (a name, a number, '_' or '...')"
                                                  : "a stride (a name, a number, '_' or '...')"));
    t->what = tsri_streq(word, "_") ? TERM_ONE : TERM_NAME;
    return t->what == TERM_NAME ? intern(p, &t->name, kind, word, start) : TSR_OK;
}

static tsr_status add_term(parser *p, tsr_match_list *list, const tsr_match_term *t, size_t start)
{
    tsr_signature *s = p->s;
    TSRI_CHECK(s->nterms < TSR_MATCH_TERMS, TSR_EFORMAT,
               "signature: column %zu: dims and strides exceed %d in all operands together", start + 1,
               TSR_MATCH_TERMS);
    s->term[s->nterms++] = *t;
    list->count++;
    if (t->what == TERM_MANY) list->many = true;
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
        t.optional = t.what != TERM_MANY;
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
    return parse_items(p, &o->shape, NAME_DIM);
}

static int most_dims(const tsr_match_list *list)
{
    return list->many ? TSR_MAX_NDIM : list->required + list->optional;
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
    TSRI_TRY(parse_items(p, &o->stride, NAME_STRIDE));
    o->any_strides = o->stride.many && o->stride.count == 1;
    TSRI_CHECK(o->stride.required <= most_dims(&o->shape) && o->shape.required <= most_dims(&o->stride),
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

/* Writing text --------------------------------------------------------------- */

static void put_text(tsri_text *text, const char *s) { tsri_put_chars(text, s, tsri_strlen(s)); }

static void put_dtypes(tsri_text *text, uint32_t set)
{
    const char *slash = "";
    for (int k = 0; k < KIND_SETS; k++) {
        const uint32_t part = dtypes_of_kinds(kind_sets[k].kinds);
        if ((part & ~set) != 0) continue;
        tsri_put(text, "%s%s", slash, kind_sets[k].name);
        set &= ~part;
        slash = "/";
    }
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        if (!(set >> d & 1)) continue;
        tsri_put(text, "%s%s", slash, tsr_dtype_name((tsr_dtype)d));
        slash = "/";
    }
}

static void put_operand_dtype(tsri_text *text, const tsr_signature *s, const tsr_match_operand *o)
{
    if (o->dtype_name == NO_NAME) {
        put_dtypes(text, o->dtypes);
        return;
    }
    const char *name = s->names[o->dtype_name];
    put_text(text, name);
    if (has_capital(name) && o->dtypes == dtypes_of_kinds(ANY)) return;
    tsri_put_char(text, ':');
    put_dtypes(text, o->dtypes);
}

static void put_term(tsri_text *text, const tsr_signature *s, const tsr_match_term *t)
{
    if (t->optional) tsri_put_char(text, '(');
    switch (t->what) {
    case TERM_NUMBER: tsri_put_i64(text, t->value); break;
    case TERM_NAME:   put_text(text, s->names[t->name]); break;
    case TERM_MANY:   put_text(text, "..."); break;
    default:          tsri_put_char(text, '_'); break;
    }
    if (t->optional) put_text(text, ",)");
}

static void put_list(tsri_text *text, const tsr_signature *s, const tsr_match_list *list)
{
    const tsr_match_term *t = s->term + list->first;
    tsri_put_char(text, '(');
    for (int i = 0; i < list->count; i++) {
        if (i > 0) put_text(text, t[i - 1].optional ? " " : ", ");
        put_term(text, s, &t[i]);
    }
    tsri_put_char(text, ')');
}

static void put_operand(tsri_text *text, const tsr_signature *s, const tsr_match_operand *o)
{
    if (!tsri_streq(o->name, "tensor")) put_text(text, o->name);
    put_text(text, "{ ");
    put_operand_dtype(text, s, o);
    put_text(text, " | ");
    put_list(text, s, &o->shape);
    if (o->contiguous) {
        put_text(text, " | (~)");
    } else if (!o->any_strides) {
        put_text(text, " | ");
        put_list(text, s, &o->stride);
    }
    put_text(text, " }");
}

size_t tsr_signature_to_string(char *out, size_t size, const tsr_signature *s)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    for (int i = 0; s && i < s->noperands; i++) {
        if (i > 0) tsri_put_char(&text, ' ');
        if (i == s->noperands - s->nresults) put_text(&text, "-> ");
        put_operand(&text, s, &s->operand[i]);
    }
    return text.length;
}

/* Matching ------------------------------------------------------------------- */

/* One desc against one operand, with what the message of a failure needs. */
typedef struct attempt {
    const tsr_signature     *s;
    const char              *op;
    const tsr_match_operand *o;
    const tsr_desc          *d;
    tsr_bindings            *b;
    int                      index;  /* of the operand */
    bool                     empty;  /* d has no elements; set before strides are met */
} attempt;

/* How every message begins: "matmul: b: ". */
#define WHO "%s%s%s: "
#define WHO_ARGS(a) (a)->op ? (a)->op : "", (a)->op ? ": " : "", (a)->o->name

/* The operand that bound a name. */
static const char *source_of(const attempt *a, int name)
{
    const int i = a->b->bound[name] - 1;
    return i >= 0 && i < a->s->noperands ? a->s->operand[i].name : "an earlier match";
}

static bool bind(const attempt *a, int name, int64_t value)
{
    tsr_bindings *b = a->b;
    if (b->bound[name]) return b->value[name] == value;
    b->bound[name] = (uint8_t)(a->index + 1);
    b->value[name] = value;
    return true;
}

static TSRI_COLD tsr_status blame_negative(const attempt *a)
{
    int at = 0;
    while (a->d->shape[at] >= 0) at++;
    return tsri_fail(TSR_ESHAPE, WHO "dim %d is negative in %s", WHO_ARGS(a), at, TSRI_DESC(a->d));
}

static tsr_status check_desc(const attempt *a)
{
    const tsr_desc *d = a->d;
    TSRI_CHECK(d->dtype > TSR_DTYPE_INVALID && d->dtype < TSR_DTYPE_COUNT, TSR_EDTYPE, WHO "%d is no dtype",
               WHO_ARGS(a), (int)d->dtype);
    TSRI_CHECK(d->ndim >= 0 && d->ndim <= TSR_MAX_NDIM, TSR_EINVAL, WHO "rank %d, outside 0 .. %d",
               WHO_ARGS(a), (int)d->ndim, TSR_MAX_NDIM);
    int64_t signs = 0;
    for (int i = 0; i < d->ndim; i++) signs |= d->shape[i];
    return signs >= 0 ? TSR_OK : blame_negative(a);
}

static TSRI_COLD tsr_status blame_dtype(const attempt *a)
{
    const char *is = tsr_dtype_name(a->d->dtype);
    char list[LIST_TEXT];
    tsri_text text = tsri_text_into(list, sizeof list);
    const int name = a->o->dtype_name;
    if (a->o->dtypes >> a->d->dtype & 1)
        return tsri_fail(TSR_EDTYPE, WHO "%s is %s from %s, but %s is %s", WHO_ARGS(a), a->s->names[name],
                         tsr_dtype_name((tsr_dtype)a->b->value[name]), source_of(a, name), a->o->name, is);
    put_dtypes(&text, a->o->dtypes);
    return tsri_fail(TSR_EDTYPE, WHO "dtype must be %s, but %s is %s", WHO_ARGS(a), list, a->o->name, is);
}

static tsr_status match_dtype(const attempt *a)
{
    const tsr_match_operand *o = a->o;
    if (!(o->dtypes >> a->d->dtype & 1)) return blame_dtype(a);
    if (o->dtype_name != NO_NAME && !bind(a, o->dtype_name, (int64_t)a->d->dtype)) return blame_dtype(a);
    return TSR_OK;
}

static TSRI_COLD tsr_status blame_rank(const attempt *a, const tsr_match_list *list)
{
    const bool strides = list == &a->o->stride;
    char ranks[32], shown[LIST_TEXT];
    tsri_text rank = tsri_text_into(ranks, sizeof ranks), text = tsri_text_into(shown, sizeof shown);
    tsri_put_i64(&rank, list->required);
    if (list->many) put_text(&rank, " or more");
    else if (list->optional) tsri_put(&rank, list->optional == 1 ? " or %d" : " to %d", most_dims(list));
    put_list(&text, a->s, list);
    return tsri_fail(strides ? TSR_ESTRIDE : TSR_ESHAPE, WHO "rank must be %s for %s%s, but %s is %s",
                     WHO_ARGS(a), ranks, strides ? "strides " : "", shown, a->o->name, TSRI_DESC(a->d));
}

/* Term `at` of the list against dim `d` of the desc, which it does not fit. */
static TSRI_COLD tsr_status blame_term(const attempt *a, const tsr_match_list *list, int at, int d)
{
    const bool strides = list == &a->o->stride;
    const tsr_status status = strides ? TSR_ESTRIDE : TSR_ESHAPE;
    const char *what = strides ? "stride" : "dim";
    const tsr_match_term *terms = a->s->term + list->first, *t = &terms[at];
    const int64_t is = (strides ? a->d->stride : a->d->shape)[d];
    int place = d;
    for (int i = 0; i < at; i++)
        if (terms[i].optional || terms[i].what == TERM_MANY) place = d - a->d->ndim;
    if (t->what == TERM_NUMBER)
        return tsri_fail(status, WHO "%s %d must be %lld, but %s is %s", WHO_ARGS(a), what, place,
                         (long long)t->value, a->o->name, TSRI_DESC(a->d));
    return tsri_fail(status, WHO "%s is %lld from %s, but %s %d of %s is %lld", WHO_ARGS(a),
                     a->s->names[t->name], (long long)a->b->value[t->name], source_of(a, t->name), what,
                     place, a->o->name, (long long)is);
}

static bool accepts(const attempt *a, const tsr_match_term *t, int64_t value)
{
    switch (t->what) {
    case TERM_NUMBER: return t->value == value;
    case TERM_NAME:   return bind(a, t->name, value);
    default:          return true;
    }
}

/* A stride is free where no step is ever taken along its dim. */
static bool is_free(const attempt *a, const tsr_match_list *list, int d)
{
    return list == &a->o->stride && (a->empty || a->d->shape[d] == 1);
}

static tsr_status match_list(const attempt *a, const tsr_match_list *list, const int64_t *values)
{
    if (list->many && list->count == 1) return TSR_OK;   /* (...) takes anything, and is common */
    const int spare = a->d->ndim - list->required;
    if (spare < 0 || (spare > list->optional && !list->many)) return blame_rank(a, list);
    int absent = spare < list->optional ? list->optional - spare : 0;   /* of the optional, from the left */
    const int many = spare > list->optional ? spare - list->optional : 0;
    const tsr_match_term *terms = a->s->term + list->first;

    for (int i = 0, d = 0; i < list->count; i++) {
        const tsr_match_term *t = &terms[i];
        if (t->what == TERM_MANY) {
            d += many;
        } else if (t->optional && absent > 0) {
            absent--;
        } else {
            if (!is_free(a, list, d) && !accepts(a, t, values[d])) return blame_term(a, list, i, d);
            d++;
        }
    }
    return TSR_OK;
}

static bool is_empty(const tsr_desc *d)
{
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] == 0) return true;
    return false;
}

static tsr_status match_strides(attempt *a)
{
    if (a->o->any_strides) return TSR_OK;
    if (!a->o->contiguous) {
        a->empty = is_empty(a->d);
        return match_list(a, &a->o->stride, a->d->stride);
    }
    TSRI_CHECK(tsr_desc_is_contiguous(a->d), TSR_ESTRIDE, WHO "must be row-major and packed, but %s is %s",
               WHO_ARGS(a), a->o->name, TSRI_DESC(a->d));
    return TSR_OK;
}

static tsr_status match_operand(attempt *a)
{
    TSRI_TRY(check_desc(a));
    TSRI_TRY(match_dtype(a));
    TSRI_TRY(match_list(a, &a->o->shape, a->d->shape));
    return match_strides(a);
}

/* Only the names in use are copied: bindings are large, signatures short. */
static void copy_bindings(tsr_bindings *to, const tsr_bindings *from, int names)
{
    for (int i = 0; i < names; i++) {
        to->bound[i] = from->bound[i];
        if (from->bound[i]) to->value[i] = from->value[i];
    }
}

tsr_status tsr_match(const tsr_signature *s, const char *op, int n, const tsr_desc *const *descs,
                     tsr_bindings *bindings)
{
    TSRI_CHECK(s, TSR_ENULL, "match: s is NULL");
    TSRI_CHECK(descs || n == 0, TSR_ENULL, "match: descs is NULL");
    TSRI_CHECK(n >= 0 && n <= s->noperands, TSR_EINVAL, "%s: %d descs for a signature of %d operands",
               op ? op : "match", n, s->noperands);
    tsr_bindings work;
    if (bindings) copy_bindings(&work, bindings, s->nnames);
    else memset(work.bound, 0, sizeof work.bound);

    for (int i = 0; i < n; i++) {
        if (!descs[i]) continue;
        attempt a = { s, op, &s->operand[i], descs[i], &work, i, false };
        TSRI_TRY(match_operand(&a));
    }
    if (bindings) copy_bindings(bindings, &work, s->nnames);
    return TSR_OK;
}

tsr_status tsr_match_text(const char *pattern, const tsr_desc *desc)
{
    TSRI_CHECK(pattern, TSR_ENULL, "match_text: pattern is NULL");
    TSRI_CHECK(desc, TSR_ENULL, "match_text: desc is NULL");
    tsr_signature s;
    TSRI_TRY(tsr_signature_parse(&s, pattern));
    TSRI_CHECK(s.noperands == 1, TSR_EINVAL, "match_text: a pattern of %d operands for one desc",
               s.noperands);
    return tsr_match(&s, "match_text", 1, &desc, NULL);
}

tsr_status tsr_binding(int64_t *out, const tsr_signature *s, const tsr_bindings *b, const char *name)
{
    TSRI_CHECK(out, TSR_ENULL, "binding: out is NULL");
    TSRI_CHECK(s, TSR_ENULL, "binding: s is NULL");
    TSRI_CHECK(b, TSR_ENULL, "binding: b is NULL");
    TSRI_CHECK(name, TSR_ENULL, "binding: name is NULL");
    int i = find_name(s, NAME_DIM, name);
    if (i < 0) i = find_name(s, NAME_STRIDE, name);
    if (i < 0) i = find_name(s, NAME_DTYPE, name);
    TSRI_CHECK(i >= 0, TSR_EINVAL, "binding: the signature has no name %s", name);
    TSRI_CHECK(b->bound[i], TSR_EINVAL, "binding: %s is not bound", name);
    *out = b->value[i];
    return TSR_OK;
}
