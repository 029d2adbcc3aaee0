/* ops.h - every op family. Each header opens with its family's rules. */
#ifndef TESSERA_OPS_H
#define TESSERA_OPS_H

#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/linalg.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "ops/index.h"
#include "ops/order.h"
#include "ops/statistics.h"
#include "ops/nn.h"
#include "ops/attention.h"
#include "ops/quant.h"
#include "ops/fft.h"
#include "ops/conv.h"
#include "ops/image.h"
#include "ops/training.h"

#endif
