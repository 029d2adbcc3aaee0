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

static bool is_table(const char *format) { return !strcmp(format, "csv") || !strcmp(format, "tsv"); }

/* One table as another, with all of its columns. */
static bool keeps_columns(const plan *p)
{
    const step *st = p->count == 1 ? &p->steps[0] : NULL;
    if (!st || p->sources > 1 || p->r->transposes || !is_table(p->format->name)) return false;
    const item *it = &st->s->items[st->index];
    const bool some_rows = st->s->part.count == 1 && st->desc.ndim == 2;
    return is_table(st->s->file[it->file].format) && it->column < 0 && (!st->s->has_part || some_rows);
}

/* One column of a table, as a table of its own: its name and its words. */
static void copy_column(tsr_writer *w, const step *st)
{
    const item *it = &st->s->items[st->index];
    const char *const *words = source_words(st->s, it);
    const char *const names[] = { it->stem };
    char *key = text_of("categories.%s", it->stem);
    tsr_status s = tsr_writer_meta(w, &(tsr_meta){ .key = "columns", .type = TSR_META_TEXTS, .count = 1,
                                                   .texts = names });
    if (s == TSR_OK && words)
        s = tsr_writer_meta(w, &(tsr_meta){ .key = key, .type = TSR_META_TEXTS, .count = it->words,
                                            .texts = words });
    if (s != TSR_OK) complain(convert_name, "%s: %s", st->name, tsr_last_error());
    free(key);
}

static bool is_column(const step *st) { return st->s->items[st->index].column >= 0 && st->desc.ndim == 1; }

/* For a file whose first step is `first`. What the format cannot hold is left out. */
static void copy_metadata(tsr_writer *w, const plan *p, const step *first)
{
    if (is_table(p->format->name) && is_column(first)) {
        copy_column(w, first);
        return;
    }
    const bool keeps = keeps_columns(p), texts_only = !keeps && strcmp(p->format->name, "gguf") != 0;
    for (int i = 0; i < p->sources && (p->format->many || keeps); i++)
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

static bool declare_steps(tsr_writer *w, const plan *p, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        if (tsr_writer_declare(w, p->steps[i].name, &p->steps[i].desc, encoding_of(&p->steps[i], p->r)) !=
            TSR_OK) {
            complain(convert_name, "%s: %s", p->steps[i].name, tsr_last_error());
            return false;
        }
    return true;
}

static void tell(void *done, int64_t bytes)
{
    *(double *)done += (double)bytes;
    ticker_reach(*(double *)done);
}

static bool write_steps(tsr_writer *w, const plan *p, int64_t from, int64_t to, double *done)
{
    const request *r = p->r;
    for (int64_t i = from; i < to; i++) {
        tsr_tensor *t = NULL;
        const double before = *done;
        bool ok = make_tensor(&t, &p->steps[i], r);
        if (ok && tsr_writer_add(w, p->steps[i].name, t, encoding_of(&p->steps[i], r)) != TSR_OK) {
            complain(convert_name, "%s: %s", p->steps[i].name, tsr_last_error());
            ok = false;
        }
        tsr_release(&t);
        if (!ok) return false;
        *done = before + (double)tsr_desc_bytes(&p->steps[i].desc);
        ticker_reach(*done);
    }
    return true;
}

/* Counts the files of a writer, and looks whether those of a set may be written over. */
static bool check_parts(tsr_writer *w, plan *p)
{
    const char *path;
    for (int i = 0; (path = tsr_writer_part(w, i)) != NULL; i++, p->files++)
        if (p->r->shard && !may_write_to(convert_name, path, p->r->force)) return false;
    return true;
}

static bool write_file(plan *p, const char *path, int64_t from, int64_t to, double *done)
{
    tsr_writer *w = NULL;
    const tsr_writer_opts how = { .format = p->format->name, .compress = p->r->compress,
                                  .shard_bytes = p->r->shard_bytes, .quality = p->r->quality };
    if (!p->is_stream && !p->r->shard && !may_write_to(convert_name, path, p->r->force)) return false;
    if (tsr_writer_create(&w, path, &how) != TSR_OK) {
        complain(convert_name, "%s", tsr_last_error());
        return false;
    }
    tsr_writer_progress(w, tell, done);
    copy_metadata(w, p, &p->steps[from]);
    if (!declare_steps(w, p, from, to) || !check_parts(w, p) || !write_steps(w, p, from, to, done)) {
        tsr_writer_cancel(&w);
        return false;
    }
    if (tsr_writer_finish(&w) == TSR_OK) return true;
    complain(convert_name, "%s", tsr_last_error());
    return false;
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

/* File systems may treat more names as equal than A and a: false, with a complaint, if the path is one of the
 * files that this command has just written. */
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

static bool write_each(plan *p, double *done)
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

bool write_plan(plan *p)
{
    const char *path = p->is_stream ? "/dev/stdout" : p->out;
    double done = 0;
    ticker_begin_bytes(p->bytes);
    const bool ok = p->is_directory ? write_each(p, &done) : write_file(p, path, 0, p->count, &done);
    ticker_end();
    return ok;
}
