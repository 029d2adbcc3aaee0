/* openblas.c - matrix products, dot products and transposes through OpenBLAS. */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>

#include "serve.h"

static struct {
    void   *x, *y, *z;
    int64_t batch, m, k, n;
    bool    transposed_x, transposed_y, wide;
    float   sum;
} job;

static void run_product(void)
{
    const CBLAS_TRANSPOSE tx = job.transposed_x ? CblasTrans : CblasNoTrans,
                          ty = job.transposed_y ? CblasTrans : CblasNoTrans;
    const int m = (int)job.m, n = (int)job.n, k = (int)job.k, lx = job.transposed_x ? m : k,
              ly = job.transposed_y ? k : n;
    for (int64_t b = 0; b < job.batch; b++) {
        if (job.wide)
            cblas_dgemm(CblasRowMajor, tx, ty, m, n, k, 1, job.x, lx, job.y, ly, 0, job.z, n);
        else
            cblas_sgemm(CblasRowMajor, tx, ty, m, n, k, 1, (float *)job.x + b * m * k, lx,
                        (float *)job.y + b * k * n, ly, 0, (float *)job.z + b * m * n, n);
    }
}

static void run_gemv(void)
{
    const int k = (int)job.k, n = (int)job.n;
    cblas_sgemv(CblasRowMajor, job.transposed_y ? CblasNoTrans : CblasTrans, job.transposed_y ? n : k,
                job.transposed_y ? k : n, 1, job.y, job.transposed_y ? k : n, job.x, 1, 0, job.z, 1);
}

static void run_dot(void) { job.sum += cblas_sdot((int)job.n, job.x, 1, job.y, 1); }

static void run_transpose(void)
{
    const int n = (int)job.n;
    if (job.wide) cblas_domatcopy(CblasRowMajor, CblasTrans, n, n, 1, job.x, n, job.z, n);
    else cblas_somatcopy(CblasRowMajor, CblasTrans, n, n, 1, job.x, n, job.z, n);
}

static void (*runs)(void);
static void run(void) { runs(); }

static bool open_product(const words *w)
{
    int64_t n[8];
    const int count = sizes(w->part[3], n);
    const char *how = strchr(w->part[1], '_');
    if (how && strcmp(how, "_gs") == 0) return false;
    job.batch = count == 4 ? n[0] : 1;
    job.m = count == 4 ? n[1] : n[0];
    job.k = count == 4 ? n[2] : count == 3 ? n[1] : n[0];
    job.n = count == 4 ? n[3] : count == 3 ? n[2] : n[0];
    job.transposed_x = how && how[1] == 't';
    job.transposed_y = how && how[2] == 't';
    runs = strncmp(w->part[1], "gemv", 4) == 0 ? run_gemv : run_product;
    return true;
}

static bool open_job(const char *name)
{
    words w;
    cut(&w, name);
    memset(&job, 0, sizeof job);
    if (w.count < 4 || (strcmp(w.part[2], "f32") != 0 && strcmp(w.part[2], "f64") != 0)) return false;
    job.wide = strcmp(w.part[2], "f64") == 0;
    if (w.part[0][0] == 'd' && strcmp(w.part[1], "dot") == 0) {
        job.batch = job.m = job.k = 1, job.n = 1 << 20;
        runs = run_dot;
    } else if ((w.part[0][0] == 'd' && strcmp(w.part[1], "outer") != 0) || strncmp(name, "s.mm.", 5) == 0) {
        if (!open_product(&w)) return false;
    } else if (strncmp(name, "a.T.", 4) == 0 && w.count == 4) {
        job.batch = 1, job.m = job.k = job.n = strtoll(w.part[3], NULL, 10);
        runs = run_transpose;
    } else return false;
    const size_t size = job.wide ? 8 : 4, batch = (size_t)job.batch;
    job.x = floats(batch * (size_t)(runs == run_dot ? job.n : job.m * job.k) * size);
    job.y = floats(batch * (size_t)(job.k * job.n) * size);
    job.z = floats(batch * (size_t)(job.m * job.n) * size);
    return true;
}

static void close_job(void)
{
    free(job.x);
    free(job.y);
    free(job.z);
}

static void set_threads(int n) { openblas_set_num_threads(n); }

int main(void)
{
    char name[80], version[64] = "";
    sscanf(openblas_get_config(), "OpenBLAS %63s", version);
    snprintf(name, sizeof name, "openblas %s", version);
    return serve(&(peer){ name, set_threads, open_job, run, close_job });
}
