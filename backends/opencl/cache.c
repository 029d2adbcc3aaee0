/* cache.c - built programs on disk: in tessera/opencl of $XDG_CACHE_HOME, or of ~/.cache, one file for
 * each.
 *
 * A file is a header and the binary. It is written beside its place and then moved there, so that
 * readers see all of it or nothing. A file whose header or checksum is wrong is ignored.
 *
 * The binaries are code. So files and their folder must belong to the user that the process runs as, and
 * nobody else may write them: root with the home folder of another user neither reads nor writes files there.
 * An elevated program has no such variables (ocl_setting), and so no cache. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20 };

typedef struct header {
    char     magic[8];
    ocl_key  key;
    uint64_t bytes, sum;
} header;

static const char magic[8] = "tsr-ocl1";

/* FNV-1a, from two beginnings. */
static uint64_t mix(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

void ocl_key_begin(ocl_key *key)
{
    key->first = 0xcbf29ce484222325u;
    key->second = 0x9e3779b97f4a7c15u;
}

void ocl_key_add(ocl_key *key, const char *text)
{
    const size_t bytes = strlen(text) + 1;  /* the end counts: "ab", "c" is not "a", "bc" */
    key->first = mix(key->first, text, bytes);
    key->second = mix(key->second ^ key->first >> 7, text, bytes);
}

bool ocl_cache_is_on(const ocl_device *d)
{
    const char *wish = ocl_setting("TSR_OPENCL_CACHE");
    char platform[128] = "";
    if (wish && !strcmp(wish, "on")) return true;
    if (wish && !strcmp(wish, "off")) return false;
    (void)ocl.clGetPlatformInfo(d->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    return strcmp(platform, "Portable Computing Language") != 0;
}

/* Makes every folder of a path that ends in a slash. */
static bool make_folders(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        const bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *p = '/';
        if (!ok) return false;
    }
    return true;
}

/* The folder, with a slash at the end. */
static bool folder(char *out, size_t size)
{
    const char *cache = ocl_setting("XDG_CACHE_HOME"), *home = ocl_setting("HOME");
    int n = -1;
    if (cache && cache[0] == '/')    n = snprintf(out, size, "%s/tessera/opencl/", cache);
    else if (home && home[0] == '/') n = snprintf(out, size, "%s/.cache/tessera/opencl/", home);
    return n > 0 && (size_t)n < size;
}

static bool file_name(char *out, size_t size, const ocl_key *key)
{
    char at[3072];
    if (!folder(at, sizeof at)) return false;
    const int n = snprintf(out, size, "%s%016llx%016llx", at, (unsigned long long)key->first,
                           (unsigned long long)key->second);
    return n > 0 && (size_t)n < size;
}

static bool is_own(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool is_sound(const header *h, const ocl_key *key, const struct stat *st)
{
    return is_own(st) && !memcmp(h->magic, magic, sizeof magic) && h->key.first == key->first &&
           h->key.second == key->second && h->bytes > 0 && h->bytes <= MOST_BYTES &&
           (uint64_t)st->st_size == sizeof *h + h->bytes;
}

static void *read_from(FILE *f, const ocl_key *key, size_t *bytes)
{
    header h;
    struct stat st;
    if (fstat(fileno(f), &st) != 0 || fread(&h, sizeof h, 1, f) != 1 || !is_sound(&h, key, &st)) return NULL;
    void *data = malloc((size_t)h.bytes);
    if (data && (fread(data, (size_t)h.bytes, 1, f) != 1 || mix(0, data, (size_t)h.bytes) != h.sum)) {
        free(data);
        data = NULL;
    }
    *bytes = (size_t)h.bytes;
    return data;
}

static bool folder_is_own(void)
{
    char path[3072];
    struct stat st;
    return folder(path, sizeof path) && stat(path, &st) == 0 && is_own(&st);
}

void *ocl_cache_read(const ocl_key *key, size_t *bytes)
{
    char path[4096];
    if (!file_name(path, sizeof path, key)) return NULL;
    FILE *f = fopen(path, "rbe");
    if (!f) return NULL;
    void *data = read_from(f, key, bytes);
    fclose(f);
    return data;
}

void ocl_cache_write(const ocl_key *key, const void *binary, size_t bytes)
{
    char path[4096], beside[4096 + 16];
    header h = { .key = *key, .bytes = bytes, .sum = mix(0, binary, bytes) };
    memcpy(h.magic, magic, sizeof magic);
    if (bytes == 0 || bytes > MOST_BYTES || !file_name(path, sizeof path, key)) return;
    if (!make_folders(path) || !folder_is_own()) return;
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    const int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0) return;
    FILE *f = fdopen(fd, "wb");
    if (!f) close(fd);
    bool ok = f && fwrite(&h, sizeof h, 1, f) == 1 && fwrite(binary, bytes, 1, f) == 1;
    if (f && fclose(f) != 0) ok = false;
    if (!ok || rename(beside, path) != 0) (void)unlink(beside);
}
