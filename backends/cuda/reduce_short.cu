/* reduce_short.cu - reductions of floats of one and two bytes. */
#include "reduce_real.cuh"

namespace tsrc {

Reducer short_reducer(Accumulation kind, tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F16: return reducer_of<Quick16<false>>(kind);
    case TSR_BF16: return reducer_of<Quick16<true>>(kind);
    default: return reducer_of<S8>(kind);
    }
}

} // namespace tsrc
