/* write.c - tensors to files, one after another. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#endif

#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../room.h"

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

/* OUT/NAME.npy, with nothing in the name that leads elsewhere. */
static char *path_in_directory(const plan *p, const step *st)
{
    const char *format = p->format->name;
    char *name = copy_of_text(st->name);
    for (char *c = name; *c; c++)
        if (*c == '/' || *c == '\\' || (unsigned char)*c < 0x20) *c = '_';
    if (name[0] == '.' || !name[0]) {
        char *safe = text_of("_%s", name);
        free(name);
        name = safe;
    }
    const bool slash = p->out[strlen(p->out) - 1] == '/';
    char *path =
        text_of("%s%s%s.%s", p->out, slash ? "" : "/", name, !strcmp(format, "pnm") ? "ppm" : format);
    free(name);
    return path;
}

static bool may_write(const plan *p, const char *path)
{
    struct stat s;
    if (p->r->force || stat(path, &s) != 0) return true;
    complain(convert_name, "%s is there already; --force writes over it", path);
    return false;
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

static bool write_steps(tsr_writer *w, const plan *p, int64_t from, int64_t to, progress *pr, double *done)
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
        progress_draw_bytes(pr, *done, p->bytes);
    }
    return true;
}

static bool write_file(const plan *p, const char *path, int64_t from, int64_t to, progress *pr, double *done)
{
    tsr_writer *w = NULL;
    const tsr_writer_opts how = { .format = p->format->name, .compress = p->r->compress };
    if (!may_write(p, path)) return false;
    if (tsr_writer_create(&w, path, &how) != TSR_OK) {
        complain(convert_name, "%s", tsr_last_error());
        return false;
    }
    copy_metadata(w, p);
    if (!write_steps(w, p, from, to, pr, done)) {
        tsr_writer_cancel(&w);
        return false;
    }
    if (tsr_writer_finish(&w) == TSR_OK) return true;
    complain(convert_name, "%s", tsr_last_error());
    return false;
}

static void write_json_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') fprintf(f, "\\%c", c);
        else if (c < 0x20)         fprintf(f, "\\u%04x", c);
        else                       fputc(c, f);
    }
    fputc('"', f);
}

static void write_index_to(FILE *f, const plan *p)
{
    fprintf(f, "{\n  \"metadata\": {\n    \"total_size\": %.0f\n  },\n  \"weight_map\": {", p->bytes);
    for (int64_t i = 0; i < p->count; i++) {
        char *path = shard_path(p, p->steps[i].shard);
        const char *slash = strrchr(path, '/');
        fputs(i ? ",\n    " : "\n    ", f);
        write_json_text(f, p->steps[i].name);
        fputs(": ", f);
        write_json_text(f, slash ? slash + 1 : path);
        free(path);
    }
    fputs("\n  }\n}\n", f);
}

/* Beside its place first, and then there in one step. */
static bool write_index(const plan *p)
{
    char *path = index_path(p), *beside = text_of("%s.part", path);
    FILE *f = fopen(beside, "w");
    bool ok = f != NULL;
    if (f) {
        write_index_to(f, p);
        ok = fflush(f) == 0 && !ferror(f);
#if !defined(_WIN32)
        ok = ok && fsync(fileno(f)) == 0;
#endif
        ok = fclose(f) == 0 && ok;
        ok = ok && rename(beside, path) == 0;
    }
    if (!ok) {
        complain(convert_name, "cannot write %s: %s", path, strerror(errno));
        remove(beside);
    }
    free(beside);
    free(path);
    return ok;
}

static bool check_shards(const plan *p)
{
    char *path = index_path(p);
    bool ok = may_write(p, path);
    free(path);
    return ok;
}

static bool write_shards(const plan *p, progress *pr, double *done)
{
    int64_t from = 0;
    if (p->r->shard && !check_shards(p)) return false;
    for (int i = 0; i < p->shards; i++) {
        int64_t to = from;
        while (to < p->count && p->steps[to].shard == i) to++;
        char *path = shard_path(p, i);
        const bool ok = write_file(p, path, from, to, pr, done);
        free(path);
        if (!ok) return false;
        from = to;
    }
    return !p->r->shard || write_index(p);
}

static bool make_directory(const plan *p)
{
#if !defined(_WIN32)
    if (mkdir(p->out, 0777) == 0 || errno == EEXIST) return true;
#endif
    complain(convert_name, "%s: %s", p->out, strerror(errno));
    return false;
}

static bool write_each(const plan *p, progress *pr, double *done)
{
    bool ok = make_directory(p);
    for (int64_t i = 0; i < p->count && ok; i++) {
        char *path = path_in_directory(p, &p->steps[i]);
        ok = write_file(p, path, i, i + 1, pr, done);
        free(path);
    }
    return ok;
}

bool write_plan(const plan *p)
{
    progress pr;
    double done = 0;
    progress_begin(&pr);
    const bool ok = p->is_directory ? write_each(p, &pr, &done) : write_shards(p, &pr, &done);
    progress_end(&pr);
    return ok;
}
