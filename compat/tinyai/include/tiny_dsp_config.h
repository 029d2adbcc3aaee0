/* tiny_dsp_config.h - what TinyDSP stands on. */
#ifndef TINY_DSP_CONFIG_H
#define TINY_DSP_CONFIG_H

#include "tiny_math.h"

#endif
