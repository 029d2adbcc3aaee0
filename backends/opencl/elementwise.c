/* elementwise.c - ops element by element.
 *
 * Programs take long to build, so that short tensors share them: one for all ops of a group and a
 * class of dtypes. Long tensors have one for each op and dtype. */
#include "launch.h"
#include "numbers.h"

#include <stdio.h>
#include <string.h>

static const char *can(const ocl_device *d, const tsr_op *op)
{
    const bool by_bits = op->kind == TSR_OP_COPYSIGN || op->kind == TSR_OP_NEXTAFTER;
    for (int i = 0; i < op->nin && !by_bits; i++) {
        const char *why = ocl_lacks(d, op->in[i]->dtype);
        if (why) return why;
    }
    return NULL;
}

/* Ops ------------------------------------------------------------------------------------ */

static bool has_params(tsr_op_kind kind) { return strcmp(ocl_host->op_info(kind)->params, "none") != 0; }
static bool is_by_bits(tsr_op_kind kind) { return kind == TSR_OP_COPYSIGN || kind == TSR_OP_NEXTAFTER; }

/* Does the function look at the dtype? */
static bool is_by_dtype(tsr_op_kind kind, tsr_dtype dtype)
{
    return is_by_bits(kind) || kind == TSR_OP_SHIFT_LEFT || kind == TSR_OP_SHIFT_RIGHT ||
           (kind == TSR_OP_FMA && ocl_is_floating(dtype));
}

/* How much there is to build: ops of one group share programs. */
static int group_of(tsr_op_kind kind)
{
    switch (kind) {
    case TSR_OP_EXP:
    case TSR_OP_EXP2:
    case TSR_OP_EXPM1:
    case TSR_OP_LOG:
    case TSR_OP_LOG2:
    case TSR_OP_LOG10:
    case TSR_OP_LOG1P: case TSR_OP_POW: case TSR_OP_LOGADDEXP: case TSR_OP_SIGMOID: case TSR_OP_SILU:
    case TSR_OP_SOFTPLUS: return 1;
    case TSR_OP_SIN: case TSR_OP_COS: case TSR_OP_TAN: case TSR_OP_ASIN: case TSR_OP_ACOS: case TSR_OP_ATAN:
    case TSR_OP_ATAN2: return 2;
    case TSR_OP_SINH:
    case TSR_OP_COSH:
    case TSR_OP_TANH:
    case TSR_OP_ASINH:
    case TSR_OP_ACOSH:
    case TSR_OP_ATANH: return 3;
    case TSR_OP_ERF: case TSR_OP_ERFC: case TSR_OP_GELU: case TSR_OP_GELU_TANH: return 4;
    case TSR_OP_LGAMMA: case TSR_OP_DIGAMMA: case TSR_OP_I0: case TSR_OP_ERFINV: return 5;
    default: return 0;
    }
}

/* Is a dtype among those of "real", "floating/c64/c128", ...? */
static bool is_among(tsr_dtype dtype, const char *words)
{
    const bool integer = dtype >= TSR_I8 && dtype <= TSR_U64, floating = ocl_is_floating(dtype),
               complex = ocl_is_complex(dtype);
    for (const char *end; *words; words = *end == '/' ? end + 1 : end) {
        end = words + strcspn(words, "/ |}");
        const size_t n = (size_t)(end - words);
#define IS(word) (n == sizeof word - 1 && !memcmp(words, word, n))
        if (IS("any") || (IS("bool") && dtype == TSR_BOOL) || (IS("integer") && integer) ||
            (IS("floating") && floating) || (IS("complex") && complex) || (IS("c64") && dtype == TSR_C64) ||
            (IS("c128") && dtype == TSR_C128) ||
            (IS("real") && (integer || floating)) || (IS("numeric") && (integer || floating || complex)))
            return true;
#undef IS
        if (*end != '/') return false;
    }
    return false;
}

/* What a signature says of an op: its operands, and whether it gives bools or real numbers. */
typedef struct facts {
    int  nin;
    bool gives_bool, is_real;
} facts;

static facts facts_of(tsr_op_kind kind, tsr_dtype dtype)
{
    const char *signature = ocl_host->op_info(kind)->signature, *arrow = strstr(signature, "->");
    facts f = { 0, false, false };
    for (const char *c = signature; c < arrow; c++) f.nin += *c == '{';
    f.gives_bool = strstr(arrow, "{ bool ") != NULL || dtype == TSR_BOOL;
    f.is_real = strstr(arrow, "{ real ") != NULL && ocl_is_complex(dtype);
    return f;
}

static bool takes(tsr_op_kind kind, tsr_dtype dtype)
{
    const char *words = strstr(ocl_host->op_info(kind)->signature, "dT:");
    return words && is_among(dtype, words + 3);
}

/* Can an op be one of several in a program? */
static bool is_grouped(tsr_op_kind kind, tsr_dtype dtype)
{
    return kind != TSR_OP_WHERE && !has_params(kind) && !is_by_dtype(kind, dtype);
}

static bool is_alike(tsr_op_kind a, tsr_op_kind b, tsr_dtype dtype)
{
    const facts f = facts_of(a, dtype), g = facts_of(b, dtype);
    return group_of(a) == group_of(b) && f.nin == g.nin && f.gives_bool == g.gives_bool &&
           f.is_real == g.is_real;
}

/* "every bit inverted" of a bool is "not". */
static const char *function_of(tsr_op_kind kind, tsr_dtype dtype)
{
    return kind == TSR_OP_BITWISE_NOT && dtype == TSR_BOOL ? "logical_not" : ocl_host->op_info(kind)->name;
}

/* A macro of all ops that share a program with this one. */
static void write_group(char out[OCL_HEAD], const ocl_call *call)
{
    const size_t size = OCL_HEAD;
    const tsr_op_kind kind = call->op->kind;
    const tsr_dtype dtype = call->op->in[0]->dtype;
    size_t at = (size_t)snprintf(out, size, "#define EACH_OP(X)");
    static const struct { int kind; const char *id; } ids[] = {
#define X(ID, name, family, params, signature, flops, doc, call) { TSR_OP_##ID, #ID },
#include <tessera/op.def>
#undef X
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && at < size; i++) {
        const tsr_op_kind other = (tsr_op_kind)ids[i].kind;
        if (strcmp(ocl_host->op_info(other)->family, "elementwise") != 0 || !takes(other, dtype)) continue;
        if (!is_grouped(other, dtype) || !is_alike(kind, other, dtype)) continue;
        at += (size_t)snprintf(out + at, size - at, " X(%s, %s)", ids[i].id, function_of(other, dtype));
    }
    if (at < size) (void)snprintf(out + at, size - at, "\n");
}

/* Programs --------------------------------------------------------------------------------- */

static const char *file_of(tsr_op_kind kind, tsr_dtype dtype)
{
    if (is_by_bits(kind)) return "pattern elementwise";
    if (ocl_is_complex(dtype)) return "complex elementwise";
    return ocl_is_floating(dtype) ? "float elementwise" : "integer elementwise";
}

/* Bool has a group of its own: other ops take it. */
static const char *class_of(tsr_op_kind kind, tsr_dtype dtype)
{
    if (is_by_bits(kind)) return "-DPATTERNS";
    return dtype == TSR_BOOL ? "-DCLASS_UNSIGNED -DONLY_BOOL" : ocl_class_option(dtype);
}

static void write_options(char *out, size_t size, const ocl_call *call, const ocl_nest *t, bool grouped)
{
    const tsr_op *op = call->op;
    const tsr_dtype from = op->in[0]->dtype;
    const facts f = facts_of(op->kind, from);
    const char *result = f.gives_bool ? " -DRESULT_BOOL" : f.is_real ? " -DRESULT_REAL" : "";
    char which[64], dtypes[64];
    if (grouped) snprintf(which, sizeof which, " -DGROUP=%d", group_of(op->kind));
    else snprintf(which, sizeof which, " -DOP=op_%s", function_of(op->kind, from));
    ocl_fix_dtypes(dtypes, sizeof dtypes, t, t->count);
    snprintf(out, size, "%s%s -DNIN=%d%s%s%s%s", class_of(op->kind, from), which, f.nin, result,
             has_params(op->kind) ? " -DPARAMS" : "", is_by_dtype(op->kind, from) ? " -DBY_DTYPE" : "",
             dtypes);
}

static bool is_packed(const ocl_nest *t, int operands)
{
    bool yes = t->ndim <= 1;
    for (int k = 0; k < operands && yes && t->ndim == 1; k++)
        yes = t->step[k][0] == (cl_long)ocl_size_of((tsr_dtype)t->dtype[k]);
    return yes;
}

static tsr_status begin(ocl_launch *l, const ocl_call *call, const ocl_nest *t)
{
    char options[320];
    const tsr_op *op = call->op;
    const tsr_dtype dtype = op->in[0]->dtype;
    const bool is_long = t->count >= OCL_LONG, grouped = !is_long && is_grouped(op->kind, dtype);
    write_options(options, sizeof options, call, t, grouped);
    return ocl_begin_with(l, call, file_of(op->kind, dtype),
                          is_long && is_packed(t, op->nin + 1) ? "packed" : "strided", options,
                          grouped ? write_group : NULL);
}

static tsr_status run(const ocl_call *call)
{
    ocl_nest t;
    cl_mem mems[OCL_OPERANDS];
    ocl_launch l;
    const tsr_op *op = call->op;
    const tsr_tensor *operands[OCL_OPERANDS] = { op->out[0], op->in[0], op->in[1], op->in[2] };
    OCL_TRY(ocl_nest_of(&t, mems, op->nin + 1, operands));
    OCL_TRY(begin(&l, call, &t));
    for (int k = 0; k <= op->nin; k++) ocl_arg_mem(&l, mems[k]);
    ocl_arg_nest(&l, &t);
    if (has_params(op->kind)) {
        const tsr_pair_params *p = op->params;
        ocl_arg_wide(&l, p->a);
        ocl_arg_wide(&l, p->b);
        ocl_arg_long(&l, ocl_to_i64(p->a));
    } else if (t.count < OCL_LONG && is_grouped(op->kind, op->in[0]->dtype)) {
        ocl_arg_int(&l, (int)op->kind);
    }
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_elementwise = { can, run };
