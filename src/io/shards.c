/* shards.c - a set of safetensors files and their index (shards.h). */
#include "shards.h"

#include "core/alloc.h"
#include "core/text.h"
#include "json.h"

static const char ending[] = ".safetensors";

static size_t without(const char *path, size_t n, const char *end)
{
    const size_t k = tsri_strlen(end);
    return n > k && memcmp(path + n - k, end, k) == 0 ? n - k : n;
}

/* The path without its ending, be it that of a file or of the index. */
static size_t stem_length(const char *path)
{
    return without(path, without(path, tsri_strlen(path), ".index.json"), ending);
}

/* Five digits of n, which is 1 at the least, or more. */
static void put_digits(tsri_text *text, const char *before, int64_t n)
{
    tsri_put(text, "%s", before);
    for (int64_t least = 10000; least > n; least /= 10) tsri_put_char(text, '0');
    tsri_put(text, "%lld", (long long)n);
}

size_t tsri_shard_path(char *out, size_t room, const char *path, int64_t part, int64_t count)
{
    const int stem = (int)stem_length(path);
    tsri_text text = tsri_text_into(out, room);
    tsri_put(&text, "%.*s", stem, path);
    if (part < count) {
        put_digits(&text, "-", part + 1);
        put_digits(&text, "-of-", count);
    }
    tsri_put(&text, part < count ? "%s" : "%s.index.json", ending);
    return text.length;
}

/* One more file, with the metadata of all, and what was declared for it. */
static tsr_status begin_shard(tsr_writer *w)
{
    char path[TSRI_PATH];
    tsr_writer *shard = NULL;
    const int64_t number = w->shard_list.count;
    tsr_writer_opts opts = w->opts;
    opts.shard_bytes = 0;
    opts.format = "safetensors";
    TSRI_CHECK(number < 99999, TSR_EUNSUPPORTED, "writer: %s: more than 99999 shards", w->path);
    TSRI_CHECK(tsri_shard_path(path, sizeof path, w->path, number, 99999) < sizeof path - 64, TSR_EINVAL,
               "writer_create: a path of %zu bytes", tsri_strlen(w->path));
    TSRI_CHECK(tsri_list_grow(&w->memory, &w->shard_list, (void ***)&w->shards), TSR_ENOMEM,
               "writer: %s: no room", w->path);
    TSRI_TRY(tsr_writer_create(&shard, path, &opts));
    tsr_writer_progress(shard, w->progress, w->progress_context);
    w->shards[w->shard_list.count++] = shard;
    for (int64_t i = 0; i < w->meta_list.count; i++) TSRI_TRY(tsr_writer_meta(shard, w->metas[i]));
    for (int64_t i = 0; w->declared && i < w->plan_list.count; i++)
        if (w->plan[i]->shard == number)
            TSRI_TRY(tsr_writer_declare(shard, w->plan[i]->name, &w->plan[i]->desc, NULL));
    return TSR_OK;
}

/* The folder is there, and can be written to. */
tsr_status tsri_shards_start(tsr_writer *w)
{
    TSRI_CHECK(w->format == &tsri_safetensors, TSR_EUNSUPPORTED,
               "writer_create: %s: opts.shard_bytes is for safetensors, not %s", w->path,
               w->format->info.name);
    return begin_shard(w);
}

void tsri_shards_place(const tsr_writer *w, tsri_file_entry *p)
{
    const int64_t n = w->plan_list.count;
    const tsri_file_entry *last = n ? w->plan[n - 1] : NULL;
    const uint64_t used = last ? last->shard_bytes : 0;
    const bool fits = used == 0 || (used <= w->opts.shard_bytes && p->bytes <= w->opts.shard_bytes - used);
    p->shard = last ? last->shard + !fits : 0;
    p->shard_bytes = p->bytes + (fits ? used : 0);
}

/* The first file was begun before anything was declared: it is begun again. */
static tsr_status begin_again(tsr_writer *w)
{
    tsr_writer_cancel(&w->shards[0]);
    w->shard_list.count = 0;
    return begin_shard(w);
}

tsr_status tsri_shards_add(tsr_writer *w, const tsri_file_entry *p, const tsr_tensor *t)
{
    if (w->added == 0) TSRI_TRY(begin_again(w));
    if (p->shard == w->shard_list.count) TSRI_TRY(begin_shard(w));
    return tsr_writer_add(w->shards[p->shard], p->name, t, NULL);
}

/* The index ------------------------------------------------------------------------------ */

static void put_index(tsri_text *out, const tsr_writer *w)
{
    char path[TSRI_PATH];
    uint64_t bytes = 0;
    for (int64_t i = 0; i < w->plan_list.count; i++) bytes += w->plan[i]->bytes;
    tsri_put(out, "{\n  \"metadata\": {\n    \"total_size\": %llu", tsri_ull(bytes));
    for (int64_t i = 0; i < w->meta_list.count; i++) {
        if (tsri_streq(w->metas[i]->key, "total_size")) continue;
        tsri_put(out, ",\n    ");
        tsri_put_json(out, w->metas[i]->key, tsri_strlen(w->metas[i]->key));
        tsri_put(out, ": ");
        tsri_put_json(out, w->metas[i]->text, w->metas[i]->length);
    }
    tsri_put(out, "\n  },\n  \"weight_map\": {");
    for (int64_t i = 0; i < w->plan_list.count; i++) {
        (void)tsri_shard_path(path, sizeof path, w->path, w->plan[i]->shard, w->shard_list.count);
        const char *name = tsri_name_in_folder(path);
        tsri_put(out, i ? ",\n    " : "\n    ");
        tsri_put_json(out, w->plan[i]->name, tsri_strlen(w->plan[i]->name));
        tsri_put(out, ": ");
        tsri_put_json(out, name, tsri_strlen(name));
    }
    tsri_put(out, "\n  }\n}\n");
}

/* The text of the index, to a sink that is not in its place yet. */
static tsr_status write_index(tsr_writer *w, char *final_path, char *temporary)
{
    char path[TSRI_PATH];
    (void)tsri_shard_path(path, sizeof path, w->path, 0, 0);
    tsri_text measure = tsri_text_into(NULL, 0);
    put_index(&measure, w);
    const size_t room = measure.length + 1;
    TSRI_TRY(tsri_sink_create(&w->sink, path, !w->opts.no_sync, final_path, temporary));
    char *data = tsri_scratch(room);
    TSRI_CHECK(data, TSR_ENOMEM, "writer_finish: %s: no room for its index", w->path);
    tsri_text text = tsri_text_into(data, room);
    put_index(&text, w);
    const tsr_status s = tsri_sink_write(&w->sink, 0, data, text.length);
    tsri_free(data, room);
    return s;
}

/* Completes one file and sets its final name; the file is not put there yet. */
static tsr_status complete_shard(tsr_writer *w, int64_t i)
{
    char path[TSRI_PATH];
    tsr_writer *shard = w->shards[i];
    TSRI_TRY(shard->format->finish(shard));
    (void)tsri_shard_path(path, sizeof path, w->path, i, w->shard_list.count);
    return tsri_sink_rename(&shard->sink, tsri_name_in_folder(path));
}

tsr_status tsri_shards_finish(tsr_writer *w)
{
    char *final_path = tsri_bump_take(&w->memory, TSRI_PATH),
         *temporary = tsri_bump_take(&w->memory, TSRI_PATH);
    TSRI_CHECK(final_path && temporary, TSR_ENOMEM, "writer_finish: %s: no room", w->path);
    if (w->added == 0) TSRI_TRY(begin_again(w));
    const int64_t used = w->added ? w->plan[w->added - 1]->shard + 1 : 1;
    while (w->shard_list.count > used) tsr_writer_cancel(&w->shards[--w->shard_list.count]);
    for (int64_t i = 0; i < w->shard_list.count; i++) TSRI_TRY(complete_shard(w, i));
    TSRI_TRY(write_index(w, final_path, temporary));
    for (int64_t i = 0; i < w->shard_list.count; i++) TSRI_TRY(tsri_sink_commit(&w->shards[i]->sink));
    return tsri_sink_commit(&w->sink);
}

void tsri_shards_cancel(tsr_writer *w)
{
    for (int64_t i = 0; i < w->shard_list.count; i++) tsr_writer_cancel(&w->shards[i]);
}
