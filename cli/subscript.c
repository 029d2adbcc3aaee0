/* subscript.c - reading and applying NumPy's subscripts. */
#include "subscript.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading ---------------------------------------------------------------------------- */

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p)) p++;
    return p;
}

/* Reads a number if there is one; *out stays as it is if there is none. */
static const char *read_integer(int64_t *out, const char *p, const char **why)
{
    char *end = NULL;
    p = skip_space(p);
    if (!isdigit((unsigned char)p[*p == '-' || *p == '+'])) return p;
    errno = 0;
    const long long n = strtoll(p, &end, 10);
    if (errno == ERANGE || n == INT64_MIN) *why = "a number of the subscript is too large";
    *out = n;
    return skip_space(end);
}

static const char *read_range(subscript_part *part, const char *p, const char **why)
{
    int64_t step = 1;
    *part = (subscript_part){ PART_INDEX, TSR_NONE, TSR_NONE, 1 };
    p = read_integer(&part->start, p, why);
    if (*p == ':') {
        part->kind = PART_RANGE;
        p = read_integer(&part->stop, p + 1, why);
        if (*p == ':') p = read_integer(&step, p + 1, why);
        if (step == 0) *why = "the step of a range is 0";
        part->step = step;
    } else if (part->start == TSR_NONE) {
        *why = "a part of the subscript is neither an index, a range, '...' nor None";
    }
    return p;
}

static const char *read_part(subscript_part *part, const char *p, const char **why)
{
    p = skip_space(p);
    if (!strncmp(p, "...", 3)) {
        part->kind = PART_REST;
        return skip_space(p + 3);
    }
    for (int i = 0; i < 2; i++) {
        static const char *const names[] = { "None", "newaxis" };
        const size_t length = strlen(names[i]);
        if (strncmp(p, names[i], length)) continue;
        part->kind = PART_NEW;
        return skip_space(p + length);
    }
    return read_range(part, p, why);
}

const char *subscript_read(subscript *out, const char *text)
{
    const char *why = NULL, *p = skip_space(text);
    out->count = 0;
    if (*p != '[') return "the subscript does not begin with '['";
    p = skip_space(p + 1);
    while (*p && *p != ']' && !why) {
        if (out->count == PARTS_MOST) return "the subscript has too many parts";
        p = read_part(&out->part[out->count++], p, &why);
        if (*p == ',') p = skip_space(p + 1);
        else if (*p != ']' && !why) why = "between the parts of the subscript a ',' is missing";
    }
    if (why) return why;
    if (*p != ']' || *skip_space(p + 1)) return "the subscript does not end with ']'";
    return out->count ? NULL : "the subscript is empty";
}

/* Cutting ---------------------------------------------------------------------------- */

static int64_t held(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

/* As Python's slice.indices(n); what is empty becomes 0:0. */
static void cut_range(tsr_file_range *out, int64_t *length, const subscript_part *p, int64_t n)
{
    const bool back = p->step < 0;
    const int64_t low = back ? -1 : 0, high = back ? n - 1 : n, most = n > 0 ? n : 1;
    const int64_t step = held(p->step, -most, most); /* longer ones reach no further element */
    int64_t start = p->start, stop = p->stop;
    if (start == TSR_NONE) start = back ? high : low;
    else                   start = held(start < 0 ? start + n : start, low, high);
    if (stop == TSR_NONE)  stop = back ? low : high;
    else                   stop = held(stop < 0 ? stop + n : stop, low, high);
    const int64_t distance = back ? start - stop : stop - start;
    if (distance <= 0) {
        *length = 0;
        *out = (tsr_file_range){ 0, 0, 1 };
        return;
    }
    *length = (distance - 1) / (back ? -step : step) + 1;
    *out = (tsr_file_range){ start, stop < 0 ? TSR_NONE : stop, step };
}

static const char *cut_index(tsr_file_range *out, int64_t index, int axis, int64_t n, char why[200])
{
    if (index < -n || index >= n) {
        snprintf(why, 200, "index %lld is out of bounds for axis %d with size %lld", (long long)index, axis,
                 (long long)n);
        return why;
    }
    *out = (tsr_file_range){ index < 0 ? index + n : index, 0, 0 };
    return NULL;
}

static void cut_whole_axes(cut *c, int *axis, int *place, int count, const tsr_desc *d)
{
    for (int i = 0; i < count; i++, ++*axis, ++*place) {
        c->range[*axis] = (tsr_file_range)TSR_FILE_ALL;
        c->length[*axis] = d->shape[*axis];
    }
}

/* How many axes the parts speak of, and whether there is one '...'. */
static const char *count_axes(const subscript *s, const tsr_desc *d, int *axes, char why[200])
{
    int rests = 0, news = 0;
    *axes = 0;
    for (int i = 0; i < s->count; i++) {
        *axes += s->part[i].kind == PART_INDEX || s->part[i].kind == PART_RANGE;
        rests += s->part[i].kind == PART_REST;
        news += s->part[i].kind == PART_NEW;
    }
    if (rests > 1) return "a subscript can have one '...'";
    if (*axes > d->ndim)
        snprintf(why, 200, "%d %s for a tensor with %d dims", *axes, *axes == 1 ? "index" : "indices",
                 d->ndim);
    else if (news + d->ndim > TSR_MAX_NDIM)
        snprintf(why, 200, "a tensor has %d dims at most", TSR_MAX_NDIM);
    else
        return NULL;
    return why;
}

const char *subscript_cut(cut *out, const subscript *s, const tsr_desc *d, char why[200])
{
    int axes = 0, axis = 0, place = 0; /* the next axis, and the next of the result */
    const char *wrong = count_axes(s, d, &axes, why);
    *out = (cut){ .ndim = d->ndim };
    for (int i = 0; i < s->count && !wrong; i++) {
        const subscript_part *p = &s->part[i];
        switch (p->kind) {
        case PART_REST: cut_whole_axes(out, &axis, &place, d->ndim - axes, d); break;
        case PART_NEW:  out->new_axis[out->news++] = place++; break;
        case PART_RANGE:
            cut_range(&out->range[axis], &out->length[axis], p, d->shape[axis]);
            axis++, place++;
            break;
        case PART_INDEX:
            wrong = cut_index(&out->range[axis], p->start, axis, d->shape[axis], why);
            out->length[axis++] = 1;
            break;
        }
    }
    if (!wrong) cut_whole_axes(out, &axis, &place, d->ndim - axis, d);
    return wrong;
}

tsr_file_range range_part(tsr_file_range r, int64_t from, int64_t count)
{
    if (r.step == 0 || count == 0) return r.step == 0 ? r : (tsr_file_range){ 0, 0, 1 };
    const int64_t start = (r.start == TSR_NONE ? 0 : r.start) + from * r.step;
    const int64_t last = start + (count - 1) * r.step;
    if (r.step > 0) return (tsr_file_range){ start, last + 1, r.step };
    return (tsr_file_range){ start, last == 0 ? TSR_NONE : last - 1, r.step };
}

tsr_status cut_add_axes(tsr_tensor **out, const cut *c)
{
    for (int i = 0; i < c->news; i++) TSR_TRY(tsr_unsqueeze(out, *out, c->new_axis[i]));
    return TSR_OK;
}

tsr_status cut_view(tsr_tensor **out, const tsr_tensor *t, const cut *c)
{
    tsr_tensor *v = NULL;
    tsr_status s = tsr_view(&v, t, t->ndim, t->shape);
    for (int axis = c->ndim - 1; axis >= 0 && s == TSR_OK; axis--) {
        const tsr_file_range *r = &c->range[axis];
        s = r->step == 0 ? tsr_select(&v, v, axis, r->start)
                         : tsr_slice(&v, v, axis, r->start, r->stop, r->step);
    }
    if (s == TSR_OK) s = cut_add_axes(&v, c);
    if (s == TSR_OK) {
        tsr_release(out);
        *out = v;
        v = NULL;
    }
    tsr_release(&v);
    return s;
}
