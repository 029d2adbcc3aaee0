/* rows.cl - softmax and norms: a work group for each row. The nest has all dims but the row's, in
 * row-major order: z, x, and what else there is. In place is fine: a work item reads and writes the
 * same elements throughout. */

/* The sum of all work items' numbers, in a fixed order; every work item gets it. */
static inline wide sum_of_all(local wide *shared, wide sum, wide lost)
{
    const int l = (int)get_local_id(0), width = (int)get_local_size(0);
    shared[l] = sum;
    shared[width + l] = lost;
    for (int half_width = width / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_width) {
            wide a = shared[l], b = shared[width + l];
            add_exactly(&a, &b, shared[l + half_width]);
            shared[l] = a;
            shared[width + l] = b + shared[width + l + half_width];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const wide total = with_error(shared[0], shared[width]);
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

/* The largest; NaNs are passed over. */
static inline wide largest_of_all(local wide *shared, wide own)
{
    const int l = (int)get_local_id(0), width = (int)get_local_size(0);
    shared[l] = own;
    for (int half_width = width / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_width && shared[l + half_width] > shared[l]) shared[l] = shared[l + half_width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const wide most = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return most;
}

/* q is the number of rows of a causal matrix, of which row i sees columns 0 .. i + n - q; 0: all see all. */
kernel void softmax(BYTES z, CONST_BYTES x, nest t, long n, long z_step, long x_step, long q, int is_log,
                    local wide *shared)
{
    const int l = (int)get_local_id(0), width = (int)get_local_size(0);
    const ulong row = get_group_id(0);
    const int to = DTYPE0(&t), from = DTYPE1(&t);
    long at[2] = { t.base[0], t.base[1] };
    place(&t, row, at, 2);
    BYTES zs = z + at[0];
    CONST_BYTES xs = x + at[1];
    const long seen = q ? clamp((long)(row % (ulong)max(q, 1l)) + 1 + n - q, 0l, n) : n;
    wide most = -(wide)INFINITY, sum = 0, lost = 0;
    for (long i = l; i < seen; i += width) {
        const wide v = (wide)LOAD(xs + i * x_step, from);
        most = v > most ? v : most;
    }
    most = largest_of_all(shared, most);
    for (long i = l; i < seen; i += width)
        add_exactly(&sum, &lost, (wide)exp(LOAD(xs + i * x_step, from) - (value)most));
    const wide total = sum_of_all(shared, sum, lost), by = 1 / total, log_total = log(total);
    for (long i = l; i < n; i += width) {
        wide v = 0;
        if (i < seen && is_log) v = ((wide)LOAD(xs + i * x_step, from) - most) - log_total;
        else if (i < seen)      v = (wide)exp(LOAD(xs + i * x_step, from) - (value)most) * by;
        store_real(zs + i * z_step, to, v);
    }
}

/* (x - mean) / sqrt(var + eps) * weight + bias, or, if rms, x / sqrt(mean of x^2 + eps) * weight.
 * Operands z, x and, if there is one, the residual, whose sum with x goes to `added` first. */
kernel void norm(BYTES z, CONST_BYTES x, CONST_BYTES residual, BYTES added, CONST_BYTES weight,
                 CONST_BYTES bias, nest t, long n, long z_step, long x_step, long residual_step,
                 long added_step, long weight_base, long weight_step, long bias_base, long bias_step,
                 int weight_dtype, int bias_dtype, int is_rms, int has_residual, wide eps, local wide *shared)
{
    const int l = (int)get_local_id(0), width = (int)get_local_size(0), dtype = DTYPE1(&t);
    long at[4] = { t.base[0], t.base[1], t.base[2], t.base[3] };
    place(&t, get_group_id(0), at, 4);
    CONST_BYTES xs = x + at[1];
    wide sum = 0, lost = 0, mean = 0;
    if (has_residual) {
        for (long i = l; i < n; i += width)
            STORE(added + at[3] + i * added_step, dtype,
                  LOAD(xs + i * x_step, dtype) + LOAD(residual + at[2] + i * residual_step, dtype));
        xs = added + at[3];
        x_step = added_step;
    }
    if (!is_rms) {
        for (long i = l; i < n; i += width) add_exactly(&sum, &lost, (wide)LOAD(xs + i * x_step, dtype));
        mean = sum_of_all(shared, sum, lost) / (wide)n;
        sum = lost = 0;
    }
    for (long i = l; i < n; i += width) {
        const wide d = (wide)LOAD(xs + i * x_step, dtype) - mean;
        add_exactly(&sum, &lost, d * d);
    }
    const wide by = 1 / sqrt(sum_of_all(shared, sum, lost) / (wide)n + eps);
    for (long i = l; i < n; i += width) {
        wide v = ((wide)LOAD(xs + i * x_step, dtype) - mean) * by;
        if (weight_dtype) v *= load_real(weight + weight_base + i * weight_step, weight_dtype);
        if (bias_dtype) v += load_real(bias + bias_base + i * bias_step, bias_dtype);
        store_real(z + at[0] + i * z_step, dtype, v);
    }
}
