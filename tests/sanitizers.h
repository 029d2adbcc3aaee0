/* sanitizers.h - whether a test runs under a sanitizer: TSan cannot follow threads that a child of a threaded
 * process starts, and ASan's allocator does not survive a fork() while other threads are in it. */
#ifndef TEST_SANITIZERS_H
#define TEST_SANITIZERS_H

#if defined(__has_feature)
#define TEST_HAS(feature) __has_feature(feature)
#else
#define TEST_HAS(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || TEST_HAS(thread_sanitizer)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__) || TEST_HAS(address_sanitizer)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

#endif
