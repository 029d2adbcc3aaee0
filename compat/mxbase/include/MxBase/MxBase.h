/* MxBase.h - all of the newer interface. */
#ifndef MXBASE_H
#define MXBASE_H

#include "MxBase/E2eInfer/GlobalInit/GlobalInit.h"
#include "MxBase/E2eInfer/Point/Point.h"
#include "MxBase/E2eInfer/Rect/Rect.h"
#include "MxBase/E2eInfer/Size/Size.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/CoreOperationsOnTensors.h"
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/MatrixReductions.h"
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/PerElementOperations.h"

#endif
