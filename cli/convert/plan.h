/* plan.h - what tsr convert is going to do, and doing it.
 *
 * First a plan is made from headers alone: which tensors, under which names, of which dtype and
 * shape, in which file. Then each tensor is read, changed and written in turn.
 */
#ifndef TSR_CLI_CONVERT_PLAN_H
#define TSR_CLI_CONVERT_PLAN_H

#include "../listing.h"
#include "../rename.h"
#include "../terminal.h"

enum { RULES_MOST = 64 };

/* What the command line asks for. */
typedef struct request {
    bool         json, force, compress, quiet, transposes;
    const char  *to, *dtype, *from_dtype, *transpose, *shard, *encoding, *prefix, *quality_text;
    int          rules, naxes, axes[TSR_MAX_NDIM];  /* naxes 0: all axes reversed */
    rename_rule *rule[RULES_MOST];
    tsr_dtype    result;                            /* TSR_DTYPE_INVALID: as it is */
    int          quality;                           /* 0: the format's own */
    uint64_t     shard_bytes;                       /* 0: one file */
    listing      list;
    reading      how;
} request;

/* One tensor to be written. */
typedef struct step {
    source     *s;
    int64_t     index;
    char       *name;
    char       *path;      /* of its own file; NULL if it shares one */
    tsr_desc    desc;      /* of the result */
    bool        as_blocks; /* its stored bytes, with their encoding */
} step;

/* What is written, and where. */
typedef struct plan {
    const request         *r;
    const char            *out;
    const tsr_format_info *format;
    bool                   is_directory;
    bool                   is_stream;  /* out is '-', standard output */
    int                    sources;
    int64_t                files;      /* that were written */
    source                *source;
    int64_t                count;
    step                  *steps;
    double                 bytes;
} plan;

/* plan.c. Each complains of what it refuses. ---------------------------------------------------- */

/* The format that the request or the name of the result says. False if none is written. */
bool choose_format(plan *p);

/* Opens words[0 .. count - 1] and plans their tensors. An exit code; the plan is to be freed. */
int  make_plan(plan *p, int count, char **words);
void free_plan(plan *p);

/* The axes of --transpose for a tensor of ndim. */
void axes_for(int axes[TSR_MAX_NDIM], const request *r, int ndim);

/* write.c: all of it. False after a complaint. -------------------------------------------------- */

bool write_plan(plan *p);

#endif
