/* pattern.cl - functions of a float's bits: the sign is one of them, and the next number is the next
 * pattern. value is ulong here. */
#define LOAD(p, dtype) load_bits(p, size_of(dtype))
#define STORE(p, dtype, v) store_bits(p, size_of(dtype), v)

static inline ulong sign_of(int dtype) { return 1ul << (8 * size_of(dtype) - 1); }

static inline ulong op_copysign(int dtype, ulong x, ulong y)
{
    const ulong sign = sign_of(dtype);
    return (x & ~sign) | (y & sign);
}

static inline ulong op_nextafter(int dtype, ulong x, ulong y)
{
    const ulong sign = sign_of(dtype), last = last_number(dtype);
    if ((x & ~sign) > last) return x;
    const ulong kx = order_key(x, dtype, 0), ky = order_key(y, dtype, 0);
    if ((y & ~sign) > last || kx == ky) return y;
    if ((x & ~sign) == 0) return (y & sign) | 1ul;
    return (kx < ky) == !(x & sign) ? x + 1 : x - 1;
}
