/* op_facts.c - dtypes that operands can have, from signatures. */
#include "op_facts.h"

#include <stdio.h>
#include <string.h>

/* Kinds ------------------------------------------------------------------------------ */

enum {
    BOOLEAN  = 1 << TSR_BOOLEAN,
    SIGNED   = 1 << TSR_SIGNED,
    UNSIGNED = 1 << TSR_UNSIGNED,
    FLOATING = 1 << TSR_FLOATING,
    COMPLEX  = 1 << TSR_COMPLEX
};

const kind_name kind_names[] = {
    { "any",      BOOLEAN | SIGNED | UNSIGNED | FLOATING | COMPLEX },
    { "numeric",  SIGNED | UNSIGNED | FLOATING | COMPLEX },
    { "real",     SIGNED | UNSIGNED | FLOATING },
    { "integer",  SIGNED | UNSIGNED },
    { "bool",     BOOLEAN },
    { "signed",   SIGNED },
    { "unsigned", UNSIGNED },
    { "floating", FLOATING },
    { "complex",  COMPLEX },
    { NULL, 0 },
};

uint32_t dtypes_of_kinds(uint32_t kinds)
{
    uint32_t dtypes = 0;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (kinds >> tsr_dtype_kind((tsr_dtype)d) & 1) dtypes |= (uint32_t)1 << d;
    return dtypes;
}

/* Text ------------------------------------------------------------------------------- */

/* Appends a word; returns the length the whole would have. */
static size_t append(char *out, size_t size, size_t used, const char *between, const char *word)
{
    const char *parts[] = { used ? between : "", word };
    for (int i = 0; i < 2; i++)
        for (const char *p = parts[i]; *p; p++, used++)
            if (used + 1 < size) out[used] = *p;
    if (size) out[used < size ? used : size - 1] = '\0';
    return used;
}

static size_t append_dtypes(char *out, size_t size, size_t used, const char *between, uint32_t dtypes)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (dtypes >> d & 1) used = append(out, size, used, between, tsr_dtype_name((tsr_dtype)d));
    return used;
}

size_t dtypes_text(char *out, size_t size, uint32_t dtypes)
{
    if (size) out[0] = '\0';
    return append_dtypes(out, size, 0, " ", dtypes);
}

size_t dtype_kinds_text(char *out, size_t size, uint32_t dtypes)
{
    size_t used = 0;
    if (size) out[0] = '\0';
    for (const kind_name *k = kind_names; k->name; k++) {
        const uint32_t all = dtypes_of_kinds(k->kinds);
        if ((dtypes & all) != all) continue;
        used = append(out, size, used, "/", k->name);
        dtypes &= ~all;
        if (!dtypes) return used;
    }
    return append_dtypes(out, size, used, "/", dtypes);
}

/* Signatures -------------------------------------------------------------------------- */

static bool is_free(const tsr_match_operand *operand) { return operand->dtype_name == 0xff; }

/* Operands that share a name of a dtype have what all of them allow. */
static void join_groups(op_facts *f)
{
    const tsr_signature *s = &f->signature;
    for (int i = 0; i < s->noperands; i++) {
        f->dtypes[i] = s->operand[i].dtypes;
        f->group[i] = i;
        for (int k = i - 1; k >= 0 && !is_free(&s->operand[i]); k--)
            if (s->operand[k].dtype_name == s->operand[i].dtype_name) f->group[i] = f->group[k];
        f->dtypes[f->group[i]] &= f->dtypes[i];
    }
    for (int i = 0; i < s->noperands; i++) f->dtypes[i] = f->dtypes[f->group[i]];
}

static uint32_t real_parts(uint32_t dtypes)
{
    uint32_t real = 0;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (dtypes >> d & 1) real |= (uint32_t)1 << tsr_dtype_real((tsr_dtype)d);
    return real;
}

/* A result called real has the real dtype of the first operand's. */
static void narrow_real_results(op_facts *f)
{
    const tsr_signature *s = &f->signature;
    const uint32_t real = dtypes_of_kinds(SIGNED | UNSIGNED | FLOATING);
    for (int i = 1; i < s->noperands; i++)
        if (s->operand[i].is_result && is_free(&s->operand[i]) && f->dtypes[i] == real)
            f->dtypes[i] = real_parts(f->dtypes[0]);
}

bool op_facts_get(op_facts *out, tsr_op_kind kind) { return op_facts_of(out, tsr_op_get_info(kind)); }

bool op_facts_of(op_facts *out, const tsr_op_info *row)
{
    out->info = row;
    if (!out->info || tsr_signature_parse(&out->signature, out->info->signature) != TSR_OK) return false;
    join_groups(out);
    narrow_real_results(out);
    return true;
}

/* Families ---------------------------------------------------------------------------- */

int list_families(const char *families[FAMILIES_MOST])
{
    int count = 0;
    for (int row = 0; tsr_op_row(row); row++) {
        const char *family = tsr_op_row(row)->family;
        int i = 0;
        while (i < count && strcmp(families[i], family)) i++;
        if (i == count && count < FAMILIES_MOST) families[count++] = family;
    }
    return count;
}
