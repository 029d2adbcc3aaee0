/* writer.c - writing, for all formats alike: what is planned, what is added, and when the
 * file takes its place. */
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "io_int.h"
#include "shards.h"
#include "tessera/move.h"
#include "tessera/view.h"

enum {
    PIECE = 4 << 20, /* bytes of a strided tensor that are packed at a time */
    RUN = 16 << 20   /* and of a packed one that are written before it is told of */
};

static tsr_status no_room(const tsr_writer *w)
{
    return tsri_fail(TSR_ENOMEM, "writer: %s: no room for the list of what is written", w->path);
}

/* Creating and ending ------------------------------------------------------------------ */

static tsr_status find_format(tsr_writer *w, const char *path)
{
    const char *name = w->opts.format;
    w->format = name ? tsri_format_named(name) : tsri_format_of_path(path);
    TSRI_CHECK(w->format || name, TSR_EINVAL,
               "writer_create: %s: the end of its name tells no format; there are%s", path, tsri_format_list);
    TSRI_CHECK(w->format, TSR_EINVAL, "writer_create: %s: opts.format is \"%s\"; there are%s", path, name,
               tsri_format_list);
    return TSR_OK;
}

static tsr_status start(tsr_writer *w, const char *path)
{
    TSRI_CHECK(TSRI_LITTLE_ENDIAN, TSR_EUNSUPPORTED, "writer_create: %s: this machine is big-endian",
               path);
    TSRI_TRY(find_format(w, path));
    char *final_path = tsri_bump_take(&w->memory, TSRI_PATH),
         *temporary = tsri_bump_take(&w->memory, TSRI_PATH);
    if (!final_path || !temporary) return no_room(w);
    if (w->opts.shard_bytes) {
        w->path = tsri_bump_text(&w->memory, path, tsri_strlen(path));
        if (!w->path) w->path = path;
        return w->path == path ? no_room(w) : tsri_shards_start(w);
    }
    TSRI_TRY(tsri_sink_create(&w->sink, path, !w->opts.no_sync, final_path, temporary));
    w->path = final_path;
    TSRI_CHECK(!w->sink.stream || w->format->one_pass, TSR_EUNSUPPORTED,
               "writer_create: %s takes bytes in order, and %s is not written so: write a file", path,
               w->format->info.name);
    return TSR_OK;
}

/* The sink whose file system has to have room for the data. */
static const tsri_sink *room_of(const tsr_writer *w)
{
    return w->shard_list.count ? &w->shards[0]->sink : &w->sink;
}

tsr_status tsr_writer_create(tsr_writer **out, const char *path, const tsr_writer_opts *opts)
{
    TSRI_CHECK(out, TSR_ENULL, "writer_create: out is NULL");
    TSRI_CHECK(path, TSR_ENULL, "writer_create: path is NULL");
    tsr_writer *w = tsri_scratch(sizeof *w);
    TSRI_CHECK(w, TSR_ENOMEM, "writer_create: %s: no room", path);
    *w = (tsr_writer){ .path = path, .sink = { .file = -1 } };
    if (opts) w->opts = *opts;
    const tsr_status s = start(w, path);
    if (s != TSR_OK) {
        tsr_writer_cancel(&w);
        return s;
    }
    tsr_writer *old = *out;
    *out = w;
    tsr_writer_cancel(&old);
    return TSR_OK;
}

void tsr_writer_cancel(tsr_writer **pw)
{
    if (!pw || !*pw) return;
    tsr_writer *w = *pw;
    *pw = NULL;
    tsri_shards_cancel(w);
    tsri_sink_remove(&w->sink);
    tsri_bump_free(&w->memory);
    tsri_free(w, sizeof *w);
}

/* Metadata ----------------------------------------------------------------------------- */

static tsr_status copy_meta(tsr_writer *w, tsr_meta *to, const tsr_meta *from, int depth);

static tsr_status copy_texts(tsr_writer *w, tsr_meta *to, const tsr_meta *from)
{
    const char **texts = tsri_bump_take(&w->memory, (size_t)from->count * sizeof *texts);
    if (!texts) return no_room(w);
    for (int64_t i = 0; i < from->count; i++) {
        TSRI_CHECK(from->texts[i], TSR_ENULL, "writer_meta: text %lld is NULL", (long long)i);
        texts[i] = tsri_bump_text(&w->memory, from->texts[i], tsri_strlen(from->texts[i]));
        if (!texts[i]) return no_room(w);
    }
    to->texts = texts;
    return TSR_OK;
}

static tsr_status copy_items(tsr_writer *w, tsr_meta *to, const tsr_meta *from, int depth)
{
    tsr_meta *items = tsri_bump_take(&w->memory, (size_t)from->count * sizeof *items);
    if (!items) return no_room(w);
    for (int64_t i = 0; i < from->count; i++) TSRI_TRY(copy_meta(w, &items[i], &from->items[i], depth + 1));
    to->items = items;
    return TSR_OK;
}

static tsr_status copy_meta(tsr_writer *w, tsr_meta *to, const tsr_meta *from, int depth)
{
    const bool counted =
        from->type == TSR_META_NUMBERS || from->type == TSR_META_TEXTS || from->type == TSR_META_LIST;
    const char *key = to->key;
    *to = *from;
    to->key = key;
    TSRI_CHECK(depth < 8, TSR_EINVAL, "writer_meta: lists in lists, %d deep", depth);
    TSRI_CHECK(!counted || (from->count >= 0 && from->count <= INT32_MAX), TSR_EINVAL,
               "writer_meta: count is %lld", (long long)from->count);
    switch (from->type) {
    case TSR_META_TEXT:
        TSRI_CHECK(from->text, TSR_ENULL, "writer_meta: text is NULL");
        to->text = tsri_bump_text(&w->memory, from->text, from->length);
        return to->text ? TSR_OK : no_room(w);
    case TSR_META_NUMBER:
        TSRI_CHECK(tsr_dtype_is_valid(from->dtype), TSR_EDTYPE, "writer_meta: dtype %d is none",
                   (int)from->dtype);
        return TSR_OK;
    case TSR_META_NUMBERS:
        TSRI_CHECK(tsr_dtype_is_valid(from->dtype), TSR_EDTYPE, "writer_meta: dtype %d is none",
                   (int)from->dtype);
        TSRI_CHECK(from->data || from->count == 0, TSR_ENULL, "writer_meta: data is NULL");
        to->data = tsri_bump_text(&w->memory, from->data, (size_t)from->count * tsr_dtype_size(from->dtype));
        return to->data ? TSR_OK : no_room(w);
    case TSR_META_TEXTS:
        TSRI_CHECK(from->texts || from->count == 0, TSR_ENULL, "writer_meta: texts is NULL");
        return copy_texts(w, to, from);
    case TSR_META_LIST:
        TSRI_CHECK(from->items || from->count == 0, TSR_ENULL, "writer_meta: items is NULL");
        return copy_items(w, to, from, depth);
    default:
        return tsri_fail(TSR_EINVAL, "writer_meta: %d is no type of metadata", (int)from->type);
    }
}

tsr_status tsr_writer_meta(tsr_writer *w, const tsr_meta *meta)
{
    TSRI_CHECK(w, TSR_ENULL, "writer_meta: w is NULL");
    TSRI_CHECK(meta, TSR_ENULL, "writer_meta: meta is NULL");
    TSRI_CHECK(meta->key, TSR_ENULL, "writer_meta: the key is NULL");
    TSRI_CHECK(w->format->check_meta, TSR_EUNSUPPORTED, "writer_meta: %s has no metadata",
               w->format->info.name);
    TSRI_CHECK(w->added == 0, TSR_EINVAL, "writer_meta: %s: \"%s\" comes after the first tensor", w->path,
               meta->key);
    TSRI_CHECK(!tsri_names_have(&w->keys, meta->key), TSR_EINVAL,
               "writer_meta: %s has a value \"%s\" already", w->path, meta->key);
    tsr_meta *m = tsri_bump_take(&w->memory, sizeof *m);
    if (!m || !tsri_list_grow(&w->memory, &w->meta_list, (void ***)&w->metas)) return no_room(w);
    m->key = tsri_bump_text(&w->memory, meta->key, tsri_strlen(meta->key));
    if (!m->key) return no_room(w);
    TSRI_TRY(copy_meta(w, m, meta, 0));
    TSRI_TRY(w->format->check_meta(w, m));
    if (!tsri_names_add(&w->keys, &w->memory, m->key)) return no_room(w);
    w->metas[w->meta_list.count++] = m;
    return TSR_OK;
}

tsr_status tsr_writer_text(tsr_writer *w, const char *key, const char *text)
{
    TSRI_CHECK(text, TSR_ENULL, "writer_text: text is NULL");
    return tsr_writer_meta(
        w, &(tsr_meta){ .key = key, .type = TSR_META_TEXT, .text = text, .length = tsri_strlen(text) });
}

void tsr_writer_progress(tsr_writer *w, void (*fn)(void *context, int64_t bytes), void *context)
{
    if (!w) return;
    w->progress = fn;
    w->progress_context = context;
    for (int64_t i = 0; i < w->shard_list.count; i++) tsr_writer_progress(w->shards[i], fn, context);
}

/* Planning ----------------------------------------------------------------------------- */

static tsr_status check_name(const tsr_writer *w, const char *op, const char *name)
{
    const int64_t n = w->plan_list.count;
    TSRI_CHECK(w->format->info.many || n == 0, TSR_EINVAL, "%s: %s: a file of %s holds one tensor", op,
               w->path, w->format->info.name);
    TSRI_CHECK(!tsri_names_have(&w->names, name), TSR_EINVAL, "%s: %s has a tensor \"%s\" already", op,
               w->path, name);
    return TSR_OK;
}

static tsr_status plan(tsri_file_entry **out, tsr_writer *w, const char *op, const char *name,
                       const tsr_desc *desc, const char *encoding)
{
    if (!name) name = "";
    TSRI_TRY(check_name(w, op, name));
    tsri_file_entry *p = tsri_bump_take(&w->memory, sizeof *p);
    if (!p || !tsri_list_grow(&w->memory, &w->plan_list, (void ***)&w->plan)) return no_room(w);
    p->name = tsri_bump_text(&w->memory, name, tsri_strlen(name));
    p->encoding = encoding ? tsri_bump_text(&w->memory, encoding, tsri_strlen(encoding)) : NULL;
    if (!p->name || (encoding && !p->encoding)) return no_room(w);
    p->unnamed = !*name;
    TSRI_TRY(tsri_desc_packed(&p->desc, op, desc->dtype, desc->ndim, desc->shape));
    p->bytes = (uint64_t)tsr_desc_bytes(&p->desc);
    p->offset = w->data_end;
    TSRI_TRY(w->format->plan(w, p));
    if (w->shards) tsri_shards_place(w, p);
    if (!tsri_names_add(&w->names, &w->memory, p->name)) return no_room(w);
    w->plan[w->plan_list.count++] = p;
    w->data_end = p->offset + p->bytes;
    *out = p;
    return TSR_OK;
}

/* Takes back what was planned since there were `planned`, whose data ended at `end`. */
static void forget_from(tsr_writer *w, int64_t planned, uint64_t end)
{
    for (int64_t i = planned; i < w->plan_list.count; i++) tsri_names_remove(&w->names, w->plan[i]->name);
    w->plan_list.count = planned;
    w->data_end = end;
}

tsr_status tsr_writer_declare(tsr_writer *w, const char *name, const tsr_desc *desc, const char *encoding)
{
    tsri_file_entry *p;
    TSRI_CHECK(w, TSR_ENULL, "writer_declare: w is NULL");
    TSRI_TRY(tsri_desc_check("writer_declare", desc));
    TSRI_CHECK(!w->broken, TSR_EINVAL, "writer_declare: %s: an earlier call failed", w->path);
    TSRI_CHECK(w->added == 0, TSR_EINVAL, "writer_declare: %s: \"%s\" comes after the first tensor", w->path,
               name ? name : "");
    const int64_t planned = w->plan_list.count;
    const uint64_t end = w->data_end;
    TSRI_TRY(plan(&p, w, "writer_declare", name, desc, encoding));
    const tsr_status s = tsri_sink_check_room(room_of(w), w->data_end);
    if (s == TSR_OK) w->declared = true;
    else forget_from(w, planned, end);
    return s;
}

/* The next one that was declared, if it is this. */
static tsr_status next_declared(tsri_file_entry **out, const tsr_writer *w, const char *name,
                                const tsr_desc *desc)
{
    TSRI_CHECK(w->added < w->plan_list.count, TSR_EINVAL, "writer_add: %s: \"%s\" was not declared", w->path,
               name);
    tsri_file_entry *p = w->plan[w->added];
    TSRI_CHECK(tsri_streq(p->name, name) || (p->unnamed && !*name), TSR_EINVAL,
               "writer_add: %s: \"%s\" comes where \"%s\" was declared", w->path, name, p->name);
    TSRI_CHECK(p->desc.dtype == desc->dtype && tsr_desc_same_shape(&p->desc, desc), TSR_ESHAPE,
               "writer_add: %s: \"%s\" is %s, and was declared as %s", w->path, name, TSRI_DESC(desc),
               TSRI_DESC(&p->desc));
    *out = p;
    return TSR_OK;
}

/* Adding ------------------------------------------------------------------------------- */

/* Elements that lie beside each other. */
static tsr_status give(const tsr_writer *w, const char *data, size_t bytes, tsri_run_fn fn, void *context)
{
    for (size_t done = 0; done < bytes; done += RUN) {
        const size_t n = bytes - done < RUN ? bytes - done : RUN;
        TSRI_TRY(fn(context, data + done, n));
        if (w->progress) w->progress(w->progress_context, (int64_t)n);
    }
    return TSR_OK;
}

/* One packed run of at most PIECE bytes of a tensor that is not: small ones are packed, larger
 * ones cut along their first dim. */
static tsr_status each_run(const tsr_writer *w, const tsr_tensor *t, tsri_run_fn fn, void *context)
{
    tsr_tensor place, *piece = tsr_place_none(&place), *packed = NULL;
    const int64_t bytes = tsr_byte_size(t);
    if (bytes == 0) return TSR_OK;
    if (tsr_is_contiguous(t) && tsr_is_host(t)) return give(w, t->data, (size_t)bytes, fn, context);
    if (bytes <= PIECE) {
        tsr_status s =
            tsr_is_host(t) ? tsr_rearrange(&packed, t) : tsr_to_host(&packed, t);
        if (s == TSR_OK && !tsr_is_contiguous(packed)) s = tsr_contiguous(&packed, packed);
        if (s == TSR_OK) s = give(w, packed->data, (size_t)bytes, fn, context);
        tsr_release(&packed);
        return s;
    }
    const int64_t row = bytes / t->shape[0], rows = tsri_max(PIECE / row, 1);
    tsr_status s = TSR_OK;
    for (int64_t i = 0; i < t->shape[0] && s == TSR_OK; i += rows) {
        const int64_t stop = t->shape[0] - i < rows ? t->shape[0] : i + rows;
        s = rows == 1 ? tsr_select(&piece, t, 0, i) : tsr_slice(&piece, t, 0, i, stop, 1);
        if (s == TSR_OK) s = each_run(w, piece, fn, context);
    }
    tsr_release(&piece);
    return s;
}

tsr_status tsri_each_run(const tsr_writer *w, const tsr_tensor *t, tsri_run_fn fn, void *context)
{
    return each_run(w, t, fn, context);
}

typedef struct writing { tsri_sink *sink; uint64_t at; } writing;

static tsr_status write_run(void *context, const void *data, size_t bytes)
{
    writing *to = context;
    to->at += bytes;
    return tsri_sink_write(to->sink, to->at - bytes, data, bytes);
}

tsr_status tsri_write_elements(tsr_writer *w, uint64_t at, const tsr_tensor *t)
{
    writing to = { &w->sink, at };
    return each_run(w, t, write_run, &to);
}

/* A stream begins with what a file gets at its end. */
static tsr_status begin_data(tsr_writer *w)
{
    TSRI_TRY(w->format->data_start(w, &w->data_start));
    if (!w->sink.stream) return TSR_OK;
    TSRI_CHECK(w->declared, TSR_EUNSUPPORTED,
               "writer_add: %s takes bytes in order, and %s begins with a list: declare all tensors first",
               w->path, w->format->info.name);
    w->headed = true;
    return w->format->finish(w);
}

static tsr_status add(tsr_writer *w, const char *name, const tsr_tensor *t, const char *encoding)
{
    tsri_file_entry *p;
    if (w->declared) TSRI_TRY(next_declared(&p, w, name, &t->desc));
    else {
        TSRI_TRY(plan(&p, w, "writer_add", name, &t->desc, encoding));
        TSRI_TRY(tsri_sink_check_room(room_of(w), p->bytes));
    }
    if (w->shards) TSRI_TRY(tsri_shards_add(w, p, t));
    else {
        if (w->added == 0 && w->format->data_start) TSRI_TRY(begin_data(w));
        TSRI_TRY(w->format->add(w, p, t));
    }
    p->written = true;
    w->added++;
    return TSR_OK;
}

tsr_status tsr_writer_add(tsr_writer *w, const char *name, const tsr_tensor *t, const char *encoding)
{
    TSRI_CHECK(w, TSR_ENULL, "writer_add: w is NULL");
    TSRI_TRY(tsri_check_allocated("writer_add", "t", t));
    TSRI_TRY(tsri_desc_check("writer_add", &t->desc));
    TSRI_CHECK(!w->broken, TSR_EINVAL, "writer_add: %s: an earlier call failed", w->path);
    const int64_t planned = w->plan_list.count;
    const uint64_t end = w->data_end;
    const tsr_status s = add(w, name ? name : "", t, encoding);
    if (s == TSR_OK) return TSR_OK;
    if (s == TSR_EIO) w->broken = true;
    forget_from(w, planned, end);
    return s;
}

static tsr_status complete(tsr_writer *w)
{
    TSRI_CHECK(!w->broken, TSR_EINVAL, "writer_finish: %s: an earlier call failed", w->path);
    TSRI_CHECK(w->added == w->plan_list.count, TSR_EINVAL,
               "writer_finish: %s: \"%s\" was declared and not added", w->path, w->plan[w->added]->name);
    TSRI_CHECK(w->format->info.many || w->added == 1, TSR_EINVAL,
               "writer_finish: %s: a file of %s holds one tensor", w->path, w->format->info.name);
    if (w->shards) return tsri_shards_finish(w);
    if (w->format->finish && !w->headed) TSRI_TRY(w->format->finish(w));
    return tsri_sink_commit(&w->sink);
}

tsr_status tsr_writer_finish(tsr_writer **w)
{
    TSRI_CHECK(w, TSR_ENULL, "writer_finish: w is NULL");
    TSRI_CHECK(*w, TSR_ENULL, "writer_finish: *w is NULL");
    const tsr_status s = complete(*w);
    tsr_writer_cancel(w);
    return s;
}

tsr_status tsr_file_save(const char *path, const tsr_tensor *t)
{
    tsr_writer *w = NULL;
    TSRI_TRY(tsri_check_allocated("file_save", "t", t));
    TSRI_TRY(tsr_writer_create(&w, path, NULL));
    /* A stream has no name that says its format. */
    const tsr_status s = tsr_writer_add(w, w->format->info.many ? "tensor" : NULL, t, NULL);
    if (s != TSR_OK) {
        tsr_writer_cancel(&w);
        return s;
    }
    return tsr_writer_finish(&w);
}

const char *tsr_writer_part(tsr_writer *w, int part)
{
    if (!w || part < 0) return NULL;
    if (!w->shards) return part == 0 ? w->path : NULL;
    const int64_t n = w->plan_list.count, count = n ? w->plan[n - 1]->shard + 1 : 1;
    if (part > count) return NULL;
    if (!w->part_path) w->part_path = tsri_bump_take(&w->memory, TSRI_PATH);
    if (w->part_path) (void)tsri_shard_path(w->part_path, TSRI_PATH, w->path, part, count);
    return w->part_path;
}
