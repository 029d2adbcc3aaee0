/* tiny_export.h - what libtinyai shows to programs. */
#ifndef TINY_EXPORT_H
#define TINY_EXPORT_H

#if defined(__GNUC__)
#define TINY_EXPORT __attribute__((visibility("default")))
#else
#define TINY_EXPORT
#endif

#endif
