/* posix.h - TSRI_POSIX: is this a system with POSIX's files? Apple's do not define __unix__. */
#ifndef TSRI_POSIX_H
#define TSRI_POSIX_H

#if !defined(TSR_FREESTANDING) && (defined(__unix__) || defined(__APPLE__))
#define TSRI_POSIX
#endif

#endif
