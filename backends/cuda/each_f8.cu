/* each_f8.cu - elementwise kernels: see each_real.cuh. */
#include "each_real.cuh"

namespace tsrc {

void fill_each_f8(EachTable table)
{
    fill_moves<S8>(table);
    fill_maths<S8>(table);
}

} // namespace tsrc
