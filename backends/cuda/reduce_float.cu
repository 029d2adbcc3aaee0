/* reduce_float.cu - reductions of f32 and f64. */
#include "reduce_real.cuh"

namespace tsrc {

Reducer short_reducer(Accumulation kind, tsr_dtype dtype);

Reducer real_reducer(Accumulation kind, tsr_dtype dtype)
{
    if (dtype == TSR_F32) return reducer_of<SF32>(kind);
    return dtype == TSR_F64 ? reducer_of<SF64>(kind) : short_reducer(kind, dtype);
}

} // namespace tsrc
