/* match_text.c - signatures written back in their normal form. */
#include "match_int.h"

static void put_text(tsri_text *text, const char *s) { tsri_put_chars(text, s, tsri_strlen(s)); }

void tsri_put_match_dtypes(tsri_text *text, uint32_t set)
{
    const char *slash = "";
    for (int k = 0; k < TSRI_KIND_SETS; k++) {
        const uint32_t part = tsri_dtypes_of_kinds(tsri_kind_sets[k].kinds);
        if ((part & ~set) != 0) continue;
        tsri_put(text, "%s%s", slash, tsri_kind_sets[k].name);
        set &= ~part;
        slash = "/";
    }
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        if (!(set >> d & 1)) continue;
        tsri_put(text, "%s%s", slash, tsr_dtype_name((tsr_dtype)d));
        slash = "/";
    }
}

static void put_operand_dtype(tsri_text *text, const tsri_signature_view *s, const tsr_match_operand *o)
{
    if (o->dtype_name == TSRI_NO_NAME) {
        tsri_put_match_dtypes(text, o->dtypes);
        return;
    }
    const char *name = s->names[o->dtype_name];
    put_text(text, name);
    if (tsri_has_capital(name) && o->dtypes == tsri_dtypes_of_kinds(tsri_kind_sets[0].kinds)) return;
    tsri_put_char(text, ':');
    tsri_put_match_dtypes(text, o->dtypes);
}

static void put_term(tsri_text *text, const tsri_signature_view *s, const tsr_match_term *t)
{
    if (t->optional) tsri_put_char(text, '(');
    switch (t->what) {
    case TSRI_TERM_NUMBER: tsri_put_i64(text, t->value); break;
    case TSRI_TERM_NAME:   put_text(text, s->names[t->name]); break;
    case TSRI_TERM_MANY:   put_text(text, "..."); break;
    default:          tsri_put_char(text, '_'); break;
    }
    if (t->optional) put_text(text, ",)");
}

void tsri_put_match_list(tsri_text *text, const tsri_signature_view *s, const tsr_match_list *list)
{
    const tsr_match_term *t = s->term + list->first;
    tsri_put_char(text, '(');
    for (int i = 0; i < list->count; i++) {
        if (i > 0) put_text(text, t[i - 1].optional ? " " : ", ");
        put_term(text, s, &t[i]);
    }
    tsri_put_char(text, ')');
}

static void put_operand(tsri_text *text, const tsri_signature_view *s, const tsr_match_operand *o)
{
    if (!tsri_streq(o->name, "tensor")) put_text(text, o->name);
    put_text(text, "{ ");
    put_operand_dtype(text, s, o);
    put_text(text, " | ");
    tsri_put_match_list(text, s, &o->shape);
    if (o->contiguous) {
        put_text(text, " | (~)");
    } else if (!o->any_strides) {
        put_text(text, " | ");
        tsri_put_match_list(text, s, &o->stride);
    }
    put_text(text, " }");
}

size_t tsr_signature_to_string(char *out, size_t size, const tsr_signature *s)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (!s) return 0;
    const tsri_signature_view view = tsri_view_signature(s);
    for (int i = 0; i < s->noperands; i++) {
        if (i > 0) tsri_put_char(&text, ' ');
        if (i == s->noperands - s->nresults) put_text(&text, "-> ");
        put_operand(&text, &view, &s->operand[i]);
    }
    return text.length;
}
