/* raw.c - bytes alone: the caller knows what they are. */
#include "io_int.h"

/* The shape, with a dim of -1 worked out from the bytes there are. */
static tsr_status find_shape(const tsr_file *f, int *ndim, int64_t shape[TSR_MAX_NDIM], int64_t elements)
{
    int64_t known = 1;
    int open = -1;
    *ndim = f->opts.shape ? f->opts.ndim : 1;
    for (int i = 0; i < *ndim; i++) {
        shape[i] = f->opts.shape ? f->opts.shape[i] : -1;
        TSRI_CHECK(shape[i] >= -1 && (shape[i] >= 0 || open < 0), TSR_ESHAPE,
                   "file_open: %s: opts.shape is %s", f->path, TSRI_DIMS(f->opts.ndim, f->opts.shape));
        if (shape[i] < 0) open = i;
        else
            TSRI_CHECK(tsri_mul(&known, known, shape[i]), TSR_EOVERFLOW, "file_open: %s: opts.shape is %s",
                       f->path, TSRI_DIMS(f->opts.ndim, f->opts.shape));
    }
    if (open < 0) return TSR_OK;
    TSRI_CHECK(known > 0 && elements % known == 0, TSR_ESHAPE,
               "file_open: %s: %lld elements are no multiple of %lld, so dim %d cannot be worked out",
               f->path, (long long)elements, (long long)known, open);
    shape[open] = elements / known;
    return TSR_OK;
}

static tsr_status open_raw(tsr_file *f)
{
    int64_t shape[TSR_MAX_NDIM];
    int ndim;
    tsri_entry *e;
    const uint64_t size = f->parts[0]->size, offset = f->opts.offset;
    TSRI_CHECK(f->opts.dtype != TSR_DTYPE_INVALID, TSR_EINVAL,
               "file_open: %s: bytes alone do not tell their dtype (opts.dtype does)", f->path);
    TSRI_TRY(tsri_file_range(f, "the header before opts.offset", 0, offset));
    TSRI_TRY(find_shape(f, &ndim, shape, (int64_t)((size - offset) / tsr_dtype_size(f->opts.dtype))));
    TSRI_TRY(tsri_file_add(f, &e, "", f->opts.dtype, ndim, shape));
    TSRI_TRY(tsri_file_range(f, "the shape", offset, e->bytes));
    e->encoding = tsr_dtype_name(f->opts.dtype);
    e->plain = true;
    e->offset = offset;
    return TSR_OK;
}

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: raw has no encodings", w->path);
    return TSR_OK;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    (void)p;
    return tsri_write_elements(w, 0, t);
}

const tsri_format tsri_raw = {
    .info = { "raw", "bytes alone; dtype and shape come from the caller", true, true, false, ".raw .bin" },
    .open = open_raw, .plan = plan, .add = add, .one_pass = true, .may_be_empty = true,
};
