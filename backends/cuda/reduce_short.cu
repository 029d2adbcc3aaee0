/* reduce_short.cu - reductions of floats of one and two bytes. */
#include "reduce_real.cuh"

namespace tsrc {

Reducer short_reducer(Collect kind, tsr_dtype dtype)
{
    return tsrc_size(dtype) == 1 ? reducer_of<S8>(kind) : reducer_of<S16>(kind);
}

} // namespace tsrc
