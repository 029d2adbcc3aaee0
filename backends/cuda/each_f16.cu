/* each_f16.cu - elementwise kernels: see each_real.cuh. */
#include "each_real.cuh"

namespace tsrc {

void fill_each_f16(EachTable table)
{
    fill_moves<S16>(table);
    fill_maths<S16>(table);
}

} // namespace tsrc
