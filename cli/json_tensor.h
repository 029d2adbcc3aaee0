/* json_tensor.h - a tensor in a JSON document. */
#ifndef TSR_CLI_JSON_TENSOR_H
#define TSR_CLI_JSON_TENSOR_H

#include "json.h"
#include "tessera/tessera.h"

/* One number: a complex one is [re, im]; what JSON lacks is "nan", "inf" or "-inf". */
void json_element(json *j, const char *key, tsr_scalar s);

/* Members dtype, shape and values: nested lists of every element. */
void json_tensor_members(json *j, const tsr_tensor *t);

#endif
