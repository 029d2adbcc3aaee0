/* A C++ program of someone else's: makes, views, writes, copies and reads a tensor. */
#include <cstdio>
#include <tessera/tessera.h>

static tsr_status use(double *out)
{
    tsr_tensor *a = nullptr, *column = nullptr, *copy = nullptr;
    tsr_scalar last;
    tsr_status s = tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3));
    if (s == TSR_OK) s = tsr_select(&column, a, 1, -1);
    if (s == TSR_OK) s = tsr_fill(column, TSR_SCALAR(7));
    if (s == TSR_OK) s = tsr_cast(&copy, a, TSR_F64);
    if (s == TSR_OK) s = tsr_get(&last, copy, TSR_INDEX(1, 2));
    if (s == TSR_OK) *out = tsr_scalar_to_f64(last);
    tsr_release(&copy);
    tsr_release(&column);
    tsr_release(&a);
    return s;
}

int main(void)
{
    double value = 0;
    if (tsr_build_max_ndim() != TSR_MAX_NDIM) {
        std::fprintf(stderr, "the header's TSR_MAX_NDIM is not the library's\n");
        return 1;
    }
    if (use(&value) != TSR_OK) std::fprintf(stderr, "%s\n", tsr_last_error());
    return value == 7 ? 0 : 1;
}
