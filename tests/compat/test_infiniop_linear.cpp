/* test_infiniop_linear.cpp - products, BLAS-1, layers, convolutions and pools, against plain loops. */
#include "infiniop_test.h"

static const infiniDtype_t floats[] = { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32,
                                        INFINI_DTYPE_F64 };

static double silu(double x) { return x / (1 + std::exp(-x)); }

TEST(test_gemm_with_batches_strides_and_factors)
{
    Handle handle;
    const struct { Sizes c, a, b; Steps cs, as, bs; float alpha, beta; } cases[] = {
        { { 5, 7 }, { 5, 6 }, { 6, 7 }, {}, {}, {}, 1, 0 },
        { { 5, 7 }, { 5, 6 }, { 6, 7 }, { 1, 5 }, { 1, 5 }, { 1, 6 }, 0.5f, 1 },
        { { 5, 7 }, { 5, 6 }, { 6, 7 }, { 30, 2 }, { -6, 1 }, { 21, 3 }, -1, 0.25f },
        { { 4, 5, 7 }, { 4, 5, 6 }, { 4, 6, 7 }, {}, {}, {}, 1, 1 },
        { { 4, 5, 7 }, { 1, 5, 6 }, { 4, 6, 7 }, {}, {}, {}, 1, 1 },
        { { 4, 5, 7 }, { 5, 6 }, { 6, 7 }, {}, {}, {}, 2, 0 },
        { { 5, 7 }, { 1, 5, 6 }, { 1, 6, 7 }, {}, {}, {}, 1, 0 },
        { { 1, 5, 7 }, { 5, 6 }, { 1, 6, 7 }, {}, {}, {}, 1, 2 },
        { { 1, 1 }, { 1, 1 }, { 1, 1 }, {}, {}, {}, 1, 1 },
    };
    for (infiniDtype_t d : floats)
        for (const auto &k : cases) {
            Array c(k.c, d, k.cs), a(k.a, d, k.as), b(k.b, d, k.bs), before(k.c, d, k.cs);
            c.random(1);
            before.random(1);
            a.random(2);
            b.random(3);
            const size_t m = k.c[k.c.size() - 2], n = k.c.back(), depth = k.a.back();
            const auto batch = [](const Sizes &s, size_t i) { return s.size() == 3 && s[0] > 1 ? i : 0; };
            EXPECT_DONE(RUN_OP(Gemm, (c.desc(), a.desc(), b.desc()),
                               (c.data(), a.data(), b.data(), k.alpha, k.beta)));
            expect_elements("Gemm", c, [&](size_t i) {
                const size_t at = i / (m * n), row = i / n % m, col = i % n;
                double sum = 0;
                for (size_t j = 0; j < depth; j++)
                    sum +=
                        a[(batch(k.a, at) * m + row) * depth + j] * b[(batch(k.b, at) * depth + j) * n + col];
                return k.alpha * sum + k.beta * before[i];
            }, 2);
        }
}

TEST(test_gemm_does_not_read_c_where_beta_is_0_and_refuses_bad_shapes)
{
    Handle handle;
    Array c({ 2, 2 }, INFINI_DTYPE_F32), a({ 2, 3 }, INFINI_DTYPE_F32), b({ 3, 2 }, INFINI_DTYPE_F32);
    c.fill([](size_t) { return NAN; });
    EXPECT_DONE(RUN_OP(Gemm, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data(), 1, 0)));
    expect_elements("c", c, [](size_t) { return 0; });
    Array v({ 3 }, INFINI_DTYPE_F32), b4({ 4, 2 }, INFINI_DTYPE_F32), half({ 3, 2 }, INFINI_DTYPE_F16);
    Array batch({ 3, 2, 3 }, INFINI_DTYPE_F32), whole({ 2, 2 }, INFINI_DTYPE_I32),
        flat({ 2, 2 }, INFINI_DTYPE_F32, { 0, 1 });
    EXPECT_INFINI(CREATE_OP(Gemm, c.desc(), a.desc(), b4.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Gemm, c.desc(), a.desc(), v.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Gemm, c.desc(), batch.desc(), b.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Gemm, c.desc(), a.desc(), half.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Gemm, whole.desc(), whole.desc(), whole.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Gemm, flat.desc(), a.desc(), b.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
    EXPECT_INFINI(CREATE_OP(Gemm, c.desc(), a.desc(), nullptr), INFINI_STATUS_NULL_POINTER);
}

TEST(test_i8gemm_scales_rows_and_columns)
{
    Handle handle;
    const size_t m = 5, k = 33, n = 7;
    for (infiniDtype_t d : { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32 })
        for (const Sizes &ws : { Sizes{ n }, Sizes{ n, 1 }, Sizes{ 1, n } })
            for (bool biased : { true, false }) {
                Array y({ m, n }, d), bias({ n }, d), x({ m, k }, INFINI_DTYPE_I8),
                    w({ k, n }, INFINI_DTYPE_I8, { 1, k });
                Array xs({ m, 1 }, INFINI_DTYPE_F32), s(ws, INFINI_DTYPE_F32);
                x.random(1, -128, 128);
                w.random(2, -128, 128);
                bias.random(3);
                xs.random(4, 0.001, 0.01);
                s.random(5, 0.001, 0.01);
                EXPECT_DONE(RUN_OP(
                    I8Gemm,
                    (y.desc(), biased ? bias.desc() : nullptr, x.desc(), xs.desc(), w.desc(), s.desc()),
                    (y.data(), bias.data(), x.data(), xs.data(), w.data(), s.data())));
                expect_elements("I8Gemm", y, [&](size_t i) {
                    double sum = 0;
                    for (size_t j = 0; j < k; j++) sum += x[i / n * k + j] * w[j * n + i % n];
                    return sum * xs[i / n] * s[i % n] + (biased ? bias[i % n] : 0);
                });
            }
    Array y({ m, n }, INFINI_DTYPE_F32), x({ m, k }, INFINI_DTYPE_I8), w({ k, n }, INFINI_DTYPE_I8),
        s({ n }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(I8Gemm, y.desc(), nullptr, x.desc(), s.desc(), w.desc(), s.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(I8Gemm, y.desc(), nullptr, y.desc(), s.desc(), w.desc(), s.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

/* BLAS-1 ------------------------------------------------------------------------------------ */

TEST(test_sums_of_vectors)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (ptrdiff_t step : { 1, 3, -2 }) {
            const size_t n = 37;
            Array x({ n }, d, { step }), y({ n }, d), r({}, d), one({ 1 }, d), place({}, INFINI_DTYPE_I32);
            double dot = 0, sum = 0, square = 0;
            x.random(1, -1, 1);
            y.random(2, -1, 1);
            size_t largest = 0, smallest = 0;
            for (size_t i = 0; i < n; i++) {
                dot += x[i] * y[i];
                sum += std::fabs(x[i]);
                square += x[i] * x[i];
                if (std::fabs(x[i]) > std::fabs(x[largest])) largest = i;
                if (std::fabs(x[i]) < std::fabs(x[smallest])) smallest = i;
            }
            EXPECT_DONE(RUN_OP(Dot, (one.desc(), x.desc(), y.desc()), (one.data(), x.data(), y.data())));
            expect_elements("Dot", one, [&](size_t) { return dot; });
            EXPECT_DONE(RUN_OP(BlasDot, (x.desc(), y.desc(), r.desc()), (x.data(), y.data(), r.data())));
            expect_elements("BlasDot", r, [&](size_t) { return dot; });
            EXPECT_DONE(RUN_OP(Asum, (x.desc(), r.desc()), (x.data(), r.data())));
            expect_elements("Asum", r, [&](size_t) { return sum; });
            EXPECT_DONE(RUN_OP(Nrm2, (x.desc(), r.desc()), (x.data(), r.data())));
            expect_elements("Nrm2", r, [&](size_t) { return std::sqrt(square); });
            EXPECT_DONE(RUN_OP(BlasAmax, (x.desc(), place.desc()), (x.data(), place.data())));
            EXPECT(place[0] == (double)largest + 1);
            EXPECT_DONE(RUN_OP(BlasAmin, (x.desc(), place.desc()), (x.data(), place.data())));
            EXPECT(place[0] == (double)smallest + 1);
        }
    Array x({ 4 }, INFINI_DTYPE_F32), y({ 5 }, INFINI_DTYPE_F32), r({}, INFINI_DTYPE_F32),
        m({ 2, 2 }, INFINI_DTYPE_F32);
    Array empty({ 0 }, INFINI_DTYPE_F32), place({}, INFINI_DTYPE_I32);
    EXPECT_INFINI(CREATE_OP(Dot, r.desc(), x.desc(), y.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(BlasDot, m.desc(), m.desc(), r.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Asum, x.desc(), y.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Nrm2, x.desc(), nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(CREATE_OP(BlasAmax, x.desc(), r.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(BlasAmin, empty.desc(), place.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_vectors_changed_in_place)
{
    Handle handle;
    for (infiniDtype_t d : floats) {
        const size_t n = 13;
        Array x({ n }, d, { 2 }), y({ n }, d, { -1 }), x0({ n }, d), y0({ n }, d), alpha({}, d), c({}, d),
            s({}, d);
        x.random(1);
        x0.random(1);
        y.random(2);
        y0.random(2);
        alpha.set(0, 2.5);
        EXPECT_DONE(RUN_OP(Axpy, (alpha.desc(), x.desc(), y.desc()), (alpha.data(), x.data(), y.data())));
        expect_elements("Axpy", y, [&](size_t i) { return 2.5 * x0[i] + y0[i]; });
        EXPECT_DONE(RUN_OP(Scal, (alpha.desc(), x.desc()), (alpha.data(), x.data())));
        expect_elements("Scal", x, [&](size_t i) { return 2.5 * x0[i]; });
        EXPECT_DONE(RUN_OP(BlasCopy, (x0.desc(), x.desc()), (x0.data(), x.data())));
        expect_elements("BlasCopy", x, [&](size_t i) { return x0[i]; });
        EXPECT_DONE(RUN_OP(BlasCopy, (y0.desc(), y.desc()), (y0.data(), y.data())));
        EXPECT_DONE(RUN_OP(Swap, (x.desc(), y.desc()), (x.data(), y.data())));
        expect_elements("Swap", x, [&](size_t i) { return y0[i]; });
        expect_elements("Swap", y, [&](size_t i) { return x0[i]; });
        c.set(0, 0.8);
        s.set(0, 0.6);
        EXPECT_DONE(
            RUN_OP(Rot, (x.desc(), y.desc(), c.desc(), s.desc()), (x.data(), y.data(), c.data(), s.data())));
        expect_elements("Rot", x, [&](size_t i) { return c[0] * y0[i] + s[0] * x0[i]; });
        expect_elements("Rot", y, [&](size_t i) { return c[0] * x0[i] - s[0] * y0[i]; });
    }
    Array x({ 4 }, INFINI_DTYPE_F32), y({ 5 }, INFINI_DTYPE_F32), a({}, INFINI_DTYPE_F32),
        spread({ 4 }, INFINI_DTYPE_F32, { 0 });
    EXPECT_INFINI(CREATE_OP(Axpy, a.desc(), x.desc(), y.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Axpy, x.desc(), x.desc(), x.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Scal, a.desc(), spread.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
    EXPECT_INFINI(CREATE_OP(Swap, x.desc(), spread.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
    EXPECT_INFINI(CREATE_OP(BlasCopy, x.desc(), y.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Rot, x.desc(), x.desc(), x.desc(), a.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_rotg_makes_the_rotation_that_rot_undoes)
{
    Handle handle;
    const double pairs[][2] = { { 3, 4 }, { -4, 3 }, { 0, 2 }, { 2, 0 }, { 0, 0 }, { -1, -1 } };
    for (const auto &p : pairs) {
        Array a({}, INFINI_DTYPE_F64), b({}, INFINI_DTYPE_F64), c({}, INFINI_DTYPE_F64),
            s({}, INFINI_DTYPE_F64);
        a.set(0, p[0]);
        b.set(0, p[1]);
        EXPECT_DONE(
            RUN_OP(Rotg, (a.desc(), b.desc(), c.desc(), s.desc()), (a.data(), b.data(), c.data(), s.data())));
        EXPECT(is_near(c[0] * p[0] + s[0] * p[1], a[0], 1e-14));
        EXPECT(is_near(c[0] * p[1] - s[0] * p[0], 0, 1e-14));
        EXPECT(is_near(c[0] * c[0] + s[0] * s[0], 1, 1e-14));
        if (std::fabs(p[0]) > std::fabs(p[1])) EXPECT(b[0] == s[0]);
    }
}

TEST(test_rotm_by_every_flag)
{
    Handle handle;
    const double params[][5] = {
        { -1, 1.2, -0.3, 0.4, 0.8 }, { 0, 9, -0.25, 0.5, 9 }, { 1, 1.1, 9, 9, 0.9 }, { -2, 9, 9, 9, 9 } };
    for (const auto &p : params) {
        Array x({ 9 }, INFINI_DTYPE_F32), y({ 9 }, INFINI_DTYPE_F32), x0({ 9 }, INFINI_DTYPE_F32),
            y0({ 9 }, INFINI_DTYPE_F32);
        Array param({ 5 }, INFINI_DTYPE_F32);
        x.random(1);
        x0.random(1);
        y.random(2);
        y0.random(2);
        param.fill([&](size_t i) { return p[i]; });
        double h11 = p[1], h21 = p[2], h12 = p[3], h22 = p[4];
        if (p[0] == 0) h11 = h22 = 1;
        if (p[0] == 1) { h12 = 1; h21 = -1; }
        if (p[0] == -2) { h11 = h22 = 1; h12 = h21 = 0; }
        EXPECT_DONE(RUN_OP(Rotm, (x.desc(), y.desc(), param.desc()), (x.data(), y.data(), param.data())));
        expect_elements("x", x, [&](size_t i) { return h11 * x0[i] + h12 * y0[i]; });
        expect_elements("y", y, [&](size_t i) { return h21 * x0[i] + h22 * y0[i]; });
    }
    Array x({ 9 }, INFINI_DTYPE_F32), four({ 4 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(Rotm, x.desc(), x.desc(), four.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

/* What rotmg promises: H rotates (x1, y1) scaled by the roots of d into (x1', 0), and keeps the length. */
TEST(test_rotmg_zeroes_the_second_component)
{
    Handle handle;
    const double in[][4] = { { 1, 2, 3, 4 },     { 2, 1, 4, 0.5 }, { 1e-9, 3, 1, 2 },
                             { 1e9, 1e9, 2, 1 }, { 1, 1, 2, 0 },   { -1, 1, 1, 1 },
                           { INFINITY, 1, 1, 1 } };
    for (const auto &v : in) {
        Array d1({}, INFINI_DTYPE_F64), d2({}, INFINI_DTYPE_F64), x1({}, INFINI_DTYPE_F64),
            y1({}, INFINI_DTYPE_F64);
        Array param({ 5 }, INFINI_DTYPE_F64);
        d1.set(0, v[0]);
        d2.set(0, v[1]);
        x1.set(0, v[2]);
        y1.set(0, v[3]);
        EXPECT_DONE(RUN_OP(Rotmg, (d1.desc(), d2.desc(), x1.desc(), y1.desc(), param.desc()),
                           (d1.data(), d2.data(), x1.data(), y1.data(), param.data())));
        double h11 = param[1], h21 = param[2], h12 = param[3], h22 = param[4];
        if (param[0] == 0) h11 = h22 = 1;
        if (param[0] == 1) { h12 = 1; h21 = -1; }
        if (v[0] < 0) {
            EXPECT(param[0] == -1 && d1[0] == 0 && d2[0] == 0 && x1[0] == 0);
            continue;
        }
        if (v[3] == 0) {
            EXPECT(param[0] == -2 && d1[0] == v[0]);
            continue;
        }
        if (std::isinf(v[0])) { /* no scale brings it into range */
            EXPECT(d1[0] == v[0]);
            continue;
        }
        EXPECT(is_near(h11 * v[2] + h12 * v[3], x1[0], 1e-12));
        EXPECT(is_near(h21 * v[2] + h22 * v[3], 0, 1e-9));
        EXPECT(is_near(d1[0] * x1[0] * x1[0], v[0] * v[2] * v[2] + v[1] * v[3] * v[3], 1e-12));
    }
}

/* Matrices and layers ---------------------------------------------------------------------------- */

TEST(test_matrix_power_of_a_batch)
{
    Handle handle;
    Array y({ 2, 3, 3 }, INFINI_DTYPE_F32), x({ 2, 3, 3 }, INFINI_DTYPE_F32);
    x.random(1);
    for (int n : { 0, 1, 2, 5 }) {
        EXPECT_DONE(RUN_OP(MatrixPower, (y.desc(), x.desc(), n), (y.data(), x.data())));
        for (size_t b = 0; b < 2; b++) {
            double p[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
            for (int step = 0; step < n; step++) {
                double q[9] = {};
                for (size_t i = 0; i < 27; i++)
                    q[i / 9 * 3 + i % 3] += p[i / 9 * 3 + i / 3 % 3] * x[b * 9 + i / 3 % 3 * 3 + i % 3];
                memcpy(p, q, sizeof p);
            }
            for (size_t i = 0; i < 9; i++) EXPECT(is_near(y[b * 9 + i], p[i], 1e-5));
        }
    }
    Array flat({ 2, 3 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(MatrixPower, flat.desc(), flat.desc(), 2), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_fused_ffn_is_norm_gate_and_projection)
{
    Handle handle;
    const size_t n = 3, d = 8, di = 6;
    for (infiniDtype_t dt : floats)
        for (bool residual : { true, false }) {
            Array out({ n, d }, dt), x({ n, d }, dt), r({ n, d }, dt), nw({ d }, dt), gu({ 2 * di, d }, dt),
                dw({ d, di }, dt);
            x.random(1);
            r.random(2);
            nw.random(3);
            gu.random(4);
            dw.random(5);
            EXPECT_DONE(RUN_OP(
                FusedFFN,
                (out.desc(), x.desc(), residual ? r.desc() : nullptr, nw.desc(), gu.desc(), dw.desc(), 1e-6f),
                (out.data(), x.data(), r.data(), nw.data(), gu.data(), dw.data())));
            expect_elements("FusedFFN", out, [&](size_t i) {
                const size_t row = i / d;
                double ms = 0, sum = residual ? r[i] : 0;
                for (size_t j = 0; j < d; j++) ms += x[row * d + j] * x[row * d + j] / (double)d;
                for (size_t h = 0; h < di; h++) {
                    double gate = 0, up = 0;
                    for (size_t j = 0; j < d; j++) {
                        const double v = x[row * d + j] / std::sqrt(ms + 1e-6) * nw[j];
                        gate += v * gu[h * d + j];
                        up += v * gu[(di + h) * d + j];
                    }
                    sum += silu(gate) * up * dw[i % d * di + h];
                }
                return sum;
            }, 6);
        }
    Array x({ n, d }, INFINI_DTYPE_F32), nw({ d }, INFINI_DTYPE_F32), gu({ 5, d }, INFINI_DTYPE_F32),
        dw({ d, di }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(FusedFFN, x.desc(), x.desc(), nullptr, nw.desc(), gu.desc(), dw.desc(), 1e-6f),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_fused_moe_mixes_the_chosen_experts)
{
    Handle handle;
    const size_t n = 3, h = 8, inter = 5, experts = 4, topk = 2;
    for (infiniDtype_t dt : { INFINI_DTYPE_F16, INFINI_DTYPE_F32 })
        for (bool gated : { true, false })
            for (bool biased : { true, false }) {
                const size_t rows = gated ? 2 * inter : inter;
                Array out({ n, h }, dt), x({ n, h }, dt), w1({ experts, rows, h }, dt),
                    w2({ experts, h, inter }, dt);
                Array b1({ experts, rows }, dt), b2({ experts, h }, dt);
                Array index({ n, topk }, INFINI_DTYPE_I32), scale({ n, topk }, INFINI_DTYPE_F32);
                x.random(1);
                w1.random(2);
                w2.random(3);
                b1.random(4);
                b2.random(5);
                scale.random(6, 0, 1);
                index.fill([&](size_t i) { return (double)(i * 3 % experts); });
                EXPECT_DONE(RUN_OP(FusedMoe,
                                   (out.desc(), x.desc(), index.desc(), scale.desc(), w1.desc(), w2.desc(),
                                    biased ? b1.desc() : nullptr, biased ? b2.desc() : nullptr,
                                    gated ? INFINIOP_FUSED_MOE_ACT_SWIGLU : INFINIOP_FUSED_MOE_ACT_SILU),
                                   (out.data(), x.data(), index.data(), scale.data(), w1.data(), w2.data(),
                                    b1.data(), b2.data())));
                expect_elements("FusedMoe", out, [&](size_t i) {
                    const size_t token = i / h;
                    double sum = 0;
                    for (size_t k = 0; k < topk; k++) {
                        const size_t e = (size_t)index[token * topk + k];
                        double y = biased ? b2[e * h + i % h] : 0;
                        for (size_t j = 0; j < inter; j++) {
                            double gate = biased ? b1[e * rows + j] : 0,
                                   up = biased && gated ? b1[e * rows + inter + j] : 0;
                            for (size_t q = 0; q < h; q++) {
                                gate += w1[(e * rows + j) * h + q] * x[token * h + q];
                                if (gated) up += w1[(e * rows + inter + j) * h + q] * x[token * h + q];
                            }
                            y += silu(gate) * (gated ? up : 1) * w2[(e * h + i % h) * inter + j];
                        }
                        sum += scale[token * topk + k] * y;
                    }
                    return sum;
                }, 4);
                index.set(0, (double)experts);
                EXPECT_INFINI(
                    RUN_OP(FusedMoe,
                           (out.desc(), x.desc(), index.desc(), scale.desc(), w1.desc(), w2.desc(), nullptr,
                            nullptr, gated ? INFINIOP_FUSED_MOE_ACT_SWIGLU : INFINIOP_FUSED_MOE_ACT_SILU),
                           (out.data(), x.data(), index.data(), scale.data(), w1.data(), w2.data(), nullptr,
                            nullptr)),
                    INFINI_STATUS_BAD_PARAM);
                EXPECT_INFINI(CREATE_OP(FusedMoe, out.desc(), x.desc(), index.desc(), scale.desc(), w1.desc(),
                                        w2.desc(), nullptr, nullptr, INFINIOP_FUSED_MOE_ACT_SWIGLU_LIMIT_10),
                              INFINI_STATUS_NOT_IMPLEMENTED);
            }
}

TEST(test_fused_moe_bounds_both_halves)
{
    Handle handle;
    const size_t h = 3, inter = 4;
    const infiniDtype_t dt = INFINI_DTYPE_F32;
    Array out({ 1, h }, dt), x({ 1, h }, dt), w1({ 1, 2 * inter, h }, dt), w2({ 1, h, inter }, dt);
    Array index({ 1, 1 }, INFINI_DTYPE_I32), scale({ 1, 1 }, dt);
    x.random(1, -9, 9);
    w1.random(2);
    w2.random(3);
    scale.fill([](size_t) { return 0.5; });
    EXPECT_DONE(RUN_OP(FusedMoe,
                       (out.desc(), x.desc(), index.desc(), scale.desc(), w1.desc(), w2.desc(), nullptr,
                        nullptr, INFINIOP_FUSED_MOE_ACT_SITUGLU),
                       (out.data(), x.data(), index.data(), scale.data(), w1.data(), w2.data(), nullptr,
                        nullptr)));
    expect_elements("FusedMoe", out, [&](size_t i) {
        double y = 0;
        for (size_t j = 0; j < inter; j++) {
            double gate = 0, up = 0;
            for (size_t q = 0; q < h; q++) {
                gate += w1[j * h + q] * x[q];
                up += w1[(inter + j) * h + q] * x[q];
            }
            const double open = 4 * std::tanh(gate / 4) / (1 + std::exp(-gate));
            y += open * 25 * std::tanh(up / 25) * w2[i * inter + j];
        }
        return 0.5 * y;
    }, 8);
}

TEST(test_deepseek_moe_finds_its_experts_by_pointers)
{
    Handle handle;
    const size_t n = 2, h = 8, inter = 4, experts = 3, topk = 2;
    const infiniDtype_t dt = INFINI_DTYPE_F32;
    Array out({ n, h }, dt), x({ n, h }, dt), gate({ experts, inter, h }, dt), up({ experts, inter, h }, dt),
        down({ experts, h, inter }, dt);
    Array index({ n, topk }, INFINI_DTYPE_I32), weight({ n, topk }, INFINI_DTYPE_F32);
    const void *gates[experts], *ups[experts], *downs[experts];
    x.random(1);
    gate.random(2);
    up.random(3);
    down.random(4);
    weight.random(5, 0, 1);
    index.fill([&](size_t i) { return (double)(i % experts); });
    for (size_t e = 0; e < experts; e++) {
        gates[e] = (float *)gate.data() + e * inter * h;
        ups[e] = (float *)up.data() + e * inter * h;
        downs[e] = (float *)down.data() + e * inter * h;
    }
    const auto want = [&](size_t i) {
        double sum = 0;
        for (size_t k = 0; k < topk; k++) {
            const size_t e = (size_t)index[i / h * topk + k];
            for (size_t j = 0; j < inter; j++) {
                double g = 0, u = 0;
                for (size_t q = 0; q < h; q++) {
                    g += gate[(e * inter + j) * h + q] * x[i / h * h + q];
                    u += up[(e * inter + j) * h + q] * x[i / h * h + q];
                }
                sum += silu(g) * u * weight[i / h * topk + k] * down[(e * h + i % h) * inter + j];
            }
        }
        return sum;
    };
    EXPECT_DONE(RUN_OP(DeepseekMoe, (out.desc(), x.desc(), index.desc(), weight.desc(), inter, experts),
                       (out.data(), x.data(), index.data(), weight.data(), gates, ups, downs)));
    expect_elements("DeepseekMoe", out, want, 4);
    infiniopDeepseekMoeDescriptor_t op = nullptr;
    EXPECT_DONE(infiniopCreateDeepseekMoeDescriptor(handle, &op, out.desc(), x.desc(), index.desc(),
                                                    weight.desc(), inter, experts));
    out.fill([](size_t) { return 0; });
    EXPECT_DONE(infiniopDeepseekMoeWithDevicePtrs(op, nullptr, 0, out.data(), x.data(), index.data(),
                                                  weight.data(), gates, ups, downs, nullptr));
    expect_elements("DeepseekMoe", out, want, 4);
    EXPECT_INFINI(infiniopDeepseekMoe(op, nullptr, 0, out.data(), x.data(), index.data(), weight.data(),
                                      nullptr, ups, downs, nullptr),
                  INFINI_STATUS_NULL_POINTER);
    gates[0] = nullptr;
    EXPECT_INFINI(infiniopDeepseekMoe(op, nullptr, 0, out.data(), x.data(), index.data(), weight.data(),
                                      gates, ups, downs, nullptr),
                  INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infiniopDestroyDeepseekMoeDescriptor(op));
}

/* Windows ---------------------------------------------------------------------------------------- */

TEST(test_conv_in_one_two_and_three_dims)
{
    Handle handle;
    const struct { Sizes x, w, y; int64_t pad[3], stride[3], dilation[3]; } cases[] = {
        { { 3, 3, 4 }, { 4, 3, 5 }, { 3, 4, 2 }, { 1 }, { 1 }, { 1 } },
        { { 1, 3, 4, 4 }, { 2, 3, 3, 3 }, { 1, 2, 2, 2 }, { 1, 1 }, { 1, 2 }, { 2, 1 } },
        { { 2, 2, 5, 4, 6 }, { 3, 2, 2, 3, 2 }, { 2, 3, 3, 4, 4 }, { 1, 1, 1 }, { 2, 1, 2 }, { 1, 1, 1 } },
    };
    for (infiniDtype_t d : floats)
        for (const auto &k : cases)
            for (bool biased : { true, false }) {
                Array y(k.y, d), x(k.x, d), w(k.w, d), b({ k.w[0] }, d);
                x.random(1);
                w.random(2);
                b.random(3);
                const size_t n = k.x.size() - 2, ci = k.x[1], co = k.w[0];
                EXPECT_DONE(RUN_OP(Conv,
                                   (y.desc(), x.desc(), w.desc(), biased ? b.desc() : nullptr, (void *)k.pad,
                                    (void *)k.stride, (void *)k.dilation, n),
                                   (y.data(), x.data(), w.data(), b.data())));
                size_t spatial = 1, taps = 1, inside = 1;
                for (size_t i = 0; i < n; i++) {
                    spatial *= k.y[i + 2];
                    taps *= k.w[i + 2];
                    inside *= k.x[i + 2];
                }
                expect_elements("Conv", y, [&](size_t i) {
                    const size_t o = i / spatial % co, image = i / spatial / co;
                    double sum = biased ? b[o] : 0;
                    for (size_t c = 0; c < ci; c++)
                        for (size_t t = 0; t < taps; t++) {
                            size_t place = i % spatial, tap = t, at = 0, step = 1;
                            bool out = false;
                            for (size_t q = n; q-- > 0;) {
                                const int64_t p = (int64_t)(place % k.y[q + 2]) * k.stride[q] - k.pad[q] +
                                                  (int64_t)(tap % k.w[q + 2]) * k.dilation[q];
                                out = out || p < 0 || p >= (int64_t)k.x[q + 2];
                                at += (size_t)p * step;
                                step *= k.x[q + 2];
                                place /= k.y[q + 2];
                                tap /= k.w[q + 2];
                            }
                            if (!out) sum += x[(image * ci + c) * inside + at] * w[(o * ci + c) * taps + t];
                        }
                    return sum;
                }, 2);
            }
    Array y({ 1, 2, 3, 3 }, INFINI_DTYPE_F32), x({ 1, 3, 4, 4 }, INFINI_DTYPE_F32),
        w({ 2, 3, 3, 3 }, INFINI_DTYPE_F32);
    int64_t zero[3] = {}, one[3] = { 1, 1, 1 };
    EXPECT_INFINI(CREATE_OP(Conv, y.desc(), x.desc(), w.desc(), nullptr, zero, one, one, 2),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Conv, y.desc(), x.desc(), w.desc(), nullptr, zero, zero, one, 2),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(Conv, y.desc(), x.desc(), w.desc(), nullptr, nullptr, one, one, 2),
                  INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(CREATE_OP(Conv, y.desc(), x.desc(), w.desc(), nullptr, zero, one, one, 4),
                  INFINI_STATUS_BAD_PARAM);
}

TEST(test_average_pools)
{
    Handle handle;
    for (infiniDtype_t d : floats) {
        Array y({ 2, 3, 5 }, d), x({ 2, 3, 9 }, d);
        x.random(1);
        EXPECT_DONE(RUN_OP(AvgPool1d, (y.desc(), x.desc(), 3, 2, 1), (y.data(), x.data())));
        expect_elements("AvgPool1d", y, [&](size_t i) {
            double sum = 0;
            for (int k = -1; k < 2; k++) {
                const int at = (int)(i % 5) * 2 + k;
                if (at >= 0 && at < 9) sum += x[i / 5 * 9 + (size_t)at];
            }
            return sum / 3;
        });
        const size_t kernel[3] = { 2, 2, 2 };
        Array y3({ 1, 2, 2, 2, 2 }, d), x3({ 1, 2, 4, 4, 4 }, d);
        x3.random(2);
        EXPECT_DONE(RUN_OP(AvgPool3d, (y3.desc(), x3.desc(), (void *)kernel, nullptr, nullptr),
                           (y3.data(), x3.data())));
        expect_elements("AvgPool3d", y3, [&](size_t i) {
            double sum = 0;
            for (size_t k = 0; k < 8; k++)
                sum += x3[i / 8 * 64 + (i / 4 % 2 * 2 + k / 4) * 16 + (i / 2 % 2 * 2 + k / 2 % 2) * 4 +
                          i % 2 * 2 + k % 2];
            return sum / 8;
        });
    }
    Array y({ 2, 3, 4 }, INFINI_DTYPE_F32), x({ 2, 3, 9 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(AvgPool1d, y.desc(), x.desc(), 3, 2, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(AvgPool1d, y.desc(), x.desc(), 0, 2, 1), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(AvgPool3d, y.desc(), x.desc(), nullptr, nullptr, nullptr),
                  INFINI_STATUS_NULL_POINTER);
}

TEST(test_pixel_shuffle_spreads_channels)
{
    Handle handle;
    const size_t r = 2, c = 3, h = 2, w = 4;
    Array y({ 2, c, h * r, w * r }, INFINI_DTYPE_F32), x({ 2, c * r * r, h, w }, INFINI_DTYPE_F32);
    x.random(1);
    EXPECT_DONE(RUN_OP(PixelShuffle, (y.desc(), x.desc(), (int)r), (y.data(), x.data())));
    expect_elements("PixelShuffle", y, [&](size_t i) {
        const size_t col = i % (w * r), row = i / (w * r) % (h * r), plane = i / (w * r * h * r);
        return x[((plane * r * r + row % r * r + col % r) * h + row / r) * w + col / r];
    });
    EXPECT_INFINI(CREATE_OP(PixelShuffle, y.desc(), x.desc(), 3), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(PixelShuffle, y.desc(), x.desc(), 0), INFINI_STATUS_BAD_PARAM);
}
