/* choose.c - which family of processors a machine is of, and what the environment changes in it. */
#include "tuning.h"
#include "core/mem.h"
#include "core/text.h"

const tsri_tuning *tsri_tuning_used = &tsri_tuning_default;

/* Fields by name ------------------------------------------------------------------------------ */

typedef struct field {
    const char *name;
    size_t      at, size;
    int64_t     least, most;
} field;

#define AT(name) offsetof(tsri_tuning, name), sizeof((tsri_tuning *)0)->name
#define MEMBER(group, name, least, most) { #group "." #name, AT(group.name), least, most },

static const field fields[] = {
#define PLAIN(type, name, least, most) { #name, AT(name), least, most },
#define PRODUCTS(name, least, most)    MEMBER(products, name, least, most)
#define CONV(name, least, most)        MEMBER(conv, name, least, most)
#define INDEXING(name, least, most)    MEMBER(indexing, name, least, most)
#define COPIES(name, least, most)      MEMBER(copies, name, least, most)
#define OF_LANES(name, least, most)    MEMBER(lanes, name, least, most)
#define SYSTEM(name, least, most)      MEMBER(system, name, least, most)
#include "fields.def"
};

enum { FIELDS = (int)(sizeof fields / sizeof *fields) };

/* Fields are of three types, which differ in size. */
static int64_t get_number(const tsri_tuning *t, const field *f)
{
    const void *at = (const char *)t + f->at;
    return f->size == sizeof(int64_t) ? *(const int64_t *)at
                                      : f->size == sizeof(int32_t) ? *(const int32_t *)at : *(const bool *)at;
}

void tsri_tuning_write(char text[TSRI_TUNING_TEXT], const tsri_tuning *t)
{
    tsri_text out = tsri_text_into(text, TSRI_TUNING_TEXT);
    tsri_put(&out, "%s", t->name);
    for (int i = 0; i < FIELDS; i++)
        tsri_put(&out, ",%s=%lld", fields[i].name, (long long)get_number(t, &fields[i]));
}

#if defined(TSR_FREESTANDING)

const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish)
{
    (void)machine;
    (void)wish;
    return &tsri_tuning_default;
}

#else

/* Wishes -------------------------------------------------------------------------------------- */

/* Part of a wish: what is between two commas. */
typedef struct part {
    const char *at;
    size_t      n;
} part;

static bool next_part(part *p, const char **wish)
{
    const char *at = *wish;
    if (!at || *at == '\0') return false;
    for (p->at = at; *at != '\0' && *at != ','; at++) {}
    p->n = (size_t)(at - p->at);
    *wish = *at == ',' ? at + 1 : at;
    return true;
}

/* Does the part begin with this name, and is `end` what follows? */
static bool has_name(part p, const char *name, char end)
{
    const size_t n = tsri_strlen(name);
    return p.n >= n && memcmp(p.at, name, n) == 0 && (p.n == n ? '\0' : p.at[n]) == end;
}

/* Digits, no more than nineteen. */
static bool read_number(int64_t *out, const char *at, size_t n)
{
    uint64_t number = 0;
    for (size_t i = 0; i < n; i++) {
        if (at[i] < '0' || at[i] > '9') return false;
        number = number * 10 + (uint64_t)(at[i] - '0');
    }
    *out = (int64_t)number;
    return n > 0 && n <= 19 && number <= INT64_MAX;
}

static void set_number(tsri_tuning *t, const field *f, int64_t number)
{
    void *at = (char *)t + f->at;
    if (f->size == sizeof(int64_t)) *(int64_t *)at = number;
    else if (f->size == sizeof(int32_t)) *(int32_t *)at = (int32_t)number;
    else *(bool *)at = number != 0;
}

static void change_field(tsri_tuning *t, part p)
{
    for (int i = 0; i < FIELDS; i++) {
        const field *f = &fields[i];
        int64_t number;
        if (!has_name(p, f->name, '=')) continue;
        const size_t before = tsri_strlen(f->name) + 1;
        if (read_number(&number, p.at + before, p.n - before) && number >= f->least && number <= f->most)
            set_number(t, f, number);
    }
}

static const tsri_tuning *find_named(part p)
{
    static const tsri_tuning *const all[] = { &tsri_tuning_default, &tsri_tuning_intel_avx2,
                                              &tsri_tuning_intel_avx512, &tsri_tuning_intel_amx,
                                              &tsri_tuning_amd_zen };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has_name(p, all[i]->name, '\0')) return all[i];
    return NULL;
}

/* Families ------------------------------------------------------------------------------------ */

enum { FIRST_ZEN = 0x17 };  /* the family number of Zen and Zen 2; Zen 3 and 4 are 0x19, Zen 5 is 0x1a */

static const tsri_tuning *find_family(tsri_processor p)
{
    if (p.vendor == TSRI_VENDOR_AMD && p.family >= FIRST_ZEN) return &tsri_tuning_amd_zen;
    if (p.vendor != TSRI_VENDOR_INTEL) return &tsri_tuning_default;
    return p.has_amx ? &tsri_tuning_intel_amx
                     : p.has_avx512 ? &tsri_tuning_intel_avx512 : &tsri_tuning_intel_avx2;
}

const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish)
{
    static tsri_tuning changed;
    const tsri_tuning *found = find_family(machine.processor);
    const char *rest = wish;
    part p;
    while (next_part(&p, &rest))
        if (find_named(p)) found = find_named(p);
    changed = *found;
    for (rest = wish; next_part(&p, &rest);) change_field(&changed, p);
    return memcmp(&changed, found, sizeof changed) ? &changed : found;
}

#endif
