/* each_f64.cu - elementwise kernels: see each_real.cuh. */
#include "each_real.cuh"

namespace tsrc {

void fill_each_f64(EachTable table)
{
    fill_moves<SF64>(table);
    fill_maths<SF64>(table);
}

} // namespace tsrc
