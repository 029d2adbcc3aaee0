/* each_f16.cu - elementwise kernels of f16: see each_real.cuh. */
#include "each_real.cuh"

namespace tsrc {

void fill_each_f16(EachTable table)
{
    fill_moves<Short16<false>, Quick16<false>>(table);
    fill_maths<Quick16<false>>(table);
}

} // namespace tsrc
