/* mix.h - copies between pixels and planes (plan_mix.h), queued. */
#ifndef TSRC_MIX_H
#define TSRC_MIX_H

#include "cuda.h"
#include "plan_mix.h"

namespace tsrc {

tsr_status queue_mix(const Work &w, const tsrc_mix &m);

} // namespace tsrc

#endif
