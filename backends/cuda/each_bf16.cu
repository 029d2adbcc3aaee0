/* each_bf16.cu - elementwise kernels of bf16: see each_real.cuh. */
#include "each_real.cuh"

namespace tsrc {

void fill_each_bf16(EachTable table)
{
    fill_moves<Short16<true>, Quick16<true>>(table);
    fill_maths<Quick16<true>>(table);
}

} // namespace tsrc
