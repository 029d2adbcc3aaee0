/* trial.c - random strided tensors, and comparisons that explain themselves. */
#include "trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"

enum { GAP = 0xa5 }; /* in the bytes of an output before it is written */

/* Lists ------------------------------------------------------------------------------- */

static bool make_room(check_list *list)
{
    if (list->count < list->room) return true;
    const int room = list->room ? 2 * list->room : 512;
    check *item = realloc(list->item, (size_t)room * sizeof *item);
    if (!item) {
        list->full = true;
        return false;
    }
    list->item = item;
    list->room = room;
    return true;
}

void add_check(check_list *list, check c, const char *title)
{
    if (!make_room(list)) return;
    snprintf(c.name, sizeof c.name, "%s%s%s%s%s", title, c.dtype ? " " : "",
             c.dtype ? tsr_dtype_name(c.dtype) : "", c.other ? " " : "",
             c.other ? tsr_dtype_name(c.other) : "");
    list->item[list->count++] = c;
}

void add_checks(check_list *list, check c, const char *title, bool (*takes)(tsr_dtype dtype))
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        c.dtype = (tsr_dtype)d;
        if (!takes || takes(c.dtype)) add_check(list, c, title);
    }
}

void add_rules(check_list *list, check c, const check_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        c.run = rules[i].run;
        c.about = rules[i].about;
        add_checks(list, c, rules[i].name, rules[i].takes);
    }
}

void list_everything(check_list *list)
{
    list_movement(list);
    list_elementwise(list);
    list_reduce(list);
    list_matmul(list);
    list_order(list);
    list_index(list);
    list_random(list);
    list_linalg(list);
    list_conv(list);
    list_nn(list);
    list_norm(list);
    list_loss(list);
    list_layout(list);
    list_view(list);
    list_join(list);
    list_contract(list);
    list_products(list);
    list_fftn(list);
    list_adaptive_pool(list);
    list_image(list);
    list_quant(list);
    list_lookup(list);
    list_unique(list);
    list_statistics(list);
    list_draw(list);
    list_spectrum(list);
    list_training(list);
    list_layers(list);
    list_create(list);
    list_compare(list);
    list_element(list);
    list_errors(list);
    list_threads(list);
}

/* Verdicts ---------------------------------------------------------------------------- */

void fail_trial(trial *t, const char *format, ...)
{
    va_list arguments;
    if (t->failed) return;
    t->failed = t->differs = true;
    va_start(arguments, format);
    vsnprintf(t->why, sizeof t->why, format, arguments);
    va_end(arguments);
}

/* Failed until run_trial ends, so that everything stops. */
void skip_trial(trial *t, const char *format, ...)
{
    va_list arguments;
    if (t->failed) return;
    t->failed = t->skipped = true;
    va_start(arguments, format);
    vsnprintf(t->why, sizeof t->why, format, arguments);
    va_end(arguments);
}

/* Numbers that nobody computed are no indices, weights or sizes. */
static bool is_for_values(tsr_status s) { return s == TSR_EINDEX || s == TSR_EINVAL || s == TSR_ESHAPE; }

void fail_call(trial *t, const char *call, tsr_status status)
{
    const trial_settings *how = t->how;
    if (t->failed) return;
    const char *excuse = how && how->excuse ? how->excuse(t, status) : NULL;
    if (excuse) {
        skip_trial(t, "%s: %s", excuse, tsr_last_error());
        return;
    }
    fail_trial(t, "%s gave %s: %s", call, tsr_status_name(status), tsr_last_error());
    t->differs = how && how->plumbing && is_for_values(status);
}

bool is_missing(trial *t, tsr_status status)
{
    const char *why = tsr_last_error();
    if (status != TSR_EUNSUPPORTED || !strstr(why, "none was found")) return false;
    skip_trial(t, "%s", why);
    return true;
}

/* Numbers ------------------------------------------------------------------------------ */

uint64_t trial_random(uint64_t seed, const check *c, int64_t pass)
{
    uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (const char *p = c->name; *p; p++) h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    return h + (uint64_t)pass * 0x632be59bd9b4e019u;
}

static uint64_t made_bits(trial *t)
{
    uint64_t z = (t->random += 0x9e3779b97f4a7c15u); /* SplitMix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* From the bytes, as many as numbers up to `most` have. */
static uint64_t draw(trial *t, uint64_t most)
{
    uint64_t drawn = 0;
    if (t->bytes == t->bytes_end) return made_bits(t);
    for (; most > 0 && t->bytes < t->bytes_end; most >>= 8) drawn = drawn << 8 | *t->bytes++;
    return drawn;
}

uint64_t random_bits(trial *t) { return draw(t, UINT64_MAX); }
int64_t  random_below(trial *t, int64_t n) { return (int64_t)(draw(t, (uint64_t)n - 1) % (uint64_t)n); }
bool     once_in(trial *t, int64_t n) { return random_below(t, n) == 0; }
int64_t  random_between(trial *t, int64_t low, int64_t high) { return low + random_below(t, high - low + 1); }

const unsigned char *begin_elements(trial *t, int64_t n)
{
    enum { FEW = 12 };
    const unsigned char *end = t->bytes_end;
    if (n <= FEW || t->bytes == end) return end;
    t->random ^= draw(t, UINT16_MAX);
    t->bytes_end = t->bytes;
    return end;
}

void end_elements(trial *t, const unsigned char *bytes_end) { t->bytes_end = bytes_end; }

static void shuffle(trial *t, int n, int *order)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int64_t k = random_below(t, i + 1);
        const int other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

/* Indices ------------------------------------------------------------------------------ */

int64_t count_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    return n;
}

void index_of(int64_t *index, int64_t k, int ndim, const int64_t *shape)
{
    for (int d = ndim - 1; d >= 0; d--) {
        index[d] = k % shape[d];
        k /= shape[d];
    }
}

int64_t place_of(const int64_t *index, int ndim, const int64_t *shape)
{
    int64_t k = 0;
    for (int d = 0; d < ndim; d++) k = k * shape[d] + index[d];
    return k;
}

/* The host's address of element (0, ..., 0). */
static char *host_data(const tsr_tensor *tensor)
{
    if (tensor->device == TSR_CPU || !tensor->storage) return tensor->data;
    unsigned char *bytes = mirror_of(tensor->storage);
    if (!bytes) abort(); /* no memory, in a program of checks */
    return (char *)bytes + ((char *)tensor->data - (char *)tsr_storage_data(tensor->storage));
}

static unsigned char *host_bytes(tsr_storage *s)
{
    return tsr_storage_device(s) == TSR_CPU ? tsr_storage_data(s) : mirror_of(s);
}

void *element(const tsr_tensor *tensor, int64_t k)
{
    int64_t index[TSR_MAX_NDIM], offset = 0;
    index_of(index, k, tensor->ndim, tensor->shape);
    for (int d = 0; d < tensor->ndim; d++)
        if (index[d]) offset += index[d] * tensor->stride[d];
    return host_data(tensor) + offset * (int64_t)size_of(tensor->dtype);
}

value value_at(const tsr_tensor *tensor, int64_t k) { return read_value(tensor->dtype, element(tensor, k)); }

/* Samples ------------------------------------------------------------------------------ */

enum { SAMPLE_WORK = 1 << 20, SAMPLES_LEAST = 48 };

static int64_t samples_of(int64_t cost)
{
    const int64_t n = SAMPLE_WORK / (cost > 0 ? cost : 1);
    return n > SAMPLES_LEAST ? n : SAMPLES_LEAST;
}

int64_t first_sample(trial *t, int64_t n, int64_t cost)
{
    (void)cost;
    t->sampling = t->random ^ 0x5bd1e995u;
    return n > 0 && !t->failed && !(t->how && t->how->unchecked) ? 0 : -1;
}

/* A third of the samples at either end, the rest in random steps between. */
int64_t next_sample(trial *t, int64_t k, int64_t n, int64_t cost)
{
    const int64_t samples = samples_of(cost), end = samples / 3;
    if (t->failed || k + 1 >= n) return -1;
    if (n <= samples || k < end || k + 1 >= n - end) return k + 1;
    t->sampling = t->sampling * 6364136223846793005u + 1442695040888963407u;
    const int64_t step = 1 + (int64_t)((t->sampling >> 33) % (uint64_t)(2 * (n / end) + 1));
    return k + step < n - end ? k + step : n - end;
}

/* Shapes and strides ------------------------------------------------------------------- */

int64_t most_elements(const trial *t)
{
    return t->how && t->how->elements ? t->how->elements : TRIAL_ELEMENTS;
}

static int64_t random_edge(trial *t) { return t->how->edges[random_below(t, t->how->nedges)]; }

/* One of the sizes at which kernels end, twice that, or thrice; with another one behind it, as a tail of a
 * vector follows tiles; one less, or one more. Or any size. 0: none that fits. */
static int64_t edge_size(trial *t, int64_t most)
{
    if (once_in(t, 4)) return random_between(t, 1, most < 300 ? most : 300);
    const int64_t times = once_in(t, 3) ? random_between(t, 2, 3) : 1;
    const int64_t n =
        random_edge(t) * times + (once_in(t, 3) ? random_edge(t) : 0) + random_between(t, -1, 1);
    return n >= 1 && n <= most ? n : 0;
}

int64_t random_size(trial *t, int64_t low, int64_t high, int64_t most)
{
    const int64_t edge = most > 0 && t->how && t->how->nedges > 0 && !once_in(t, 3) ? edge_size(t, most) : 0;
    return edge ? edge : random_between(t, low, high < most || low > most ? high : most);
}

/* Sizes in a random order, so that any dim may be the long one. */
int random_shape(trial *t, int64_t shape[TRIAL_RANK], int low, int high, bool may_be_empty)
{
    const int ndim = (int)random_between(t, low, high < TSR_MAX_NDIM ? high : TSR_MAX_NDIM);
    int order[TSR_MAX_NDIM];
    int64_t left = most_elements(t);
    shuffle(t, ndim, order);
    for (int d = 0; d < ndim; d++) {
        const int64_t usual = ndim == 1 ? 40 : 7;
        const int64_t n = once_in(t, 4) ? 1 : random_size(t, 1, usual < left ? usual : left, left);
        shape[order[d]] = n;
        left /= n;
    }
    if (may_be_empty && ndim > 0 && once_in(t, 20)) shape[random_below(t, ndim)] = 0;
    return ndim;
}

/* Dims from the last to the first, as in rows that follow each other, or the last two swapped. */
static void order_of_rows(trial *t, int ndim, int *order)
{
    for (int i = 0; i < ndim; i++) order[i] = ndim - 1 - i;
    if (ndim < 2 || !once_in(t, 4)) return;
    order[0] = ndim - 2;
    order[1] = ndim - 1;
}

/* Rows of adjacent elements, with gaps between them or without. */
static void row_strides(trial *t, int64_t *stride, int ndim, const int64_t *shape)
{
    int order[TSR_MAX_NDIM];
    const bool gaps = once_in(t, 2);
    int64_t step = 1;
    order_of_rows(t, ndim, order);
    for (int i = 0; i < ndim; i++) {
        stride[order[i]] = step;
        step *= shape[order[i]] > 0 ? shape[order[i]] : 1;
        if (gaps) step += random_below(t, 4);
    }
}

/* Nested steps in a random order of dims, so that no two indices meet. */
static void any_strides(trial *t, int64_t *stride, int ndim, const int64_t *shape, bool may_repeat)
{
    int order[TSR_MAX_NDIM];
    int64_t step = random_between(t, 1, 3);
    const bool reverses = once_in(t, 2), gaps = once_in(t, 2);
    shuffle(t, ndim, order);
    if (once_in(t, 3)) step = 1;
    for (int i = 0; i < ndim; i++) {
        const int d = order[i];
        stride[d] = reverses && once_in(t, 2) ? -step : step;
        step *= shape[d] > 0 ? shape[d] : 1;
        if (gaps) step += random_below(t, 3);
        if (may_repeat && once_in(t, 8)) stride[d] = 0;
        if (shape[d] == 1 && once_in(t, 2)) stride[d] = (int64_t)random_bits(t);
    }
}

enum { NOT_CHOSEN, PACKED, ROWS, ANY };

/* Kernels for packed tensors, or for rows, need most tensors of a trial to be so. Returns NULL for packed. */
static const int64_t *random_strides(trial *t, int64_t *stride, int ndim, const int64_t *shape,
                                     bool may_repeat)
{
    if (t->layout == NOT_CHOSEN) t->layout = (int)random_between(t, PACKED, ANY);
    const int layout = once_in(t, 8) ? ANY : t->layout;
    if (layout == ANY) any_strides(t, stride, ndim, shape, may_repeat);
    else row_strides(t, stride, ndim, shape);
    return layout == PACKED || (layout == ANY && once_in(t, 4)) ? NULL : stride;
}

void random_desc(trial *t, tsr_desc *out, tsr_dtype dtype, int ndim, const int64_t *shape, bool may_repeat)
{
    int64_t stride[TSR_MAX_NDIM];
    const int64_t *strides = random_strides(t, stride, ndim, shape, may_repeat);
    NEED(t, tsr_desc_init(out, dtype, ndim, shape, t->packed ? NULL : strides));
}

/* With bytes before and behind it, which are watched, and its first element at any address that fits. */
static tsr_status make_on_device(trial *t, tsr_tensor **out, const tsr_desc *d)
{
    enum { MARGIN = 3 };
    const size_t size = size_of(d->dtype);
    int64_t low = 0;
    const size_t span = (size_t)tsr_desc_span(d, &low, NULL);
    const size_t offset = (size_t)-low + size * (size_t)random_below(t, MARGIN + 1);
    tsr_storage *s = NULL;
    TSR_TRY(tsr_storage_create(&s, span + 2 * MARGIN * size + 16, t->device, TSR_MEMORY_DEFAULT));
    const tsr_status status = tsr_from_storage(out, s, offset, d);
    tsr_storage_release(&s);
    return status;
}

static tsr_status make_on_cpu(tsr_tensor **out, const tsr_desc *d)
{
    TSR_TRY(tsr_declare(out, d, TSR_CPU, TSR_MEMORY_HOST));
    return tsr_alloc(*out);
}

static void make(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, bool may_repeat)
{
    tsr_desc d;
    GO_ON(t);
    random_desc(t, &d, dtype, ndim, shape, may_repeat);
    GO_ON(t);
    tsr_release(&t->tensor[slot]);
    free(t->before[slot]);
    t->before[slot] = NULL;
    tsr_tensor **made = &t->tensor[slot];
    if (t->device != TSR_CPU) NEED(t, make_on_device(t, made, &d));
    else if (t->how && t->how->guarded) NEED(t, make_guarded(made, &d, once_in(t, 2)));
    else NEED(t, make_on_cpu(made, &d));
    tsr_storage *s = (*made)->storage;
    if (s) memset(host_bytes(s), GAP, tsr_storage_bytes(s));
}

/* Operands must stay as they are -------------------------------------------------------- */

static void keep_operand(trial *t, int slot)
{
    tsr_storage *s = t->tensor[slot]->storage;
    GO_ON(t);
    if (!s) return;
    t->before[slot] = malloc(tsr_storage_bytes(s) + 1);
    MUST(t, t->before[slot], "no memory for %zu bytes", tsr_storage_bytes(s));
    memcpy(t->before[slot], host_bytes(s), tsr_storage_bytes(s));
}

static void check_operands(trial *t)
{
    for (int i = 0; i < TRIAL_TENSORS; i++) {
        if (t->failed || !t->before[i] || !t->tensor[i]) continue;
        tsr_storage *s = t->tensor[i]->storage;
        const unsigned char *now = host_bytes(s);
        for (size_t k = 0; k < tsr_storage_bytes(s) && !t->failed; k++)
            if (now[k] != t->before[i][k]) fail_trial(t, "byte %zu of operand %d was written", k, i);
    }
}

/* Trials --------------------------------------------------------------------------------- */

void *trial_room(trial *t, size_t bytes)
{
    free(t->room);
    t->room = malloc(bytes + 1);
    if (!t->room) fail_trial(t, "no memory for %zu bytes", bytes);
    return t->room;
}

/* What is made from nothing is made on the trial's device. */
static void begin_on_device(trial *t)
{
    t->device = t->how ? t->how->device : TSR_CPU;
    (void)mirrors_error(true);
    mirrors_blank(t->how && t->how->plumbing);
    if (t->device == TSR_CPU) return;
    NEED(t, tsr_device_set_default(t->device));
}

/* Queued work may fail until here. */
static void end_on_device(trial *t)
{
    const tsr_device device = t->how ? t->how->device : TSR_CPU;
    mirrors_end();
    if (device == TSR_CPU) return;
    tsr_status s = tsr_device_sync(device);
    if (s != TSR_OK) fail_call(t, "tsr_device_sync", s);
    s = tsr_device_set_default(TSR_CPU);
    if (s != TSR_OK) fail_call(t, "tsr_device_set_default", s);
}

/* A copy that could not be read or stored says more than what was compared with it. */
static void judge(trial *t)
{
    const char *why = mirrors_error(true);
    if (why && !t->skipped) {
        snprintf(t->why, sizeof t->why, "%s", why);
        t->failed = true;
        t->differs = false;
    }
    if (t->skipped || (t->differs && t->how && t->how->plumbing)) t->failed = false;
}

void run_trial(trial *t)
{
    tsr_memory_get_stats(&t->stats);
    tsr_clear_error();
    begin_on_device(t);
    if (!t->failed) t->check->run(t);
    check_operands(t);
    end_on_device(t);
    judge(t);
}

static void check_leaks(trial *t)
{
    tsr_memory_stats now;
    tsr_memory_get_stats(&now);
    if (now.live_tensors != t->stats.live_tensors || now.live_storages != t->stats.live_storages)
        fail_trial(t, "leaked %lld tensors and %lld storages",
                   (long long)(now.live_tensors - t->stats.live_tensors),
                   (long long)(now.live_storages - t->stats.live_storages));
}

void end_trial(trial *t)
{
    mirrors_drop();
    for (int slot = 0; slot < TRIAL_TENSORS; slot++) {
        tsr_release(&t->tensor[slot]);
        free(t->before[slot]);
        t->before[slot] = NULL;
    }
    free(t->room);
    t->room = NULL;
    check_leaks(t);
}

/* Filling ------------------------------------------------------------------------------ */

/* Of a float's format; the first is not normal, and so are some after it. */
static double extreme_real(trial *t, tsr_dtype part)
{
    const double largest = largest_of(part), smallest = smallest_of(part);
    const double all[] = { smallest, 17 * smallest, largest, largest / 2, 1e4, 2.5 };
    const double x = all[random_below(t, 6)];
    return once_in(t, 2) ? x : -x;
}

static bool special_too(filling with) { return with == FILL_SPECIAL || with == FILL_EXTREME; }

static double random_real(trial *t, tsr_dtype part, filling with)
{
    static const double special[] = { 0.0, -0.0, 1.0, -1.0, 0.5, INFINITY, -INFINITY, NAN };
    if (with == FILL_FACTORS) return 0.75 + (double)random_below(t, 33) / 64;
    if (with == FILL_EXTREME && once_in(t, 12)) return extreme_real(t, part);
    if (special_too(with) && once_in(t, 8)) return special[random_below(t, 8)];
    if (once_in(t, 4)) return (double)random_between(t, -8, 8);
    return ldexp((double)random_between(t, -(1 << 20), 1 << 20), -17); /* to 8 */
}

static value random_value(trial *t, tsr_dtype dtype, filling with)
{
    const bool special = special_too(with);
    if (dtype == TSR_BOOL) return integer_value(dtype, (uint64_t)random_below(t, 2));
    if (!is_integer(dtype)) {
        if (with == FILL_NAN && once_in(t, 40)) return complex_value(NAN, NAN);
        const double re = random_real(t, part_of(dtype), with), im = random_real(t, part_of(dtype), with);
        return complex_value(re, with == FILL_FACTORS ? im - 1 : im);
    }
    if (special && once_in(t, 4)) return integer_value(dtype, random_bits(t));
    if (special && once_in(t, 8)) return integer_value(dtype, (uint64_t)1 << (bits_of(dtype) - 1));
    return integer_value(dtype, (uint64_t)random_between(t, is_signed(dtype) ? -9 : 0, 9));
}

void make_input(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, filling with)
{
    make(t, slot, dtype, ndim, shape, true);
    GO_ON(t);
    const int64_t n = count_of(ndim, shape);
    const unsigned char *bytes_end = begin_elements(t, n);
    for (int64_t k = 0; k < n; k++)
        write_value(dtype, element(t->tensor[slot], k), random_value(t, dtype, with));
    end_elements(t, bytes_end);
    keep_operand(t, slot);
    mirrors_end();
}

void make_indices(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t limit)
{
    make(t, slot, dtype, ndim, shape, true);
    GO_ON(t);
    const int64_t n = count_of(ndim, shape);
    const unsigned char *bytes_end = begin_elements(t, n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = random_between(t, is_signed(dtype) ? -limit : 0, limit - 1);
        write_value(dtype, element(t->tensor[slot], k), integer_value(dtype, (uint64_t)i));
    }
    end_elements(t, bytes_end);
    keep_operand(t, slot);
    mirrors_end();
}

void make_output(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    make(t, slot, dtype, ndim, shape, false);
    mirrors_end();
}

int make_output_like(trial *t, int slot, int x)
{
    const tsr_tensor *from = t->tensor[x];
    if (t->failed) return x;
    make_output(t, slot, from->dtype, from->ndim, from->shape);
    if (t->failed || !once_in(t, 5)) return x;
    const int64_t n = tsr_numel(from);
    for (int64_t k = 0; k < n; k++)
        memcpy(element(t->tensor[slot], k), element(from, k), size_of(from->dtype));
    mirrors_end();
    return slot;
}

const tsr_tensor *operand_or_result(trial *t, int operand, int result)
{
    const tsr_tensor *x = t->tensor[operand], *z = t->tensor[result];
    if (t->failed || !z || !once_in(t, 6)) return x;
    for (int64_t k = 0; k < tsr_numel(x); k++) memcpy(element(z, k), element(x, k), size_of(x->dtype));
    mirrors_end();
    return z;
}

void make_packed(trial *t, int slot, int from, int ndim, const int64_t *shape)
{
    const tsr_tensor *source = t->tensor[from];
    GO_ON(t);
    NEED(t, tsr_empty(&t->tensor[slot], source->dtype, ndim, shape));
    const int64_t n = count_of(ndim, shape), size = (int64_t)size_of(source->dtype);
    char *to = host_data(t->tensor[slot]);
    for (int64_t k = 0; k < n; k++) {
        int64_t index[TSR_MAX_NDIM];
        index_of(index, k, ndim, shape);
        int64_t *own = index + (ndim - source->ndim);
        for (int d = 0; d < source->ndim; d++)
            if (source->shape[d] == 1) own[d] = 0;
        memcpy(to + k * size, element(source, place_of(own, source->ndim, source->shape)), (size_t)size);
    }
    mirrors_end();
}

/* Comparing ---------------------------------------------------------------------------- */

static const char *desc_text(char out[160], const tsr_tensor *tensor)
{
    tsr_desc_to_string(out, 160, &tensor->desc);
    return out;
}

void check_gaps(trial *t, int slot)
{
    const tsr_tensor *tensor = t->tensor[slot];
    GO_ON(t);
    if (!tensor->storage) return;
    const unsigned char *data = host_bytes(tensor->storage);
    const size_t bytes = tsr_storage_bytes(tensor->storage), size = size_of(tensor->dtype);
    bool *owned = calloc(bytes + 1, sizeof *owned);
    MUST(t, owned, "no memory for %zu bytes", bytes);
    const int64_t n = tsr_numel(tensor);
    for (int64_t k = 0; k < n; k++) {
        const size_t at = (size_t)((const unsigned char *)element(tensor, k) - data);
        for (size_t i = 0; i < size; i++) owned[at + i] = true;
    }
    for (size_t i = 0; i < bytes && !t->failed; i++)
        if (!owned[i] && data[i] != GAP) {
            char text[160];
            fail_trial(t, "byte %zu, between the elements of %s, was written", i, desc_text(text, tensor));
        }
    free(owned);
}

void check_shape(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    const tsr_tensor *tensor = t->tensor[slot];
    char text[160], wanted[160];
    tsr_desc d;
    GO_ON(t);
    NEED(t, tsr_desc_init(&d, dtype, ndim, shape, NULL));
    tsr_desc_to_string(wanted, sizeof wanted, &d);
    MUST(t, tensor && tensor->dtype == dtype && tsr_desc_same_shape(&tensor->desc, &d),
         "the result is %s, not %s", tensor ? desc_text(text, tensor) : "none", wanted);
}

void check_bits(trial *t, int slot, int64_t k, const void *wanted)
{
    const tsr_tensor *tensor = t->tensor[slot];
    char text[160], got[64], right[64];
    GO_ON(t);
    MUST(t, same_bits(tensor->dtype, element(tensor, k), wanted), "element %lld of %s is %s, not %s",
         (long long)k, desc_text(text, tensor), value_text(got, tensor->dtype, element(tensor, k)),
         value_text(right, tensor->dtype, wanted));
}

void check_same(trial *t, int got, int wanted, bool loosely)
{
    const tsr_tensor *a = t->tensor[got], *b = t->tensor[wanted];
    GO_ON(t);
    check_shape(t, got, b->dtype, b->ndim, b->shape);
    GO_ON(t);
    if (t->how && t->how->unchecked) return;
    const int64_t n = tsr_numel(a);
    for (int64_t k = 0; k < n; k++) {
        const void *x = element(a, k), *y = element(b, k);
        char xs[64], ys[64], text[160];
        MUST(t, loosely ? same_number(a->dtype, x, y) : same_bits(a->dtype, x, y),
             "element %lld of %s is %s, not %s", (long long)k, desc_text(text, a),
             value_text(xs, a->dtype, x), value_text(ys, a->dtype, y));
    }
}

void check_converted(trial *t, int got, int from)
{
    const tsr_tensor *z = t->tensor[got], *x = t->tensor[from];
    GO_ON(t);
    check_shape(t, got, z->dtype, x->ndim, x->shape);
    GO_ON(t);
    const int64_t n = tsr_numel(z);
    for (int64_t k = first_sample(t, n, 1); k >= 0; k = next_sample(t, k, n, 1)) {
        unsigned char wanted[16];
        char a[64], b[64], c[64];
        convert(z->dtype, wanted, x->dtype, element(x, k));
        MUST(t, same_bits(z->dtype, element(z, k), wanted), "%s of %s becomes %s in %s, not %s",
             value_text(a, x->dtype, element(x, k)), tsr_dtype_name(x->dtype),
             value_text(b, z->dtype, element(z, k)), tsr_dtype_name(z->dtype),
             value_text(c, z->dtype, wanted));
    }
}

double rounding_of(const trial *t, tsr_dtype dtype, double here)
{
    const double there = 2 * epsilon_of(dtype);
    return t->device == TSR_CPU || here > there ? here : there;
}

void check_near(trial *t, int slot, int64_t k, value wanted, double slack)
{
    const tsr_tensor *tensor = t->tensor[slot];
    GO_ON(t);
    if (tensor->device != TSR_CPU) slack *= 2;
    const void *got = element(tensor, k);
    char text[160], gots[64], wanteds[64];
    const tsr_dtype dtype = tensor->dtype;
    if (is_near(dtype, got, wanted, slack)) return;
    if (is_float(part_of(dtype))) snprintf(wanteds, sizeof wanteds, "%.17g%+.17gi", wanted.re, wanted.im);
    else                          snprintf(wanteds, sizeof wanteds, "%lld", (long long)wanted.bits);
    fail_trial(t, "element %lld of %s is %s, not %s", (long long)k, desc_text(text, tensor),
               value_text(gots, dtype, got), wanteds);
}

void check_inferred(trial *t, int n, int first, const void *params, int result)
{
    const tsr_desc *in[TRIAL_TENSORS];
    tsr_desc d;
    tsr_cost cost;
    GO_ON(t);
    for (int i = 0; i < n; i++) in[i] = &t->tensor[first + i]->desc;
    NEED(t, tsr_infer(&d, t->check->op, n, in, params));
    const tsr_tensor *r = t->tensor[result];
    MUST(t, d.dtype == r->dtype && tsr_desc_same_shape(&d, &r->desc),
         "tsr_infer says another desc than the result has");
    NEED(t, tsr_op_cost(&cost, t->check->op, n, in, params));
    MUST(t, cost.bytes >= (double)tsr_byte_size(r) && cost.flops >= 0,
         "tsr_op_cost says %g bytes and %g flops", cost.bytes, cost.flops);
}
