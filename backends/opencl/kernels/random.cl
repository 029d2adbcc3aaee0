/* random.cl - random numbers by seed and index, with the library's bits (docs/concepts/random.md).
 *
 * A work item makes the numbers of one Philox block, PER_BLOCK of them, `parts` to an element. Products are
 * not fused into sums, and divisions are rounded to nearest, where the device can: what IEEE 754
 * leaves no choice in comes out the same everywhere. */

#if defined(NUMBERS_DOUBLE)
typedef double number;
#else
typedef float number;
#endif

static inline uint4 philox(ulong block, uint stream, uint attempt, ulong seed)
{
    uint4 c = (uint4)((uint)block, (uint)(block >> 32), stream, attempt);
    uint k0 = (uint)seed, k1 = (uint)(seed >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const ulong p0 = 0xD2511F53ul * c.x, p1 = 0xCD9E8D57ul * c.z;
        c = (uint4)((uint)(p1 >> 32) ^ c.y ^ k0, (uint)p1, (uint)(p0 >> 32) ^ c.w ^ k1, (uint)p0);
    }
    return c;
}

static inline uint word_of(uint4 w, int i) { return i == 0 ? w.x : i == 1 ? w.y : i == 2 ? w.z : w.w; }
static inline ulong bits_of(uint4 w, int i)
{
    return i == 0 ? (ulong)w.y << 32 | w.x : (ulong)w.w << 32 | w.z;
}

/* Square root, logarithm, sine and cosine in a fixed order of steps ---------------------------------- */

static inline float root_float(float x)
{
    float y = as_float(0x5f3759dfu - (as_uint(x) >> 1));
    for (int step = 0; step < 3; step++) y = y * (1.5f - 0.5f * x * y * y);
    const float root = x * y;
    return root + 0.5f * y * (x - root * root);
}

static inline float log_float(float x)
{
    const uint from = as_uint(x) - 0x3f3504f3u;
    const float e = (float)((int)from >> 23);
    const float m = as_float((from & 0x007fffffu) + 0x3f3504f3u);
    const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    const float series = z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9))));
    return e * 0.693147181f + (2.0f * s + 2.0f * s * series);
}

static inline float2 cos_sin_float(uint turn)
{
    const uint quarter = (turn + 0x20000000u) >> 30;
    const float x = (float)(int)(turn << 2) * (1.57079633f / 4294967296.0f), z = x * x;
    const float s = x + x * z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880))));
    const float c = 1.0f + z * (-0.5f + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
    const uint change = (as_uint(c) ^ as_uint(s)) & (0u - (quarter & 1u));
    return (float2)(as_float(as_uint(c) ^ change ^ ((quarter + 1u) & 2u) << 30),
                    as_float(as_uint(s) ^ change ^ (quarter & 2u) << 30));
}

#ifdef HAS_F64
static inline double root_double(double x)
{
    double y = as_double(0x5fe6eb50c7b537a9ul - (as_ulong(x) >> 1));
    for (int step = 0; step < 4; step++) y = y * (1.5 - 0.5 * x * y * y);
    const double root = x * y;
    return root + 0.5 * y * (x - root * root);
}

static inline double log_double(double x)
{
    const ulong from = as_ulong(x) - 0x3fe6a09e667f3bcdul;
    const double e = (double)(int)((long)from >> 52);
    const double m = as_double((from & 0x000ffffffffffffful) + 0x3fe6a09e667f3bcdul);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    const double high = 1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z * (1.0 / 19 + z * (1.0 / 21))));
    const double low = 1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z * high)));
    const double series = z * (1.0 / 3 + z * low);
    return e * 0.693147180559945309 + (2.0 * s + 2.0 * s * series);
}

static inline double2 cos_sin_double(ulong turn)
{
    const ulong quarter = (turn + 0x2000000000000000ul) >> 62;
    const double x = (double)(long)(turn << 2) * (1.57079632679489662 / 18446744073709551616.0), z = x * x;
    const double sine_high = 1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 +
                             z * (-1.0 / 1307674368000.0)));
    const double cosine_high = 1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 +
                               z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0))));
    const double s = x + x * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * sine_high)));
    const double c = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * cosine_high)));
    const ulong change = (as_ulong(c) ^ as_ulong(s)) & (0ul - (quarter & 1ul));
    return (double2)(as_double(as_ulong(c) ^ change ^ ((quarter + 1ul) & 2ul) << 62),
                     as_double(as_ulong(s) ^ change ^ (quarter & 2ul) << 62));
}
#endif

/* From words to numbers --------------------------------------------------------------------------------- */

#ifdef NUMBERS_DOUBLE
static inline double fraction(uint4 w, int i)
{
    return (double)(long)(bits_of(w, i) >> 11) * (1.0 / 9007199254740992.0);
}
static inline double positive(uint4 w, int i) { return fraction(w, i) + 0.5 / 9007199254740992.0; }
#define LOG log_double
#else
static inline float fraction(uint4 w, int i)
{
    return (float)(int)(word_of(w, i) >> 8) * (1.0f / 16777216.0f);
}
static inline float positive(uint4 w, int i)
{
    return (float)word_of(w, i) * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f;
}
#define LOG log_float
#endif

/* Numbers i and i + 1 of a block, i even. */
#ifdef NUMBERS_DOUBLE
static inline double2 normal_pair(uint4 w, int i)
{
    const double radius = root_double(-2.0 * log_double(positive(w, 0)));
    return radius * cos_sin_double(bits_of(w, 1));
}
#else
static inline float2 normal_pair(uint4 w, int i)
{
    const float radius = root_float(-2.0f * log_float(positive(w, i)));
    return radius * cos_sin_float(word_of(w, i + 1));
}
#endif

#ifdef NUMBERS_DOUBLE
#define PER_BLOCK 2
#else
#define PER_BLOCK 4
#endif

/* Number i of the stream to where it belongs. */
static inline void put_number(BYTES z, const nest *t, ulong i, number v, uint parts)
{
    const int dtype = t->dtype[0];
    if (i >= (ulong)t->count * parts) return;
    long at[1] = { t->base[0] };
    place(t, i / parts, at, 1);
    store_real(z + at[0] + (long)(i % parts) * size_of(dtype), dtype, (wide)v);
}

kernel void uniform_numbers(BYTES z, nest t, uint parts, ulong seed, wide low, wide width, wide unit,
                            wide least, wide most)
{
    const ulong block = get_global_id(0);
    if (block * PER_BLOCK >= (ulong)t.count * parts) return;
    const uint4 w = philox(block, 0, 0, seed);
    for (int i = 0; i < PER_BLOCK; i++) {
        const number v = ((number)low + (number)width * fraction(w, i)) * (number)unit;
        const number held = v < (number)least ? (number)least : v;
        put_number(z, &t, block * PER_BLOCK + (ulong)i, held > (number)most ? (number)most : held, parts);
    }
}

kernel void normal_numbers(BYTES z, nest t, uint parts, ulong seed)
{
    const ulong block = get_global_id(0);
    if (block * PER_BLOCK >= (ulong)t.count * parts) return;
    const uint4 w = philox(block, 1, 0, seed);
    for (int i = 0; i < PER_BLOCK; i += 2) {
        put_number(z, &t, block * PER_BLOCK + (ulong)i, normal_pair(w, i).x, parts);
        put_number(z, &t, block * PER_BLOCK + (ulong)i + 1, normal_pair(w, i).y, parts);
    }
}

kernel void exponential_numbers(BYTES z, nest t, uint parts, ulong seed, wide rate)
{
    const ulong block = get_global_id(0);
    if (block * PER_BLOCK >= (ulong)t.count) return;
    const uint4 w = philox(block, 3, 0, seed);
    for (int i = 0; i < PER_BLOCK; i++) {
        if (block * PER_BLOCK + (ulong)i >= (ulong)t.count) return;
        long at[1] = { t.base[0] };
        place(&t, block * PER_BLOCK + (ulong)i, at, 1);
        store_real(z + at[0], t.dtype[0], (wide)((number)0 - LOG(positive(w, i))) / rate);
    }
}

/* Below r <= 2^32, four to a block; of the words that would favour some numbers the next attempt is
 * taken. */
kernel void integers_narrow(BYTES z, nest t, uint parts, ulong seed, long low, ulong r)
{
    const ulong block = get_global_id(0);
    if (block * 4 >= (ulong)t.count) return;
    const uint threshold = (uint)((0x100000000ul - r) % r);
    const uint4 w = philox(block, 2, 0, seed);
    for (int i = 0; i < 4 && block * 4 + (ulong)i < (ulong)t.count; i++) {
        ulong product = word_of(w, i) * r;
        for (uint attempt = 1; (uint)product < threshold; attempt++)
            product = word_of(philox(block, 2, attempt, seed), i) * r;
        long at[1] = { t.base[0] };
        place(&t, block * 4 + (ulong)i, at, 1);
        store_integer(z + at[0], t.dtype[0], (ulong)low + (product >> 32));
    }
}

/* Below r > 2^32, two to a block. */
kernel void integers_wide(BYTES z, nest t, uint parts, ulong seed, long low, ulong r)
{
    const ulong block = get_global_id(0);
    if (block * 2 >= (ulong)t.count) return;
    const ulong threshold = (0ul - r) % r;
    const uint4 w = philox(block, 2, 0, seed);
    for (int i = 0; i < 2 && block * 2 + (ulong)i < (ulong)t.count; i++) {
        ulong bits = bits_of(w, i);
        for (uint attempt = 1; bits < threshold; attempt++)
            bits = bits_of(philox(block, 2, attempt, seed), i);
        long at[1] = { t.base[0] };
        place(&t, block * 2 + (ulong)i, at, 1);
        store_integer(z + at[0], t.dtype[0], (ulong)low + bits % r);
    }
}
