/* experts.cpp - which tokens go to which expert: gates with groups of experts, and lists of tokens by expert.
 * Plain loops, on the host. */
#include "host.h"

#include <algorithm>
#include <cmath>

using namespace face;

/* A gate with groups ---------------------------------------------------------------------------
 *
 * Scores are sigmoid(input); bias counts for the choice only. The topk_group groups whose two best sum
 * highest stay, the best experts of these are chosen, and their scores are divided by their sum. Experts that
 * all tokens share come after the chosen ones, with the weight 1 / routed_scaling_factor. */

infiniStatus_t infiniopCreateMoeFusedGateDescriptor(Handle handle, Desc *out, T topk_weights, T topk_indices,
                                                    T input, T bias, size_t num_expert_group,
                                                    size_t topk_group, size_t num_fused_shared_experts,
                                                    float routed_scaling_factor, bool scale_output)
{
    Draft draft(TAG_MoeFusedGate, handle, out, 2, { topk_weights, topk_indices, input, bias });
    const int64_t experts = draft.dim(2, 1), topk = draft.dim(0, 1);
    draft.dtypes(0, set_of(INFINI_DTYPE_F32)).dtypes(1, INTEGERS).dtypes(2, FLOATS).dtypes(3, FLOATS)
        .rank(2, 2, 2).shape(0, { draft.dim(2, 0), topk }).one_shape({ 0, 1 }).shape(3, { experts })
        .need(num_expert_group > 0 && num_expert_group <= (size_t)experts && topk_group > 0 &&
                  experts % (int64_t)num_expert_group == 0 && num_fused_shared_experts < (size_t)topk,
              INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good()) return draft.finish();
    const int64_t groups = (int64_t)num_expert_group,
                  kept = (int64_t)std::min(topk_group, num_expert_group),
                  routed = topk - (int64_t)num_fused_shared_experts;
    draft.need(routed <= kept * (experts / groups), INFINI_STATUS_BAD_TENSOR_SHAPE);
    const int64_t numbers[4] = { groups, kept, routed, scale_output };
    std::copy_n(numbers, 4, draft.op.integer);
    draft.op.number[0] = routed_scaling_factor;
    return draft.finish();
}

namespace {

/* The place of the largest of n that is not yet taken, the first of equal ones; it is then taken. */
int64_t take_largest(double *x, int64_t n)
{
    const int64_t best = std::max_element(x, x + n) - x;
    x[best] = -INFINITY;
    return best;
}

double sum_of_two_best(const double *x, int64_t n)
{
    double first = -INFINITY, second = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        second = std::max(second, std::min(first, x[i]));
        first = std::max(first, x[i]);
    }
    return n > 1 ? first + second : first;
}

/* What is not in one of the `kept` best groups becomes -infinity. sums holds a number for each group. */
void keep_groups(double *choice, int64_t experts, int64_t groups, int64_t kept, double *sums)
{
    const int64_t size = experts / groups;
    for (int64_t g = 0; g < groups; g++) sums[g] = sum_of_two_best(choice + g * size, size);
    for (int64_t k = 0; k < kept; k++) take_largest(sums, groups);
    for (int64_t g = 0; g < groups; g++)
        if (sums[g] != -INFINITY) std::fill_n(choice + g * size, size, -INFINITY);
}

tsr_status fused_gate(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t n = t[2]->shape[0], experts = t[2]->shape[1], topk = t[0]->shape[1];
    const int64_t groups = op.integer[0], routed = op.integer[2];
    const double factor = op.number[0];
    Packed<double> scores, bias, weights, choice, sums;
    Packed<int64_t> places;
    TSR_TRY(scores.read(t[2]));
    TSR_TRY(bias.read(t[3]));
    TSR_TRY(weights.make(t[0]));
    TSR_TRY(places.make(t[1]));
    TSR_TRY(choice.make(experts));
    TSR_TRY(sums.make(groups));
    for (int64_t row = 0; row < n; row++) {
        double *score = scores + row * experts, sum = 0;
        for (int64_t e = 0; e < experts; e++) {
            score[e] = 1 / (1 + std::exp(-score[e]));
            choice[e] = score[e] + bias[e];
        }
        keep_groups(choice.get(), experts, groups, op.integer[1], sums.get());
        for (int64_t k = 0; k < topk; k++)
            places[row * topk + k] = k < routed ? take_largest(choice.get(), experts) : experts + k - routed;
        for (int64_t k = 0; k < routed; k++) sum += score[places[row * topk + k]];
        for (int64_t k = 0; k < topk; k++) {
            const double weight = k < routed ? score[places[row * topk + k]] / sum : 1 / factor;
            weights[row * topk + k] = op.integer[3] ? weight * factor : weight;
        }
    }
    TSR_TRY(weights.write(t[0]));
    return places.write(t[1]);
}

} // namespace

infiniStatus_t infiniopMoeFusedGate(Desc desc, P, size_t, P topk_weights, P topk_indices, C input, C bias,
                                    P stream)
{
    return run(desc, TAG_MoeFusedGate, stream, { topk_weights, topk_indices, input, bias }, fused_gate);
}

/* Lists by expert ------------------------------------------------------------------------------ */

/* Places in topk_ids, sorted by expert and padded to whole blocks: expert_ids has each block's. */
infiniStatus_t infiniopCreateMoeAlignDescriptor(Handle handle, Desc *out, T sorted_token_ids, T expert_ids,
                                                T num_tokens_post_padded, T topk_ids, size_t num_experts,
                                                size_t block_size)
{
    Draft draft(TAG_MoeAlign, handle, out, 3,
                { sorted_token_ids, expert_ids, num_tokens_post_padded, topk_ids });
    draft.all_dtypes(INTEGERS).rank(0, 1, 1).rank(1, 1, 1).shape(2, { 1 }).rank(3, 2, 2)
        .need(num_experts > 0 && num_experts < INT32_MAX && block_size > 0 && block_size < INT32_MAX,
              INFINI_STATUS_BAD_TENSOR_SHAPE);
    const int64_t n = draft.dim(3, 0) * draft.dim(3, 1), buckets = (int64_t)num_experts + 1,
                  size = (int64_t)block_size;
    if (!draft.good()) return draft.finish();
    const int64_t room = n < buckets ? n * size : n + buckets * (size - 1);
    draft.need(draft.dim(0, 0) >= room && draft.dim(1, 0) >= (room + size - 1) / size,
               INFINI_STATUS_BAD_TENSOR_SHAPE);
    draft.op.integer[0] = (int64_t)num_experts;
    draft.op.integer[1] = size;
    return draft.finish();
}

namespace {

/* The expert of each of n choices: -1 has a list of its own, and -2 is in none. map, which may be NULL, has
 * the expert that stands for each. */
tsr_status read_experts(Packed<int64_t> *out, const tsr_tensor *ids, const int32_t *map, int64_t experts)
{
    TSR_TRY(out->read(ids));
    for (int64_t i = 0; i < tsr_numel(ids); i++) {
        int64_t &e = (*out)[i];
        if (map) e = e >= 0 && map[e] >= 0 ? map[e] : -2;
        else if (e < -1) return TSR_EINDEX;
        if (e >= experts) return TSR_EINDEX;
    }
    return TSR_OK;
}

tsr_status align(tsr_tensor **t, const InfiniopDescriptor &op, const int32_t *map, bool pad)
{
    const int64_t n = tsr_numel(t[3]), experts = op.integer[0], size = op.integer[1];
    Packed<int64_t> sorted, of_block, total, expert;
    int64_t at = 0;
    TSR_TRY(sorted.read(t[0]));
    TSR_TRY(of_block.read(t[1]));
    TSR_TRY(total.make(t[2]));
    TSR_TRY(read_experts(&expert, t[3], map, experts));
    if (pad) std::fill_n(sorted.get(), t[0]->shape[0], n);
    for (int64_t e = -1; e < experts; e++) {
        const int64_t first = at;
        for (int64_t i = 0; i < n; i++)
            if (expert[i] == e) sorted[at++] = i;
        at = (at + size - 1) / size * size;
        std::fill(of_block + first / size, of_block + at / size, e);
    }
    total[0] = at;
    TSR_TRY(sorted.write(t[0]));
    TSR_TRY(of_block.write(t[1]));
    return total.write(t[2]);
}

} // namespace

infiniStatus_t infiniopMoeAlign(Desc desc, P, size_t, P sorted_token_ids, P expert_ids,
                                P num_tokens_post_padded, C topk_ids, C expert_map, int pad_sorted_token_ids,
                                P stream)
{
    FACE_TRY(check(desc, TAG_MoeAlign));
    if (expert_map && desc->where != TSR_CPU) return INFINI_STATUS_NOT_IMPLEMENTED;
    return run(desc, TAG_MoeAlign, stream,
               { sorted_token_ids, expert_ids, num_tokens_post_padded, topk_ids },
               [=](tsr_tensor **t, const InfiniopDescriptor &op) {
        return align(t, op, (const int32_t *)expert_map, pad_sorted_token_ids != 0);
    });
}

/* Where each expert's tokens begin, the sizes (m, n, k) of its two products, which token each place of the
 * sorted ones is, and at which place each choice is. */
infiniStatus_t infiniopCreatePrepareMoeInputDescriptor(Handle handle, Desc *out, T expert_offsets,
                                                       T blockscale_offsets, T problem_sizes1,
                                                       T problem_sizes2, T input_permutation,
                                                       T output_permutation, T topk_ids, size_t num_experts,
                                                       size_t n, size_t k)
{
    Draft draft(TAG_PrepareMoeInput, handle, out, 6,
                { expert_offsets, blockscale_offsets, problem_sizes1, problem_sizes2, input_permutation,
                  output_permutation, topk_ids },
                1u << 1);
    const int64_t experts = (int64_t)std::min<size_t>(num_experts, INT32_MAX);
    draft
        .need(num_experts > 0 && n > 0 && k > 0 && n < INT32_MAX / 2 && k < INT32_MAX,
              INFINI_STATUS_BAD_PARAM)
        .all_dtypes(INTEGERS)
        .shape(0, { experts + 1 })
        .shape(1, { experts + 1 })
        .rank(6, 2, 2);
    for (int i = 2; i < 4; i++) {
        if (draft.dims(i) == 1) draft.shape(i, { experts * 3 });
        else draft.shape(i, { experts, 3 });
    }
    const int64_t choices = draft.dim(6, 0) * draft.dim(6, 1);
    for (int i = 4; i < 6; i++)
        draft.rank(i, 1, 1).need(draft.dim(i, 0) >= choices, INFINI_STATUS_BAD_TENSOR_SHAPE);
    const int64_t numbers[3] = { experts, (int64_t)n, (int64_t)k };
    std::copy_n(numbers, 3, draft.op.integer);
    return draft.finish();
}

namespace {

void set_problem(int64_t *sizes, int64_t m, int64_t n, int64_t k)
{
    sizes[0] = m;
    sizes[1] = n;
    sizes[2] = k;
}

tsr_status prepare(tsr_tensor **t, const InfiniopDescriptor &op)
{
    enum { OFFSETS, BLOCKS, FIRST, SECOND, INPUT, OUTPUT, IDS };
    const int64_t choices = tsr_numel(t[IDS]), topk = t[IDS]->shape[1], n = op.integer[1], k = op.integer[2];
    const int64_t rounded_to = 128; /* rows that share a block of scales */
    Packed<int64_t> list[7];
    for (int i = 0; i < 7; i++) TSR_TRY(list[i].read(t[i]));
    int64_t at = 0, blocks = 0;
    for (int64_t e = 0; e < op.integer[0]; e++) {
        const int64_t first = at;
        list[OFFSETS][e] = at;
        if (t[BLOCKS]) list[BLOCKS][e] = blocks;
        for (int64_t i = 0; i < choices; i++) {
            if (list[IDS][i] != e) continue;
            list[INPUT][at] = i / topk;
            list[OUTPUT][i] = at++;
        }
        blocks += (at - first + rounded_to - 1) / rounded_to * rounded_to;
        set_problem(list[FIRST] + 3 * e, at - first, 2 * n, k);
        set_problem(list[SECOND] + 3 * e, at - first, k, n);
    }
    list[OFFSETS][op.integer[0]] = at;
    if (t[BLOCKS]) list[BLOCKS][op.integer[0]] = blocks;
    for (int i = 0; i < 6; i++)
        if (t[i]) TSR_TRY(list[i].write(t[i]));
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopPrepareMoeInput(Desc desc, P, size_t, P expert_offsets, P blockscale_offsets,
                                       P problem_sizes1, P problem_sizes2, P input_permutation,
                                       P output_permutation, C topk_ids, P stream)
{
    return run(desc, TAG_PrepareMoeInput, stream,
               { expert_offsets, blockscale_offsets, problem_sizes1, problem_sizes2, input_permutation,
                 output_permutation, topk_ids },
               prepare);
}
