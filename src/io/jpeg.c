/* jpeg.c - photographs, through libjpeg-turbo where it is installed.
 *
 * The header is read here, so that a file is listed without the library; pixels take its TurboJPEG
 * interface, which has been the same since version 2. Found when it is first needed; TSR_JPEG in the
 * environment names another file, or none. */
#include "core/alloc.h"
#include "core/library.h"
#include "core/lock.h"
#include "core/tensor_int.h"
#include "foreign_library.h"
#include "io_int.h"
#include "tessera/move.h"
#include "tessera/view.h"

enum {
    LARGEST_SIDE = 65500,  /* of what the library writes; 16 bits hold a little more */
    TIMES = 2048,          /* the most bytes of pixels for a byte of the file */
    FREE = 1 << 20, QUALITY = 90, SCANS = 16,  /* scans of the largest image; more of a smaller one */
    RGB = 0, GRAY = 6,                   /* its formats of pixels, */
    SAMPLES_420 = 2, SAMPLES_GRAY = 3,   /* of samples, */
    LIMIT_SCANS = 32768                  /* and a flag: more than 500 scans are an error */
};

/* The library -------------------------------------------------------------------------- */

static struct {
    void *(*init_decompress)(void);
    int (*header)(void *handle, const unsigned char *data, unsigned long bytes, int *width, int *height,
                  int *samples, int *colours);
    int (*decompress)(void *handle, const unsigned char *data, unsigned long bytes, unsigned char *dst,
                      int width, int pitch, int height, int format, int flags);
    void *(*init_compress)(void);
    int (*compress)(void *handle, const unsigned char *src, int width, int pitch, int height, int format,
                    unsigned char **out, unsigned long *bytes, int samples, int quality, int flags);
    int (*destroy)(void *handle);
    char *(*error)(void *handle);
    void (*free)(unsigned char *data);
    bool found;
} turbo;

static tsri_once once = TSRI_ONCE_INIT;

static void find(void)
{
    static const char *const names[] = { "libturbojpeg.so.0", "libturbojpeg.so", "libturbojpeg.0.dylib",
                                         "libturbojpeg.dylib" };
    static const char *const symbols[] = { "tjInitDecompress", "tjDecompressHeader3", "tjDecompress2",
                                           "tjInitCompress", "tjCompress2", "tjDestroy", "tjGetErrorStr2",
                                           "tjFree" };
    void (*f[8])(void) = { NULL };
    turbo.found = tsri_foreign_find(f, "TSR_JPEG", 4, names, 8, symbols);
    turbo.init_decompress = (void *(*)(void))f[0];
    turbo.header = (int (*)(void *, const unsigned char *, unsigned long, int *, int *, int *, int *))f[1];
    turbo.decompress = (int (*)(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int,
                                int, int))f[2];
    turbo.init_compress = (void *(*)(void))f[3];
    turbo.compress = (int (*)(void *, const unsigned char *, int, int, int, int, unsigned char **,
                              unsigned long *, int, int, int))f[4];
    turbo.destroy = (int (*)(void *))f[5];
    turbo.error = (char *(*)(void *))f[6];
    turbo.free = (void (*)(unsigned char *))f[7];
}

static tsr_status need_library(const char *op, const char *path)
{
    if (tsri_libraries_used()) tsri_once_run(&once, find);
    TSRI_CHECK(tsri_libraries_used() && turbo.found, TSR_EUNSUPPORTED,
               "%s: %s: pixels of JPEG need libjpeg-turbo's libturbojpeg, which is not here: install "
               "libturbojpeg0 (Debian, Ubuntu), turbojpeg (Fedora) or jpeg-turbo (Homebrew)", op, path);
    return TSR_OK;
}

/* The header --------------------------------------------------------------------------- */

static bool is_jpeg(const unsigned char *head, size_t n)
{
    return n >= 3 && head[0] == 0xFF && head[1] == 0xD8 && head[2] == 0xFF;
}

static uint32_t get16_big(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }

/* Does a segment of this marker, of C0 or above, begin a frame? */
static bool is_frame(unsigned marker)
{
    return marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/* The first frame, after segments that are stepped over by their lengths. */
static tsr_status find_frame(const tsr_file *f, unsigned char frame[8])
{
    const tsri_source *s = f->parts[0];
    unsigned char p[4];
    for (uint64_t at = 2;; ) {
        TSRI_TRY(tsri_file_range(f, "a segment", at, sizeof p));
        TSRI_TRY(tsri_source_read(s, p, at, sizeof p));
        TSRI_SOUND(p[0] == 0xFF, f, "byte %llu: expected a marker", tsri_ull(at));
        if (p[1] == 0xFF) {  /* filling */
            at++;
            continue;
        }
        const uint32_t length = get16_big(p + 2);
        TSRI_SOUND(p[1] >= 0xC0 && p[1] != 0xD9 && p[1] != 0xDA && (p[1] & 0xF8) != 0xD0 && length >= 2, f,
                   "byte %llu: marker %x before the size of the image is known", tsri_ull(at),
                   (unsigned)p[1]);
        TSRI_TRY(tsri_file_range(f, "a segment", at + 2, length));
        if (!is_frame(p[1])) {
            at += 2 + (uint64_t)length;
            continue;
        }
        TSRI_SOUND(length >= 8, f, "byte %llu: a frame of %u bytes", tsri_ull(at), (unsigned)length);
        return tsri_source_read(s, frame, at + 2, 8);
    }
}

static tsr_status open_jpeg(tsr_file *f)
{
    unsigned char head[3] = { 0 }, frame[8] = { 0 };
    tsri_entry *e = NULL;
    TSRI_TRY(tsri_file_range(f, "the header", 0, sizeof head));
    TSRI_TRY(tsri_source_read(f->parts[0], head, 0, sizeof head));
    TSRI_SOUND(is_jpeg(head, sizeof head), f, "does not begin as JPEG");
    TSRI_TRY(find_frame(f, frame));
    const int64_t height = get16_big(frame + 3), width = get16_big(frame + 5), channels = frame[7];
    const uint64_t size = f->parts[0]->size;
    TSRI_CHECK(frame[2] == 8 && (channels == 1 || channels == 3) && height > 0, TSR_EUNSUPPORTED,
               "file_open: %s: a JPEG of %d bits, %lld channels, %lld high; 8 bits, 1 or 3 channels are read",
               f->path, frame[2], (long long)channels, (long long)height);
    TSRI_SOUND(width > 0, f, "an image without a width");
    const int64_t shape[] = { height, width, channels };
    TSRI_TRY(tsri_file_add(f, &e, "", TSR_U8, channels == 1 ? 2 : 3, shape));
    TSRI_SOUND(e->bytes <= FREE || (e->bytes - FREE) / TIMES <= size, f,
               "%llu bytes of pixels in a file of %llu", tsri_ull(e->bytes), tsri_ull(size));
    e->encoding = "jpeg";
    e->bytes = size;
    return TSR_OK;
}

/* Pixels ------------------------------------------------------------------------------- */

static bool contains(const char *text, const char *words)
{
    const size_t n = tsri_strlen(words);
    for (; tsri_strlen(text) >= n; text++)
        if (memcmp(text, words, n) == 0) return true;
    return false;
}

/* The library's last error as a status: TSR_ENOMEM if it had no memory, else the file is damaged. */
static tsr_status failed(const tsr_file *f, void *handle)
{
    const char *words = turbo.error(handle);
    if (contains(words, "Insufficient memory") || contains(words, "Memory allocation"))
        return tsri_fail(TSR_ENOMEM, "file_read: %s: %s", f->path, words);
    return TSRI_DAMAGE(f, "%s", words);
}

static tsr_status decode(tsr_tensor *t, const tsr_file *f, const unsigned char *data, unsigned long bytes)
{
    int width = 0, height = 0, samples, colours;
    const int channels = t->ndim == 3 ? 3 : 1;
    void *handle = turbo.init_decompress();
    TSRI_CHECK(handle, TSR_ENOMEM, "file_read: %s: no room for libturbojpeg", f->path);
    tsr_status s = TSR_OK;
    if (turbo.header(handle, data, bytes, &width, &height, &samples, &colours) != 0)
        s = failed(f, handle);
    else if (height != t->shape[0] || width != t->shape[1])
        s = TSRI_DAMAGE(f, "two sizes: %d by %d, and %lld by %lld", height, width, (long long)t->shape[0],
                        (long long)t->shape[1]);
    else if (turbo.decompress(handle, data, bytes, t->data, width, width * channels, height,
                              channels == 3 ? RGB : GRAY, LIMIT_SCANS) != 0)
        s = failed(f, handle);
    (void)turbo.destroy(handle);
    return s;
}

static uint64_t count_scans(const unsigned char *data, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i + 1 < bytes; i++) n += data[i] == 0xFF && data[i + 1] == 0xDA;
    return n;
}

/* Limits the scans: each is a pass over all pixels, but an empty one takes only 100 bytes of the file. */
static tsr_status check_scans(const tsr_tensor *t, const tsr_file *f, const unsigned char *data, size_t bytes)
{
    const uint64_t pixels = (uint64_t)tsr_byte_size(t), scans = count_scans(data, bytes);
    TSRI_SOUND(scans <= SCANS * (FREE + TIMES * (uint64_t)bytes) / pixels, f,
               "%llu scans over %llu bytes of pixels, in a file of %zu", tsri_ull(scans), tsri_ull(pixels),
               bytes);
    return TSR_OK;
}

static tsr_status read_pixels(tsr_tensor *t, const tsr_file *f, size_t bytes)
{
    unsigned char *data = tsri_scratch(bytes);
    TSRI_CHECK(data, TSR_ENOMEM, "file_read: %s: no room for a file of %zu bytes", f->path, bytes);
    tsr_status s = tsri_source_read(f->parts[0], data, 0, bytes);
    if (s == TSR_OK) s = check_scans(t, f, data, bytes);
    if (s == TSR_OK) s = decode(t, f, data, (unsigned long)bytes);
    tsri_free(data, bytes);
    return s;
}

static tsr_status read_jpeg(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsr_tensor *t = NULL;
    TSRI_TRY(need_library("file_read", f->path));
    TSRI_TRY(tsri_make_packed(&t, "file_read", e->dtype, e->ndim, e->shape));
    const tsr_status s = read_pixels(t, f, (size_t)e->bytes);
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

/* Writing ------------------------------------------------------------------------------ */

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    const tsr_desc *d = &p->desc;
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: jpeg has no encodings", w->path);
    TSRI_CHECK(d->dtype == TSR_U8, TSR_EDTYPE, "writer_add: %s: an image of %s; u8 is written", w->path,
               tsr_dtype_name(d->dtype));
    const bool has_channels = d->ndim == 2 || (d->ndim == 3 && (d->shape[2] == 1 || d->shape[2] == 3));
    TSRI_CHECK(has_channels && d->shape[0] >= 1 && d->shape[0] <= LARGEST_SIDE && d->shape[1] >= 1 &&
                   d->shape[1] <= LARGEST_SIDE,
               TSR_ESHAPE,
               "writer_add: %s: %s is no image: (height, width) or (height, width, 1 or 3), up to %d",
               w->path, TSRI_DESC(d), LARGEST_SIDE);
    TSRI_CHECK(w->opts.quality >= 0 && w->opts.quality <= 100, TSR_EINVAL,
               "writer_add: %s: opts.quality is %d", w->path, w->opts.quality);
    p->bytes = 0;  /* known only when it is compressed */
    return need_library("writer_add", w->path);
}

static tsr_status compress(tsr_writer *w, const tsr_tensor *t)
{
    unsigned char *data = NULL;
    unsigned long bytes = 0;
    const bool colour = t->ndim == 3 && t->shape[2] == 3;
    const int width = (int)t->shape[1], height = (int)t->shape[0];
    const int quality = w->opts.quality ? w->opts.quality : QUALITY;
    void *handle = turbo.init_compress();
    TSRI_CHECK(handle, TSR_ENOMEM, "writer_add: %s: no room for libturbojpeg", w->path);
    tsr_status s = TSR_OK;
    if (turbo.compress(handle, t->data, width, width * (colour ? 3 : 1), height, colour ? RGB : GRAY, &data,
                       &bytes, colour ? SAMPLES_420 : SAMPLES_GRAY, quality, 0) != 0)
        s = tsri_fail(TSR_ENOMEM, "writer_add: %s: %s", w->path, turbo.error(handle));
    else
        s = tsri_sink_write(&w->sink, 0, data, bytes);
    if (data) turbo.free(data);
    (void)turbo.destroy(handle);
    return s;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    tsr_tensor *host = NULL, *packed = NULL;
    (void)p;
    tsr_status s = tsr_is_host(t) ? TSR_OK : tsr_to_host(&host, t);
    if (s == TSR_OK) s = tsr_contiguous(&packed, host ? host : t);
    if (s == TSR_OK) s = compress(w, packed);
    tsr_release(&packed);
    tsr_release(&host);
    return s;
}

const tsri_format tsri_jpeg = {
    .info = { "jpeg", "a photograph, through libjpeg-turbo where it is installed", true, true, false,
              ".jpg .jpeg" },
    .is = is_jpeg, .open = open_jpeg, .read = read_jpeg, .plan = plan, .add = add, .one_pass = true,
};
