/* program.c - a program that makes the library look for everything it could open: plugins, a BLAS, LAPACK,
 * FFTW, zlib, libturbojpeg. Prints what was found and what was refused. */
#include <stdio.h>
#include <unistd.h>

#include "tessera/backend.h"
#include "tessera/tessera.h"

size_t tsri_zlib_deflate(void *dst, size_t room, const void *src, size_t bytes, bool last);

static void print_line(void *context, int level, const char *message)
{
    (void)context;
    printf("log %d: %s\n", level, message);
}

static void compute(void)
{
    tsr_tensor *a = NULL, *z = NULL;
    char packed[256];
    if (tsr_ones(&a, TSR_F64, TSR_SHAPE(128, 128)) != TSR_OK) return;
    printf("matmul: %s\n", tsr_status_name(tsr_matmul(&z, a, a)));
    tsr_release(&z);
    printf("inv: %s\n", tsr_status_name(tsr_inv(&z, a)));
    tsr_release(&z);
    printf("fft: %s\n", tsr_status_name(tsr_fft(&z, a, 0, -1, TSR_FFT_BACKWARD)));
    tsr_release(&z);
    tsr_release(&a);
    printf("zlib: %s\n",
           tsri_zlib_deflate(packed, sizeof packed, "aaaaaaaaaaaaaaaa", 16, true) ? "used" : "not used");
}

/* A photograph, as far as it takes to look for its library. */
static void read_files(void)
{
    static const unsigned char photo[] = { 0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0 };
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    if (tsr_file_open_bytes(&f, photo, sizeof photo, "x.jpg", NULL) == TSR_OK)
        printf("jpeg: %s\n", tsr_status_name(tsr_file_read(&t, f, NULL)));
    tsr_release(&t);
    tsr_file_close(&f);
}

int main(int argc, char **argv)
{
    tsr_set_log(print_line, NULL);
    printf("elevated: %s\n", getuid() != geteuid() ? "yes" : "no");
    for (int i = 1; i < argc; i++) printf("load: %s\n", tsr_status_name(tsr_backend_load(argv[i])));
    printf("tuning: %.60s\n", tsr_cpu_tuning());
    printf("devices: %d\n", tsr_device_count());
    printf("devices: %d\n", tsr_device_count());
    for (int i = 0; tsr_backend_problem(i); i++) printf("problem: %s\n", tsr_backend_problem(i));
    compute();
    read_files();
    return 0;
}
