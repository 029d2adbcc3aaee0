/* op.h - ops as data: what there is, what each one takes, gives and costs.
 *
 * op.def is the list. Programs call ops as functions (ops.h); this header is for
 * those who look at ops from outside: backends, tools, bindings, planners.
 */
#ifndef TESSERA_OP_H
#define TESSERA_OP_H

#include "tensor.h"

TSR_BEGIN_C

enum { TSR_OP_MAX_IN = 6, TSR_OP_MAX_OUT = 4 };

typedef enum tsr_op_kind {
    TSR_OP_NONE = 0,
#define X(ID, name, family, params, signature, flops, doc, call) TSR_OP_##ID,
#include "op.def"
    TSR_OP_COUNT,
    TSR_OP_MAX_ = 0x7fffffff
} tsr_op_kind;

typedef struct tsr_op {
    tsr_op_kind       kind;
    int32_t           nin, nout;
    int32_t           reserved;
    const tsr_tensor *in[TSR_OP_MAX_IN];   /* NULL: an operand that may be left out, and is */
    tsr_tensor       *out[TSR_OP_MAX_OUT];
    const void       *params; /* the struct named in op.def, or NULL */
    void             *stream; /* the backend's; NULL: the device's own (stream.h) */
} tsr_op;

/* Parameters of the ops that have any. */
typedef struct tsr_fill_params   { tsr_scalar value; } tsr_fill_params;
typedef struct tsr_random_params { uint64_t seed; double low, high; } tsr_random_params;
typedef struct tsr_pair_params   { double a, b; } tsr_pair_params;
typedef struct tsr_matmul_params {
    tsr_scalar alpha, beta;
} tsr_matmul_params; /* c is not read where beta is 0 */
typedef struct tsr_reduce_params {
    uint32_t axes;      /* bit i: axis i is reduced, or scanned along */
    bool     keepdims;  /* reduced axes stay, with size 1 */
    double   a, b;      /* var, std: a is the correction; norm: a is p */
} tsr_reduce_params;
typedef struct tsr_axis_params    { int32_t axis; } tsr_axis_params;
typedef struct tsr_scatter_params { int32_t axis, mode; } tsr_scatter_params; /* mode: a tsr_scatter_mode */
typedef struct tsr_sort_params    { int32_t axis; bool descending; } tsr_sort_params;
typedef struct tsr_search_params  { bool right; } tsr_search_params;
typedef struct tsr_norm_params {
    int64_t count;
    double eps;
} tsr_norm_params; /* layer_norm: count dims; group_norm: groups */
typedef struct tsr_rope_params    { int32_t mode; double theta; } tsr_rope_params; /* mode: a tsr_rope_mode */
typedef struct tsr_dropout_params { double p; uint64_t seed; } tsr_dropout_params;
typedef struct tsr_loss_params {
    int32_t reduction;     /* a tsr_reduction */
    double  a;             /* huber_loss: delta; smooth_l1_loss: beta */
    double  smoothing;     /* of cross entropies, as is ignore_index; nll_loss has that too */
    int64_t ignore_index;
} tsr_loss_params;
typedef struct tsr_conv_params {
    int32_t spatial;  /* dims, 1 .. 3; the arrays hold one number for each */
    int64_t groups;
    int64_t stride[3], low[3], high[3], dilation[3];  /* low, high: zeros ahead of x and behind it */
    int64_t output_padding[3];                        /* conv_transpose */
    int64_t size[3];                                  /* conv_grad_weights: of the window */
} tsr_conv_params;
typedef struct tsr_pool_params {
    int32_t spatial;
    bool    adaptive;     /* size says what the result is; of the others, only spatial counts */
    bool    ceil_mode;
    bool    exclude_pad;  /* avg_pool: the padding does not count */
    int64_t divisor;      /* avg_pool: divides the sum; 0: the number of places that count does */
    int64_t kernel[3], stride[3], padding[3], dilation[3], size[3];
    double  p;            /* lp_pool */
} tsr_pool_params;
typedef struct tsr_resize_params {
    int32_t spatial;        /* dims, 1 .. 3; the arrays hold one number for each */
    int32_t mode;           /* a tsr_interpolation */
    bool    align_corners, antialias;
    int64_t size[3];        /* of the result */
    double  scale[3];       /* outputs for each input; 0: size over the size of x */
} tsr_resize_params;
typedef struct tsr_grid_params {
    int32_t mode, padding;  /* a tsr_interpolation, a tsr_grid_padding */
    bool    align_corners;
} tsr_grid_params;
typedef struct tsr_factor_params {
    bool upper, full;
} tsr_factor_params; /* cholesky: upper; qr, svd: full */
typedef struct tsr_attention_params { double scale; bool causal; } tsr_attention_params;
typedef struct tsr_quant_params {
    int32_t   axis;       /* TSR_ALL_AXES: one scale for all */
    tsr_dtype dtype;      /* of z, or of the bytes that a range is for */
    bool      symmetric;  /* of a range: 0 lies in the middle */
} tsr_quant_params;
typedef struct tsr_block_params { int32_t kind; } tsr_block_params; /* a tsr_block_kind */
typedef struct tsr_integers_params    { uint64_t seed; int64_t low, high; } tsr_integers_params;
typedef struct tsr_exponential_params { uint64_t seed; double rate; } tsr_exponential_params;
typedef struct tsr_sample_params {
    double temperature, top_p;
    int64_t top_k;
} tsr_sample_params; /* top_k 0: all */
typedef struct tsr_activation_params { int32_t activation; } tsr_activation_params; /* a tsr_activation */
typedef struct tsr_step_params {
    double rate;            /* scale_each, axpy_each: the factor; else the factor of the step */
    double kept, added;     /* param is multiplied by kept; added * param is added to the gradient */
    double first, second;   /* how much of the velocity is kept; of the first and the second moment */
    double scale, eps;      /* adam_step: first / (sqrt(second * scale) + eps) is the step */
    bool   nesterov;
} tsr_step_params;
typedef struct tsr_fft_params { int32_t axis; bool inverse; int64_t n; double scale; } tsr_fft_params;

/* The list -------------------------------------------------------------------- */

typedef struct tsr_op_info {
    const char *name, *family, *params, *signature, *doc;
    double      flops;  /* for an element of the result */
    const char *call;   /* what the public function takes and gives, as op.def writes it */
    tsr_op_kind kind;   /* TSR_OP_NONE: a composed op, which computes with others */
} tsr_op_info;

/* NULL if there is no such op. */
TSR_API const tsr_op_info *tsr_op_get_info(tsr_op_kind kind);

/* The op of this name, or TSR_OP_NONE. */
TSR_API tsr_op_kind tsr_op_find(const char *name);

/* Row i of op.def, from 0: the ops in the order of their kinds, then the composed ones (concat, linear,
 * topk). NULL after the last. */
TSR_API const tsr_op_info *tsr_op_row(int i);

/* On devices that are not the CPU, since the start or the last reset. */
typedef struct tsr_op_stats {
    int64_t run;         /* by the device's backend */
    int64_t in_parts;    /* with other ops, which count too */
    int64_t elsewhere;   /* on the CPU, for another device */
    int64_t refused;
} tsr_op_stats;

/* Of one op, or of all for TSR_OP_NONE. */
TSR_API void tsr_op_get_stats(tsr_op_stats *out, tsr_op_kind kind);
TSR_API void tsr_op_reset_stats(void);


/* Before there is data ---------------------------------------------------------- */

/* The results' descs that an op would make of operands like these. in[i] is NULL
 * for an operand that is left out; params are the op's own, or NULL if it has none.
 * out holds as many descs as the op's signature has results.
 *
 *     tsr_desc z;
 *     tsr_infer(&z, TSR_OP_MATMUL, 2, (const tsr_desc *[]){ &a, &b }, NULL);
 *
 * Fails as the op itself would. TSR_EUNSUPPORTED for an op whose result is the
 * caller's to choose (fill, uniform). */
TSR_API TSR_MUST_CHECK tsr_status tsr_infer(tsr_desc *out, tsr_op_kind kind, int nin,
                                            const tsr_desc *const *in, const void *params);

/* What an op must do at the least: the bytes it reads and writes once, and its
 * floating-point (or integer) operations. */
typedef struct tsr_cost {
    double bytes, flops;
} tsr_cost;

/* The cost of an op on operands like these. Fails as tsr_infer does. */
TSR_API TSR_MUST_CHECK tsr_status tsr_op_cost(tsr_cost *out, tsr_op_kind kind, int nin,
                                              const tsr_desc *const *in, const void *params);

TSR_END_C

#endif
