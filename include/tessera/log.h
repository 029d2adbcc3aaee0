/* log.h - what the library has to say beside the status of a call.
 *
 * Nothing is printed. A program that wants to hear of things that are no failures (an op
 * that ran elsewhere, a plugin that did not load) sets a sink.
 */
#ifndef TESSERA_LOG_H
#define TESSERA_LOG_H

#include "config.h"

TSR_BEGIN_C

enum { TSR_LOG_ERROR = 0, TSR_LOG_WARNING, TSR_LOG_INFO };

/* Called from any thread with one line, without a newline. It must not call the library. */
typedef void (*tsr_log_fn)(void *context, int level, const char *message);

/* NULL removes it. Set it while no other thread uses the library. */
TSR_API void tsr_set_log(tsr_log_fn sink, void *context);

TSR_END_C

#endif
