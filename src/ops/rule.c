/* rule.c - the dtypes an op takes and gives, from its signature. */
#include "op.h"
#include "core/atomic.h"
#include "core/lock.h"
#include "core/mem.h"
#include "tessera/match.h"

static tsri_dtype_rule rules[TSR_OP_COUNT];
static uint8_t ready[TSR_OP_COUNT];
static tsri_mutex lock = TSRI_MUTEX_INIT;

enum { NO_NAME = 0xff };

static bool is_one(uint32_t set) { return (set & (set - 1)) == 0; }

static void read_result(tsri_dtype_rule *rule, const tsr_match_operand *z)
{
    rule->result = z->dtype_name != NO_NAME ? TSRI_RESULT_GROUP : is_one(z->dtypes) ? TSRI_RESULT_FIXED
                                                                                     : TSRI_RESULT_REAL;
    if (rule->result == TSRI_RESULT_FIXED) rule->fixed = (tsr_dtype)__builtin_ctz(z->dtypes);
}

/* Complex numbers may give real ones: they are left to the general road. */
static void read_usual(tsri_dtype_rule *rule)
{
    rule->usual = ((uint32_t)1 << TSR_C32) - 1;
    for (int i = 0; i < rule->nin; i++) rule->usual &= rule->grouped[i] ? rule->accepts[i] : 0;
}

static void read_rule(tsri_dtype_rule *rule, tsr_op_kind kind)
{
    tsr_signature s;
    const tsr_status status = tsr_signature_parse(&s, tsr_op_get_info(kind)->signature);
    TSRI_ASSERT(status == TSR_OK);
    if (status != TSR_OK) return;
    rule->nin = (uint8_t)(s.noperands - s.nresults);
    for (int i = 0; i < rule->nin; i++) {
        rule->accepts[i] = s.operand[i].dtypes;
        rule->grouped[i] = s.operand[i].dtype_name != NO_NAME;
    }
    /* A name that is met again takes what it took first. */
    for (int i = 1; i < rule->nin; i++)
        if (rule->grouped[i] && rule->grouped[i - 1]) rule->accepts[i] = rule->accepts[i - 1];
    if (s.nresults) read_result(rule, &s.operand[rule->nin]);
    read_usual(rule);
}

static TSRI_COLD void make_ready(tsr_op_kind kind)
{
    tsri_lock(&lock);
    if (!ready[kind]) {
        read_rule(&rules[kind], kind);
        tsri_store_release(&ready[kind], 1);
    }
    tsri_unlock(&lock);
}

const tsri_dtype_rule *tsri_rule_of(tsr_op_kind kind)
{
    if (!TSRI_LIKELY(tsri_load_acquire(&ready[kind]))) make_ready(kind);
    return &rules[kind];
}
