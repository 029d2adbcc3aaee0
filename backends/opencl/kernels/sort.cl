/* sort.cl - stable sorts of lanes, and places in a sorted list.
 *
 * An element becomes an item: a key that stands to others as the element does, and its index, so that
 * no two items are equal. Work items sort runs of RUN, and then merge pairs of runs, each work item
 * writing RUN items of the merged one.
 *
 * Items of dtypes up to 4 bytes are one number; others (PAIRS) are two. */

#define RUN 16

#ifdef PAIRS
typedef ulong2 item;
#define ITEM(key, index) ((ulong2)((key), (index)))
#define INDEX(i) ((long)(i).y)
#define BEFORE(a, b) ((a).x < (b).x || ((a).x == (b).x && (a).y < (b).y))
#else
typedef ulong item;
#define ITEM(key, index) ((key) << 32 | (index))
#define INDEX(i) ((long)((i) & 0xfffffffful))
#define BEFORE(a, b) ((a) < (b))
#endif

/* The nest has all dims but the axis: values, indices, x. Lanes from `first` on. */
kernel void make_runs(global item *items, CONST_BYTES x, nest t, ulong first, long n, long x_step,
                      int descending)
{
    const long from = (long)get_global_id(0) * RUN;
    if (from >= n) return;
    const long count = min((long)RUN, n - from);
    global item *to = items + get_global_id(1) * (ulong)n + (ulong)from;
    const int dtype = t.dtype[2], size = size_of(dtype);
    long at[3] = { t.base[0], t.base[1], t.base[2] };
    item own[RUN];
    place(&t, first + get_global_id(1), at, 3);
    for (long i = 0; i < count; i++) {
        const ulong bits = load_bits(x + at[2] + (from + i) * x_step, size);
        const item new_item = ITEM(order_key(bits, dtype, descending), (ulong)(from + i));
        long j = i;
        for (; j > 0 && BEFORE(new_item, own[j - 1]); j--) own[j] = own[j - 1];
        own[j] = new_item;
    }
    for (long i = 0; i < count; i++) to[i] = own[i];
}

/* Runs of `run` items are merged in pairs; the last one may be alone. */
kernel void merge_runs(global item *to, global const item *from, long n, long run)
{
    const long out = (long)get_global_id(0) * RUN;
    if (out >= n) return;
    const ulong lane = get_global_id(1) * (ulong)n;
    const long left = out / (2 * run) * (2 * run), middle = min(left + run, n),
               right = min(left + 2 * run, n);
    global const item *a = from + lane + (ulong)left, *b = from + lane + (ulong)middle;
    const long na = middle - left, nb = right - middle, skip = out - left;
    /* How many of the `skip` items ahead come from a. */
    long low = max(0l, skip - nb), high = min(skip, na);
    while (low < high) {
        const long half_way = (low + high) / 2;
        if (BEFORE(b[skip - half_way - 1], a[half_way])) high = half_way;
        else low = half_way + 1;
    }
    long i = low, j = skip - low;
    const long count = min((long)RUN, right - out);
    for (long k = 0; k < count; k++) {
        const int take_a = j >= nb || (i < na && BEFORE(a[i], b[j]));
        to[lane + (ulong)(out + k)] = take_a ? a[i] : b[j];
        if (take_a) i++;
        else j++;
    }
}

/* The first `best` of each lane. */
kernel void give_items(BYTES values, BYTES indices, CONST_BYTES x, global const item *items, nest t,
                       ulong first, long n, long best, long value_step, long index_step, long x_step,
                       int has_values, int has_indices)
{
    const long i = (long)get_global_id(0);
    if (i >= best) return;
    long at[3] = { t.base[0], t.base[1], t.base[2] };
    place(&t, first + get_global_id(1), at, 3);
    const long index = INDEX(items[get_global_id(1) * (ulong)n + (ulong)i]);
    if (has_values)
        move_bits(values + at[0] + i * value_step, x + at[2] + index * x_step, size_of(t.dtype[2]));
    if (has_indices) AT(long, indices + at[1] + i * index_step) = index;
}

kernel void search(BYTES z, CONST_BYTES x, CONST_BYTES sorted, nest t, long sorted_base, long sorted_step,
                   long n, int right)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    const int dtype = t.dtype[1], size = size_of(dtype);
    long at[2] = { t.base[0], t.base[1] };
    place(&t, i, at, 2);
    const ulong key = order_key(load_bits(x + at[1], size), dtype, 0);
    long low = 0, high = n;
    while (low < high) {
        const long half_way = low + (high - low) / 2;
        const ulong other =
            order_key(load_bits(sorted + sorted_base + half_way * sorted_step, size), dtype, 0);
        if (right ? other <= key : other < key) low = half_way + 1;
        else high = half_way;
    }
    AT(long, z + at[0]) = low;
}
