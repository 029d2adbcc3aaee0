/* log.h - lines for the log function that the program has set (tessera/log.h). */
#ifndef TSRI_LOG_H
#define TSRI_LOG_H

#include "tessera/log.h"

/* Hands a finished line to the program's sink, if it has set one. */
void tsri_log(int level, const char *message);

/* Logs that an op runs on the CPU because the backend does not support it; why may be NULL. */
void tsri_log_op(int level, const char *op, const char *backend, const char *why);

#endif
