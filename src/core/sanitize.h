/* sanitize.h - what the library tells the address and memory sanitizers about memory that it keeps.
 *
 * Free blocks of the pool, free slots and the bytes after those that were asked for are poisoned: an access
 * is reported as if they had been freed. In an ordinary build these macros are empty. */
#ifndef TSRI_SANITIZE_H
#define TSRI_SANITIZE_H

#if defined(__SANITIZE_ADDRESS__)
#define TSRI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TSRI_ASAN 1
#endif
#if __has_feature(memory_sanitizer)
#define TSRI_MSAN 1
#endif
#endif

#ifdef TSRI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define TSRI_POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define TSRI_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
/* Of a function that reads and writes the links in a poisoned block. */
#define TSRI_SEES_POISONED __attribute__((no_sanitize_address))
/* Kept, though nothing that the leak sanitizer reads points there. */
#define TSRI_KEPT(p) __lsan_ignore_object(p)
#else
#define TSRI_POISON(p, n)   ((void)(p), (void)(n))
#define TSRI_UNPOISON(p, n) ((void)(p), (void)(n))
#define TSRI_SEES_POISONED
#define TSRI_KEPT(p) ((void)(p))
#endif

/* What was written to a block belongs to its last owner: the next has written nothing yet. */
#ifdef TSRI_MSAN
#include <sanitizer/msan_interface.h>
#define TSRI_UNWRITTEN(p, n) __msan_allocated_memory(p, n)
#else
#define TSRI_UNWRITTEN(p, n) ((void)(p), (void)(n))
#endif

#endif
