/* default.c - processors that nobody has measured: plain loops, which no processor is slow at. */
#include "tuning.h"
#include "common.h"

const tsri_tuning tsri_tuning_default = {
    .name = "default",
    TSRI_COMMON_IN_ORDER,
    .stream_least = INT64_MAX,  /* never */
    .stream_usual = INT64_MAX,
    .stream_most = INT64_MAX,
    .stream_transposed = INT64_MAX,
    .products = TSRI_COMMON_PRODUCTS,
    TSRI_COMMON_ROWS
};
