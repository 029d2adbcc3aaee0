/* log.h - one line for whoever listens (tessera/log.h). */
#ifndef TSRI_LOG_H
#define TSRI_LOG_H

#include "tessera/log.h"

/* Hands a finished line to the program's sink, if it has set one. */
void tsri_log(int level, const char *message);

/* That an op runs on the CPU in a backend's place; why may be NULL. */
void tsri_log_op(int level, const char *op, const char *backend, const char *why);

#endif
