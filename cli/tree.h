/* tree.h - tensors by the parts of their names, with equal layers folded into one.
 *
 * Names are cut at '.' and '/'. Parts that differ in a number alone and hold tensors of the same names,
 * shapes and dtypes are written once: "layers.0-23".
 */
#ifndef TSR_CLI_TREE_H
#define TSR_CLI_TREE_H

#include "source.h"

/* Prints items index[0 .. count - 1], in the natural order of their names. `folds`: equal layers once;
 * `by_size`: of the parts of one name, the largest first. */
void tree_print(const source *s, const int64_t *index, int64_t count, bool folds, bool by_size, int width);

/* "896x4864", with the sign of multiplication where the locale has it; "scalar" for no dims. */
const char *shape_text(char out[400], const tsr_desc *d);

/* The dtype, or the encoding in its place where that says more: "bf16", "q4_K". */
const char *dtype_text(const item *it);

#endif
