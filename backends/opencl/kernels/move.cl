/* move.cl - elements that keep their bits: copy, fill, where, gather. SIZE is that of an element. */

kernel void copy(BYTES z, CONST_BYTES x, nest t)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[2] = { t.base[0], t.base[1] };
    place(&t, i, at, 2);
    move_bits(z + at[0], x + at[1], SIZE);
}

/* Two dims of the nest, of which operand 0 walks the last with steps of an element and operand 1 the
 * one before: blocks of SIDE x SIDE are transposed in local memory. The others are in the nest. */
#define SIDE 16
#if SIZE == 1
typedef uchar word;
#elif SIZE == 2
typedef ushort word;
#elif SIZE == 4
typedef uint word;
#else
typedef ulong word;
#endif

#if SIZE <= 8
kernel void transpose(BYTES z, CONST_BYTES x, nest t, ulong first, long rows, long z_row, long cols,
                      long x_col)
{
    local word block[SIDE][SIDE + 1];
    const int i = (int)get_local_id(0), j = (int)get_local_id(1);
    const long row = (long)get_group_id(1) * SIDE, col = (long)get_group_id(0) * SIDE;
    long at[2] = { t.base[0], t.base[1] };
    place(&t, first + get_group_id(2), at, 2);
    if (row + i < rows && col + j < cols)
        block[j][i] = AT_CONST(word, x + at[1] + (row + i) * SIZE + (col + j) * x_col);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row + j < rows && col + i < cols)
        AT(word, z + at[0] + (row + j) * z_row + (col + i) * SIZE) = block[i][j];
}
#endif

/* The same without local memory, a work item for each block: for devices that are processors. */
#if SIZE <= 8
kernel void transpose_block(BYTES z, CONST_BYTES x, nest t, ulong first, long rows, long z_row, long cols,
                       long x_col)
{
    const long row = (long)get_group_id(1) * SIDE, col = (long)get_group_id(0) * SIDE;
    long at[2] = { t.base[0], t.base[1] };
    place(&t, first + get_group_id(2), at, 2);
    BYTES to = z + at[0] + row * z_row + col * SIZE;
    CONST_BYTES from = x + at[1] + row * SIZE + col * x_col;
    if (row + SIDE <= rows && col + SIDE <= cols) {
        word block[SIDE][SIDE];
        for (int j = 0; j < SIDE; j++)
            for (int i = 0; i < SIDE; i++) block[i][j] = AT_CONST(word, from + i * SIZE + j * x_col);
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) AT(word, to + i * z_row + j * SIZE) = block[i][j];
    } else {
        for (int i = 0; i < SIDE && row + i < rows; i++)
            for (int j = 0; j < SIDE && col + j < cols; j++)
                AT(word, to + i * z_row + j * SIZE) = AT_CONST(word, from + i * SIZE + j * x_col);
    }
}
#endif

kernel void fill(BYTES z, nest t, ulong low, ulong high)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[1] = { t.base[0] };
    place(&t, i, at, 1);
#if SIZE == 16
    AT(ulong, z + at[0]) = low;
    AT(ulong, z + at[0] + 8) = high;
#else
    store_bits(z + at[0], SIZE, low);
#endif
}

kernel void where(BYTES z, CONST_BYTES c, CONST_BYTES x, CONST_BYTES y, nest t)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[4] = { t.base[0], t.base[1], t.base[2], t.base[3] };
    place(&t, i, at, 4);
    if (c[at[1]]) move_bits(z + at[0], x + at[2], SIZE);
    else          move_bits(z + at[0], y + at[3], SIZE);
}

/* Operands z, index, x; x does not walk along the axis. */
kernel void gather(BYTES z, CONST_BYTES index, CONST_BYTES x, nest t, long axis_step)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[3] = { t.base[0], t.base[1], t.base[2] };
    place(&t, i, at, 3);
    move_bits(z + at[0], x + at[2] + AT_CONST(long, index + at[1]) * axis_step, SIZE);
}
