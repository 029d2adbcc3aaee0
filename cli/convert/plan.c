/* plan.c - from files and options to a list of tensors to write. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../filename.h"
#include "../format.h"
#include "../room.h"

static const char convert_name[] = "convert";

/* Options that one format has, or two. */
static bool check_options(const request *r, const char *format)
{
    const struct {
        bool        given;
        const char *name, *first, *second;
    } options[] = {
        { r->shard != NULL, "--shard", "safetensors", NULL },
        { r->encoding != NULL, "--encoding", "gguf", NULL },
        { r->quality_text != NULL, "--quality", "jpeg", NULL },
        { r->compress, "--compress", "npz", "hdf5" },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *first = options[i].first, *second = options[i].second;
        if (!options[i].given || !strcmp(format, first) || (second && !strcmp(format, second))) continue;
        complain_usage(convert_name, "%s is for %s%s%s, not %s", options[i].name, first,
                       second ? " and " : "", second ? second : "", format);
        return false;
    }
    return true;
}

bool choose_format(plan *p)
{
    const char *to = p->r->to || !p->is_directory ? p->r->to : "npy";
    p->format = format_to_write(convert_name, p->out, to);
    return p->format && check_options(p->r, p->format->name);
}

/* The plan ----------------------------------------------------------------------------- */

static char *name_of(const plan *p, const source *s, const item *it)
{
    const char *slash = strrchr(s->path, '/'), *stem = slash ? slash + 1 : s->path, *dot = strrchr(stem, '.');
    char *name = NULL;
    if (it->entry[0])               name = copy_of_text(it->entry);
    else if (it->stem)              name = copy_of_text(it->stem);
    else if (!strcmp(s->path, "-")) name = copy_of_text("tensor");
    else if (dot && dot > stem)     name = copy_of(stem, (size_t)(dot - stem));
    else                            name = copy_of_text(stem);
    for (int i = 0; i < p->r->rules; i++) {
        char *next = rename_apply(p->r->rule[i], name);
        free(name);
        name = next;
    }
    if (p->r->prefix) {
        char *longer = text_of("%s%s", p->r->prefix, name);
        free(name);
        name = longer;
    }
    return name;
}

void axes_for(int axes[TSR_MAX_NDIM], const request *r, int ndim)
{
    for (int i = 0; i < ndim; i++) axes[i] = r->naxes ? r->axes[i] : ndim - 1 - i;
}

/* The desc of what the source gives, subscript and all. */
static bool desc_of_item(tsr_desc *out, const source *s, int64_t index)
{
    cut c;
    int next = 0;
    if (!source_cut(&c, s, index)) return false;
    int64_t shape[TSR_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < c.ndim; i++) {
        while (next < c.news && c.new_axis[next] == n) shape[n++] = 1, next++;
        if (c.range[i].step != 0) shape[n++] = c.length[i];
    }
    while (next < c.news) shape[n++] = 1, next++;
    return tsr_desc_init(out, s->items[index].desc.dtype, n, shape, NULL) == TSR_OK;
}

/* Quantised blocks go over as they are where nothing about them changes. */
static bool goes_as_blocks(const plan *p, const source *s, const item *it)
{
    const bool same = !strcmp(p->format->name, "gguf") && !strcmp(s->file[it->file].format, "gguf");
    return same && !s->has_part && !p->r->dtype && !p->r->transposes && !p->r->encoding &&
           (it->desc.dtype == TSR_DTYPE_INVALID ||
            (!it->mapped && it->encoding[0] != 'f' && it->encoding[0] != 'b'));
}

static bool plan_desc(step *st, const plan *p)
{
    const request *r = p->r;
    const item *it = &st->s->items[st->index];
    int axes[TSR_MAX_NDIM];
    if (st->as_blocks) {
        tsr_tensor *t = NULL;
        tsr_file *f = source_file_at(st->s, it->file);
        if (!f || tsr_file_read_raw(&t, f, it->entry) != TSR_OK)
            return complain(convert_name, "%s", tsr_last_error()), false;
        st->desc = t->desc;
        tsr_release(&t);
        return true;
    }
    if (!source_can_read(st->s, it) || !desc_of_item(&st->desc, st->s, st->index)) return false;
    if (r->result) st->desc.dtype = r->result;
    if (!r->transposes) return true;
    if (r->naxes && r->naxes != st->desc.ndim) {
        complain(convert_name, "%s has %d dims; --transpose names %d", st->name, st->desc.ndim, r->naxes);
        return false;
    }
    axes_for(axes, r, st->desc.ndim);
    if (tsr_desc_permute(&st->desc, &st->desc, st->desc.ndim, axes) == TSR_OK) return true;
    complain(convert_name, "%s: %s", st->name, tsr_last_error());
    return false;
}

/* Returns an exit code. */
static int plan_item(plan *p, source *s, int64_t index)
{
    const item *it = &s->items[index];
    step st = { .s = s, .index = index, .name = name_of(p, s, it), .as_blocks = goes_as_blocks(p, s, it) };
    const bool ok = plan_desc(&st, p);
    p->steps = room_for_more(p->steps, (size_t)p->count, sizeof *p->steps);
    p->steps[p->count++] = st;
    p->bytes += ok ? (double)tsr_desc_bytes(&st.desc) : 0;
    return ok ? EXIT_YES : EXIT_INPUT;
}

/* Names ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(step *const *)a)->name, (*(step *const *)b)->name);
}

static int by_path(const void *a, const void *b)
{
    return compare_folded((*(step *const *)a)->path, (*(step *const *)b)->path);
}

/* All steps, in an order of their own; to be freed. */
static step **sorted_steps(const plan *p, int (*order)(const void *, const void *))
{
    step **sorted = room_for((size_t)p->count, sizeof *sorted);
    for (int64_t i = 0; i < p->count; i++) sorted[i] = &p->steps[i];
    if (p->count) qsort(sorted, (size_t)p->count, sizeof *sorted, order);
    return sorted;
}

static const char *old_name(const step *st)
{
    const item *it = &st->s->items[st->index];
    return it->name[0] ? it->name : st->s->path;
}

static bool names_differ(const plan *p)
{
    bool differ = true;
    step **sorted = sorted_steps(p, by_name);
    for (int64_t i = 1; i < p->count && differ; i++) {
        differ = strcmp(sorted[i - 1]->name, sorted[i]->name) != 0;
        if (!differ)
            complain(convert_name,
                     "'%s' and '%s': two tensors would be called '%s'; --rename can tell them apart",
                     old_name(sorted[i - 1]), old_name(sorted[i]), sorted[i]->name);
    }
    free(sorted);
    return differ;
}

/* OUT/NAME.npy */
static void plan_path(const plan *p, step *st, bool codes_capitals)
{
    char *name = filename_of(st->name, codes_capitals);
    const bool slash = p->out[strlen(p->out) - 1] == '/';
    const char *endings = p->format->endings;
    free(st->path);
    st->path = text_of("%s%s%s%.*s", p->out, slash ? "" : "/", name, (int)strcspn(endings, " "), endings);
    free(name);
}

static bool is_short_enough(const step *st)
{
    enum { LONGEST = 255 };  /* bytes that file systems take in a name */
    const size_t n = strlen(strrchr(st->path, '/') + 1);
    if (n <= LONGEST) return true;
    complain(convert_name, "'%s': the name of its file would have %zu bytes, and at most %d are possible; "
             "--rename can shorten it", st->name, n, LONGEST);
    return false;
}

/* A file for each, also where capitals are the same as small letters. */
static bool plan_paths(const plan *p)
{
    bool ok = true;
    for (int64_t i = 0; i < p->count; i++) plan_path(p, &p->steps[i], false);
    step **sorted = sorted_steps(p, by_path);
    bool *meets = room_for((size_t)p->count, sizeof *meets);
    for (int64_t i = 1; i < p->count; i++)
        if (!by_path(&sorted[i - 1], &sorted[i])) meets[i - 1] = meets[i] = true;
    for (int64_t i = 0; i < p->count; i++)
        if (meets[i]) plan_path(p, sorted[i], true);
    for (int64_t i = 0; i < p->count && ok; i++) ok = is_short_enough(&p->steps[i]);
    free(meets);
    free(sorted);
    return ok;
}

static bool fits_format(const plan *p)
{
    if (p->count == 0)
        return complain(convert_name, "there is nothing to convert%s",
                        p->r->list.count ? ": no name matches --select" : ""),
               false;
    if (p->format->many || p->count == 1 || p->is_directory) return true;
    complain(convert_name,
             "%s holds one tensor, and there are %" PRId64 ": choose one with IN:NAME or --select, "
             "or write into a directory (%s.d/)",
             p->format->name, p->count, p->out);
    return false;
}

int make_plan(plan *p, int count, char **words)
{
    int code = EXIT_YES;
    p->sources = count;
    p->source = room_for((size_t)p->sources, sizeof *p->source);
    for (int i = 0; i < p->sources; i++) {
        const int one = source_open(&p->source[i], convert_name, words[i], &p->r->how);
        if (one > code) code = one;
        if (p->source[i].damaged) code = EXIT_INPUT;
        listing_apply(&p->r->list, &p->source[i], "file");
    }
    for (int i = 0; i < p->sources && code == EXIT_YES; i++)
        for (int64_t k = 0; k < p->source[i].count && code == EXIT_YES; k++)
            code = plan_item(p, &p->source[i], k);
    if (code != EXIT_YES) return code;
    if (!fits_format(p) || !names_differ(p)) return EXIT_NO;
    return !p->is_directory || plan_paths(p) ? EXIT_YES : EXIT_NO;
}

void free_plan(plan *p)
{
    for (int64_t i = 0; i < p->count; i++) {
        free(p->steps[i].name);
        free(p->steps[i].path);
    }
    for (int i = 0; i < p->sources; i++) source_close(&p->source[i]);
    free(p->steps);
    free(p->source);
}
