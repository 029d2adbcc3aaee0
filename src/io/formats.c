/* formats.c - formats by name, by first bytes, by the end of a path. */
#include "io_int.h"

static const tsri_format *const formats[] = {
#define X(name) &tsri_##name,
#include "formats.def"
#undef X
};
const char tsri_format_list[] =
#define X(name) " " #name
#include "formats.def"
#undef X
    ;

enum { FORMATS = sizeof formats / sizeof *formats };

const tsr_format_info *tsr_format_get_info(int index)
{
    return index >= 0 && index < FORMATS ? &formats[index]->info : NULL;
}

const tsri_format *tsri_format_named(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (tsri_streq(formats[i]->info.name, name)) return formats[i];
    return NULL;
}

const tsri_format *tsri_format_of_bytes(const unsigned char *head, size_t bytes)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->is && formats[i]->is(head, bytes)) return formats[i];
    return NULL;
}

/* First bytes of common formats that are not read here, and what to say of them; '?' stands for any byte. */
static const struct foreign { int at, length; const char *bytes, *words; } foreign[] = {
    { 0, 23, "version https://git-lfs", "it is a pointer of Git LFS, and not the file itself: git lfs pull" },
    { 0, 9, "<!DOCTYPE", "it is a page of HTML, and perhaps a failed download" },
    { 0, 9, "<!doctype", "it is a page of HTML, and perhaps a failed download" },
    { 0, 5, "<html", "it is a page of HTML, and perhaps a failed download" },
    { 0, 3, "\x1f\x8b\x08", "it is compressed: gunzip it first" },
    { 0, 4, "\x28\xb5\x2f\xfd", "it is compressed: unzstd it first" },
    { 0, 6, "\xfd" "7zXZ\0", "it is compressed: unxz it first" },
    { 0, 10, "BZh?1AY&SY", "it is compressed: bunzip2 it first" },
    { 257, 5, "ustar", "it is an archive: tar xf takes its files out" },
    { 0, 6, "GIF8?a", "a GIF image is not read; png, jpeg and pnm are" },
    { 0, 10, "BM????\0\0\0\0", "a BMP image is not read; png, jpeg and pnm are" },
    { 0, 4, "II*\0", "a TIFF image is not read; png, jpeg and pnm are" },
    { 0, 4, "MM\0*", "a TIFF image is not read; png, jpeg and pnm are" },
    { 0, 12, "RIFF????WEBP", "a WebP image is not read; png, jpeg and pnm are" },
    { 0, 4, "PAR1", "Parquet is not read; csv is" },
    { 0, 6, "ARROW1", "Arrow is not read; csv is" },
    { 0, 19, "MATLAB 5.0 MAT-file", "MAT-files before 7.3 are not read; save with '-v7.3' makes HDF5" },
    { 0, 4, "CDF\1", "classic netCDF is not read; that of nccopy -k nc4 is HDF5" },
    { 4, 4, "TFL3", "a model of TensorFlow Lite is not read" },
};

static bool has_bytes(const struct foreign *x, const unsigned char *head, size_t bytes)
{
    if (bytes < (size_t)(x->at + x->length)) return false;
    for (int i = 0; i < x->length; i++)
        if (x->bytes[i] != '?' && (unsigned char)x->bytes[i] != head[x->at + i]) return false;
    return true;
}

const char *tsri_format_foreign(const unsigned char *head, size_t bytes)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (has_bytes(&foreign[i], head, bytes)) return foreign[i].words;
    return NULL;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool ends_with(const char *path, size_t length, const char *ending, size_t n)
{
    if (length < n) return false;
    for (size_t i = 0; i < n; i++)
        if (lower(path[length - n + i]) != ending[i]) return false;
    return true;
}

const tsri_format *tsri_format_of_path(const char *path)
{
    const size_t length = tsri_strlen(path);
    for (int i = 0; i < FORMATS; i++)
        for (const char *e = formats[i]->info.endings; *e;) {
            size_t n = 0;
            while (e[n] && e[n] != ' ') n++;
            if (ends_with(path, length, e, n)) return formats[i];
            e += n;
            while (*e == ' ') e++;
        }
    return NULL;
}

const tsr_format_info *tsr_format_of_path(const char *path)
{
    const tsri_format *format = path ? tsri_format_of_path(path) : NULL;
    return format ? &format->info : NULL;
}
