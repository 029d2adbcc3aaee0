/* tiny_dsp.h - signal processing is no part of tensors: the header is here because TinyAI's
 * configuration includes it, and brings TinyMath along as the original does. */
#ifndef TINY_DSP_H
#define TINY_DSP_H

#include "tiny_dsp_config.h"

#endif
