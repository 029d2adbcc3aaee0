/* each_f32.cu - elementwise kernels: see each_real.cuh. */
#include "each_real.cuh"

namespace tsrc {

void fill_each_f32(EachTable table)
{
    fill_moves<SF32>(table);
    fill_maths<SF32>(table);
}

} // namespace tsrc
