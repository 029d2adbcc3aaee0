/* write.c - tensors to files, one after another. */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../disk.h"
#include "../room.h"
#include "../ticker.h"

static const char convert_name[] = "convert";

/* Paths -------------------------------------------------------------------------------- */

/* Where shard i goes: OUT, or OUT-00001-of-00007.safetensors. */
static char *shard_path(const plan *p, int i)
{
    const size_t n = strlen(p->out), ending = strlen(".safetensors");
    if (!p->r->shard) return copy_of_text(p->out);
    const bool ends = n > ending && !strcmp(p->out + n - ending, ".safetensors");
    return text_of("%.*s-%05d-of-%05d.safetensors", (int)(ends ? n - ending : n), p->out, i + 1, p->shards);
}

static char *index_path(const plan *p)
{
    const size_t n = strlen(p->out), ending = strlen(".safetensors");
    const bool ends = n > ending && !strcmp(p->out + n - ending, ".safetensors");
    return text_of("%s%s.index.json", p->out, ends ? "" : ".safetensors");
}

/* Writing -------------------------------------------------------------------------------- */

/* The tensor of a step, as it is to be written. */
static bool make_tensor(tsr_tensor **out, const step *st, const request *r)
{
    const item *it = &st->s->items[st->index];
    int axes[TSR_MAX_NDIM];
    tsr_status s = TSR_OK;
    if (st->as_blocks) {
        tsr_file *f = source_file_at(st->s, it->file);
        s = f ? tsr_file_read_raw(out, f, it->entry) : TSR_EIO;
    } else if (!source_read(out, st->s, st->index)) {
        return false;
    }
    if (s == TSR_OK && r->result && r->result != (*out)->dtype) {
        tsr_tensor *cast = NULL;
        s = tsr_cast(&cast, *out, r->result);
        if (s == TSR_OK) {
            tsr_release(out);
            *out = cast;
        }
    }
    if (s == TSR_OK && r->transposes) {
        axes_for(axes, r, (*out)->ndim);
        s = tsr_permute(out, *out, (*out)->ndim, axes);
    }
    if (s != TSR_OK) complain(convert_name, "%s: %s", st->name, tsr_last_error());
    return s == TSR_OK;
}

static const char *encoding_of(const step *st, const request *r)
{
    return st->as_blocks ? st->s->items[st->index].encoding : r->encoding;
}

/* A number of the metadata as text, for formats that know texts only. */
static bool number_as_text(char out[64], const tsr_meta *m)
{
    if (m->type != TSR_META_NUMBER) return false;
    if (m->number.dtype == TSR_I64)      snprintf(out, 64, "%" PRId64, m->number.as.i);
    else if (m->number.dtype == TSR_U64) snprintf(out, 64, "%" PRIu64, m->number.as.u);
    else if (m->number.dtype == TSR_BOOL) snprintf(out, 64, m->number.as.u ? "true" : "false");
    else                                 snprintf(out, 64, "%.17g", m->number.as.c.re);
    return true;
}

/* What the format cannot hold is left out. */
static void copy_metadata(tsr_writer *w, const plan *p)
{
    const bool texts_only = strcmp(p->format->name, "gguf") != 0;
    for (int i = 0; i < p->sources && p->format->many; i++)
        for (int k = 0; k < p->source[i].files; k++) {
            const tsr_file *f = source_file_at(&p->source[i], k);
            for (int64_t n = 0; f && n < tsr_file_meta_count(f); n++) {
                char text[64];
                tsr_meta m;
                if (tsr_file_meta(&m, f, n) != TSR_OK) continue;
                tsr_status s = TSR_OK;
                if (!texts_only || m.type == TSR_META_TEXT) s = tsr_writer_meta(w, &m);
                else if (number_as_text(text, &m))          s = tsr_writer_text(w, m.key, text);
                if (s == TSR_EUNSUPPORTED) return;
            }
        }
}

static bool write_steps(tsr_writer *w, const plan *p, int64_t from, int64_t to, double *done)
{
    const request *r = p->r;
    for (int64_t i = from; i < to; i++)
        if (tsr_writer_declare(w, p->steps[i].name, &p->steps[i].desc, encoding_of(&p->steps[i], r)) !=
            TSR_OK) {
            complain(convert_name, "%s: %s", p->steps[i].name, tsr_last_error());
            return false;
        }
    for (int64_t i = from; i < to; i++) {
        tsr_tensor *t = NULL;
        bool ok = make_tensor(&t, &p->steps[i], r);
        if (ok && tsr_writer_add(w, p->steps[i].name, t, encoding_of(&p->steps[i], r)) != TSR_OK) {
            complain(convert_name, "%s: %s", p->steps[i].name, tsr_last_error());
            ok = false;
        }
        tsr_release(&t);
        if (!ok) return false;
        *done += (double)tsr_desc_bytes(&p->steps[i].desc);
        ticker_reach(*done);
    }
    return true;
}

static bool write_file(const plan *p, const char *path, int64_t from, int64_t to, double *done)
{
    tsr_writer *w = NULL;
    const tsr_writer_opts how = { .format = p->format->name, .compress = p->r->compress };
    if (!may_write_to(convert_name, path, p->r->force)) return false;
    if (tsr_writer_create(&w, path, &how) != TSR_OK) {
        complain(convert_name, "%s", tsr_last_error());
        return false;
    }
    copy_metadata(w, p);
    if (!write_steps(w, p, from, to, done)) {
        tsr_writer_cancel(&w);
        return false;
    }
    if (tsr_writer_finish(&w) == TSR_OK) return true;
    complain(convert_name, "%s", tsr_last_error());
    return false;
}

/* A text that grows. */
typedef struct growing { char *data; size_t used, room; } growing;

static void put_bytes(growing *t, const char *data, size_t n)
{
    if (t->used + n + 1 > t->room) {
        t->room = 2 * (t->used + n + 1);
        char *grown = room_for(t->room, 1);
        if (t->used) memcpy(grown, t->data, t->used);
        free(t->data);
        t->data = grown;
    }
    memcpy(t->data + t->used, data, n);
    t->used += n;
}

static void put(growing *t, const char *words) { put_bytes(t, words, strlen(words)); }

static void put_json(growing *t, const char *words)
{
    char code[8];
    put(t, "\"");
    for (; *words; words++) {
        const unsigned char c = (unsigned char)*words;
        if (c == '"' || c == '\\') put_bytes(t, "\\", 1);
        if (c >= 0x20) {
            put_bytes(t, words, 1);
            continue;
        }
        snprintf(code, sizeof code, "\\u%04x", c);
        put(t, code);
    }
    put(t, "\"");
}

static char *index_text(const plan *p)
{
    growing t = { 0 };
    char number[64];
    put(&t, "{\n  \"metadata\": {\n    \"total_size\": ");
    snprintf(number, sizeof number, "%.0f", p->bytes);
    put(&t, number);
    put(&t, "\n  },\n  \"weight_map\": {");
    for (int64_t i = 0; i < p->count; i++) {
        char *path = shard_path(p, p->steps[i].shard);
        const char *slash = strrchr(path, '/');
        put(&t, i ? ",\n    " : "\n    ");
        put_json(&t, p->steps[i].name);
        put(&t, ": ");
        put_json(&t, slash ? slash + 1 : path);
        free(path);
    }
    put(&t, "\n  }\n}\n");
    return t.data;
}

static bool write_index(const plan *p)
{
    char *path = index_path(p), *text = index_text(p);
    const bool ok = write_whole_file(path, text, strlen(text)) == TSR_OK;
    if (!ok) complain(convert_name, "%s", tsr_last_error());
    free(text);
    free(path);
    return ok;
}

static bool check_shards(const plan *p)
{
    char *path = index_path(p);
    bool ok = may_write_to(convert_name, path, p->r->force);
    free(path);
    return ok;
}

static bool write_shards(const plan *p, double *done)
{
    int64_t from = 0;
    if (p->r->shard && !check_shards(p)) return false;
    for (int i = 0; i < p->shards; i++) {
        int64_t to = from;
        while (to < p->count && p->steps[to].shard == i) to++;
        char *path = shard_path(p, i);
        const bool ok = write_file(p, path, from, to, done);
        free(path);
        if (!ok) return false;
        from = to;
    }
    return !p->r->shard || write_index(p);
}

static bool make_directory(const plan *p)
{
    if (make_folder(p->out)) return true;
    complain(convert_name, "%s: %s", p->out, strerror(errno));
    return false;
}

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80)) text++;
    return !*text;
}

/* Which names a file system takes for the same, beyond A and a, only it knows: what was written a moment
 * ago is not written over. */
static bool is_another_file(const plan *p, int64_t index, const file_identity *written)
{
    const char *path = p->steps[index].path;
    file_identity there;
    if (is_ascii(path) || !identify_file(&there, path)) return true;
    for (int64_t i = 0; i < index; i++)
        if (written[i].number == there.number && written[i].device == there.device) {
            complain(convert_name, "'%s' and '%s' are one file here; --rename can tell them apart",
                     p->steps[i].path, path);
            return false;
        }
    return true;
}

static bool write_each(const plan *p, double *done)
{
    file_identity *written = room_for((size_t)p->count, sizeof *written);
    bool ok = make_directory(p);
    for (int64_t i = 0; i < p->count && ok; i++) {
        ok = is_another_file(p, i, written) && write_file(p, p->steps[i].path, i, i + 1, done);
        if (ok && !is_ascii(p->steps[i].path)) (void)identify_file(&written[i], p->steps[i].path);
    }
    free(written);
    return ok;
}

bool write_plan(const plan *p)
{
    double done = 0;
    ticker_begin_bytes(p->bytes);
    const bool ok = p->is_directory ? write_each(p, &done) : write_shards(p, &done);
    ticker_end();
    return ok;
}
