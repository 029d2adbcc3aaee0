/* windows_copy.c - boxes of inputs, copied for strips (windows.c): phase by phase, padded with zeros. */
#include "core/mem.h"
#include "windows.h"

static int64_t steps_of(const tsri_slide *a, int64_t tap)
{
    const int64_t at = tsri_slide_at(a, tap);
    return at >= 0 ? at / a->step : -((-at - 1) / a->step) - 1;
}

static int64_t rest_of(const tsri_slide *a, int64_t tap)
{
    return tsri_slide_at(a, tap) - steps_of(a, tap) * a->step;
}

/* The phase of a tap: how many other remainders earlier taps have. */
static int64_t phase_of(const tsri_slide *a, int64_t tap)
{
    int64_t phase = 0;
    for (int64_t t = 0; rest_of(a, t) != rest_of(a, tap); t++) {
        bool again = false;
        for (int64_t u = 0; u < t; u++) again |= rest_of(a, u) == rest_of(a, t);
        phase += !again;
    }
    return phase;
}

/* The first tap of a phase. */
static int64_t tap_of(const tsri_slide *a, int64_t phase)
{
    int64_t t = 0;
    while (phase_of(a, t) != phase) t++;
    return t;
}

void tsri_windows_side_of(tsri_windows_side *s, const tsri_slide *a)
{
    int64_t high = steps_of(a, 0);
    *s = (tsri_windows_side){ .low = high, .box = a->out };
    for (int64_t t = 0; t < a->taps; t++) {
        s->low = least(s->low, steps_of(a, t));
        high = most(high, steps_of(a, t));
        s->phases = most(s->phases, phase_of(a, t) + 1);
    }
    s->span = high - s->low + 1;
}

/* Places of padding that the end of a row and the beginning of the next share. */
static int64_t shared_zeros(const tsri_windows_side *s, const tsri_slide *a)
{
    int64_t shared = s->span - 1;
    for (int64_t p = 0; p < s->phases; p++) {
        const int64_t rest = rest_of(a, tap_of(a, p));
        const int64_t ahead = most(0, -s->low), there = a->in > rest ? (a->in - rest - 1) / a->step + 1 : 0;
        shared = least(shared, least(ahead, s->low + s->box - 1 + s->span - there));
    }
    return most(shared, 0);
}

/* Bytes of the copy for the current boxes; sets their pitches. */
int64_t tsri_windows_measure(tsri_windows *j)
{
    tsri_windows_side *s = j->side;
    const int64_t line = TSRI_CACHE_LINE / j->element;
    for (int d = 0; d < TSRI_AXES; d++) s[d].places = s[d].box - 1 + s[d].span;
    const bool whole = s[2].box == j->g->axis[2].out;
    s[2].pitch = 1;
    s[1].pitch = s[2].places - (whole ? shared_zeros(&s[2], &j->g->axis[2]) : 0);
    s[0].pitch = s[1].places * s[1].pitch;
    j->plane = s[0].places * s[0].pitch + s[2].places;
    /* Channels are an odd number of cache lines apart, and so in different sets of a cache. */
    j->channel = pieces(s[0].phases * s[1].phases * s[2].phases * j->plane, 2 * line) * 2 * line + line;
    return j->channel * j->g->channels * j->element + TSRI_WINDOWS_WHOLE * vectors_bytes(j);
}

/* Where each index of k reads. */
void tsri_windows_offsets(const tsri_windows *j)
{
    const tsri_slide *a = j->g->axis;
    const tsri_windows_side *s = j->side;
    int64_t p = 0;
    for (int64_t t0 = 0; t0 < a[0].taps; t0++)
        for (int64_t t1 = 0; t1 < a[1].taps; t1++)
            for (int64_t t2 = 0; t2 < a[2].taps; t2++, p++) {
                const int64_t phase =
                    (phase_of(&a[0], t0) * s[1].phases + phase_of(&a[1], t1)) * s[2].phases +
                    phase_of(&a[2], t2);
                j->offset[p] =
                    (phase * j->plane + (steps_of(&a[0], t0) - s[0].low) * s[0].pitch +
                     (steps_of(&a[1], t1) - s[1].low) * s[1].pitch + steps_of(&a[2], t2) - s[2].low) *
                    j->element;
            }
    if (j->no_copy) j->offset[0] = 0;
    for (; p < j->k; p++)
        j->offset[p] = j->offset[p - j->taps] + (j->no_copy ? j->g->x_channel : j->channel * j->element);
}

/* One phase of a box: remainders of the axes, and where the copy of channel 0 begins. */
typedef struct phase {
    int64_t rest[TSRI_AXES];
    int64_t first, end, places; /* of a row: those that have inputs, and all */
    char *z;
} phase;

/* n elements, `step` bytes apart. */
static void copy_elements(const tsri_windows *j, char *z, const char *x, int64_t step, int64_t n)
{
    if (step == j->element && j->dtype->native)
        memcpy(z, x, (size_t)(n * j->element));
    else
        j->dtype->pack(z, x, step, 0, n, 1, (int)n);
}

static void clear(const tsri_windows *j, char *z, int64_t n)
{
    if (n > 0) memset(z, 0, (size_t)(n * j->element));
}

/* A row, padded with zeros. x is the first input of the row; NULL: the row is outside. */
static void copy_row(const tsri_windows *j, const phase *p, char *z, const char *x)
{
    const tsri_slide *a = &j->g->axis[2];
    if (!x || p->end <= p->first) {
        clear(j, z, p->places);
        return;
    }
    clear(j, z, p->first);
    copy_elements(j, z + p->first * j->element, x, tsri_slide_bytes(a), p->end - p->first);
    clear(j, z + p->end * j->element, p->places - p->end);
}

/* The input of an axis that belongs to a place of the box; -1: it is outside. */
static int64_t input_of(const tsri_windows *j, const tsri_windows_unit *u, int d, int64_t rest, int64_t place)
{
    const tsri_slide *a = &j->g->axis[d];
    const int64_t at = (u->of.o[d] + j->side[d].low + place) * a->step + rest;
    return at >= 0 && at < a->in ? at : -1;
}

static void copy_channel(const tsri_windows *j, const tsri_windows_unit *u, const phase *p, char *z,
                         const char *x)
{
    const tsri_slide *a = j->g->axis;
    const tsri_windows_side *s = j->side;
    const int64_t start = ((u->of.o[2] + s[2].low + p->first) * a[2].step + p->rest[2]) * a[2].x;
    for (int64_t i = 0; i < u->of.n[0] - 1 + s[0].span; i++) {
        const int64_t at0 = input_of(j, u, 0, p->rest[0], i);
        for (int64_t h = 0; h < u->of.n[1] - 1 + s[1].span; h++) {
            const int64_t at1 = input_of(j, u, 1, p->rest[1], h);
            copy_row(j, p, z + (i * s[0].pitch + h * s[1].pitch) * j->element,
                     at0 < 0 || at1 < 0 ? NULL : x + at0 * a[0].x + at1 * a[1].x + start);
        }
    }
}

static void describe_phase(phase *p, const tsri_windows *j, const tsri_windows_unit *u, const int64_t *number)
{
    const tsri_slide *a = j->g->axis;
    const tsri_windows_side *s = j->side;
    for (int d = 0; d < TSRI_AXES; d++) p->rest[d] = rest_of(&a[d], tap_of(&a[d], number[d]));
    const int64_t steps = u->of.o[2] + s[2].low, rest = p->rest[2];
    const int64_t there = a[2].in > rest ? (a[2].in - rest - 1) / a[2].step + 1 - steps : 0;
    p->places = u->of.n[2] - 1 + s[2].span;
    p->first = steps >= 0 ? 0 : least(p->places, -steps);
    p->end = least(p->places, there);
    p->z =
        u->copy + ((number[0] * s[1].phases + number[1]) * s[2].phases + number[2]) * j->plane * j->element;
}

void tsri_windows_copy(const tsri_windows *j, const tsri_windows_unit *u)
{
    const tsri_windows_side *s = j->side;
    phase p;
    int64_t n[TSRI_AXES];
    for (n[0] = 0; n[0] < s[0].phases; n[0]++)
        for (n[1] = 0; n[1] < s[1].phases; n[1]++)
            for (n[2] = 0; n[2] < s[2].phases; n[2]++) {
                describe_phase(&p, j, u, n);
                for (int64_t c = 0; c < j->g->channels; c++)
                    copy_channel(j, u, &p, p.z + c * j->channel * j->element, u->of.x + c * j->g->x_channel);
            }
}
