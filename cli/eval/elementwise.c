/* elementwise.c - ops of the list that take tensors and nothing else.
 *
 * They are found by name in the library, so that a new row of op.def is a new function here:
 * an elementwise op without parameters has a function tsr_NAME(out, x), (out, x, y) or
 * (out, x, y, w).
 */
#if !defined(_WIN32)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#endif

#include <stdio.h>
#include <string.h>

#include "opcheck/op_facts.h"
#include "machine.h"
#include "tessera/backend.h"

typedef tsr_status (*one_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*two_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);
typedef tsr_status (*three_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *, const tsr_tensor *);

enum { MOST = 3 };

/* The address of a public function as a pointer to one. */
#if !defined(_WIN32)
static bool find_address(void *out, const char *op)
{
    char name[80];
    snprintf(name, sizeof name, "tsr_%s", op);
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(out, &address, sizeof address);
    return address != NULL;
}
#else
static bool find_address(void *out, const char *op) { (void)out; (void)op; return false; }
#endif

static bool find_plain(op_facts *facts, const char *op)
{
    const tsr_op_kind kind = tsr_op_find(op);
    if (kind == TSR_OP_NONE || !op_facts_get(facts, kind)) return false;
    const tsr_signature *s = &facts->signature;
    int results = 0;
    for (int i = 0; i < s->noperands; i++) results += s->operand[i].is_result;
    return !strcmp(facts->info->family, "elementwise") && !strcmp(facts->info->params, "none") &&
           results == 1 && s->noperands - 1 >= 1 && s->noperands - 1 <= MOST;
}

bool is_elementwise(const char *op, int *operands)
{
    op_facts facts;
    if (!find_plain(&facts, op)) return false;
    *operands = facts.signature.noperands - 1;
    return true;
}

/* Dtypes ------------------------------------------------------------------------------- */

/* What a weak number makes of a dtype; TSR_DTYPE_INVALID is none so far. */
static tsr_dtype with_number(tsr_dtype dtype, tsr_dtype number)
{
    const tsr_kind have = tsr_dtype_kind(dtype), want = tsr_dtype_kind(number);
    const bool integer = have == TSR_SIGNED || have == TSR_UNSIGNED;
    if (dtype == TSR_DTYPE_INVALID) return number;
    if (want == TSR_COMPLEX && have != TSR_COMPLEX)
        return have == TSR_FLOATING && dtype != TSR_F64 ? TSR_C64 : TSR_C128;
    if (want == TSR_FLOATING && (integer || have == TSR_BOOLEAN)) return TSR_F64;
    if ((want == TSR_SIGNED || want == TSR_UNSIGNED) && have == TSR_BOOLEAN) return number;
    return dtype;
}

static bool allows(uint32_t dtypes, tsr_dtype dtype) { return dtypes >> dtype & 1; }

/* The nearest dtype that the op takes. What it does not take at all is left to the op. */
static tsr_dtype fit_dtype(uint32_t dtypes, tsr_dtype dtype, bool divides)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (dtype == TSR_C32 && allows(dtypes, TSR_C64)) return TSR_C64;
    if (allows(dtypes, dtype)) return dtype;
    if (kind == TSR_BOOLEAN && allows(dtypes, TSR_I8)) return TSR_I8;
    if (kind == TSR_COMPLEX || !allows(dtypes, TSR_F64)) return dtype;
    return divides ? TSR_F64 : floating_of(dtype);
}

/* The dtype of a group of operands: that of its tensors, and then of its numbers. */
static bool group_dtype(machine *m, tsr_dtype *out, const op_facts *facts, int group, const operand *args,
                        tsr_tensor *const *tensors, int n, const node *at)
{
    *out = TSR_DTYPE_INVALID;
    for (int i = 0; i < n; i++) {
        if (facts->group[i] != group || args[i].kind == OPERAND_NUMBER) continue;
        if (*out == TSR_DTYPE_INVALID) *out = tensors[i]->dtype;
        else if (!promote(out, *out, tensors[i]->dtype))
            return fail(m, at, "%s and %s have no common dtype", tsr_dtype_name(*out),
                        tsr_dtype_name(tensors[i]->dtype));
    }
    const bool weak_only = *out == TSR_DTYPE_INVALID;
    for (int i = 0; i < n; i++) {
        if (facts->group[i] != group || args[i].kind != OPERAND_NUMBER) continue;
        if (weak_only && *out != TSR_DTYPE_INVALID) promote(out, *out, args[i].number.dtype);
        else *out = with_number(*out, args[i].number.dtype);
    }
    *out = fit_dtype(facts->dtypes[group], *out, !strcmp(facts->info->name, "div"));
    return true;
}

/* Calling ------------------------------------------------------------------------------ */

static tsr_status run_op(tsr_tensor **out, const char *op, int n, tsr_tensor *const *t)
{
    one_fn one;
    two_fn two;
    three_fn three;
    if (n == 1 && find_address(&one, op))   return one(out, t[0]);
    if (n == 2 && find_address(&two, op))   return two(out, t[0], t[1]);
    if (n == 3 && find_address(&three, op)) return three(out, t[0], t[1], t[2]);
    return tsr_backend_fail(TSR_EUNSUPPORTED, "this op cannot be called by its name");
}

static bool all_numbers(int n, const operand *args)
{
    for (int i = 0; i < n; i++)
        if (args[i].kind != OPERAND_NUMBER) return false;
    return true;
}

static bool is_truth(const operand *o)
{
    return (o->kind == OPERAND_TENSOR && o->tensor->dtype == TSR_BOOL) ||
           (o->kind == OPERAND_NUMBER && o->number.dtype == TSR_BOOL);
}

/* NumPy's sums and products of truths are truths. */
static const char *op_of_truths(const char *op, int n, const operand *args)
{
    if (n != 2 || !is_truth(&args[0]) || !is_truth(&args[1]) || all_numbers(n, args)) return op;
    return !strcmp(op, "add") ? "logical_or" : !strcmp(op, "mul") ? "logical_and" : op;
}

/* 2 ** -1 is 0.5 in Python. */
static bool is_negative_power(const char *op, int n, const operand *args)
{
    return !strcmp(op, "pow") && all_numbers(n, args) && args[1].number.dtype == TSR_I64 &&
           args[1].number.as.i < 0;
}

/* Integers of Python have no end. Those here have 64 bits, and no number of the expression wraps. */
static bool exceeds_64_bits(const char *op, int n, const operand *args)
{
    if (n != 2 || !all_numbers(n, args)) return false;
    if (args[0].number.dtype != TSR_I64 || args[1].number.dtype != TSR_I64) return false;
    const long double x = (long double)args[0].number.as.i, y = (long double)args[1].number.as.i;
    const long double z = !strcmp(op, "add")          ? x + y
                          : !strcmp(op, "sub")        ? x - y
                          : !strcmp(op, "mul")        ? x * y
                          : !strcmp(op, "pow")        ? powl(x, y)
                          : !strcmp(op, "shift_left") ? x * powl(2, y)
                                                      : 0;
    return !(z >= -0x1p63L && z < 0x1p63L);
}

/* Tensors of the dtypes that the op takes. */
static bool prepare(machine *m, tsr_tensor **t, const op_facts *facts, int n, const operand *args,
                    const node *at)
{
    for (int i = 0; i < n; i++)
        if (!as_tensor(m, &t[i], &args[i], at)) return false;
    for (int i = 0; i < n; i++) {
        tsr_dtype dtype;
        if (!group_dtype(m, &dtype, facts, facts->group[i], args, t, n, at)) return false;
        if (dtype == TSR_I64 && is_negative_power(facts->info->name, n, args)) dtype = TSR_F64;
        if (!cast_to(m, &t[i], t[i], dtype, at)) return false;
    }
    return true;
}

static bool take_number(machine *m, operand *out, tsr_tensor **t, const node *at)
{
    tsr_scalar s = tsr_scalar_i64(0);
    const bool ok = tsr_item(&s, *t) == TSR_OK || fail_by_library(m, at);
    *out = number_operand(s);
    tsr_release(t);
    return ok;
}

bool call_elementwise(machine *m, operand *out, const char *op, int n, const operand *args, const node *at)
{
    op_facts facts;
    tsr_tensor *t[MOST] = { NULL, NULL, NULL }, *z = NULL;
    if (!find_plain(&facts, op_of_truths(op, n, args))) return fail(m, at, "there is no function '%s'", op);
    const int takes = facts.signature.noperands - 1;
    if (takes != n) return fail(m, at, "%s takes %d operand%s, not %d", op, takes, takes == 1 ? "" : "s", n);
    if (exceeds_64_bits(facts.info->name, n, args))
        return fail(m, at, "this integer does not fit 64 bits; with a point it is a float, as 2.0 ** 64 is");
    bool ok = prepare(m, t, &facts, n, args, at);
    if (ok && run_op(&z, facts.info->name, n, t) != TSR_OK) ok = fail_by_library(m, at);
    if (ok && all_numbers(n, args)) ok = take_number(m, out, &z, at);
    else if (ok)                    *out = tensor_operand(z);
    for (int i = 0; i < n; i++) tsr_release(&t[i]);
    return ok;
}
