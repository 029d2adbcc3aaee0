/* byte_columns.c - columns of bytes: weights as integers, and the tables that vectors need. */
#ifndef TSR_FREESTANDING

#include "core/sizes.h"
#include "image.h"

enum { SHUFFLED = 16, NOTHING = 0x80 };  /* bytes of a shuffle, and its index of a zero */

int tsri_weight_bits(double largest, int most)
{
    int bits = most;
    while (largest * (double)(1 << bits) > INT16_MAX - 1) bits--;
    return bits;
}

void tsri_fix_weights(int16_t *z, const double *w, int64_t n, int bits)
{
    double sum = 0;
    int64_t last = 0;
    for (int64_t t = 0; t < n; t++) {
        sum += w[t];
        const double scaled = sum * (double)(1 << bits);
        const int64_t now = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
        z[t] = (int16_t)(now - last);
        last = now;
    }
}

static int64_t row_length(int64_t taps) { return pieces(taps, TSRI_BYTE_TAPS) * TSRI_BYTE_TAPS; }
static int64_t count_blocks(int64_t elements) { return pieces(elements, 4 * TSRI_BYTE_BLOCK) * 4; }

int64_t tsri_byte_table_bytes(int64_t in, int64_t out, int64_t taps, int64_t inner)
{
    const int64_t most = INT64_MAX / 256;
    if (taps > 1 << 24 || in > most / inner || out > most / inner / (taps + TSRI_BYTE_TAPS)) return 0;
    return 64 + out * row_length(taps) * 2 + count_blocks(out * inner) * pieces(taps, 2) * (4 + 2 * SHUFFLED);
}

/* Where the inputs of a pair of taps of an element are. */
static int64_t input_of(const tsri_byte_columns *c, int64_t element, int64_t tap)
{
    const int64_t o = element / c->inner, n = c->count[o];
    return (n == 0 ? 0 : c->first[o] + least(tap, n - 1)) * c->inner + element % c->inner;
}

/* The lowest input of a block that 16 bytes reach from, which all lie in the line; -1: one is further. */
static int64_t find_base(const tsri_byte_columns *c, int64_t block, int64_t tap)
{
    const int64_t begin = block * TSRI_BYTE_BLOCK, end = least(begin + TSRI_BYTE_BLOCK, c->out * c->inner);
    int64_t low = INT64_MAX, high = 0;
    for (int64_t e = begin; e < end; e++) {
        low = least(low, input_of(c, e, tap));
        high = most(high, input_of(c, e, tap + 1));
    }
    if (low > high) return 0;  /* a block behind the last element */
    low = least(low, c->in * c->inner - SHUFFLED);
    return high - low < SHUFFLED ? low : -1;
}

static void fill_block(const tsri_byte_columns *c, int64_t block, int64_t tap, int64_t base, uint8_t *shuffle,
                       int16_t *weight)
{
    for (int64_t i = 0; i < TSRI_BYTE_BLOCK; i++) {
        const int64_t e = block * TSRI_BYTE_BLOCK + i;
        const bool counts = e < c->out * c->inner;
        for (int64_t k = 0; k < 2; k++) {
            const bool weighs = counts && tap + k < c->count[e / c->inner];
            shuffle[4 * i + 2 * k] = counts ? (uint8_t)(input_of(c, e, tap + k) - base) : NOTHING;
            shuffle[4 * i + 2 * k + 1] = NOTHING;
            weight[2 * i + k] = weighs ? c->weight[e / c->inner * c->taps + tap + k] : 0;
        }
    }
}

static void fill_blocks(tsri_byte_columns *c, uint8_t *shuffle, int16_t *weight, int32_t *base)
{
    const int64_t n = c->blocks * c->pairs;
    if (c->in * c->inner < SHUFFLED || c->in * c->inner > INT32_MAX) return;
    for (int64_t i = 0; i < n; i++) {
        const int64_t block = i % c->blocks, tap = i / c->blocks * 2, low = find_base(c, block, tap);
        if (low < 0) return;
        base[i] = (int32_t)low;
        fill_block(c, block, tap, low, shuffle + i * SHUFFLED, weight + i * SHUFFLED / 2);
    }
    c->base = base;
    c->shuffle = shuffle;
    c->by_pair = weight;
}

static double largest_of(const double *w, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        if (w[i] > largest || -w[i] > largest) largest = w[i] < 0 ? -w[i] : w[i];
    return largest;
}

void tsri_byte_columns_fill(tsri_byte_columns *c, const double *weight, int64_t taps, int most_bits,
                            void *room)
{
    int16_t *rows = room;
    c->taps = row_length(taps);
    c->bits = tsri_weight_bits(largest_of(weight, c->out * taps), most_bits);
    for (int64_t o = 0; o < c->out; o++) {
        int16_t *row = rows + o * c->taps;
        tsri_fix_weights(row, weight + o * taps, taps, c->bits);
        for (int64_t t = taps; t < c->taps; t++) row[t] = 0;
    }
    c->weight = rows;
    c->inside = 0;
    while (c->inside < c->out && (c->first[c->inside] + c->taps) * c->inner + 4 <= c->in * c->inner)
        c->inside++;
    c->blocks = count_blocks(c->out * c->inner);
    c->pairs = 0;
    for (int64_t o = 0; o < c->out; o++) c->pairs = most(c->pairs, pieces(c->count[o], 2));
    uint8_t *shuffle = (uint8_t *)(rows + c->out * c->taps);
    int16_t *by_pair = (int16_t *)(void *)(shuffle + c->blocks * c->pairs * SHUFFLED);
    fill_blocks(c, shuffle, by_pair, (int32_t *)(void *)(by_pair + c->blocks * c->pairs * SHUFFLED / 2));
}

#endif
