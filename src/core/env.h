/* env.h - the environment, read in one place.
 *
 * A program that runs with more rights than whoever started it (setuid, setgid, file capabilities) must not
 * let that person say which code it runs. For such a program there is no environment: no variable is read,
 * whatever it decides. tools/check_env.sh sees to it that nothing else in src/ and backends/ calls getenv.
 */
#ifndef TSRI_ENV_H
#define TSRI_ENV_H

#include "tessera/config.h"

/* The value of a variable; NULL if it is not set, in an elevated program, and without an environment. */
const char *tsri_env(const char *name);

/* Has the process more rights than whoever started it? */
bool tsri_is_elevated(void);

#endif
