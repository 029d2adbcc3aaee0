/* accuracy_mpfr.h - the functions of accuracy.def by MPFR and, for complex numbers, MPC.
 *
 * Digits enough that every cancellation leaves more than is compared; sums and products of operands
 * as they are, so that they are exact. */
#ifndef TSR_BENCH_ACCURACY_MPFR_H
#define TSR_BENCH_ACCURACY_MPFR_H

#include <mpc.h>
#include <mpfr.h>

enum { MP_DIGITS = 180, MP_EXACT = 4400, MP_COMPLEX = 900 };

static mpfr_t mp_x[3], mp_z, mp_t, mp_exact;
static mpc_t  mp_cx, mp_cy, mp_cz;

static void mp_begin(void)
{
    for (int i = 0; i < 3; i++) mpfr_init2(mp_x[i], 53);
    mpfr_init2(mp_z, MP_DIGITS);
    mpfr_init2(mp_t, MP_DIGITS);
    mpfr_init2(mp_exact, MP_EXACT);
    mpc_init2(mp_cx, MP_COMPLEX);
    mpc_init2(mp_cy, MP_COMPLEX);
    mpc_init2(mp_cz, MP_COMPLEX);
}

static void mp_end(void)
{
    for (int i = 0; i < 3; i++) mpfr_clear(mp_x[i]);
    mpfr_clear(mp_z);
    mpfr_clear(mp_t);
    mpfr_clear(mp_exact);
    mpc_clear(mp_cx);
    mpc_clear(mp_cy);
    mpc_clear(mp_cz);
    mpfr_free_cache();
}

/* Uses up v. */
static acc_value mp_split(mpfr_ptr v)
{
    if (!mpfr_regular_p(v)) return (acc_value){ mpfr_get_d(v, MPFR_RNDN), 0, 0 };
    const long e = mpfr_get_exp(v);
    const int scale = e > 600 || e < -600 ? (int)e : 0;
    mpfr_mul_2si(v, v, -scale, MPFR_RNDN);
    const double high = mpfr_get_d(v, MPFR_RNDN);
    mpfr_sub_d(v, v, high, MPFR_RNDN);
    const double low = mpfr_get_d(v, MPFR_RNDN);
    mpfr_sub_d(v, v, low, MPFR_RNDN);
    return (acc_value){ high, acc_odd(low, mpfr_sgn(v)), scale };
}

/* Real ---------------------------------------------------------------------------------------- */

#define PLAIN(f) static mpfr_ptr mp_##f(void) { mpfr_##f(mp_z, mp_x[0], MPFR_RNDN); return mp_z; }
PLAIN(neg) PLAIN(abs) PLAIN(sqrt) PLAIN(exp) PLAIN(exp2) PLAIN(expm1) PLAIN(log) PLAIN(log2) PLAIN(log10)
PLAIN(log1p) PLAIN(sin) PLAIN(cos) PLAIN(tan) PLAIN(asin) PLAIN(acos) PLAIN(atan) PLAIN(sinh) PLAIN(cosh)
PLAIN(tanh) PLAIN(asinh) PLAIN(acosh) PLAIN(atanh) PLAIN(erf)
#undef PLAIN
#define PLAIN(f) static mpfr_ptr mp_##f(void) { mpfr_##f(mp_z, mp_x[0]); return mp_z; }
PLAIN(ceil) PLAIN(floor) PLAIN(trunc)
#undef PLAIN
#define PLAIN(f) \
    static mpfr_ptr mp_##f(void) { mpfr_##f(mp_exact, mp_x[0], mp_x[1], MPFR_RNDN); return mp_exact; }
PLAIN(add) PLAIN(sub) PLAIN(mul) PLAIN(fmod)
#undef PLAIN
#define PLAIN(f) static mpfr_ptr mp_##f(void) { mpfr_##f(mp_z, mp_x[0], mp_x[1], MPFR_RNDN); return mp_z; }
PLAIN(div) PLAIN(pow) PLAIN(atan2) PLAIN(hypot)
#undef PLAIN

static bool mp_is_negative(int i) { return mpfr_sgn(mp_x[i]) < 0; }
static mpfr_ptr mp_number(double v) { mpfr_set_d(mp_z, v, MPFR_RNDN); return mp_z; }
static mpfr_ptr mp_same(void) { mpfr_set(mp_z, mp_x[0], MPFR_RNDN); return mp_z; }

/* erfc of t; far out only where it lies beside 2 or 0, which MPFR would take very many digits to tell. */
static void mp_erfc_of(mpfr_ptr z, mpfr_srcptr t)
{
    if (mpfr_cmp_si(t, -30) < 0) {
        mpfr_set_ui(z, 2, MPFR_RNDN);
        mpfr_nextbelow(z);
    } else if (mpfr_cmp_ui(t, 200) > 0) {
        mpfr_set_ui_2exp(z, 1, -20000, MPFR_RNDN);
    } else {
        mpfr_erfc(z, t, MPFR_RNDN);
    }
}

static mpfr_ptr mp_erfc(void) { mp_erfc_of(mp_z, mp_x[0]); return mp_z; }

static mpfr_ptr mp_round(void) { mpfr_rint(mp_z, mp_x[0], MPFR_RNDN); return mp_z; }
static mpfr_ptr mp_sign(void)  { return mpfr_nan_p(mp_x[0]) ? mp_same() : mp_number(mpfr_sgn(mp_x[0])); }
static mpfr_ptr mp_relu(void)  { return mp_is_negative(0) ? mp_number(0) : mp_same(); }
static mpfr_ptr mp_square(void)     { mpfr_sqr(mp_z, mp_x[0], MPFR_RNDN); return mp_z; }
static mpfr_ptr mp_reciprocal(void) { mpfr_ui_div(mp_z, 1, mp_x[0], MPFR_RNDN); return mp_z; }
static mpfr_ptr mp_rsqrt(void)
{
    mpfr_sqrt(mp_t, mp_x[0], MPFR_RNDN);
    mpfr_ui_div(mp_z, 1, mp_t, MPFR_RNDN);
    return mp_z;
}

static mpfr_ptr mp_angle(void)
{
    if (mpfr_nan_p(mp_x[0])) return mp_same();
    mpfr_const_pi(mp_z, MPFR_RNDN);
    return mpfr_signbit(mp_x[0]) ? mp_z : mp_number(0);
}

/* x / (1 + exp(-t)), t in mp_t */
static mpfr_ptr mp_gated(void)
{
    if (mpfr_inf_p(mp_x[0]) && mp_is_negative(0)) return mp_number(0);
    mpfr_neg(mp_t, mp_t, MPFR_RNDN);
    mpfr_exp(mp_t, mp_t, MPFR_RNDN);
    mpfr_add_ui(mp_t, mp_t, 1, MPFR_RNDN);
    mpfr_div(mp_z, mp_x[0], mp_t, MPFR_RNDN);
    return mp_z;
}

static mpfr_ptr mp_silu(void) { mpfr_set(mp_t, mp_x[0], MPFR_RNDN); return mp_gated(); }

static mpfr_ptr mp_sigmoid(void)
{
    mpfr_neg(mp_t, mp_x[0], MPFR_RNDN);
    mpfr_exp(mp_t, mp_t, MPFR_RNDN);
    mpfr_add_ui(mp_t, mp_t, 1, MPFR_RNDN);
    mpfr_ui_div(mp_z, 1, mp_t, MPFR_RNDN);
    return mp_z;
}

/* 2 sqrt(2 / pi) (x + 0.044715 x^3) */
static mpfr_ptr mp_gelu_tanh(void)
{
    mpfr_pow_ui(mp_t, mp_x[0], 3, MPFR_RNDN);
    mpfr_mul_ui(mp_t, mp_t, 44715, MPFR_RNDN);
    mpfr_div_ui(mp_t, mp_t, 1000000, MPFR_RNDN);
    mpfr_add(mp_t, mp_t, mp_x[0], MPFR_RNDN);
    mpfr_const_pi(mp_z, MPFR_RNDN);
    mpfr_ui_div(mp_z, 8, mp_z, MPFR_RNDN);
    mpfr_sqrt(mp_z, mp_z, MPFR_RNDN);
    mpfr_mul(mp_t, mp_t, mp_z, MPFR_RNDN);
    return mp_gated();
}

static mpfr_ptr mp_gelu(void)
{
    if (mpfr_inf_p(mp_x[0]) && mp_is_negative(0)) return mp_number(0);
    mpfr_sqrt_ui(mp_t, 2, MPFR_RNDN);
    mpfr_div(mp_t, mp_x[0], mp_t, MPFR_RNDN);
    mpfr_neg(mp_t, mp_t, MPFR_RNDN);
    mp_erfc_of(mp_z, mp_t);
    mpfr_mul(mp_z, mp_z, mp_x[0], MPFR_RNDN);
    mpfr_div_2ui(mp_z, mp_z, 1, MPFR_RNDN);
    return mp_z;
}

/* max(x, 0) + log1p(exp(-|x|)) */
static mpfr_ptr mp_softplus(void)
{
    mpfr_abs(mp_t, mp_x[0], MPFR_RNDN);
    mpfr_neg(mp_t, mp_t, MPFR_RNDN);
    mpfr_exp(mp_t, mp_t, MPFR_RNDN);
    mpfr_log1p(mp_z, mp_t, MPFR_RNDN);
    if (!mp_is_negative(0)) mpfr_add(mp_z, mp_z, mp_x[0], MPFR_RNDN);
    return mp_z;
}

static mpfr_ptr mp_hardswish(void)
{
    if (mpfr_cmp_d(mp_x[0], 3) >= 0 || mpfr_nan_p(mp_x[0])) return mp_same();
    if (mpfr_cmp_d(mp_x[0], -3) <= 0) return mp_number(0);
    mpfr_add_ui(mp_t, mp_x[0], 3, MPFR_RNDN);
    mpfr_mul(mp_t, mp_t, mp_x[0], MPFR_RNDN);
    mpfr_div_ui(mp_z, mp_t, 6, MPFR_RNDN);
    return mp_z;
}

static mpfr_ptr mp_elu(void) { return mp_is_negative(0) ? mp_expm1() : mp_same(); }

static mpfr_ptr mp_leaky_relu(void)
{
    mpfr_mul_d(mp_z, mp_x[0], ACC_SLOPE, MPFR_RNDN);
    return mp_is_negative(0) ? mp_z : mp_same();
}

static mpfr_ptr mp_remainder(void)
{
    mp_fmod();
    if (mpfr_regular_p(mp_exact) && (mpfr_sgn(mp_exact) < 0) != mp_is_negative(1))
        mpfr_add(mp_exact, mp_exact, mp_x[1], MPFR_RNDN);
    return mp_exact;
}

/* x and y are numbers or infinite; of equal infinities one is the answer. */
static mpfr_ptr mp_logaddexp(void)
{
    const int i = mpfr_less_p(mp_x[0], mp_x[1]);
    mpfr_sub(mp_t, mp_x[1 - i], mp_x[i], MPFR_RNDN);
    if (mpfr_equal_p(mp_x[0], mp_x[1])) mpfr_set_zero(mp_t, 1);
    mpfr_exp(mp_t, mp_t, MPFR_RNDN);
    mpfr_log1p(mp_t, mp_t, MPFR_RNDN);
    mpfr_add(mp_z, mp_x[i], mp_t, MPFR_RNDN);
    if (mpfr_nan_p(mp_x[1 - i])) mpfr_set_nan(mp_z);
    return mp_z;
}

static mpfr_ptr mp_fma(void) { mpfr_fma(mp_exact, mp_x[0], mp_x[1], mp_x[2], MPFR_RNDN); return mp_exact; }

static mpfr_ptr mp_lerp(void)
{
    mpfr_sub(mp_exact, mp_x[1], mp_x[0], MPFR_RNDN);
    mpfr_fma(mp_exact, mp_exact, mp_x[2], mp_x[0], MPFR_RNDN);
    return mp_exact;
}

/* Complex --------------------------------------------------------------------------------------- */

#define PLAIN(f) static void mp_##f##_c(void) { mpc_##f(mp_cz, mp_cx, MPC_RNDNN); }
PLAIN(sqrt) PLAIN(exp) PLAIN(log) PLAIN(log10) PLAIN(sin) PLAIN(cos) PLAIN(asin) PLAIN(acos) PLAIN(atan)
PLAIN(sinh) PLAIN(cosh) PLAIN(asinh) PLAIN(acosh) PLAIN(atanh)
#undef PLAIN
#define PLAIN(f) static void mp_##f##_c(void) { mpc_##f(mp_cz, mp_cx, mp_cy, MPC_RNDNN); }
PLAIN(mul) PLAIN(div) PLAIN(pow)
#undef PLAIN

static void mp_square_c(void)     { mpc_sqr(mp_cz, mp_cx, MPC_RNDNN); }
static void mp_reciprocal_c(void) { mpc_ui_div(mp_cz, 1, mp_cx, MPC_RNDNN); }
static void mp_abs_c(void)        { mpc_abs(mp_t, mp_cx, MPFR_RNDN); mpc_set_fr(mp_cz, mp_t, MPC_RNDNN); }
static void mp_angle_c(void)      { mpc_arg(mp_t, mp_cx, MPFR_RNDN); mpc_set_fr(mp_cz, mp_t, MPC_RNDNN); }

static void mp_sign_c(void)
{
    mpc_abs(mp_t, mp_cx, MPFR_RNDN);
    mpc_div_fr(mp_cz, mp_cx, mp_t, MPC_RNDNN);
}

static void mp_rsqrt_c(void)
{
    mpc_sqrt(mp_cy, mp_cx, MPC_RNDNN);
    mpc_ui_div(mp_cz, 1, mp_cy, MPC_RNDNN);
}

static void mp_expm1_c(void)
{
    mpc_exp(mp_cy, mp_cx, MPC_RNDNN);
    mpc_sub_ui(mp_cz, mp_cy, 1, MPC_RNDNN);
}

static void mp_log1p_c(void)
{
    mpc_add_ui(mp_cy, mp_cx, 1, MPC_RNDNN);
    mpc_log(mp_cz, mp_cy, MPC_RNDNN);
}

static void mp_log2_c(void)
{
    mpc_log(mp_cy, mp_cx, MPC_RNDNN);
    mpfr_const_log2(mp_t, MPFR_RNDN);
    mpc_div_fr(mp_cz, mp_cy, mp_t, MPC_RNDNN);
}

/* (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b), whose parts go to 1 and 4 exp(-2a) sin b cos b.
 * MPC's own would take as many digits as tell the first from 1. */
static void mp_tanh_c(void)
{
    mpfr_ptr a = mpc_realref(mp_cx), b = mpc_imagref(mp_cx), re = mpc_realref(mp_cz), im = mpc_imagref(mp_cz);
    const bool far = mpfr_cmpabs_ui(a, 400) > 0;
    mpfr_sin_cos(im, re, b, MPFR_RNDN);
    mpfr_mul(im, im, re, MPFR_RNDN);
    mpfr_sqr(re, re, MPFR_RNDN);
    if (far) {
        mpfr_set_si(re, mpfr_sgn(a), MPFR_RNDN);
        mpfr_mul_si(a, a, -2 * mpfr_sgn(a), MPFR_RNDN);
        mpfr_exp(a, a, MPFR_RNDN);
        mpfr_mul_ui(a, a, 4, MPFR_RNDN);
        mpfr_mul(im, im, a, MPFR_RNDN);
        return;
    }
    mpfr_sinh_cosh(mpc_realref(mp_cy), mpc_imagref(mp_cy), a, MPFR_RNDN);
    mpfr_sqr(a, mpc_realref(mp_cy), MPFR_RNDN);
    mpfr_add(a, a, re, MPFR_RNDN);
    mpfr_mul(re, mpc_realref(mp_cy), mpc_imagref(mp_cy), MPFR_RNDN);
    mpc_div_fr(mp_cz, mp_cz, a, MPC_RNDNN);
}

/* tan x = tanh(i x) / i */
static void mp_tan_c(void)
{
    mpc_mul_i(mp_cx, mp_cx, 1, MPC_RNDNN);
    mp_tanh_c();
    mpc_mul_i(mp_cz, mp_cz, -1, MPC_RNDNN);
}

/* The table -------------------------------------------------------------------------------------- */

#define REAL(f)                                                                       \
    static void mp_value_##f(acc_value *z, const double *x)                           \
    {                                                                                 \
        for (int i = 0; i < 3; i++) mpfr_set_d(mp_x[i], x[i], MPFR_RNDN);             \
        z[0] = mp_split(mp_##f());                                                    \
    }
#define COMPLEX(f)                                                                    \
    static void mp_value_##f##_c(acc_value *z, const double *x)                       \
    {                                                                                 \
        mpc_set_d_d(mp_cx, x[0], x[1], MPC_RNDNN);                                    \
        mpc_set_d_d(mp_cy, x[2], x[3], MPC_RNDNN);                                    \
        mp_##f##_c();                                                                 \
        z[0] = mp_split(mpc_realref(mp_cz));                                          \
        z[1] = mp_split(mpc_imagref(mp_cz));                                          \
    }
#define ONE(f, s, b32, b64)            REAL(f)
#define TWO(f, s, b32, b64)            REAL(f)
#define TWO_OF_TERMS(f, s, b32, b64)   REAL(f)
#define THREE(f, s, b32, b64)          REAL(f)
#define THREE_OF_TERMS(f, s, b32, b64) REAL(f)
#define ONE_C(f, b64, b128)            COMPLEX(f)
#define TWO_C(f, b64, b128)            COMPLEX(f)
#define TWO_C_NARROW(f, b64, b128)     COMPLEX(f)
#include "../tests/ops/accuracy.def"
#include "../tests/ops/accuracy_end.inc"
#undef REAL
#undef COMPLEX

static const acc_reference_fn mp_values[] = {
#define ONE(f, s, b32, b64)            mp_value_##f,
#define TWO(f, s, b32, b64)            mp_value_##f,
#define TWO_OF_TERMS(f, s, b32, b64)   mp_value_##f,
#define THREE(f, s, b32, b64)          mp_value_##f,
#define THREE_OF_TERMS(f, s, b32, b64) mp_value_##f,
#define ONE_C(f, b64, b128)            mp_value_##f##_c,
#define TWO_C(f, b64, b128)            mp_value_##f##_c,
#define TWO_C_NARROW(f, b64, b128)     mp_value_##f##_c,
#include "../tests/ops/accuracy.def"
#include "../tests/ops/accuracy_end.inc"
};

#endif
