/* trial.c - random numbers, ends of trials, and a call on both sides. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "operands.h"
#include "op_facts.h"

/* Lists ----------------------------------------------------------------------------------- */

void add_check(check_list *list, check c, const char *title)
{
    if (list->count == list->room) {
        const int room = list->room ? 2 * list->room : 1024;
        check *item = realloc(list->item, (size_t)room * sizeof *item);
        if (!item) {
            fprintf(stderr, "tsr-backend-check: no memory for the list of checks\n");
            exit(2);
        }
        list->item = item;
        list->room = room;
    }
    snprintf(c.name, sizeof c.name, "%s%s%s%s%s", title, c.dtype ? " " : "",
             c.dtype ? tsr_dtype_name(c.dtype) : "", c.other ? " " : "",
             c.other ? tsr_dtype_name(c.other) : "");
    list->item[list->count++] = c;
}

void add_for_dtypes(check_list *list, check c, const char *title, uint32_t dtypes)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        c.dtype = (tsr_dtype)d;
        if (dtypes & DTYPE_BIT(d)) add_check(list, c, title);
    }
}

void free_checks(check_list *list)
{
    free(list->item);
    *list = (check_list){ 0 };
}

uint32_t dtypes_of(tsr_op_kind kind, int i)
{
    op_facts facts;
    return op_facts_get(&facts, kind) ? facts.dtypes[i] : 0;
}

uint32_t dtypes_of_kind(tsr_kind kind) { return dtypes_of_kinds((uint32_t)1 << kind); }

/* Ends ------------------------------------------------------------------------------------- */

static void end_with(trial *t, const char *format, va_list list)
{
    vsnprintf(t->why, sizeof t->why, format, list);
}

void fail_trial(trial *t, const char *format, ...)
{
    va_list list;
    if (is_over(t)) return;
    t->failed = true;
    va_start(list, format);
    end_with(t, format, list);
    va_end(list);
}

void skip_trial(trial *t, const char *format, ...)
{
    va_list list;
    if (is_over(t)) return;
    t->skipped = true;
    va_start(list, format);
    end_with(t, format, list);
    va_end(list);
}

bool has_capability(const session *s, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = s->info.capabilities; (p = strstr(p, word)) != NULL; p += n)
        if ((p == s->info.capabilities || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' ')) return true;
    return false;
}

const char *excuse_for(const session *s, tsr_dtype dtype)
{
    const tsr_dtype part = tsr_dtype_real(dtype);
    if (part == TSR_F64 && !has_capability(s, "f64")) return "the device has no f64";
    if (part == TSR_F16 && !has_capability(s, "f16")) return "the device has no f16";
    return NULL;
}

/* A dtype that the device may lack, named in a message. */
static const char *excuse_in(const session *s, const char *words)
{
    static const tsr_dtype dtypes[] = { TSR_F64, TSR_C128, TSR_F16, TSR_C32 };
    for (int i = 0; i < 4; i++) {
        const char *name = tsr_dtype_name(dtypes[i]), *at = strstr(words, name);
        if (at && (at == words || at[-1] != 'b') && excuse_for(s, dtypes[i])) return excuse_for(s, dtypes[i]);
    }
    return NULL;
}

/* Numbers that nobody computed are no indices, weights or sizes. */
static bool is_for_values(tsr_status s) { return s == TSR_EINDEX || s == TSR_EINVAL || s == TSR_ESHAPE; }

void call_went_wrong(trial *t, const char *what, tsr_status s)
{
    char words[600];
    const char *excuse = NULL;
    if (t->session->plumbing && is_for_values(s)) return;
    snprintf(words, sizeof words, "%s", tsr_last_error());
    if (s == TSR_EUNSUPPORTED) excuse = excuse_in(t->session, words);
    if (s == TSR_EUNSUPPORTED && !excuse) excuse = excuse_for(t->session, t->check->dtype);
    if (excuse)
        skip_trial(t, "%s: %s", excuse, words);
    else
        fail_trial(t, "%s gave %s: %s", what, tsr_status_name(s), words);
}

/* Numbers ------------------------------------------------------------------------------------ */

uint64_t random_bits(trial *t)
{
    uint64_t z = (t->random += 0x9e3779b97f4a7c15u); /* SplitMix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_below(trial *t, int64_t n) { return (int64_t)(random_bits(t) % (uint64_t)n); }
bool once_in(trial *t, int64_t n) { return random_below(t, n) == 0; }
int64_t random_between(trial *t, int64_t low, int64_t high) { return low + random_below(t, high - low + 1); }

double random_real(trial *t, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(t) >> 11) * 0x1p-53);
}

/* Beginning and end -------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

void begin_trial(trial *t, const session *s, const check *c, int number)
{
    memset(t, 0, sizeof *t);
    t->session = s;
    t->check = c;
    t->number = number;
    t->random =
        mix(mix(0xcbf29ce484222325u ^ s->seed, c->family), c->name) + (uint64_t)number * 0x2545f4914f6cdd1du;
    t->terms = 1;
    for (int i = 0; i < SLOTS; i++) t->slot[i].same_as = i;
    place_sides(t, TSR_CPU, s->device);
}

void end_trial(trial *t)
{
    for (int i = 0; i < SLOTS; i++) {
        operand *o = &t->slot[i];
        for (int s = 0; s < SIDES; s++) {
            if (!o->is_number) tsr_release(&o->at[s]);
            o->at[s] = NULL;
        }
        free(o->bytes);
        o->bytes = NULL;
    }
}

/* Both sides ---------------------------------------------------------------------------------- */

/* What is made from nothing is made on the side's device. */
static tsr_status call_on(trial *t, call_fn call, side s)
{
    tsr_status status = tsr_device_set_default(s == THERE ? t->session->device : TSR_CPU);
    if (status == TSR_OK) status = call(t, s);
    const tsr_status back = tsr_device_set_default(TSR_CPU);
    return status == TSR_OK ? back : status;
}

static void drop_results(trial *t, side s)
{
    for (int i = IN_MAX; i < SLOTS; i++) tsr_release(&t->slot[i].at[s]);
}

/* The operands' sizes, in f64: what is no float or complex number stays. */
static tsr_status take_sizes(trial *t)
{
    for (int i = 0; i < IN_MAX; i++) {
        operand *o = &t->slot[i];
        tsr_tensor *size = NULL;
        if (!o->at[HERE] || o->is_number) {
            o->at[SIZES] = o->at[HERE];
            continue;
        }
        const tsr_kind kind = tsr_dtype_kind(o->at[HERE]->dtype);
        if (kind != TSR_FLOATING && kind != TSR_COMPLEX) {
            o->at[SIZES] = tsr_retain(o->at[HERE]);
            continue;
        }
        const bool is_c32 = o->at[HERE]->dtype == TSR_C32;
        TSR_TRY(tsr_cast(&size, o->at[HERE], kind == TSR_COMPLEX || is_c32 ? TSR_C128 : TSR_F64));
        tsr_tensor *positive = NULL;
        const tsr_status s = tsr_abs(&positive, size);
        tsr_release(&size);
        TSR_TRY(s);
        o->at[SIZES] = positive;
    }
    return TSR_OK;
}

static bool fits(const tsr_tensor *x, const tsr_tensor *result)
{
    return x && x->dtype == result->dtype && tsr_desc_same_shape(&x->desc, &result->desc) &&
           !tsr_desc_self_overlaps(&x->desc);
}

/* Result i as the CPU made it becomes one that is given, or an operand, or one to be made. */
static void prepare_result(trial *t, int i, unsigned in_place)
{
    operand *o = &t->slot[IN_MAX + i];
    tsr_tensor *made = o->at[HERE];
    o->at[HERE] = NULL;
    if (!made) return;
    for (int k = 0; k < IN_MAX && i == 0; k++) {
        if (!(in_place >> k & 1) || t->slot[k].is_number || !fits(t->slot[k].at[HERE], made) ||
            !once_in(t, 3))
            continue;
        for (side s = HERE; s <= THERE; s++) o->at[s] = tsr_retain(t->slot[k].at[s]);
        o->same_as = k;
        tsr_release(&made);
        return;
    }
    if (!(in_place & MADE) && !once_in(t, 3))
        make_output(t, IN_MAX + i, made->dtype, made->ndim, made->shape);
    tsr_release(&made);
}

/* Neither side takes the operands, or the trial has failed. */
static void expect_refusal(trial *t, call_fn call, tsr_status wanted)
{
    char words[600];
    snprintf(words, sizeof words, "%s", tsr_last_error());
    tsr_status got = call_on(t, call, THERE);
    if (got == TSR_OK)
        got = tsr_device_sync(t->session->device); /* where values decide, queued work finds out */
    drop_results(t, THERE);
    if (got != wanted && !t->session->plumbing)
        fail_trial(t, "the CPU gave %s (%s), the device %s (%s)", tsr_status_name(wanted), words,
                   tsr_status_name(got), tsr_last_error());
    if (t->failed) return;
    t->refused = true;
    snprintf(t->why, sizeof t->why, "%s: %s", tsr_status_name(wanted), words);
}

void run_op(trial *t, call_fn call, int nresults, unsigned in_place, const tolerance *e)
{
    GO_ON(t);
    if (e->sized) {
        NEED(t, take_sizes(t));
        (void)call_on(t, call, SIZES);
    }
    tsr_status s = call_on(t, call, HERE);
    if (s != TSR_OK) {
        drop_results(t, HERE);
        expect_refusal(t, call, s);
        return;
    }
    for (int i = 0; i < nresults && !is_over(t); i++) prepare_result(t, i, in_place);
    GO_ON(t);
    NEED(t, call_on(t, call, HERE));
    s = call_on(t, call, THERE);
    if (s != TSR_OK) {
        call_went_wrong(t, "the device", s);
        describe_operands(t);
        return;
    }
    for (int i = 0; i < nresults && !is_over(t); i++) compare_results(t, i, e);
}
