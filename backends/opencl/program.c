/* program.c - programs from the texts in kernels/, or from the cache. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ocl_program {
    ocl_program *next;
    char        *name;     /* files and options */
    cl_program   program;
    ocl_kernel  *kernels;  /* under the device's programs_lock */
};

enum { MOST_TEXTS = 8, LOG = 512 };

/* Texts ---------------------------------------------------------------------------------- */

static char name_text[8192];

/* T_F32 and so on for every dtype, O_ADD and so on for every op. */
static void write_names(void)
{
    size_t at = 0;
#define X(ID, suffix, S, kind, name) \
    at += (size_t)snprintf(name_text + at, sizeof name_text - at, "#define T_" #ID " %d\n", (int)TSR_##ID);
#include <tessera/dtype.def>
#undef X
#define X(ID, name, family, params, signature, flops, doc, call) \
    at += (size_t)snprintf(name_text + at, sizeof name_text - at, "#define O_" #ID " %d\n", (int)TSR_OP_##ID);
#include <tessera/op.def>
#undef X
}

static const char *text_of(const char *name, size_t length)
{
    for (const ocl_source *s = ocl_sources; s->name; s++)
        if (strlen(s->name) == length && !memcmp(s->name, name, length)) return s->text;
    return "#error a file is missing";
}

/* The texts of a program, in order. */
static cl_uint gather_texts(const char *texts[MOST_TEXTS], const char *files, const char *head)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    cl_uint n = 0;
    pthread_once(&once, write_names);
    texts[n++] = name_text;
    texts[n++] = head;
    texts[n++] = text_of("common", 6);
    while (*files && n < MOST_TEXTS) {
        const size_t length = strcspn(files, " ");
        texts[n++] = text_of(files, length);
        files += length;
        files += *files == ' ';
    }
    return n;
}

/* Building --------------------------------------------------------------------------------- */

static void key_of(ocl_key *key, const ocl_device *d, cl_uint n, const char *const *texts,
                   const char *options)
{
    ocl_key_begin(key);
    for (cl_uint i = 0; i < n; i++) ocl_key_add(key, texts[i]);
    ocl_key_add(key, options);
    ocl_key_add(key, d->name);
    ocl_key_add(key, d->driver);
}

static bool build_from_cache(cl_program *out, const ocl_device *d, const ocl_key *key, const char *options)
{
    size_t bytes = 0;
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;
    unsigned char *binary = ocl_cache_read(key, &bytes);
    if (!binary) return false;
    const unsigned char *binaries[] = { binary };
    cl_program p = ocl.clCreateProgramWithBinary(d->context, 1, &d->id, &bytes, binaries, &status, &error);
    free(binary);
    if (error != CL_SUCCESS) return false;
    if (status == CL_SUCCESS && ocl.clBuildProgram(p, 1, &d->id, options, NULL, NULL) == CL_SUCCESS) {
        *out = p;
        return true;
    }
    (void)ocl.clReleaseProgram(p);
    return false;
}

static void keep(cl_program p, const ocl_key *key)
{
    size_t bytes = 0;
    if (ocl.clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS ||
        bytes == 0)
        return;
    unsigned char *binary = malloc(bytes);
    if (!binary) return;
    unsigned char *binaries[] = { binary };
    if (ocl.clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL) == CL_SUCCESS)
        ocl_cache_write(key, binary, bytes);
    free(binary);
}

static tsr_status build_failed(const ocl_call *call, cl_program p, cl_int error)
{
    char log[LOG] = "";
    size_t bytes = 0;
    (void)ocl.clGetProgramBuildInfo(p, call->device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *all = bytes ? malloc(bytes + 1) : NULL;
    if (all && ocl.clGetProgramBuildInfo(p, call->device->id, CL_PROGRAM_BUILD_LOG, bytes, all, NULL) ==
                   CL_SUCCESS) {
        all[bytes] = '\0';
        snprintf(log, sizeof log, "%s", all);
        ocl_host->log(0, all);
    }
    free(all);
    return ocl_fail(TSR_EDEVICE, "%s: opencl:%d does not build its kernel (%s): %s", call->name,
                    call->device->index, ocl_error_name(error), log);
}

static tsr_status build(cl_program *out, const ocl_call *call, const char *files, const char *options,
                        ocl_head_fn head)
{
    const ocl_device *d = call->device;
    char first[OCL_HEAD] = "";
    const char *texts[MOST_TEXTS];
    if (head) head(first, call);
    const cl_uint n = gather_texts(texts, files, first);
    cl_int error = CL_SUCCESS;
    ocl_key key;
    const bool cached = ocl_cache_is_on(d);
    key_of(&key, d, n, texts, options);
    if (cached && build_from_cache(out, d, &key, options)) return TSR_OK;
    cl_program p = ocl.clCreateProgramWithSource(d->context, n, texts, NULL, &error);
    if (error == CL_SUCCESS) {
        error = ocl.clBuildProgram(p, 1, &d->id, options, NULL, NULL);
        if (error != CL_SUCCESS) {
            const tsr_status s = build_failed(call, p, error);
            (void)ocl.clReleaseProgram(p);
            return s;
        }
        if (cached) keep(p, &key);
        *out = p;
        return TSR_OK;
    }
    return ocl_fail(ocl_status(error), "%s: opencl:%d makes no program (%s)", call->name, d->index,
                    ocl_error_name(error));
}

/* Finding ----------------------------------------------------------------------------------- */

static unsigned bucket_of(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
    return (h ^ h >> 16) % OCL_BUCKETS;
}

static ocl_program *find_program(const ocl_device *d, const char *name)
{
    ocl_program *p = d->programs[bucket_of(name)];
    while (p && strcmp(p->name, name) != 0) p = p->next;
    return p;
}

static ocl_kernel *find_kernel(const ocl_program *p, const char *name)
{
    ocl_kernel *k = p ? p->kernels : NULL;
    while (k && strcmp(k->name, name) != 0) k = k->next;
    return k;
}

/* The building lock is held: nobody else writes. */
static tsr_status need_program(ocl_program **out, const ocl_call *call, const char *name, const char *files,
                               const char *options, ocl_head_fn head)
{
    ocl_device *d = call->device;
    *out = find_program(d, name);
    if (*out) return TSR_OK;
    ocl_program *p = calloc(1, sizeof *p);
    char *copy = p ? strdup(name) : NULL;
    tsr_status s = copy ? build(&p->program, call, files, options, head)
                        : ocl_fail(TSR_ENOMEM, "%s: no room for a program", call->name);
    if (s != TSR_OK) {
        free(copy);
        free(p);
        return s;
    }
    p->name = copy;
    pthread_rwlock_wrlock(&d->programs_lock);
    ocl_program **bucket = &d->programs[bucket_of(name)];
    p->next = *bucket;
    *bucket = p;
    pthread_rwlock_unlock(&d->programs_lock);
    *out = p;
    return TSR_OK;
}

static tsr_status need_kernel(ocl_kernel **out, const ocl_call *call, ocl_program *p, const char *name)
{
    ocl_device *d = call->device;
    cl_int error = CL_SUCCESS;
    *out = find_kernel(p, name);
    if (*out) return TSR_OK;
    ocl_kernel *k = calloc(1, sizeof *k);
    if (!k) return ocl_fail(TSR_ENOMEM, "%s: no room for a kernel", call->name);
    snprintf(k->name, sizeof k->name, "%s", name);
    k->kernel = ocl.clCreateKernel(p->program, name, &error);
    if (error != CL_SUCCESS) {
        free(k);
        return ocl_fail(ocl_status(error), "%s: opencl:%d makes no kernel %s (%s)", call->name, d->index,
                        name, ocl_error_name(error));
    }
    if (ocl.clGetKernelWorkGroupInfo(k->kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof k->group, &k->group,
                                     NULL) != CL_SUCCESS ||
        k->group == 0 || k->group > d->group)
        k->group = d->group;
    pthread_mutex_init(&k->lock, NULL);
    pthread_rwlock_wrlock(&d->programs_lock);
    k->next = p->kernels;
    p->kernels = k;
    pthread_rwlock_unlock(&d->programs_lock);
    *out = k;
    return TSR_OK;
}

tsr_status ocl_kernel_get(ocl_kernel **out, const ocl_call *call, const char *files, const char *kernel,
                          const char *options, ocl_head_fn head)
{
    ocl_device *d = call->device;
    ocl_program *p = NULL;
    char name[768], all[512];
    snprintf(all, sizeof all, "-cl-std=CL1.2 -w%s%s%s %s", d->has_f64 ? " -DHAS_F64" : "",
             d->has_fma ? " -DHAS_FMA" : "",
             d->divides_exactly ? " -cl-fp32-correctly-rounded-divide-sqrt" : "", options);
    snprintf(name, sizeof name, "%s|%s", files, options);
    pthread_rwlock_rdlock(&d->programs_lock);
    *out = find_kernel(find_program(d, name), kernel);
    pthread_rwlock_unlock(&d->programs_lock);
    if (*out) return TSR_OK;
    pthread_mutex_lock(&d->building);
    tsr_status s = need_program(&p, call, name, files, all, head);
    if (s == TSR_OK) s = need_kernel(out, call, p, kernel);
    pthread_mutex_unlock(&d->building);
    return s;
}
